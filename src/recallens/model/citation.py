"""Citations as JSON, spelled as specified."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, assert_never

from recallens.errors import InvalidInput
from recallens.model.memory import (
    Citation,
    CommitCitation,
    FileCitation,
    LogCitation,
    SymbolCitation,
    TerminalCitation,
)

# The specification's kinds and their fields, as every error lists them.
CITATION_FIELDS: Final = {
    "commit": "hash",
    "file": "path, startLine?, endLine?",
    "symbol": "id, name, file",
    "terminal_snapshot": "id",
    "log": "pointer",
}
_HASH: Final = re.compile(r"[0-9A-Fa-f]{4,64}")


def citation_to_json(citation: Citation) -> dict[str, Any]:
    match citation:
        case CommitCitation():
            return {"kind": citation.kind, "hash": citation.hash}
        case FileCitation():
            lines = {"startLine": citation.start_line, "endLine": citation.end_line}
            present = {name: line for name, line in lines.items() if line is not None}
            return {"kind": citation.kind, "path": citation.path, **present}
        case SymbolCitation():
            return {
                "kind": citation.kind,
                "id": citation.id,
                "name": citation.name,
                "file": citation.file,
            }
        case TerminalCitation():
            return {"kind": citation.kind, "id": citation.id}
        case LogCitation():
            return {"kind": citation.kind, "pointer": citation.pointer}
        case _:
            assert_never(citation)


def citation_from_json(data: object) -> Citation:
    """The citation that a JSON object spells; anything else is refused with the spelling of all five."""
    if not isinstance(data, Mapping):
        raise _invalid(f"a citation must be an object, not {type(data).__name__}")
    match data.get("kind"):
        case "commit":
            commit = _text(data, "hash")
            if not _HASH.fullmatch(commit):
                raise _invalid(f"{commit!r} is no commit hash: 4 to 64 hexadecimal digits")
            return CommitCitation(commit.lower())
        case "file":
            return _file(data)
        case "symbol":
            return SymbolCitation(_text(data, "id"), _text(data, "name"), _text(data, "file"))
        case "terminal_snapshot":
            return TerminalCitation(_text(data, "id"))
        case "log":
            return LogCitation(_text(data, "pointer"))
        case other:
            raise _invalid(f"unknown citation kind {other!r}")


def _file(data: Mapping[str, Any]) -> FileCitation:
    start, end = _line(data, "startLine"), _line(data, "endLine")
    if end is not None and (start is None or end < start):
        raise _invalid(f"endLine {end} needs a startLine that is not after it")
    return FileCitation(_text(data, "path"), start, end)


def _text(data: Mapping[str, Any], field: str) -> str:
    value = data.get(field)
    if not isinstance(value, str) or not value.strip():
        raise _invalid(f"a {data.get('kind')} citation needs {field!r} as text")
    return value.strip()


def _line(data: Mapping[str, Any], field: str) -> int | None:
    value = data.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _invalid(f"{field} is {value!r}; lines are whole numbers from 1")
    return value


def _invalid(problem: str) -> InvalidInput:
    kinds = "; ".join(f"{kind} ({fields})" for kind, fields in CITATION_FIELDS.items())
    return InvalidInput(f"{problem}; the kinds and their fields are: {kinds}")
