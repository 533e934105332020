"""Times as text. A time is epoch milliseconds, UTC, wherever it is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

EARLIEST_MS: Final = -62_135_596_800_000
LATEST_MS: Final = 253_402_300_799_999
"""The first and the last moment that a calendar can name."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000
_AGES: Final = (
    (365 * _DAY, "year"), (30 * _DAY, "month"), (7 * _DAY, "week"), (_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute"),
)  # fmt: skip
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


When = int | datetime
"""A time as a caller may give it: epoch milliseconds, or a datetime, which is UTC where it has no zone."""


def to_ms(moment: datetime) -> int:
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(milliseconds=1)


def to_datetime(ms: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=ms)


def instant(ms: int) -> str:
    """ISO 8601 with milliseconds, as records and agents get it."""
    try:
        return _written(ms, "milliseconds")
    except OverflowError:  # a time that no calendar can name is still a number
        return str(ms)


def second(ms: int) -> str:
    return _written(ms, "seconds")


def moment(ms: int) -> str:
    """To the minute, as people read it. Years outside the calendar cannot be stored, so that none arrives."""
    return _written(ms, "minutes")[:16].replace("T", " ")


def day(ms: int) -> str:
    return _written(ms, "minutes")[:10]


def day_and_month(ms: int, now: int) -> str:
    """As one says it: 24 April, and the year where it is not this one."""
    date = _EPOCH + timedelta(milliseconds=ms)
    year = "" if date.year == (_EPOCH + timedelta(milliseconds=now)).year else f" {date.year}"
    return f"{date.day} {_MONTHS[date.month - 1]}{year}"


def age(ms: int, now: int) -> str:
    apart = abs(now - ms)
    for size, unit in _AGES:
        if apart >= size:
            count = apart // size
            length = f"{count} {unit}{'s' if count > 1 else ''}"
            return f"{length} ago" if ms <= now else f"in {length}"
    return "just now" if ms <= now else "in a moment"


def _written(ms: int, precision: str) -> str:
    return (_EPOCH + timedelta(milliseconds=ms)).isoformat(timespec=precision).replace("+00:00", "Z")
