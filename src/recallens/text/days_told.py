"""The days, weeks and months that a memory's text speaks of, packed into one number."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Final

from recallens.text.times import DAY, EPOCH, day_of, matches, months_after

# How much of a text is read for days, and how many of them are kept, 16 bits each: what says when stands early on.
TOLD_CHARACTERS: Final = 4_000
DAYS_TOLD: Final = 4
DAY_BITS: Final = 16
# A whole month stands beyond every day that fits (2079), as its number since 1970, and a week beyond the months.
MONTHS_FROM: Final = 40_000
WEEKS_FROM: Final = 50_000
# Of a longer span, which is no week or month, the first and the last day stand for it.
_EACH_DAY, _LONGEST_TOLD = 3, 31
_TOLD: Final = frozenset(("date", "week", "part", "month", "day", "ago", "ahead", "weekday", "weekend", "period"))


def days_told(text: str, created: int) -> int:
    """The first few days, weeks and whole months that a text names, as one number; the day and the week in which it was
    made say nothing.

    A day without a year is the nearest to that day: in January, 20 December was three weeks ago. It is the next or the
    last one where the clause looks ahead or tells what was, and none where it comes every year.
    """
    made = day_of(created)
    numbers: dict[int, None] = {}
    for match in matches(text[:TOLD_CHARACTERS], made, _TOLD):
        start, end = match.span
        if match.rule.reading == "ago" and end - start > DAY:
            continue
        if match.rule.reading == "ahead":  # in two weeks is about then: the day in the middle stands for it
            start += ((end - start).days // 2) * DAY
            end = start + DAY
        numbers |= dict.fromkeys(_told(start, end, made))
    packed = 0
    for place, number in enumerate(list(numbers)[:DAYS_TOLD]):
        packed |= number << (DAY_BITS * place)
    return packed - (1 << 64) if packed >= 1 << 63 else packed


def _told(start: date, end: date, made: date) -> Iterator[int]:
    """The numbers of a span: of its days, its week or its month."""
    days = (end - start).days
    if start.year < 1970 or end.year >= _LAST_YEAR or start == made:
        return
    if start.day == 1 and end == months_after(start, 1):
        yield month_number(start)
    elif days == 7 and start.weekday() == 0:
        if not start <= made < end:
            yield week_number(start)
    elif days <= _EACH_DAY:
        yield from ((start - EPOCH).days + day for day in range(days))
    elif days <= _LONGEST_TOLD:
        yield (start - EPOCH).days
        yield (end - EPOCH).days - 1


_LAST_YEAR: Final = 2079


def month_number(of: date) -> int:
    return MONTHS_FROM + (of.year - 1970) * 12 + of.month - 1


def week_number(of: date) -> int:
    return WEEKS_FROM + ((of - EPOCH).days + EPOCH.weekday()) // 7
