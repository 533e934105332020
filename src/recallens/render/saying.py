"""Small things as people read them, on every surface: times, counts, first lines, and text that stays text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from recallens.model.memory import Memory, Status, Zone

# Controls that move the cursor, colour the screen or turn the direction of text; newline and tab are left.
_ACTIVE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000
_AGES = (
    (365 * _DAY, "year"), (30 * _DAY, "month"), (7 * _DAY, "week"), (_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute"),
)  # fmt: skip


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


def headline(memory: Memory) -> str:
    return first_line(memory.title) if memory.title else first_line(memory.content)


def kinship(memory: Memory) -> str:
    """project · sector · kind, and whatever is out of the ordinary."""
    parts = [memory.project, memory.sector, memory.kind]
    if memory.tier != "project":
        parts.append(f"{memory.tier} tier")
    return visible(" · ".join(part for part in [*parts, *remarks(memory)] if part))


def remarks(memory: Memory) -> list[str]:
    found: list[str] = []
    if memory.status is not Status.ACTIVE:
        found.append(memory.status.replace("_", " "))
    if memory.zone is Zone.QUARANTINE and memory.status is not Status.QUARANTINED:
        found.append("in quarantine")
    if memory.confirmed:
        found.append("confirmed")
    return found
