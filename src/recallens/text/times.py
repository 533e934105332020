"""Times that a text speaks of ("yesterday", "last March", "지난주", "최근 3개월"), as half-open spans of UTC days.

A reference of a question is understood against the asking time, at day granularity; one of a memory against the day on
which it was made. A vague one gets a wide span: "3 weeks ago" is the week around that day. What cannot be understood is
left out; nothing is guessed from a bare number. A time may also be told by what happened: "since the release".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, timedelta
from functools import cache
from operator import attrgetter
from typing import Final, NamedTuple, assert_never

from recallens.text.languages import PACKS, Phrases, alternatives, packs_for
from recallens.text.languages.pack import EventRule, TimeRule, TimeWords
from recallens.text.sieve import ALWAYS, LetterGuard, sets_met
from recallens.text.tense import LAST, NEXT, outlook_of, sentence_around

Span = tuple[date, date]


class Reference(NamedTuple):
    """As written, its first day, the day after its last, and whether it only means about then."""

    text: str
    start: date
    end: date
    vague: bool = False


class EventPhrase(NamedTuple):
    """What is said to have happened, as written and with the words that make a time of it: the days from `first` up to
    and without `end`, counted from its own.
    """

    text: str
    event: str
    first: int | None
    end: int | None


class Match(NamedTuple):
    start: int
    end: int
    span: Span
    rule: TimeRule


# How far from a time the words may stand that open its span: a whole text for each time would cost its square.
_NEARBY: Final = 40
_start: Final = attrgetter("start")
EPOCH: Final = date(1970, 1, 1)
DAY: Final = timedelta(days=1)
_DAY_MS: Final = 86_400_000

# A day without a year is the coming one if it is no farther ahead: of a question, which mostly asks for what has been,
# and of a memory, where it is the nearest.
UPCOMING: Final = timedelta(days=60)
NEAREST: Final = timedelta(days=184)
# Of every language: numbers alone.
_ISO: Final = TimeRule(r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)", "date")
# One look that rules most texts out: every rule of a language needs one of its signs, or a year.
_SIGNS: Final = tuple(
    (own, Phrases.of(lambda pack, own=own: pack.times.sign if pack is own else ""))  # type: ignore[misc]
    for own in PACKS
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_EVENT_SIGN: Final = Phrases.of(lambda pack: pack.times.event_sign)
_SINCE: Final = tuple(word for pack in PACKS for word in pack.times.since_within)


def day_of(milliseconds: int) -> date:
    return date.fromordinal(EPOCH.toordinal() + milliseconds // _DAY_MS)


def milliseconds(day: date) -> int:
    return (day - EPOCH).days * _DAY_MS


def week(of: date) -> Span:
    """From Monday."""
    monday = of - of.weekday() * DAY
    return monday, monday + 7 * DAY


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
        return today - count * (7 if unit == "week" else 1) * DAY
    return months_after(today, -count * (1 if unit == "month" else 12))


def ago(today: date, unit: str, count: int) -> Span:
    """The day itself for days; for longer units, half of one to each side, for nobody counts so finely."""
    point = _before(today, unit, count)
    slack = {"day": 0 if count < 7 else 2, "week": 3, "month": 15, "year": 182}[unit]
    end = min(point + (slack + 1) * DAY, today + DAY)
    return point - slack * DAY, max(end, point + DAY)


def period(today: date, unit: str, back: int) -> Span:
    """The day, or the calendar week, month or year, so many before this one."""
    match unit:
        case "day":
            return today - back * DAY, today - (back - 1) * DAY
        case "week":
            return week(today - timedelta(weeks=back))
        case "month":
            first = months_after(today.replace(day=1), -back)
            return month(first.year, first.month)
        case "quarter":
            first = months_after(date(today.year, 3 * ((today.month - 1) // 3) + 1, 1), -3 * back)
            return first, months_after(first, 3)
        case _:
            return part_of_year(today, 1, 12, today.year - back)


def ahead(today: date, unit: str, count: int) -> Span:
    """As `ago`, the other way."""
    start, end = ago(today, unit, count)
    point = _before(today, unit, -count)
    slack = (end - start).days // 2
    return max(point - slack * DAY, today + DAY), point + (slack + 1) * DAY


def latest(number: int, day_number: int, by: date) -> date | None:
    """The latest such day of a month up to one; None where no year has it."""
    for year in range(by.year, by.year - 5, -1):
        with suppress(ValueError):
            if (day := date(year, number, day_number)) <= by:
                return day
    return None


def part_of_month(first: date, days: tuple[int, int | None]) -> Span:
    return first.replace(day=days[0]), months_after(first, 1) if days[1] is None else first.replace(day=days[1])


def part_of_year(today: date, first_month: int, length: int, year_number: int | None) -> Span:
    """The latest such season, quarter, half or year that has begun, where no year is named."""
    start = date(year_number or today.year, first_month, 1)
    if year_number is None and start > today:
        start = start.replace(year=today.year - 1)
    return start, months_after(start, length)


def this_season(today: date, first_month: int, outlook: timedelta | None) -> Span:
    """The season that it is, else this year's, unless its clause looks ahead or back; of two winters the nearer one."""
    begun = part_of_year(today, first_month, 3, None)
    coming = part_of_year(today, first_month, 3, begun[0].year + 1)
    if begun[1] > today or outlook == LAST:
        return begun
    is_nearer = coming[0] - today < today - begun[1]
    of_this_year = coming[0].year == today.year and (begun[1].year == begun[0].year or is_nearer)
    return coming if of_this_year or outlook == NEXT else begun


