"""Patterns that most texts do not match, told from the rest by the letters that every match holds.

A regular expression is tried at each letter of a text. Which groups of three letters a text has is read once, for the
patterns of all rules, and a pattern is only tried where it has those that no match is without. They are read off the
pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import count, product
from re import _constants as opcodes  # type: ignore[attr-defined]  # the standard library's own reading of patterns,
from re import _parser as parser  # type: ignore[attr-defined]  # which no other module gives
from typing import Any, Final, NamedTuple

from recallens.text.languages import between_bars
from recallens.text.remembered import remembered

# A set of more strings is met by too many texts; of ASCII, fewer letters than a group has are in most.
MOST_STRINGS: Final = 128
GROUP: Final = 3
MOST_SETS: Final = 3
REMEMBERED: Final = 8
LETTERS: Final = "zjqxkvbywgpfmucdlhrsnioate "  # of English, the rarest first

Strings = frozenset[str]
_NOTHING_YET: Final[Strings] = frozenset(("",))
_REPEATS: Final = frozenset((opcodes.MAX_REPEAT, opcodes.MIN_REPEAT, opcodes.POSSESSIVE_REPEAT))


class SetsMet(NamedTuple):
    """The sets of which a text may have a string, a bit for each, and by which groups of letters."""

    bits: int
    groups: frozenset[str]


class LetterGuard(NamedTuple):
    """The sets of strings of which every match of a pattern holds one each, by the group that tells of a string."""

    needed: int
    sets: tuple[tuple[frozenset[str], dict[str, tuple[str, ...]]], ...]

    @staticmethod
    def of(pattern: str, flags: int = 0) -> LetterGuard:
        """In small letters, whatever those of the pattern are."""
        sets = dict.fromkeys(frozenset(map(str.lower, strings)) for strings in required(pattern, flags))
        by_group = [_by_group(strings) for strings in sets]
        guard = LetterGuard(sum(map(_bit, sets)), tuple((frozenset(own), own) for own in by_group))
        sets_met.forget()  # type: ignore[attr-defined]  # what was read before knows nothing of these
        return guard

    def may_match(self, text: str, met: SetsMet) -> bool:
        """Whether a match is possible in a text in small letters, of which `met` is `sets_met`."""
        if met.bits & self.needed != self.needed:
            return False
        # A group of three letters is in many texts that have none of the strings that it stands for.
        for groups, strings in self.sets:
            if not any(string in text for group in groups & met.groups for string in strings[group]):
                return False
        return True


ALWAYS: Final = LetterGuard(0, ())  # any text may hold a match


class _Guarded(NamedTuple):
    guard: LetterGuard
    pattern: re.Pattern[str]


# Of each group of letters, the sets that have a string with it, a bit for each.
_GROUPS: Final[dict[str, int]] = {}
_KNOWN_GROUPS: Final = set[str]()
_BITS: Final[dict[Strings, int]] = {}
_NEXT_BIT: Final = count()


class Sieve:
    """Whether a text holds a match of any of the patterns, which disregard no case: give it a text in small letters."""

    def __init__(self, patterns: Iterable[str], flags: int = 0) -> None:
        self._always = list[re.Pattern[str]]()
        self._guarded = dict[int, list[_Guarded]]()  # by a bit that they need
        for source in patterns:
            guard, pattern = LetterGuard.of(source, flags), re.compile(source, flags)
            if guard.needed:
                first = guard.needed & -guard.needed
                self._guarded.setdefault(first, []).append(_Guarded(guard, pattern))
            else:
                self._always.append(pattern)
        self._bits = sum(self._guarded)

    @classmethod
    def of(cls, pattern: str, flags: int = 0) -> Sieve:
        """One for the parts of a pattern between its bars."""
        return cls(between_bars(pattern), flags)

    def holds(self, text: str, met: SetsMet | None = None) -> bool:
        """`met` is `sets_met` of the text, for who asks several."""
        met = sets_met(text) if met is None else met
        left = met.bits & self._bits
        while left:
            bit = left & -left
            left ^= bit
            for guard, pattern in self._guarded[bit]:
                if guard.may_match(text, met) and pattern.search(text):
                    return True
        return any(pattern.search(text) for pattern in self._always)


@remembered(REMEMBERED)  # several rules read one text
def sets_met(text: str) -> SetsMet:
    """The sets of which the text may have a string."""
    groups = {text[at : at + GROUP] for at in range(len(text) - GROUP + 1)}
    if not text.isascii():
        groups.update(text)
    known, bits = groups & _KNOWN_GROUPS, 0
    for group in known:
        bits |= _GROUPS[group]
    return SetsMet(bits, frozenset(known))


def _bit(strings: Strings) -> int:
    if strings not in _BITS:
        _BITS[strings] = 1 << next(_NEXT_BIT)
        for string in strings:
            group = _telling_group(string)
            _GROUPS[group] = _GROUPS.get(group, 0) | _BITS[strings]
            _KNOWN_GROUPS.add(group)
    return _BITS[strings]


def _by_group(strings: Strings) -> dict[str, tuple[str, ...]]:
    by_group: dict[str, tuple[str, ...]] = {}
    for string in sorted(strings):
        group = _telling_group(string)
        by_group[group] = (*by_group.get(group, ()), string)
    return by_group


def _telling_group(string: str) -> str:
    """The first letter that ASCII has not, or the three rarest letters in a row."""
    groups = [string[at : at + GROUP] for at in range(len(string) - GROUP + 1)]
    own = next((letter for letter in string if not letter.isascii()), None)
    return own or min(groups, key=lambda group: sum(map(LETTERS.find, group)))


def required(pattern: str, flags: int = 0) -> tuple[Strings, ...]:
    """Sets of strings, of each of which every match of the pattern holds one, the most telling first."""
    if flags & re.IGNORECASE:
        return ()
    sets = {strings: None for strings in _sets(parser.parse(pattern, flags), _NOTHING_YET)[0] if _is_telling(strings)}
    return tuple(sorted(sets, key=_rarity, reverse=True)[:MOST_SETS])


def _is_telling(strings: Strings) -> bool:
    return len(strings) <= MOST_STRINGS and all(len(each) >= GROUP or not each.isascii() for each in strings)


def _rarity(strings: Strings) -> float:
    return min(map(len, strings)) - len(strings) / 4


def _sets(items: Any, before: Strings) -> tuple[list[Strings], Strings]:
    """The sets of a sequence, and all that it may end with: `before` is what stands right before it."""
    sets, run = list[Strings](), before
    for item in items:
        exact = _exactly(item)
        if exact is not None and len(exact) * len(run) <= MOST_STRINGS:
            run = frozenset(map("".join, product(run, exact)))
            continue
        sets += [run, *_within(item, run)]
        run = _NOTHING_YET if exact is None else exact
    return [*sets, run], run


def _exactly(item: tuple[Any, Any]) -> Strings | None:
    """Every string that the item can match, where these are few."""
    code, value = item
    if code is opcodes.LITERAL:
        return frozenset((chr(value),))
    if code is opcodes.AT:
        return _NOTHING_YET
    if code is opcodes.IN and all(kind is opcodes.LITERAL for kind, _ in value):
        return frozenset(chr(letter) for _, letter in value)
    if code is opcodes.SUBPATTERN:
        return None if value[1] & re.IGNORECASE else _all_of(value[3])
    if code is opcodes.BRANCH:
        parts = [_all_of(part) for part in value[1]]
        known = [part for part in parts if part is not None]
        return frozenset().union(*known) if len(known) == len(parts) else None
    if code in _REPEATS and value[0] == 0 and value[1] == 1:
        once = _all_of(value[2])
        return None if once is None else once | _NOTHING_YET
    return None


def _all_of(items: Sequence[tuple[Any, Any]]) -> Strings | None:
    strings = _NOTHING_YET
    for item in items:
        exact = _exactly(item)
        if exact is None or len(exact) * len(strings) > MOST_STRINGS:
            return None
        strings = frozenset(map("".join, product(strings, exact)))
    return strings


def _within(item: tuple[Any, Any], before: Strings) -> list[Strings]:
    """The sets of an item that can match too many strings to name them all."""
    code, value = item
    if code is opcodes.SUBPATTERN and not value[1] & re.IGNORECASE:
        return _sets(value[3], before)[0]
    if code in _REPEATS and value[0] > 0:
        return _sets(value[2], before)[0]
    if code is opcodes.BRANCH:
        own = [[each for each in _sets(part, before)[0] if _is_telling(each)] for part in value[1]]
        return [frozenset().union(*(max(sets, key=_rarity) for sets in own))] if all(own) else []
    return []
