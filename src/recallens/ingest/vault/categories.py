"""What a path says of a note. The patterns are as specified: \\d and case mean ASCII, as in JavaScript."""

from __future__ import annotations

import re
from typing import Final

_FLAGS: Final = re.IGNORECASE | re.ASCII

_RAW: Final = re.compile(r"(^|[\\/])(00_Raw|raw-data|conversations?|transcripts?)([\\/]|\Z)", _FLAGS)
_OPERATIONAL: Final = (
    re.compile(
        r"(^|[\\/])(sessions|_agents|_company|memory|Project_Logs|_Archive_Orphans|Post_Drafts|UX_Scenarios)([\\/])",
        _FLAGS,
    ),
    re.compile(r"docs[\\/]records([\\/]|\Z)", _FLAGS),
    re.compile(r"Harness_Research_", _FLAGS),
)
_CATEGORIES: Final = (
    (re.compile(r"(decisions?|adr|planning)", _FLAGS), "decision"),
    (re.compile(r"(records|development|bugs)", _FLAGS), "project-record"),
    (re.compile(r"(architecture|design|pattern)", _FLAGS), "architecture"),
    (re.compile(r"(knowledge|wiki|topics)", _FLAGS), "knowledge"),
)
_EVIDENCE: Final = (
    re.compile(r"(records|planning|development|bugs|retrospectives|projectchronicle)", _FLAGS),
    re.compile(r"adr-\d+|(^|[\\/])decisions?([\\/]|\Z)", _FLAGS),
)


def is_raw_conversation(relative_path: str) -> bool:
    return _RAW.search(relative_path) is not None


def is_operational_path(relative_path: str) -> bool:
    """Logs of sessions, agents and projects: kept by somebody, but not knowledge."""
    return any(pattern.search(relative_path) for pattern in _OPERATIONAL)


def infer_category(relative_path: str) -> str:
    normalized = relative_path.lower()
    return next((category for pattern, category in _CATEGORIES if pattern.search(normalized)), "general")


def is_project_evidence(relative_path: str, content: str) -> bool:
    """The specification's signature has the content too, and its rules do not read it."""
    normalized = relative_path.lower()
    return any(pattern.search(normalized) for pattern in _EVIDENCE)