def time_references(text: str, today: date) -> list[Reference]:
    """In text order, none inside another; two that are the ends of one span are one."""
    found = matches(text, today)
    references: list[Reference] = []
    at = 0
    while at < len(found):
        first, last = found[at], found[min(at + 1, len(found) - 1)]
        if last is not first and first.span[0] < last.span[1] and _joined(text, first, last):
            references.append(Reference(text[first.start : last.end].strip(), first.span[0], last.span[1]))
            at += 2
            continue
        end, span = _bounded(text, first, today)
        references.append(Reference(text[first.start : end].strip(), *span, first.rule.vague))
        at += 1
    return references


def matches(text: str, today: date, readings: frozenset[str] | None = None) -> list[Match]:
    """Those of a memory, of these readings; or those of a question, of every one."""
    of_year = _YEAR.search(text) is not None
    of_all = of_year and readings is None
    told = tuple(pack.code for pack, sign in _SIGNS if (of_all or sign.within(text)) and pack in packs_for(text))
    if not told and not of_year:
        return []
    found: list[Match] = []
    rules, lowered = _rules(told, readings), text.casefold()
    met = sets_met(lowered)
    for rule, words, guard in rules:
        if not guard.may_match(lowered, met):
            continue
        if rule.any_such and readings is None and _is_present(text, words) and not re.search(words.ahead, text.lower()):
            continue  # why are we closed on Sunday
        for match in _pattern(words.around[0] + rule.pattern + words.around[1]).finditer(text):
            at = bisect_left(found, match.end(), key=_start)  # none overlaps another: only the one before it can
            if at and match.start() < found[at - 1].end:
                continue
            try:
                span = _understood(rule, match, today, words, readings is not None)
            except (ValueError, OverflowError):  # no such day, or a year that no calendar has
                continue
            if span is not None and (also := match.groupdict().get("also")):
                other = span[0].replace(day=int(also))
                found.insert(at, Match(match.start("also"), match.end(), (other, other + DAY), rule))
                found.insert(at, Match(match.start(), match.start("also"), span, rule))
            elif span is not None:
                found.insert(at, Match(*match.span(), span, rule))
    return found


def _is_present(text: str, words: TimeWords) -> bool:
    """Whether it asks for what is or will be, and not for what was."""
    return bool(re.search(words.present, text.lower())) and not re.search(words.was, text.lower())


def _joined(text: str, first: Match, last: Match) -> bool:
    """Whether the two are the first and the last day of one span: between 1 and 10 October, or 28 and 29 November."""
    between = text[first.end : last.start]
    neighbours = first.span[1] == last.span[0] and last.span[1] - first.span[0] == 2 * DAY
    if neighbours and (not between or _bound("both").fullmatch(between)):
        return True
    opened = _bound("between").search(_before_it(text, first)) and _bound("joints").fullmatch(between)
    return bool(opened or _bound("ranges").fullmatch(between))


_pattern: Final = cache(re.compile)  # compiling all of them takes 20 ms, and a text is tried on few


@cache
def _rules(
    languages: tuple[str, ...], readings: frozenset[str] | None
) -> tuple[tuple[TimeRule, TimeWords, LetterGuard], ...]:
    """The rules of these languages and readings, or of all readings, in the order in which they are tried. A guard says
    which memories one need not be tried on; for a question, which is short, making them all takes longer than it saves.
    """
    rules = [
        (_ISO, TimeWords()),
        *((rule, pack.times) for pack in PACKS if pack.code in languages for rule in pack.times.rules),
    ]
    return tuple(
        (rule, words, LetterGuard.of(rule.pattern) if readings is not None else ALWAYS)
        for rule, words in rules
        if readings is None or rule.reading in readings
    )


