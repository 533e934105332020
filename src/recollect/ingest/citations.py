"""Citations as they stand in text, in JSON and on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, assert_never

from recollect.errors import InvalidInput, UnknownOption
from recollect.ingest.paths import PATH_CHARACTER, is_file
from recollect.model.memory import (
    Citation,
    CommitCitation,
    FileCitation,
    LogCitation,
    SymbolCitation,
    TerminalCitation,
)

# The seed's kinds and their fields, as every error lists them.
CITATION_FIELDS: Final = {
    "commit": "hash",
    "file": "path, startLine?, endLine?",
    "symbol": "id, name, file",
    "terminal_snapshot": "id",
    "log": "pointer",
}
CITATION_FORMS: Final = (
    "commit:HASH, file:PATH[:START[-END]], symbol:NAME@FILE, terminal_snapshot:ID or log:POINTER"
)

_LOCATED: Final = re.compile(
    rf"(?<!{PATH_CHARACTER})(?P<path>(?:[A-Za-z]:(?=\\))?{PATH_CHARACTER}++)"
    r"(?:#L(?P<anchor>\d{1,9})(?:-L?(?P<anchor_end>\d{1,9}))?|:(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?)?"
)
_COMMIT: Final = re.compile(r"\bcommit[ :]{1,2}(?P<hash>[0-9a-f]{7,40})(?![0-9A-Za-z])", re.IGNORECASE)
_BRACKETED: Final = re.compile(
    r"\[(?P<kind>symbol|log|terminal(?:_snapshot)?):[ \t]*(?P<value>[^\[\]\n]{1,512})\]", re.IGNORECASE
)
_URL: Final = re.compile(r"(?<!\w)[A-Za-z][A-Za-z0-9+.-]{1,15}://\S+")
_HASH: Final = re.compile(r"[0-9A-Fa-f]{4,64}")
_LINES: Final = re.compile(r"(?P<path>.+?)(?::(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?)?", re.DOTALL)


def parse_citations(text: str) -> tuple[Citation, ...]:
    """The distinct citations that a text names, in text order."""
    found: list[tuple[int, Citation]] = []
    for match in _BRACKETED.finditer(text):
        citation = _bracketed(match["kind"].lower(), match["value"].strip())
        if citation:
            found.append((match.start(), citation))
    found += [(match.start(), CommitCitation(match["hash"].lower())) for match in _COMMIT.finditer(text)]
    # What the first pass read is blanked, so that the file inside a bracket or a URL is not cited again.
    rest = _URL.sub(_blank, _BRACKETED.sub(_blank, text))
    for match in _LOCATED.finditer(rest):
        citation = _located(match)
        if citation:
            found.append((match.start(), citation))
    return tuple(dict.fromkeys(citation for _, citation in sorted(found, key=lambda each: each[0])))


def parse_citation(text: str) -> Citation:
    """One citation as typed on the command line."""
    kind, colon, value = text.strip().partition(":")
    kind, value = kind.strip().lower(), value.strip()
    if kind not in CITATION_FIELDS:
        raise UnknownOption("citation kind", kind if colon else text, CITATION_FIELDS)
    if not value:
        raise InvalidInput(f"the citation {text!r} is empty after its kind; use {CITATION_FORMS}")
    if kind == "symbol":
        name, at, file = value.rpartition("@")
        if not (at and name and file):
            raise InvalidInput(f"the citation {text!r} names no file; use symbol:NAME@FILE")
        return SymbolCitation(id=value, name=name, file=file)
    if kind == "file":
        located = _LINES.fullmatch(value)
        fields: dict[str, Any] = {"path": located["path"] if located else value}
        if located and located["start"]:
            fields["startLine"] = int(located["start"])
            fields["endLine"] = int(located["end"]) if located["end"] else None
        return citation_from_json({"kind": kind, **fields})
    return citation_from_json({"kind": kind, CITATION_FIELDS[kind]: value})


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


def _bracketed(kind: str, value: str) -> Citation | None:
    if kind == "log":
        return LogCitation(value) if value else None
    if kind == "symbol":
        name, _, file = value.rpartition("@")
        return SymbolCitation(value, name, file) if name and file else None
    return TerminalCitation(value) if value else None


def _located(match: re.Match[str]) -> FileCitation | None:
    """A file with lines; without them it also needs a slash, since a bare name is a mention."""
    start = match["anchor"] or match["start"]
    path = match["path"].rstrip(".-")
    if not is_file(path):
        return None
    if start is None:
        return FileCitation(path) if "/" in path or "\\" in path else None
    if int(start) < 1:
        return FileCitation(path)
    end = match["anchor_end"] or match["end"]
    last = int(end) if end and int(end) >= int(start) else None
    return FileCitation(path, int(start), last)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())
