"""Times that a question speaks of ("yesterday", "last March", "지난주", "최근 3개월"), as spans of days.

A reference is understood against the asking time, at day granularity. A vague one gets a wide span: "3 weeks ago" is
the week around that day. What cannot be understood is left out; nothing is guessed from a bare number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from functools import cache
from typing import Final

from recallens.text.calendar import Span, day, month, months_after, week, weekend, year
from recallens.text.phrases import Phrases

Reference = tuple[str, date, date]
Rule = tuple[str, Callable[[re.Match[str], date], Span | None]]

RECENT_DAYS: Final = 30
FEW: Final = 3
EARLIEST: Final = date(1970, 1, 1)

_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH_NUMBER: Final = (
    {name: at for at, name in enumerate(_MONTHS, start=1)}
    | {name[:3]: at for at, name in enumerate(_MONTHS, start=1)}
    | {"sept": 9}
)
_MONTH: Final = r"(?P<month>" + "|".join(sorted(_MONTH_NUMBER, key=len, reverse=True)) + r")\.?"
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY: Final = r"(?P<weekday>" + "|".join(_WEEKDAYS) + r")"
_SEASONS: Final = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
_SEASON: Final = r"(?P<season>" + "|".join(_SEASONS) + r")"
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "a couple of": 2, "couple of": 2, "few": FEW,
    "a few": FEW, "several": FEW,
}  # fmt: skip
_COUNT: Final = r"(?P<count>\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + r")"
_UNIT: Final = r"(?P<unit>day|week|month|year)s?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"

_KOREAN_WEEKDAYS: Final = "월화수목금토일"
_KOREAN_NUMBERS: Final = {"한": 1, "두": 2, "세": 3, "네": 4, "몇": FEW, "수": FEW}
_KOREAN_COUNT: Final = r"(?P<count>\d{1,3}|[한두세네몇수])\s?"
_KOREAN_UNITS: Final = {
    "일": "day", "날": "day", "주": "week", "주일": "week", "개월": "month", "달": "month", "년": "year", "해": "year",
}  # fmt: skip
_KOREAN_UNIT: Final = r"(?P<unit>개월|주일|일|주|달|년|해)"
_NOT_WITHIN: Final = r"(?<![가-힣\d])"


def _number(spelled: str) -> int:
    name = spelled.lower()
    return int(name) if name.isdigit() else _NUMBERS.get(name) or _KOREAN_NUMBERS[name]


def _before(today: date, unit: str, count: int) -> date:
    match unit:
        case "day":
            return today - timedelta(days=count)
        case "week":
            return today - timedelta(weeks=count)
        case "month":
            return months_after(today, -count)
        case _:
            return months_after(today, -12 * count)


def ago(today: date, unit: str, count: int) -> Span:
    """The day itself for days; for longer units, half of one to each side, for nobody counts so finely."""
    point = _before(today, unit, count)
    slack = {"day": 0 if count < 7 else 2, "week": 3, "month": 15, "year": 182}[unit]
    end = min(point + timedelta(days=slack + 1), today + timedelta(days=1))
    return point - timedelta(days=slack), max(end, point + timedelta(days=1))


def past(today: date, unit: str, count: int) -> Span:
    return _before(today, unit, count), today + timedelta(days=1)


def period(today: date, unit: str, back: int) -> Span:
    """The calendar week, month or year so many before this one."""
    match unit:
        case "day":
            return day(today - timedelta(days=back))
        case "week":
            return week(today - timedelta(weeks=back))
        case "month":
            first = months_after(today.replace(day=1), -back)
            return month(first.year, first.month)
        case _:
            return year(today.year - back)


def last_weekday(today: date, number: int) -> Span:
    back = (today.weekday() - number) % 7 or 7
    return day(today - timedelta(days=back))


def last_month(today: date, number: int) -> Span:
    """The latest such month that has begun."""
    return month(today.year if number <= today.month else today.year - 1, number)


def month_day(today: date, number: int, day_number: int, year_number: int | None) -> Span | None:
    try:
        found = date(year_number or today.year, number, day_number)
        if year_number is None and found > today:
            found = found.replace(year=today.year - 1)
    except ValueError:
        return None
    return day(found)


def season(today: date, name: str, year_number: int | None) -> Span:
    first = _SEASONS[name]
    start = date(year_number or today.year, first, 1)
    if year_number is None and start > today:
        start = start.replace(year=today.year - 1)
    return start, months_after(start, 3)


def quarter(today: date, number: int, year_number: int | None) -> Span:
    start = date(year_number or today.year, 3 * number - 2, 1)
    if year_number is None and start > today:
        start = start.replace(year=today.year - 1)
    return start, months_after(start, 3)


def _optional(match: re.Match[str], name: str) -> int | None:
    value = match.groupdict().get(name)
    return int(value) if value else None


def _month_number(match: re.Match[str]) -> int:
    return _MONTH_NUMBER[match["month"].lower().rstrip(".")]


def _iso(match: re.Match[str], today: date) -> Span | None:
    return month_day(today, int(match["month"]), int(match["day"]), int(match["year"]))


def _month_of(match: re.Match[str], today: date) -> Span | None:
    number = int(match["month"])
    if not 1 <= number <= 12:
        return None
    known = _optional(match, "year")
    return month(known, number) if known else last_month(today, number)


def _in_english(pattern: str) -> str:
    return rf"(?i:\b(?:{pattern})\b)"


def _in_korean(pattern: str) -> str:
    return _NOT_WITHIN + rf"(?:{pattern})"


# Compiling all of them takes 20 ms, and most questions speak of no time.
_compiled = cache(re.compile)


# The first rule that reads a stretch of text keeps it, so the fuller reading of a phrase stands before the shorter.
_ENGLISH: Final[tuple[Rule, ...]] = (
    (r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)", _iso),
    (_in_english(rf"(?:on |the )*{_MONTH} {_DAY}(?:,? {_YEAR})?(?! ?(?:weeks|months|days))"),
     lambda m, t: month_day(t, _month_number(m), int(m["day"]), _optional(m, "year"))),
    (_in_english(rf"(?:on |the )*{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?"),
     lambda m, t: month_day(t, _month_number(m), int(m["day"]), _optional(m, "year"))),
    (_in_english(rf"{_MONTH},? (?:of )?{_YEAR}"), lambda m, t: month(int(m["year"]), _month_number(m))),
    (_in_english(r"the day before yesterday"), lambda m, t: day(t - timedelta(days=2))),
    (_in_english(r"yesterday|last night"), lambda m, t: day(t - timedelta(days=1))),
    (_in_english(r"today|tonight|this morning|this afternoon|this evening|earlier today"), lambda m, t: day(t)),
    (_in_english(rf"{_COUNT} {_UNIT} ago"), lambda m, t: ago(t, m["unit"].lower(), _number(m["count"]))),
    (_in_english(rf"(?:over |in |during |within |for )?(?:the )?(?:past|last|previous|recent) {_COUNT} {_UNIT}"),
     lambda m, t: past(t, m["unit"].lower(), _number(m["count"]))),
    (_in_english(r"the (?P<unit>week|month|year) before last"), lambda m, t: period(t, m["unit"].lower(), 2)),
    (_in_english(r"last weekend|the (?:past|previous) weekend"), lambda m, t: weekend(t - timedelta(weeks=1))),
    (_in_english(r"this weekend"), lambda m, t: weekend(t)),
    (_in_english(r"(?:last|the previous) (?P<unit>week|month|year)"), lambda m, t: period(t, m["unit"].lower(), 1)),
    (_in_english(r"this (?P<unit>week|month|year)"), lambda m, t: period(t, m["unit"].lower(), 0)),
    (_in_english(r"(?:the past) (?P<unit>week|month|year)"), lambda m, t: past(t, m["unit"].lower(), 1)),
    (_in_english(rf"(?:last|this past|on|past) {_WEEKDAY}"),
     lambda m, t: last_weekday(t, _WEEKDAYS.index(m["weekday"].lower()))),
    (_in_english(rf"(?:last|this) {_SEASON}(?: of {_YEAR})?"),
     lambda m, t: season(t, m["season"].lower(), _optional(m, "year"))),
    (_in_english(rf"(?:in |during )?(?:the )?{_SEASON} (?:of )?{_YEAR}"),
     lambda m, t: season(t, m["season"].lower(), int(m["year"]))),
    (_in_english(rf"Q(?P<quarter>[1-4])(?:,? (?:of )?{_YEAR})?"),
     lambda m, t: quarter(t, int(m["quarter"]), _optional(m, "year"))),
    (_in_english(rf"(?:in |during |since |last |this |back in |early |late |mid[- ])+{_MONTH}"),
     lambda m, t: last_month(t, _month_number(m))),
    (_in_english(rf"(?:in|during|since|back in|of) {_YEAR}"), lambda m, t: year(int(m["year"]))),
    (_in_english(r"recently|lately"), lambda m, t: past(t, "day", RECENT_DAYS)),
)  # fmt: skip
_KOREAN: Final[tuple[Rule, ...]] = (
    (_in_korean(r"(?P<year>(?:19|20)\d\d)년\s?(?P<month>\d{1,2})월\s?(?P<day>\d{1,2})일"), _iso),
    (_in_korean(r"(?:(?P<year>(?:19|20)\d\d)년\s?|지난\s?|올해\s?)?(?P<month>\d{1,2})월\s?(?P<day>\d{1,2})일"),
     lambda m, t: month_day(t, int(m["month"]), int(m["day"]), _optional(m, "year"))),
    (_in_korean(r"(?:작년|지난해)\s?(?P<month>\d{1,2})월"),
     lambda m, t: month(t.year - 1, int(m["month"])) if 1 <= int(m["month"]) <= 12 else None),
    (_in_korean(r"(?:(?P<year>(?:19|20)\d\d)년\s?|지난\s?|올해\s?)?(?P<month>\d{1,2})월(?!\s?\d)"), _month_of),
    (_in_korean(rf"(?:최근|지난|근래)\s?{_KOREAN_COUNT}{_KOREAN_UNIT}(?:간|동안|사이)?"),
     lambda m, t: past(t, _KOREAN_UNITS[m["unit"]], _number(m["count"]))),
    (_in_korean(rf"{_KOREAN_COUNT}{_KOREAN_UNIT}\s?전"),
     lambda m, t: ago(t, _KOREAN_UNITS[m["unit"]], _number(m["count"]))),
    (_in_korean(r"며칠\s?전"), lambda m, t: past(t, "day", 7)),
    (_in_korean(r"그저께|그제|엊그제"), lambda m, t: day(t - timedelta(days=2))),
    (_in_korean(r"어제|어젯밤|전날"), lambda m, t: day(t - timedelta(days=1))),
    (_in_korean(r"오늘|오늘날(?!짜)"), lambda m, t: day(t)),
    (_in_korean(r"지지난\s?주|저저번\s?주"), lambda m, t: period(t, "week", 2)),
    (_in_korean(r"(?:지난|저번)\s?주말"), lambda m, t: weekend(t - timedelta(weeks=1))),
    (_in_korean(r"(?:지난|저번)\s?(?P<weekday>[월화수목금토일])요일"),
     lambda m, t: last_weekday(t, _KOREAN_WEEKDAYS.index(m["weekday"]))),
    (_in_korean(r"(?:지난|저번)\s?주"), lambda m, t: period(t, "week", 1)),
    (_in_korean(r"이번\s?주|금주"), lambda m, t: period(t, "week", 0)),
    (_in_korean(r"지지난\s?달"), lambda m, t: period(t, "month", 2)),
    (_in_korean(r"(?:지난|저번)\s?달|전월"), lambda m, t: period(t, "month", 1)),
    (_in_korean(r"이번\s?달|이달|당월"), lambda m, t: period(t, "month", 0)),
    (_in_korean(r"재작년"), lambda m, t: year(t.year - 2)),
    (_in_korean(r"작년|지난해|전년"), lambda m, t: year(t.year - 1)),
    (_in_korean(r"올해|금년"), lambda m, t: year(t.year)),
    (_in_korean(r"(?:(?P<year>(?:19|20)\d\d)년\s?)?(?P<half>[상하])반기"),
     lambda m, t: _half(t, m["half"] == "상", _optional(m, "year"))),
    (_in_korean(r"(?:(?P<year>(?:19|20)\d\d)년\s?)?(?P<quarter>[1-4])분기"),
     lambda m, t: quarter(t, int(m["quarter"]), _optional(m, "year"))),
    (_in_korean(r"(?P<year>(?:19|20)\d\d)년(?!\s?\d)"), lambda m, t: year(int(m["year"]))),
    (_in_korean(r"최근|요즘|근래"), lambda m, t: past(t, "day", RECENT_DAYS)),
)  # fmt: skip

# What turns a span into everything before or after it.
_AFTER: Final = re.compile(r"\b(?:since|after|following)\s+(?:the\s+)?$", re.IGNORECASE)
_UNTIL: Final = re.compile(r"\b(?:before|until|prior to|by)\s+(?:the\s+)?$", re.IGNORECASE)
_KOREAN_AFTER: Final = re.compile(r"^\s?(?:이후|부터|이래)")
_KOREAN_UNTIL: Final = re.compile(r"^\s?(?:이전|까지)")


def _half(today: date, first: bool, known: int | None) -> Span:
    start = date(known or today.year, 1 if first else 7, 1)
    if known is None and start > today:
        start = start.replace(year=today.year - 1)
    return start, months_after(start, 6)


# One look that rules most questions out: every rule needs one of these.
_SIGN: Final = Phrases(
    r"""
    ago|yesterday|today|tonight|last|this|past|previous|recent(?:ly)?|lately|before|q1|q2|q3|q4
    monday|tuesday|wednesday|thursday|friday|saturday|sunday|spring|summer|fall|autumn|winter
    jan\w*|feb\w*|mar(?:ch)?|apr(?:il)?|may|jun|june|jul|july|aug(?:ust)?|sep\w*|oct(?:ober)?|nov\w*|dec(?:ember)?
    """,
    r"[1-4]분기|\d\s?[월일주달년개]|[한두세네몇수]\s?(?:개월|주|달|해|년)|최근|지난|저번|이번|어제|오늘|작년|올해|재작년|그제|그저께|"
    r"며칠|어젯|전날|이달|금[주년]|전[월년]|당월|반기|요즘|근래",
    anywhere=r"[12][09](?<=19|20)\d\d",
)


def time_references(text: str, today: date) -> list[Reference]:
    """Each reference as written, its first day, and the day after its last; in text order, none inside another."""
    if not _SIGN.within(text):
        return []
    taken: list[tuple[int, int]] = []
    found: list[tuple[int, Reference]] = []
    for pattern, understand in _ENGLISH if text.isascii() else (*_ENGLISH, *_KOREAN):
        for match in _compiled(pattern).finditer(text):
            if _overlaps(match.span(), taken):
                continue
            try:
                span = understand(match, today)
            except (ValueError, OverflowError):  # no such day, or a year that no calendar has
                continue
            if span is None:
                continue
            taken.append(match.span())
            found.append((match.start(), (match.group().strip(), *_bounded(text, match, span, today))))
    return [reference for _, reference in sorted(found, key=lambda pair: pair[0])]


def _overlaps(span: tuple[int, int], taken: Iterable[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in taken)


def _bounded(text: str, match: re.Match[str], span: Span, today: date) -> Span:
    before, after = text[: match.start()], text[match.end() :]
    if _AFTER.search(before) or match.group().lower().startswith("since") or _KOREAN_AFTER.match(after):
        return span[0], max(today + timedelta(days=1), span[1])
    if _UNTIL.search(before) or _KOREAN_UNTIL.match(after):
        return EARLIEST, span[0] if _UNTIL.search(before) else span[1]
    return span
