"""Amounts in a text: numbers with what they count, on one scale, so that two weeks are 14 days.

A number that names something is none: ADR-021, release 3.1, dev4, a date, a file's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from msgspec import Struct

from recallens.text.languages import PACKS, alternatives, packs_for
from recallens.text.languages.pack import LanguagePack
from recallens.text.stopwords import FULL_WEIGHT, token_weight
from recallens.text.tokenizer import stem, tokenize

# A number joined to a name is a part of it, and a stop between digits is a version's or a decimal point.
_DIGITS: Final = re.compile(r"(?<![\w./:#@-])(?:[$€£₩]\s?)?(?P<number>v?\d{1,3}(?:,\d{3})+(?:\.\d+)?|v?\d+(?:\.\d+)*)")
_JOINED: Final = re.compile(r"[-/:]\d|[^\W]|#|\.\w")
_FIGURE: Final = re.compile(r"\d")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_SCALES: Final = {word: size for pack in PACKS for word, size in pack.amounts.scales.items()}
_CURRENCY: Final = {"$": "dollar", "€": "of euro", "£": "of pound", "₩": "won"}
_SHARE: Final = re.compile(r" of\b")
_COUNTED: Final = re.compile(r"\s(?P<noun>[a-z]{3,})(?![\w'’])")
_ARTICLES: Final = ("=1", "=0.5")
_WORD_BEFORE: Final = re.compile(r"([^\W\d_][\w+#-]*)[\s:=]*$")


class Amount(Struct, frozen=True):
    measure: str  # what it is measured in, the same for all units that compare; empty for a bare number
    size: str | float  # a bare number stays as written: 3.10 is no 3.1
    of: str  # the thing that a bare number is said of: Node in Node 18
    start: int
    end: int

    def same_size(self, other: Amount) -> bool:
        """Whether two amounts of one measure are equal: a date without its year is that date, and a kilobyte has 1,000
        bytes or 1,024."""
        one, two = sorted((self.size, other.size), key=str)
        if isinstance(one, str) or isinstance(two, str):
            return str(one).endswith(str(two)) or str(two).endswith(str(one)) if self.measure == DATE else one == two
        return abs(one - two) <= (ROUND_BYTES * max(one, two) if self.measure == BYTES else 1e-9)


BYTES, CLOCK, DATE, WEEKDAY = "byte", "clock", "date", "weekday"
ROUND_BYTES: Final = 0.1
HALF_A_DAY: Final = 720  # minutes: six is six, whether the morning is named or not


def amounts_in(clause: str) -> Iterator[Amount]:
    """The amounts of a clause, in text order: first its dates and times of day, then whatever else has a number."""
    lowered = clause.lower()
    told = sorted(_times_in(lowered), key=lambda amount: amount.start)
    found = []
    for match in _DIGITS.finditer(lowered):
        found.append((match.start(), match.end(), match["number"].replace(",", "")))
    for pack in packs_for(lowered):
        if pack.amounts.numbers:
            for match in _compiled(pack.amounts.numbers).finditer(lowered):
                value = pack.amounts.value(match.group())
                if value is not None:
                    found.append((match.start(), match.end(), f"={value:g}"))
    taken, amounts = 0, list(told)
    for start, end, number in sorted(found, key=lambda each: (each[0], -each[1])):
        if start < taken or any(time.start < end and start < time.end for time in told):
            continue
        amount = _amount(clause, lowered, start, end, number)
        if amount is not None:
            taken = amount.end
            amounts.append(amount)
    yield from sorted(amounts, key=lambda amount: amount.start)


def tells_the_amount(phrase: str, text: str) -> bool:
    """Whether the phrase is an amount that the text tells too, in whatever spelling: 35000원, 3만5천원."""
    asked = [amount for amount in amounts_in(phrase) if amount.measure] if _FIGURE.search(phrase) else []
    told = list(amounts_in(text)) if asked else []
    return bool(asked) and all(
        any(amount.measure == each.measure and amount.same_size(each) for each in told) for amount in asked
    )


def _amount(clause: str, lowered: str, start: int, end: int, number: str) -> Amount | None:
    scale = _scales().match(lowered, end)
    times, behind = (_SCALES[scale["scale"]], scale.end()) if scale is not None else (1.0, end)
    size, unit = _size(number), _units().match(lowered, behind)
    if unit is not None and size is not None:
        measure, factor = _measures()[int(unit.lastgroup[1:])]  # type: ignore[index]
        return Amount(measure, round(size * times * factor, 6), "", start, unit.end())
    if unit is not None:
        return None
    if size is not None and (sign := _CURRENCY.get(lowered[start : start + 1])):
        return Amount(sign, size * times, "", start, behind)
    if size is not None and size < 1 and "." in number and _SHARE.match(lowered, end):
        return Amount("percent", round(100 * size, 6), "", start, end)
    counted = _COUNTED.match(lowered, behind)
    if counted is not None and size is not None and number not in _ARTICLES and _is_said(counted["noun"]):
        return Amount(f"of {stem(counted['noun'])}", size * times, "", start, behind)
    if number.startswith("=") or _JOINED.match(lowered, end):
        return None
    return _bare(clause, start, end, number)


def _is_said(word: str) -> bool:
    return all(token_weight(token) == FULL_WEIGHT for token in tokenize(word))


def _times_in(lowered: str) -> Iterator[Amount]:
    """Dates, times of day and days of the week."""
    has_figure = _FIGURE.search(lowered) is not None
    for pack in packs_for(lowered):
        words = pack.amounts
        for match in _compiled(words.dates).finditer(lowered) if words.dates and has_figure else ():
            parts = match.groupdict()
            month = parts["month"] or parts.get("month_too")
            month = words.months.get(month[:3], 0) if month and not month.isdigit() else int(month or 0)
            day = int(parts["day"] or parts.get("day_too") or 0)
            year = f"{parts['year']}-" if parts["year"] else ""
            if 1 <= month <= 12 and day <= 31:
                yield Amount(DATE, f"{year}{month:02}-{day:02}", "", *match.span())
        for match in _compiled(words.clocks).finditer(lowered) if words.clocks else ():
            parts = match.groupdict()
            spoken = parts["hour"] or parts.get("hour_too") or parts.get("hour_said") or ""
            hour = float(spoken) if spoken.isdigit() else words.value(spoken)
            if hour is not None and hour <= 24:
                minute = 30.0 if parts.get("half") else float(parts["minute"] or 0)
                yield Amount(CLOCK, (60 * hour + minute) % HALF_A_DAY, "", *match.span())
        for match in _compiled(words.weekdays).finditer(lowered) if words.weekdays else ():
            yield Amount(WEEKDAY, match["weekday"] or match.groupdict().get("weekday_too", ""), "", *match.span())
        for match in _compiled(words.days).finditer(lowered) if words.days else ():
            yield Amount("second", 86_400 * (words.value(match["days"]) or 0), "", *match.span())


def _bare(clause: str, start: int, end: int, number: str) -> Amount | None:
    """A number without a unit: said of a product (Node 18, Node version 18), of a port or a limit, or after a word that
    names nothing (the limit is 20). After any other word it is a name: release 3.1, service 7.
    """
    before = clause[:start]
    word = _WORD_BEFORE.search(before)
    of, is_version = word[1] if word else "", False
    while word is not None and _versions().fullmatch(of.lower()):
        before = before[: word.start()]
        word = _WORD_BEFORE.search(before)
        if word is None:  # version 18 of nothing
            return None
        of, is_version = word[1], True
    if _named().fullmatch(of.lower()):
        return None
    product = of[:1].isupper() and not of.isupper() and word is not None and word.start() > 0
    plain = bool(of) and all(token_weight(token) < FULL_WEIGHT for token in tokenize(of))
    if _YEAR.fullmatch(number) or not (is_version or product or plain or _quantities().fullmatch(of.lower())):
        return None
    return Amount("", number.removeprefix("v"), of.lower(), start, end)


def _size(number: str) -> float | None:
    try:
        return float(number.removeprefix("="))
    except ValueError:  # 1.2.3 of no unit can be an amount
        return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _measures() -> tuple[tuple[str, float], ...]:
    return tuple(measure for pack in PACKS for measure in pack.amounts.units.values())


@cache
def _units() -> re.Pattern[str]:
    """A unit after a number: a word of one language ends where it ends, of the other a particle may follow."""
    patterns = [(pattern, pack) for pack in PACKS for pattern in pack.amounts.units]
    # The longest word first: 개월 is no 개.
    each = sorted(range(len(patterns)), key=lambda at: -len(patterns[at][0].split("|")[0].split("(")[0]))
    return re.compile(
        r"[\s-]?(?:(?:working|business|full|more) )?(?:" + "|".join(_unit(at, *patterns[at]) for at in each) + ")"
    )


def _unit(at: int, pattern: str, pack: LanguagePack) -> str:
    end = r"(?![a-z0-9_])" if pack.whole_words else ""
    return f"(?P<u{at}>(?:{pattern}){end})"


@cache
def _scales() -> re.Pattern[str]:
    return re.compile(rf"\s?(?P<scale>{'|'.join(sorted(_SCALES, key=len, reverse=True))})(?![a-z])")


@cache
def _named() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.amounts.numbered))


@cache
def _quantities() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.amounts.quantities))


@cache
def _versions() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.amounts.versions))
