"""Times that a question speaks of ("yesterday", "last March", "지난주", "최근 3개월"), as half-open spans of UTC days.

A reference is understood against the asking time, at day granularity. A vague one gets a wide span: "3 weeks ago" is
the week around that day. What cannot be understood is left out; nothing is guessed from a bare number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache
from typing import Final, assert_never

from recallens.text.languages import PACKS, Phrases, alternatives, packs_for
from recallens.text.languages.pack import TimeRule, TimeWords

Span = tuple[date, date]
Reference = tuple[str, date, date]

_EPOCH: Final = date(1970, 1, 1)
_DAY: Final = timedelta(days=1)
_DAY_MS: Final = 86_400_000

# Of every language: numbers alone.
_ISO: Final = TimeRule(r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)", "date")
# One look that rules most questions out: every rule needs one of these.
_SIGN: Final = Phrases.of(lambda pack: pack.times.sign, anywhere=r"[12][09](?<=19|20)\d\d")
_SINCE: Final = tuple(word for pack in PACKS for word in pack.times.since_within)


def day_of(milliseconds: int) -> date:
    return date.fromordinal(_EPOCH.toordinal() + milliseconds // _DAY_MS)


def milliseconds(day: date) -> int:
    return (day - _EPOCH).days * _DAY_MS


def week(of: date) -> Span:
    """From Monday."""
    monday = of - of.weekday() * _DAY
    return monday, monday + 7 * _DAY


def month(year: int, number: int) -> Span:
    first = date(year, number, 1)
    return first, months_after(first, 1)


def months_after(start: date, count: int) -> date:
    """The same day so many months on, or the last one that the month has."""
    index = start.year * 12 + start.month - 1 + count
    first = date(index // 12, index % 12 + 1, 1)
    length = (date((index + 1) // 12, (index + 1) % 12 + 1, 1) - first).days
    return first.replace(day=min(start.day, length))


def _before(today: date, unit: str, count: int) -> date:
    if unit in ("day", "week"):
        return today - count * (7 if unit == "week" else 1) * _DAY
    return months_after(today, -count * (1 if unit == "month" else 12))


def ago(today: date, unit: str, count: int) -> Span:
    """The day itself for days; for longer units, half of one to each side, for nobody counts so finely."""
    point = _before(today, unit, count)
    slack = {"day": 0 if count < 7 else 2, "week": 3, "month": 15, "year": 182}[unit]
    end = min(point + (slack + 1) * _DAY, today + _DAY)
    return point - slack * _DAY, max(end, point + _DAY)


def period(today: date, unit: str, back: int) -> Span:
    """The day, or the calendar week, month or year, so many before this one."""
    match unit:
        case "day":
            return today - back * _DAY, today - (back - 1) * _DAY
        case "week":
            return week(today - timedelta(weeks=back))
        case "month":
            first = months_after(today.replace(day=1), -back)
            return month(first.year, first.month)
        case _:
            return part_of_year(today, 1, 12, today.year - back)


def month_day(today: date, number: int, day_number: int, year_number: int | None) -> Span | None:
    try:
        named_day = date(year_number or today.year, number, day_number)
        if year_number is None and named_day > today:
            named_day = named_day.replace(year=today.year - 1)
    except ValueError:
        return None
    return named_day, named_day + _DAY


def part_of_year(today: date, first_month: int, length: int, year_number: int | None) -> Span:
    """The latest such season, quarter, half or year that has begun, where no year is named."""
    start = date(year_number or today.year, first_month, 1)
    if year_number is None and start > today:
        start = start.replace(year=today.year - 1)
    return start, months_after(start, length)


def time_references(text: str, today: date) -> list[Reference]:
    """Each reference as written, its first day, and the day after its last; in text order, none inside another."""
    if not _SIGN.within(text):
        return []
    rules = [(_ISO, TimeWords()), *((rule, pack.times) for pack in packs_for(text) for rule in pack.times.rules)]
    taken: list[tuple[int, int]] = []
    references: list[tuple[int, Reference]] = []
    for rule, words in rules:
        for match in _compiled(rule.pattern, words.around).finditer(text):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            try:
                span = _understood(rule, match, today, words)
            except (ValueError, OverflowError):  # no such day, or a year that no calendar has
                continue
            if span is None:
                continue
            taken.append(match.span())
            references.append((match.start(), (match.group().strip(), *_bounded(text, match, span, today))))
    return [reference for _, reference in sorted(references, key=lambda pair: pair[0])]


@cache  # compiling all rules takes 20 ms, and most questions speak of no time
def _compiled(pattern: str, around: tuple[str, str]) -> re.Pattern[str]:
    return re.compile(around[0] + pattern + around[1])


def _understood(rule: TimeRule, match: re.Match[str], today: date, words: TimeWords) -> Span | None:
    groups = {name: value.lower() for name, value in match.groupdict().items() if value}
    known_year = int(groups["year"]) if "year" in groups else None
    count = _number(groups["count"], words.numbers) if "count" in groups else rule.count
    unit = words.units.get(groups["unit"], groups["unit"]) if "unit" in groups else rule.unit
    match rule.reading:
        case "date":
            return month_day(today, _number(groups["month"], words.months), int(groups["day"]), known_year)
        case "month":
            number = _number(groups["month"], words.months)
            if not 1 <= number <= 12:
                return None
            named = today.year - rule.back if rule.back else known_year
            # Without a year it is the latest such month that has begun.
            return month(named or (today.year if number <= today.month else today.year - 1), number)
        case "day":
            return period(today, "day", rule.back)
        case "ago":
            return ago(today, unit, count)
        case "past":
            return _before(today, unit, count), today + _DAY
        case "period":
            return period(today, unit, rule.back)
        case "weekend":
            monday, end = week(today - timedelta(weeks=rule.back))
            return monday + 5 * _DAY, end
        case "weekday":
            weekday = today - ((today.weekday() - words.weekdays.index(groups["weekday"])) % 7 or 7) * _DAY
            return weekday, weekday + _DAY
        case "season":
            return part_of_year(today, words.seasons[groups["season"]], 3, known_year)
        case "quarter":
            return part_of_year(today, 3 * int(groups["quarter"]) - 2, 3, known_year)
        case "half":
            return part_of_year(today, words.halves[groups["half"]], 6, known_year)
        case "year":
            return part_of_year(today, 1, 12, known_year)
    assert_never(rule.reading)


def _number(spelled: str, names: Mapping[str, int]) -> int:
    return int(spelled) if spelled.isdigit() else names[spelled]


def _bounded(text: str, match: re.Match[str], span: Span, today: date) -> Span:
    """The span, or everything since it or until it where the words around it say so."""
    before, after = text[: match.start()], text[match.end() :]
    opens = match.group().lower().startswith(_SINCE)
    if opens or _bound("since_before").search(before) or _bound("since_after").match(after):
        return span[0], max(today + _DAY, span[1])
    if _bound("until_before").search(before):
        return _EPOCH, span[0]
    return (_EPOCH, span[1]) if _bound("until_after").match(after) else span


@cache
def _bound(name: str) -> re.Pattern[str]:
    """One of the four sorts of words that make a span open, in every language."""
    return re.compile(alternatives(lambda pack: getattr(pack.times, name)), re.IGNORECASE)