def _understood(rule: TimeRule, match: re.Match[str], today: date, words: TimeWords, of_memory: bool) -> Span | None:
    groups = {name: value.lower() for name, value in match.groupdict().items() if value}
    known_year = int(groups["year"]) if "year" in groups else None
    told_year = known_year or (today.year - rule.back if rule.back else None)
    if of_memory and "month" in groups and told_year is None and re.search(words.this_year, sentence_around(match)):
        told_year = today.year
    count = _number(groups["count"], words.numbers) if "count" in groups else rule.count
    unit = words.units.get(groups["unit"], groups["unit"]) if "unit" in groups else rule.unit
    match rule.reading:
        case "date" | "week":
            first = _named_day(groups, match, today, words, told_year, of_memory)
            if first is None:
                return None
            if rule.reading == "week":
                return week(first)
            last = first.replace(day=int(groups["until"])) if "until" in groups else first
            return first, max(first, last) + DAY
        case "part" if "month" not in groups:
            return part_of_month(months_after(today.replace(day=1), -rule.back), words.parts[groups["part"]])
        case "part" | "month":
            first = _named_month(groups, match, today, words, told_year, of_memory)
            if first is None:
                return None
            return part_of_month(first, words.parts[groups["part"]] if rule.reading == "part" else (1, None))
        case "day":
            return period(today, "day", rule.back)
        case "ago":
            return ago(today, unit, count)
        case "ahead" | "coming" if (
            outlook_of(match, words) == LAST
        ):  # what took two weeks, and not what is in two weeks
            return None
        case "ahead":
            return ahead(today, unit, count)
        case "coming":
            return today, _before(today, unit, -count) + DAY
        case "past":
            return _before(today, unit, count), today + DAY
        case "period":
            return period(today, unit, rule.back)
        case "weekend":
            monday, end = week(today - timedelta(weeks=rule.back))
            return monday + 5 * DAY, end
        case "weekday" if "week" in groups:
            monday, _ = week(today - timedelta(weeks=words.weeks[groups["week"]]))
            weekday = monday + words.weekdays.index(groups["weekday"]) * DAY
            return weekday, weekday + DAY
        case "weekday" if rule.back < 0 or outlook_of(match, words) == NEXT:
            weekday = today + ((words.weekdays.index(groups["weekday"]) - today.weekday()) % 7 or 7) * DAY
            return weekday, weekday + DAY
        case "weekday":
            weekday = today - ((today.weekday() - words.weekdays.index(groups["weekday"])) % 7 or 7) * DAY
            return weekday, weekday + DAY
        case "season":
            return part_of_year(today, words.seasons[groups["season"]], 3, told_year)
        case "this season":
            outlook = outlook_of(match, words)
            if outlook is None and not of_memory and re.search(words.was, match.string.lower()):
                outlook = LAST
            return this_season(today, words.seasons[groups["season"]], outlook)
        case "next season":
            begun, _ = part_of_year(today, words.seasons[groups["season"]], 3, None)
            return part_of_year(begun, begun.month, 3, begun.year + 1)
        case "quarter":
            return part_of_year(today, 3 * _number(groups["quarter"], words.quarters) - 2, 3, told_year)
        case "half":
            return part_of_year(today, words.halves[groups["half"]], 6, told_year)
        case "year":
            return part_of_year(today, 1, 12, known_year)
    assert_never(rule.reading)


Groups = Mapping[str, str]


def _named_day(
    groups: Groups, match: re.Match[str], today: date, words: TimeWords, year: int | None, of_memory: bool
) -> date | None:
    day_number = int(groups["day"])
    if "month" in groups:
        number = _number(groups["month"], words.months)
        if year is not None:
            return date(year, number, day_number)
        reach = _reach(match, words, of_memory)
        return None if reach is None else latest(number, day_number, today + reach)
    # Of no month: the latest such day, or the coming one, of which one asks as such.
    first = today.replace(day=1)
    if outlook_of(match, words) == NEXT or (not of_memory and _is_present(match.string, words)):
        return (first if day_number >= today.day else months_after(first, 1)).replace(day=day_number)
    return (first if day_number <= today.day else months_after(first, -1)).replace(day=day_number)


