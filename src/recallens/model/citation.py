"""Citations: what a memory names as its source, their JSON as specified, and whether what they name is still there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from recallens.errors import InvalidInput


class _Cited(Struct, frozen=True, gc=False, tag_field="kind", rename="camel", omit_defaults=True):
    """The JSON of a citation is its kind and its fields; lines that are not known are left out."""

    @property
    def kind(self) -> str:
        return str(self.__struct_config__.tag)


class CommitCitation(_Cited, frozen=True, tag="commit"):
    hash: str


class FileCitation(_Cited, frozen=True, tag="file"):
    path: str
    start_line: int | None = None
    end_line: int | None = None


class SymbolCitation(_Cited, frozen=True, tag="symbol"):
    id: str
    name: str
    file: str


class TerminalCitation(_Cited, frozen=True, tag="terminal_snapshot"):
    id: str


class LogCitation(_Cited, frozen=True, tag="log"):
    pointer: str


Citation = CommitCitation | FileCitation | SymbolCitation | TerminalCitation | LogCitation

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
    record: dict[str, Any] = to_builtins(citation)
    return record


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
            start, end = _line(data, "startLine"), _line(data, "endLine")
            if end is not None and (start is None or end < start):
                raise _invalid(f"endLine {end} needs a startLine that is not after it")
            return FileCitation(_text(data, "path"), start, end)
        case "symbol":
            return SymbolCitation(_text(data, "id"), _text(data, "name"), _text(data, "file"))
        case "terminal_snapshot":
            return TerminalCitation(_text(data, "id"))
        case "log":
            return LogCitation(_text(data, "pointer"))
        case None:
            raise _invalid("a citation needs its 'kind'")
        case other:
            raise _invalid(f"unknown citation kind {other!r}")


def _text(data: Mapping[str, Any], field: str) -> str:
    value = data.get(field)
    if not isinstance(value, str) or not value.strip():
        raise _invalid(f"a {data.get('kind')} citation needs {field!r} as text")
    return value.strip()


def _line(data: Mapping[str, Any], field: str) -> int | None:
    value = data.get(field)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise _invalid(f"{field} is {value!r}; lines are whole numbers from 1")
    return value


def _invalid(problem: str) -> InvalidInput:
    kinds = "; ".join(f"{kind} ({fields})" for kind, fields in CITATION_FIELDS.items())
    return InvalidInput(f"{problem}; the kinds and their fields are: {kinds}")


# ── whether what is cited is still there ──


class Standing(StrEnum):
    VERIFIED = "verified"
    STALE = "stale"
    UNKNOWN = "unknown"


class Finding(StrEnum):
    """What has become of lines that are known from when they were cited."""

    UNCHANGED = "unchanged"
    MOVED = "moved"
    CHANGED = "changed"
    GONE = "gone"


class CitedLines(Struct, frozen=True, omit_defaults=True):
    """The cited lines as they were: a hash of all, and one of each where there are not too many. Never their text.

    `commit` and `repository` are those of the checkout, where it was one. `start` is the line they began on.
    """

    hash: str
    lines: tuple[str, ...] = ()
    start: int = 1
    commit: str = ""
    repository: str = ""


def standing_at(root: str, branch: str) -> str:
    """The name of a folder with what is checked out in it."""
    return f"{root}@{branch}"


class Worktree(Struct, frozen=True, omit_defaults=True):
    """The checkout that was looked into; a folder that is none has neither branch nor commit."""

    root: str = ""
    branch: str = ""
    commit: str = ""
    repository: str = ""

    def is_called(self, name: str) -> bool:
        """By its branch, its folder, the folder's own name, or folder and branch."""
        folder = self.root.replace("\\", "/").rpartition("/")[2]
        return name in (self.branch, self.root, folder, standing_at(self.root, self.branch)) and bool(name)


class Checked(Struct, frozen=True, rename={"standing": "verdict"}, omit_defaults=True):
    """`reason` says what is wrong, or why nothing could be found out; a verified citation needs none.

    `finding` is known where the lines are known from when they were cited; `now` is where they stand now, `changed`
    how many of them are other lines now.
    """

    citation: Citation
    standing: Standing
    reason: str = ""
    finding: Finding | None = None
    now: str = ""
    changed: int = 0


class CitationCheck(Struct, frozen=True):
    """What is known of a memory's citations in one checkout, and since when."""

    memory: str
    at: int
    checked: tuple[Checked, ...]
    worktree: Worktree = Worktree()

    @property
    def standing(self) -> Standing:
        """Stale if any is; verified if one is and none is stale."""
        standings = {each.standing for each in self.checked}
        for standing in (Standing.STALE, Standing.VERIFIED):
            if standing in standings:
                return standing
        return Standing.UNKNOWN

    @property
    def stale(self) -> tuple[Checked, ...]:
        return tuple(each for each in self.checked if each.standing is Standing.STALE)

    @property
    def remark(self) -> str:
        """What of its citations speaks against the memory, in two or three words."""
        findings = {each.finding for each in self.stale}
        if Finding.CHANGED in findings:
            return "cites changed lines"
        return "cites what is gone" if self.stale else ""

    def told_at(self, worktree: str | None) -> str | None:
        """The remark; and of which branch, if it is not of the checkout that the caller stands in."""
        place = self.worktree
        elsewhere = worktree is not None and place.branch and not place.is_called(worktree)
        return (f"{self.remark} on {place.branch}" if elsewhere else self.remark) if self.remark else None


def updated(before: CitationCheck, after: CitationCheck) -> CitationCheck:
    """The later verdicts; where one is unknown, an earlier one that knew stands."""
    known = {each.citation: each for each in before.checked if each.standing is not Standing.UNKNOWN}
    checked = [known.get(each.citation, each) if each.standing is Standing.UNKNOWN else each for each in after.checked]
    worktree = after.worktree if after.worktree.root else before.worktree
    return replace(after, checked=tuple(checked), worktree=worktree)
