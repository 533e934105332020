"""What a note is: its category, by its path; and whether it is a lesson, playbook or QA-finding card, kept whole and
told by what matters in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from recallens.ingest.vault.frontmatter import split
from recallens.ingest.vault.sections import headings
from recallens.text.languages import PACKS
from recallens.text.normalize import normalize
from recallens.text.sentences import ELLIPSIS

ESSENCE_CHARACTERS: Final = 1_200

_KINDS: Final = ("lesson", "playbook", "qa-finding")
_NAMES: Final = {kind: tuple(name for pack in PACKS for name in pack.lesson_names.get(kind, ())) for kind in _KINDS}
_KIND_OF: Final = {name: kind for kind, names in _NAMES.items() for name in names}
_FRAGMENT: Final = tuple(
    (
        re.compile(r"(?<![a-z0-9])(?:" + "|".join(name for name in names if name.isascii()) + r")(?![a-z0-9])"),
        tuple(name for name in names if not name.isascii()),
        kind,
    )
    for kind, names in _NAMES.items()
)
_INDEX_PAGE: Final = re.compile(r"(?:readme|_?index)\.[a-z]+\Z")

# Tried in this order: "Prevention checklist for the fix" is about prevention.
_PARTS: Final = {
    name: re.compile("|".join(pack.lesson_parts[name] for pack in PACKS if name in pack.lesson_parts))
    for name in ("prevention", "cause", "mistake", "fix")
}
_ORDER: Final = ("mistake", "cause", "fix", "prevention")

# The patterns of paths are as specified: \d and case mean ASCII, as in JavaScript.
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
    return next((category for pattern, category in _CATEGORIES if pattern.search(relative_path.lower())), "general")


def is_project_evidence(relative_path: str, content: str) -> bool:
    """The specification's signature has the content too, and its rules do not read it."""
    return any(pattern.search(relative_path.lower()) for pattern in _EVIDENCE)


def lesson_kind(relative_path: str, matter: Mapping[str, Any]) -> str | None:
    """lesson, playbook or qa-finding. What a note says of itself goes before the folder it lies in."""
    stated = [value for key in ("type", "kind") if isinstance(value := matter.get(key), str) and value.strip()]
    if stated:
        return next((kind for value in stated if (kind := _KIND_OF.get(_spelled(value)))), None)
    tagged = matter.get("tags")
    tags: Sequence[Any] = tagged if isinstance(tagged, list) else re.split(r"[,\s]+", str(tagged or ""))
    *folders, name = normalize(relative_path).split("/")
    nearest = [] if _INDEX_PAGE.search(name) else folders[::-1]
    for label in (*(str(tag).lstrip("#") for tag in tags), *nearest):
        if kind := _KIND_OF.get(_spelled(label)):
            return kind
    stem = _spelled(name.rpartition(".")[0] or name)
    return next(
        (kind for latin, others, kind in _FRAGMENT if latin.search(stem) or any(part in stem for part in others)), None
    )


def _spelled(name: str) -> str:
    return re.sub(r"[\s_]+", "-", normalize(name).strip())


def extract_lesson_essence(text: str, limit: int = ESSENCE_CHARACTERS) -> str:
    """The Mistake, Root Cause, Fix and Prevention Checklist of a card, in this order; "" where it has none of them."""
    text = text[split(text)[1] :]
    titles = headings(text)
    parts: dict[str, list[str]] = {}
    covered = 0
    for at, heading in enumerate(titles):
        if heading.start < covered:
            continue  # a part of the part above it
        name = next((name for name, pattern in _PARTS.items() if pattern.search(normalize(heading.text))), None)
        if name is None:
            continue
        later = (other.start for other in titles[at + 1 :] if other.level <= heading.level)
        covered = next(later, len(text))
        body = text[heading.body : covered].strip()
        if body:
            parts.setdefault(name, []).append(f"{heading.text}\n{body}")
    return _fitted([part for name in _ORDER for part in parts.get(name, ())], limit)


def _fitted(parts: Sequence[str], limit: int) -> str:
    """All of it if it fits; else each part keeps its beginning, and short parts leave their room to long ones."""
    left = limit - 2 * max(len(parts) - 1, 0)
    shares = dict.fromkeys(range(len(parts)), 0)
    for count, at in enumerate(sorted(shares, key=lambda at: len(parts[at]))):
        shares[at] = min(len(parts[at]), left // (len(parts) - count))
        left -= shares[at]
    return "\n\n".join(_shortened(part, shares[at]) for at, part in enumerate(parts) if shares[at] > 1)


def _shortened(text: str, limit: int) -> str:
    """At a line or a word, with an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    end = max(cut.rfind("\n"), cut.rfind(" "))
    return (cut[:end] if end > limit // 2 else cut).rstrip() + ELLIPSIS