def _named_month(
    groups: Groups, match: re.Match[str], today: date, words: TimeWords, year: int | None, of_memory: bool
) -> date | None:
    number = _number(groups["month"], words.months)
    if year is not None or not 1 <= number <= 12:
        return date(year or today.year, number, 1) if 1 <= number <= 12 else None
    reach, first = _reach(match, words, of_memory), today.replace(day=1)
    if reach == UPCOMING:  # of a month that has not begun one asks as such
        begun, coming = latest(number, 1, today), latest(number, 1, today + reach)
        return coming if begun != coming and _is_present(match.string, words) else begun
    return None if reach is None else latest(number, 1, first + reach)


def _reach(match: re.Match[str], words: TimeWords, of_memory: bool) -> timedelta | None:
    """How far ahead a day without a year may be; None where a memory speaks of such a day of every year."""
    if of_memory and re.search(words.yearly, sentence_around(match)):
        return None
    outlook = outlook_of(match, words)
    if of_memory:
        return NEAREST if outlook is None else outlook
    return NEXT if outlook == NEXT else UPCOMING


def _number(spelled: str, names: Mapping[str, int]) -> int:
    return int(spelled) if spelled.isdigit() else names[spelled]


def _bounded(text: str, match: Match, today: date) -> tuple[int, Span]:
    """Where the words that tell it end, and the span: all since it or until it where the words around it say so."""
    before, after, span = _before_it(text, match), text[match.end : match.end + _NEARBY], match.span
    opens = text[match.start : match.end].lower().startswith(_SINCE)
    since, ended, until = (_bound(name).match(after) for name in ("since_after", "ended_after", "until_after"))
    if opens or since or _bound("since_before").search(before):
        return match.end + (since.end() if since else 0), (span[0], max(today + DAY, span[1]))
    if ended or _bound("until_before").search(before):
        return match.end + (ended.end() if ended else 0), (EPOCH, span[0])
    return (match.end + until.end(), (EPOCH, span[1])) if until else (match.end, span)


def _before_it(text: str, match: Match) -> str:
    return text[max(0, match.start - _NEARBY) : match.start]


@cache
def _bound(name: str) -> re.Pattern[str]:
    """One of the sorts of words that make a span open, or a span of two, in every language."""
    return re.compile(alternatives(lambda pack: getattr(pack.times, name)), re.IGNORECASE)


# ── a time that is told by what happened ──


def event_phrase(text: str, today: date) -> EventPhrase | None:
    """What a question about the past dates itself by. What one does before every release is no time."""
    for pack in packs_for(text) if _EVENT_SIGN.within(text) else ():
        words = pack.times
        for rule in words.events:
            match = next(_events(rule, text, words.event_reach), None)
            if match is None or (words.no_event and re.search(words.no_event, match["event"])):
                continue
            rest = (text[: match.start()] + text[match.end() :]).lower()
            opens = match.start("event") + _DETERMINER
            is_dated = any(time.start <= opens and match.start() < time.end for time in matches(text, today))
            verbless = not re.search(words.present, rest) and re.search(words.asks, rest)
            is_one = not re.search(words.standing, match["event"].lower())
            past = re.search(words.past, rest) or (verbless and is_one)
            to_come = rule.end == 0 and re.search(words.ahead, rest)  # what is to be done before it: it is to come too
            if not is_dated and past and not to_come and not re.search(words.habit, rest):
                return EventPhrase(match.group().strip(), match["event"].strip(), rule.first, rule.end)
    return None


def without_event_phrases(text: str) -> str:
    """A text without what it dates itself by: what came after the release does not tell of the release."""
    for pack in packs_for(text) if _EVENT_SIGN.within(text) else ():
        for rule in pack.times.events:
            kept, at = list[str](), 0
            for match in _events(rule, text, pack.times.event_reach):
                kept.append(text[at : match.start()])
                at = match.end()
            text = " ".join([*kept, text[at:]])
    return text


def _events(rule: EventRule, text: str, reach: tuple[int, int]) -> Iterator[re.Match[str]]:
    """What the rule reads, one after the other. It is tried around its signs alone: at every letter it takes long."""
    pattern, at = _event_pattern(rule.pattern), 0
    for sign in _any_of(rule.signs).finditer(text):
        if sign.start() < at:
            continue
        ends = sign.end() + reach[1]
        blank = _BLANK.search(text, ends, ends + _LONGEST_WORD)
        match = pattern.search(text, max(at, sign.start() - reach[0]), blank.start() if blank else ends + _LONGEST_WORD)
        if match is not None:
            yield match
            at = match.end()


_BLANK: Final = re.compile(r"\s")
_LONGEST_WORD: Final = 40
# A date in the words of an event is no event if it opens them: the 5th.
_DETERMINER: Final = 4


@cache
def _event_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@cache
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
