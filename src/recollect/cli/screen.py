"""Output for people: width, colour, time, and text that cannot do anything to the terminal."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.cli.given import Given

# Controls that move the cursor, colour the screen or turn the direction of text; newline and tab are left.
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_FILLING = re.compile(r" +(?=\n)")

_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000
_AGES = (
    (365 * _DAY, "year"), (30 * _DAY, "month"), (7 * _DAY, "week"), (_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute"),
)  # fmt: skip


def screen(given: Given, *, stderr: bool = False) -> Console:
    """Rich's console: plain text when it is no terminal. Content goes in as Text, never as markup."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise  # Rich calls this inside its `except`; what a closed pipe means is decided once, by the command

    stream = sys.stderr if stderr else sys.stdout
    return Screen(
        file=cast("TextIO", stream if stream.isatty() else Trimmed(stream)),
        no_color=True if given.no_color else None,
        markup=False,
        highlight=False,
        emoji=False,
    )


class Trimmed:
    """A stream without the blanks that fill each line of a table up to the width of the screen."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(_FILLING.sub("", text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def visible(text: str) -> str:
    """The same text with every active control character spelled out."""
    return _ACTIVE.sub(lambda match: _spelled(match.group()), text)


def _spelled(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def first_line(text: str, limit: int = 200) -> str:
    """The first line that says something, cut to a length that is enough for any terminal."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return visible(line if len(line) <= limit else line[: limit - 1] + "…").replace("\t", " ")


def moment(ms: int) -> str:
    """UTC, to the minute. Years outside the calendar cannot be stored, so that none arrives here."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)).isoformat(" ", "minutes")[:16]


def day(ms: int) -> str:
    return moment(ms)[:10]


def age(ms: int, now: int) -> str:
    apart = abs(now - ms)
    for size, unit in _AGES:
        if apart >= size:
            count = apart // size
            length = f"{count} {unit}{'s' if count > 1 else ''}"
            return f"{length} ago" if ms <= now else f"in {length}"
    return "just now" if ms <= now else "in a moment"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
