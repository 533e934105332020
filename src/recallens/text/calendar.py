"""Whole days as half-open spans, the alphabet in which times are understood. All days are UTC days."""

from __future__ import annotations

from datetime import date, timedelta

Span = tuple[date, date]

_EPOCH = date(1970, 1, 1)
_DAY_MS = 86_400_000


def day_of(milliseconds: int) -> date:
    return date.fromordinal(_EPOCH.toordinal() + milliseconds // _DAY_MS)


def milliseconds(day: date) -> int:
    return (day - _EPOCH).days * _DAY_MS


def day(first: date) -> Span:
    return first, first + timedelta(days=1)


def week(of: date) -> Span:
    """From Monday."""
    monday = of - timedelta(days=of.weekday())
    return monday, monday + timedelta(days=7)


def weekend(of: date) -> Span:
    saturday = week(of)[0] + timedelta(days=5)
    return saturday, saturday + timedelta(days=2)


def month(year: int, number: int) -> Span:
    first = date(year, number, 1)
    return first, months_after(first, 1)


def year(number: int) -> Span:
    return date(number, 1, 1), date(number + 1, 1, 1)


def months_after(start: date, count: int) -> date:
    """The same day so many months on, or the last one that the month has."""
    index = start.year * 12 + start.month - 1 + count
    first = date(index // 12, index % 12 + 1, 1)
    length = (date((index + 1) // 12, (index + 1) % 12 + 1, 1) - first).days
    return first.replace(day=min(start.day, length))
