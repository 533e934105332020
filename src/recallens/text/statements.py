"""What a clause states of what, so that two texts can be seen to disagree: in a value, by a negation, or in the one
name that a thing has at a time.

Two clauses state the same of the same only if neither speaks of anything that the other does not: the boiler is checked
every six months, and painted every two years. Where in doubt, they do not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from typing import Final

from msgspec import Struct, structs

from recallens.deadline import check
from recallens.text.amounts import Amount, amounts_in
from recallens.text.content import morphemes
from recallens.text.languages import PACKS, alternatives, each, packs_for
from recallens.text.remembered import remembered

READ_CHARACTERS: Final = 4_000
MOST_STATEMENTS: Final = 12
LONGEST_CLAUSE: Final = 200
REMEMBERED: Final = 2_048  # texts whose statements are known, by the text itself
# A negated clause says the contrary of one with the same words, of which there must be some.
LEAST_NEGATED: Final = 2
# Of two that are known to be about one subject, how many words they share, and what share of the shorter one's.
LEAST_SHARED: Final = 2
SAME_SUBJECT: Final = 0.6

# Where a line ends, or a stop that closes something.
_CLAUSE: Final = re.compile(r"[.!?。;][.!?。;]*(?=\s|$)|\n")
_NUMBER: Final = re.compile(r"\d")
# Frontmatter: fields of the page, and each page has its own.
_FIELDS: Final = re.compile(r"\A\s*---[ \t]*\n.*?^---[ \t]*$", re.DOTALL | re.MULTILINE)


class Disagreement(StrEnum):
    VALUE = "another value"
    NEGATION = "the contrary"
    NAME = "another name"


class Claim(Struct, frozen=True):
    """A clause that is said to hold: what it speaks of, the amounts in it, and whether it denies."""

    words: frozenset[str]
    amounts: tuple[Amount, ...]  # of each measure at most one: of two it is not plain which is meant
    unclear: frozenset[str]  # measures of which there are several
    negated: bool
    named: tuple[str, str] | None  # what has one name at a time, and that name


def statements_in(text: str) -> Sequence[Claim]:
    """What a text states as holding: what happened once is no statement."""
    check()
    return _statements_in(_FIELDS.sub("", text[:READ_CHARACTERS]))


@remembered(REMEMBERED)
def _statements_in(text: str) -> Sequence[Claim]:
    found: list[Claim] = []
    before: list[str] = []  # the clauses that the next one may lean on
    for clause in _CLAUSE.split(text):
        clause = clause.strip(" \t-*#>")
        if not 0 < len(clause) <= LONGEST_CLAUSE:
            before = []
            continue
        if _leaning().match(clause) is None:  # 26 cases pass: of what was spoken of before
            before = []
        claim = _statement(clause)
        if claim is not None:
            spoken_of = frozenset[str]().union(*(morphemes(each.lower()) for each in before)) - _value_words()
            found.append(structs.replace(claim, words=claim.words | spoken_of) if spoken_of else claim)
            if len(found) >= MOST_STATEMENTS:
                break
        before.append(clause)
    return found


def _statement(clause: str) -> Claim | None:
    lowered = clause.lower()
    if _past().search(lowered):
        return None
    clause = _aside().sub("", clause)
    amounts = list(amounts_in(clause))
    rest = clause
    for amount in reversed(amounts):
        rest = f"{rest[: amount.start]} {_carried().sub('', rest[amount.end :], 1)}"
    rest, negations = _negation().subn(" ", rest.lower())
    words = morphemes(rest) - _value_words()
    if not words:
        return None
    measures = [(amount.measure, amount.of) for amount in amounts]
    lone = tuple(each for each, measure in zip(amounts, measures, strict=True) if measures.count(measure) == 1)
    unclear = frozenset(f"{of}{measure}" for measure, of in measures if measures.count((measure, of)) > 1)
    return Claim(words, lone, unclear, negations % 2 == 1, _named(clause))


def measured_in(text: str) -> frozenset[str]:
    """The measures of the amounts that are all a text states: it costs 4 cents, 한 장에 90원이다."""
    found = set()
    for clause in _CLAUSE.split(text[:READ_CHARACTERS]):
        for amount in amounts_in(clause):
            before, after = clause[: amount.start].lower(), clause[amount.end :].lower()
            if _before_measured().search(before) or _after_measured().match(after):
                found.add(amount.measure)
    return frozenset(found)


def _named(clause: str) -> tuple[str, str] | None:
    for pattern in _one_name(clause.isascii()):
        if match := pattern.search(clause):
            said, name = match["said"], match["name"]
            return f"{said.lower()} {clause[match.end('name') :].lower()}", name
    return None


def disagreement(one: Claim, other: Claim, *, same_subject: bool = False) -> Disagreement | None:
    """How two statements cannot both hold; None where they can, or speak of two things. What is known to be about the
    `same_subject`, as two notes of one title are, may say it in more words of its own.
    """
    if one.named is not None and other.named is not None and one.negated == other.negated:
        (said, name), (too, another) = one.named, other.named
        if said == too and name.lower() != another.lower() and not (one.amounts or other.amounts):
            return Disagreement.NAME
    mine, theirs = one.words - other.words, other.words - one.words
    if mine or theirs:
        opposed = len(mine) == len(theirs) == 1 and frozenset((*mine, *theirs)) in _opposites()
        if one.negated != other.negated or not (opposed or same_subject):
            return None
        differing = _other_values(one, other)
        if opposed and len(one.words) > 1 and not differing:
            return Disagreement.NEGATION
        shared = len(one.words & other.words)
        alike = shared >= LEAST_SHARED and shared >= SAME_SUBJECT * min(len(one.words), len(other.words))
        numbered = any(map(_NUMBER.search, mine)) and any(map(_NUMBER.search, theirs))
        return Disagreement.VALUE if same_subject and alike and differing and not numbered else None
    differing = _other_values(one, other)
    if one.negated == other.negated:
        known = len(differing) == 1 or (same_subject and differing)
        return Disagreement.VALUE if known and not one.unclear and not other.unclear else None
    stated = len(one.words) + len(one.amounts) >= LEAST_NEGATED
    return Disagreement.NEGATION if stated and not differing else None


def _other_values(one: Claim, other: Claim) -> list[Amount]:
    """The amounts of one for which the other has another of the same measure, or none."""
    theirs = {(amount.measure, amount.of): amount for amount in other.amounts}
    common = [amount for amount in one.amounts if (amount.measure, amount.of) in theirs]
    differing = [amount for amount in common if not amount.same_size(theirs[amount.measure, amount.of])]
    # A measure that only one of them has is another condition: 50 a minute, and 50 a minute for an hour.
    alone = [amount for amount in (*one.amounts, *other.amounts) if amount not in common]
    alone = [amount for amount in alone if (amount.measure, amount.of) not in {(a.measure, a.of) for a in common}]
    return [*differing, *alone, *alone]


@cache
def _value_words() -> frozenset[str]:
    words = " ".join(each(lambda pack: pack.statements.values)).split()
    return frozenset().union(*map(morphemes, words))


@cache
def _opposites() -> frozenset[frozenset[str]]:
    pairs = ",".join([*each(lambda pack: pack.statements.opposites), *each(lambda pack: pack.memories.opposites)])
    words = (pair.split() for pair in pairs.split(","))
    return frozenset(morphemes(one) | morphemes(other) for one, other in words)


@cache
def _past() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.statements.past))


@cache
def _leaning() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.statements.leaning))


@cache
def _aside() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.statements.aside), re.IGNORECASE)


@cache
def _carried() -> re.Pattern[str]:
    return re.compile(rf"\A(?:{alternatives(lambda pack: pack.statements.carried)})")


@cache
def _before_measured() -> re.Pattern[str]:
    return re.compile(rf"(?:{alternatives(lambda pack: pack.statements.before_measured)})\s*$")


@cache
def _after_measured() -> re.Pattern[str]:
    return re.compile(rf"(?:{alternatives(lambda pack: pack.statements.after_measured)})\W*$")


@cache
def _negation() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.statements.negation))


@cache
def _one_name(in_ascii: bool) -> tuple[re.Pattern[str], ...]:
    packs = packs_for("") if in_ascii else PACKS
    return tuple(re.compile(pattern) for pack in packs for pattern in pack.statements.one_name)
