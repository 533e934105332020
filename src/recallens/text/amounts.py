"""Amounts in a text: numbers with what they count, on one scale, so that two weeks are 14 days.

A number that names something is none: ADR-021, release 3.1, dev4, a date, a file's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from msgspec import Struct

from recallens.text.languages import PACKS, alternatives
from recallens.text.languages.pack import LanguagePack
from recallens.text.stopwords import FULL_WEIGHT, token_weight
from recallens.text.tokenizer import tokenize

# A number joined to a name is a part of it, and a stop between digits is a version's or a decimal point.
_DIGITS: Final = re.compile(r"(?<![\w./:#@-])(?:\$\s?)?(?P<number>v?\d{1,3}(?:,\d{3})+(?:\.\d+)?|v?\d+(?:\.\d+)*)")
_JOINED: Final = re.compile(r"[-/:]\d|[^\W]|#|\.\w")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_WORD_BEFORE: Final = re.compile(r"([^\W\d_][\w+#-]*)[\s:=]*$")


class Amount(Struct, frozen=True):
    measure: str  # what it is measured in, the same for all units that compare; empty for a bare number
    size: str | float  # a bare number stays as written: 3.10 is no 3.1
    of: str  # the thing that a bare number is said of: Node in Node 18
    start: int
    end: int


def amounts_in(clause: str) -> Iterator[Amount]:
    """The amounts of a clause, in text order."""
    lowered = clause.lower()
    taken = 0
    found = []
    for match in _DIGITS.finditer(lowered):
        found.append((match.start(), match.end(), match["number"].replace(",", "")))
    for pack in PACKS:
        if pack.amounts.numbers:
            for match in _compiled(pack.amounts.numbers).finditer(lowered):
                value = pack.amounts.value(match.group())
                if value is not None:
                    found.append((match.start(), match.end(), f"={value:g}"))
    for start, end, number in sorted(found):
        if start < taken:
            continue
        unit = _units().match(lowered, end)
        if unit is not None:
            measure, factor = _measures()[int(unit.lastgroup[1:])]  # type: ignore[index]
            size = _size(number)
            if size is None:
                continue
            taken = unit.end()
            yield Amount(measure, round(size * factor, 6), "", start, unit.end())
        elif not number.startswith("=") and not _JOINED.match(lowered, end):
            bare = _bare(clause, start, end, number)
            if bare is not None:
                taken = end
                yield bare


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
    return re.compile(r"[\s-]?(?:" + "|".join(_unit(at, *patterns[at]) for at in each) + ")")


def _unit(at: int, pattern: str, pack: LanguagePack) -> str:
    end = r"(?![a-z0-9_])" if pack.whole_words else ""
    return f"(?P<u{at}>(?:{pattern}){end})"


@cache
def _quantities() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.amounts.quantities))


@cache
def _versions() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.amounts.versions))
