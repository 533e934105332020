"""Times as text. A time is epoch milliseconds, UTC, wherever it is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def instant(ms: int) -> str:
    """ISO 8601 with milliseconds, as records and agents get it."""
    try:
        return _written(ms, "milliseconds")
    except OverflowError:  # a time that no calendar can name is still a number
        return str(ms)


def second(ms: int) -> str:
    return _written(ms, "seconds")


def minute(ms: int) -> str:
    """Date and time of day, as people read it. Years outside the calendar cannot be stored, so that none arrives."""
    return _written(ms, "minutes")[:16].replace("T", " ")


def day(ms: int) -> str:
    return _written(ms, "minutes")[:10]


def _written(ms: int, precision: str) -> str:
    return (_EPOCH + timedelta(milliseconds=ms)).isoformat(timespec=precision).replace("+00:00", "Z")
