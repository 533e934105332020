"""Whether two texts speak of two things of one sort, by the words that say which: the Oslo branch and the Bergen
branch, 1공장 and 2공장, the office in Lyon and the one in Porto.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from recallens.text.content import morphemes
from recallens.text.languages import PACKS, alternatives, each
from recallens.text.normalize import fold

READ_CHARACTERS: Final = 1_000
# A word in letters of a language's own ends where they end: a particle may stand behind a name in Latin letters.
_OWN_LETTERS: Final = "".join(pack.letters for pack in PACKS)
_WORD: Final = re.compile(rf"[{_OWN_LETTERS}]+|\d+(?:[:.,]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*|[^\w\s]")
_STOP: Final = "|"


class SpokenWord(Struct, frozen=True):
    written: str
    form: str  # empty where it says nothing of what a text is about


def speak_of_two_things(text: str, other: str) -> bool:
    """Whether what `text` says has changed is another thing of the same sort than what the other text speaks of.

    Of the first word that they share, each has its own word before it, or behind it in what `text` speaks of before it
    says that something has changed. Where nothing else differs, such a word may be what has changed: Ragna waters the
    orchids, and now Odd does.
    """
    mine, theirs = _words(text), _words(other)
    shared = {word.form for word in mine} & {word.form for word in theirs} - {""}
    sign = next((at for at, word in enumerate(mine) if word.written == _STOP), 0)
    topic = sign if any(word.form for word in mine[sign:]) else 0
    firsts = (next((word.form for word in words if word.form in shared), "") for words in (mine, theirs))
    for head in dict.fromkeys(filter(None, firsts)):
        here, there = (next(at for at, word in enumerate(words) if word.form == head) for words in (mine, theirs))
        one, another = _before(mine, here), _before(theirs, there)
        told = here < topic or _topical().search(mine[here].written) is not None
        named = told or (not one.isdigit() and _more_differs(mine, theirs, one, another))
        if named and _differ(one, another, shared):
            return True
        one, another = _behind(mine, here, shared), _behind(theirs, there, shared)
        named = one.isdigit() or _more_differs(mine, theirs, one, another)
        if here < topic and _differ(one, another, shared) and named:
            return True
    return False


def _words(text: str) -> list[SpokenWord]:
    folded = _signs().sub(f" {_STOP} ", _acts().sub(f" {_STOP} ", fold(text[:READ_CHARACTERS])))
    return [SpokenWord(word, _form(word)) for word in _WORD.findall(folded)]


def _form(word: str) -> str:
    return word if word[0].isdigit() else min(morphemes(word) - _unspecific(), default="")


def _before(words: Sequence[SpokenWord], at: int) -> str:
    """The word that stands right before another and says which it is; a Korean one has no particle."""
    before = words[at - 1] if at else SpokenWord("", "")
    return "" if _apart().search(before.written) else before.form


def _behind(words: Sequence[SpokenWord], at: int, shared: set[str]) -> str:
    """What follows what both texts say from here on: office 4, the office in Lyon."""
    while at + 1 < len(words) and words[at + 1].form in shared:
        at += 1
    if _apart().search(words[at].written):
        return ""
    rest = words[at + 1 : at + 4]
    joined = bool(rest) and _joint().fullmatch(rest[0].written) is not None
    rest = [word for word in rest[1:] if word.written != "the"] if joined else rest
    return rest[0].form if rest else ""


def _differ(one: str, another: str, shared: set[str]) -> bool:
    return bool(one and another) and one != another and not {one, another} & shared


def _more_differs(mine: Sequence[SpokenWord], theirs: Sequence[SpokenWord], one: str, another: str) -> bool:
    forms, others = ({word.form for word in words} - {"", one, another} for words in (mine, theirs))
    return bool(forms - others) and bool(others - forms)


@cache
def _signs() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.work.corrections))


@cache
def _acts() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.work.acts))


@cache
def _topical() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.work.topical))


@cache
def _apart() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.work.apart))


@cache
def _joint() -> re.Pattern[str]:
    return re.compile(alternatives(lambda pack: pack.work.places))


@cache
def _unspecific() -> frozenset[str]:
    return frozenset().union(*map(morphemes, " ".join(each(lambda pack: pack.work.unspecific)).split()))
