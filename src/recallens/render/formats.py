"""How a value is read: one function a kind, the same on every surface for people. JSON keeps the value itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, Final, assert_never

from recallens.model.citation import (
    Citation,
    CommitCitation,
    FileCitation,
    LogCitation,
    SymbolCitation,
    TerminalCitation,
)
from recallens.model.memory import Memory, Status, Zone
from recallens.model.state import INCOMPLETE
from recallens.model.times import instant

NONE: Final = "(none)"
USER: Final = "user"  # the source of what the person at the machine has said

# Control characters move the cursor and break lines, bidirectional marks reorder what is read, and a lone surrogate
# cannot be written. None of them may reach a page as itself.
# Nor may what takes no room: it hides words from a reader, or hides from a reader that two words are not the same. The
# joiners of emoji and Persian are left to texts; a name has none.
_HIDDEN: Final = "\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
_DIRECTION: Final = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
_UNSEEN: Final = re.compile(f"[\x00-\x1f\x7f-\x9f\ud800-\udfff{_DIRECTION}{_HIDDEN}]")
_JOINERS: Final = re.compile("[\u00ad\u034f\u200c\u200d\ufe00-\ufe0f]")
# A name that stands as it is, among words of ours: one word, of signs that no sentence of ours is made of.
_PLAIN_NAME: Final = re.compile(r"[\w.@/+~#=:\\-]{0,120}[\w.@/+~#=\\-]")
# Words that a name would be taken for ours by.
_OURS: Final = frozenset((
    "trusted", "working", "quarantine", "verified", "unchecked", "hypothesis", "recallens", "superseded", "stale",
    "archived", "disputed", "withheld", "user", "approved", "confirmed", "cites", "by", "from", "end", "context",
))  # fmt: skip
# What a line of ours has behind a title.
_BEHIND_TITLE: Final = re.compile(
    r"[·→]|\((?:relevance|confidence|worked|seen|withheld|hypothesis)|\[HYP|^\[(?!suspected\])", re.IGNORECASE
)
_SHORT: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
# A word that stands among others is quoted where it could be taken for more than one of them.
_AMBIGUOUS: Final = re.compile(r'\s|[",]|->|^$')
# Controls that move the cursor, colour the screen or turn the direction of text; newline and tab are left.
_ACTIVE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

# How a result was matched, by its match type.
MATCHED: Final[Mapping[str, str]] = {
    "both": "matched by words and meaning",
    "keyword": "matched by words",
    "semantic": "matched by meaning",
}


class ValueKind(Enum):
    TEXT = "a line of its own"
    WORD = "text that shares its line, quoted where its end would not be plain"
    COUNT = "a whole number"
    SCORE = "four decimals"
    SHARE = "two decimals"
    INSTANT = "ISO 8601 in UTC with milliseconds"
    MS = "milliseconds, to the microsecond"
    FLAG = "true or false"

    def show(self, value: Any) -> str:
        if value is None or (isinstance(value, list | dict) and not value):
            return NONE
        match self:
            case ValueKind.TEXT:
                return visible(value) or '""'
            case ValueKind.WORD:
                return word(value)
            case ValueKind.COUNT:
                return str(value)
            case ValueKind.SCORE:
                return f"{value:z.4f}"
            case ValueKind.SHARE:
                return f"{value:z.2f}"
            case ValueKind.INSTANT:
                return instant(value)
            case ValueKind.MS:
                return f"{value:z.3f}".rstrip("0").removesuffix(".")
            case ValueKind.FLAG:
                return "true" if value else "false"
        assert_never(self)


def kind_of(value: object) -> ValueKind:
    kinds = ((bool, ValueKind.FLAG), (int, ValueKind.COUNT), (float, ValueKind.SCORE))
    return next((kind for type_, kind in kinds if isinstance(value, type_)), ValueKind.TEXT)


def failures(degraded: Mapping[str, str]) -> str:
    """The views that failed or answered in part, in a sentence; nothing where none did."""
    told = (f"The {view} view {how_it_failed(visible(error))}." for view, error in degraded.items())
    failed = [error for error in degraded.values() if not error.startswith(INCOMPLETE)]
    alone = " The other views answered alone." if failed else ""
    return f"{' '.join(told)}{alone}"


def how_it_failed(error: str) -> str:
    if error.startswith(INCOMPLETE):
        return f"is incomplete ({error.removeprefix(INCOMPLETE)})"
    return f"failed ({error})"


def visible(text: object) -> str:
    """The text on one line, with everything that could break or disguise it spelled out."""
    line = str(text)
    if line.isascii() and line.isprintable():  # nearly all of them, and nothing to look for
        return line
    return _UNSEEN.sub(lambda match: _SHORT.get(match[0]) or _spelled(match[0]), line)


def as_name(text: object) -> str:
    """What a caller calls something, on a line of ours: in quotes unless it can be taken for nothing else."""
    plain = str(text)
    if _PLAIN_NAME.fullmatch(plain) and plain.lower() not in _OURS:
        return visible(plain)
    quoted = visible(plain.replace("\\", r"\\").replace('"', r"\""))
    return f'"{_JOINERS.sub(lambda match: _spelled(match[0]), quoted)}"'


def as_title(title: str) -> str:
    """A title on a line of ours, in quotes where it holds what our lines say behind one."""
    return "“{}”".format(title.replace("”", '"')) if _BEHIND_TITLE.search(title) else title


def word(text: object) -> str:
    plain = str(text)
    if not _AMBIGUOUS.search(plain):
        return visible(plain)
    quoted = plain.replace("\\", r"\\").replace('"', r"\"")
    return f'"{visible(quoted)}"'


@cache
def snake_case(name: str) -> str:
    """A JSON name as the specification's text spells it: mmrPenalty is mmr_penalty."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _spelled(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(text: str) -> str:
    """The same text, of as many lines, with every active control character spelled out."""
    return _ACTIVE.sub(lambda match: _spelled(match.group()), text)


