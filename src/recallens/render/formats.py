"""How a value is read. One function a kind, the same in every writer that people read; JSON keeps the value itself."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache
from typing import Any, Final, assert_never

NONE: Final = "(none)"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

# Control characters move the cursor and break lines, bidirectional marks reorder what is read, and a lone surrogate
# cannot be written. None of them may reach a page as itself.
_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_SHORT: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
# A word that stands among others is quoted where it could be taken for more than one of them.
_AMBIGUOUS: Final = re.compile(r'\s|[",]|->|^$')


class Kind(Enum):
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
            case Kind.TEXT:
                return visible(value) or '""'
            case Kind.WORD:
                return word(value)
            case Kind.COUNT:
                return str(value)
            case Kind.SCORE:
                return f"{value:z.4f}"
            case Kind.SHARE:
                return f"{value:z.2f}"
            case Kind.INSTANT:
                return instant(value)
            case Kind.MS:
                return f"{value:z.3f}".rstrip("0").removesuffix(".")
            case Kind.FLAG:
                return "true" if value else "false"
        assert_never(self)


def kind_of(value: object) -> Kind:
    match value:
        case bool():
            return Kind.FLAG
        case int():
            return Kind.COUNT
        case float():
            return Kind.SCORE
        case _:
            return Kind.TEXT


def visible(text: object) -> str:
    """The text on one line, with everything that could break or disguise it spelled out."""
    given = str(text)
    if given.isascii() and given.isprintable():  # nearly all of them, and nothing to look for
        return given
    return _UNSEEN.sub(lambda found: _SHORT.get(found[0]) or _spelled(found[0]), given)


def word(text: object) -> str:
    given = str(text)
    if not _AMBIGUOUS.search(given):
        return visible(given)
    quoted = given.replace("\\", r"\\").replace('"', r"\"")
    return f'"{visible(quoted)}"'


def instant(ms: int) -> str:
    try:
        return (_EPOCH + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except OverflowError:  # a time that no calendar can name is still a number
        return str(ms)


@cache
def snake_case(name: str) -> str:
    """A JSON name as the specification's text spells it: mmrPenalty is mmr_penalty."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _spelled(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