def first_line(text: str, limit: int = 200) -> str:
    """The first line that says something, cut to a length that is enough for any terminal."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return printable(line if len(line) <= limit else line[: limit - 1] + "…").replace("\t", " ")


def counted(count: int, noun: str, plural: str | None = None) -> str:
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def headline(memory: Memory) -> str:
    return first_line(memory.title) if memory.title else first_line(memory.content)


def kinship(memory: Memory, status: Status | None = None) -> str:
    """project · sector · kind, and whatever is out of the ordinary; `status` is what it was at the time asked about."""
    tier = "" if memory.tier == "project" else f"{memory.tier} tier"
    parts = (memory.project, memory.sector, memory.kind, tier, *remarks(memory, status))
    return printable(" · ".join(filter(None, parts)))


def remarks(memory: Memory, at_the_time: Status | None = None) -> list[str]:
    own = memory.status if at_the_time is None else at_the_time
    status = "" if own is Status.ACTIVE else own.replace("_", " ")
    held = memory.zone is Zone.QUARANTINE and memory.status is not Status.QUARANTINED
    unsettled = f"{memory.review}, needs review" if memory.review is not None else ""
    return [
        *filter(None, (status, unsettled, "in quarantine" if held else "", "confirmed" if memory.confirmed else ""))
    ]


def cited(citation: Citation) -> str:
    """A citation as it would be typed after --cite, without its kind where that is plain."""
    match citation:
        case CommitCitation(hash=hash):
            return f"commit {as_name(hash)}"
        case FileCitation(path=path, start_line=start, end_line=end):
            return as_name(path) + ("" if start is None else f":{start}") + ("" if end is None else f"-{end}")
        case SymbolCitation(name=symbol, file=file):
            return f"{as_name(symbol)} in {as_name(file)}"
        case TerminalCitation(id=id):
            return f"terminal snapshot {as_name(id)}"
        case LogCitation(pointer=pointer):
            return f"log {as_name(pointer)}"
    assert_never(citation)


def cites(citations: Sequence[Citation], most: int) -> str:
    """The first few, and how many more there are."""
    shown = [cited(citation) for citation in citations[:most]]
    rest = len(citations) - len(shown)
    return f"cites {', '.join(shown)}" + (f" +{rest}" if rest else "")
