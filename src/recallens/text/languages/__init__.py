"""The languages that texts and questions are read in. A new one is a file here and its name in this list."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from typing import Final

from recallens.text.languages.english import ENGLISH
from recallens.text.languages.korean import KOREAN
from recallens.text.languages.pack import Grammar, LanguagePack
from recallens.text.remembered import remembered
from recallens.text.scripts import script_share

# The first is the language of a text that no other claims.
PACKS: Final[tuple[LanguagePack, ...]] = (ENGLISH, KOREAN)

Pick = Callable[[LanguagePack], str]


def packs_for(text: str) -> tuple[LanguagePack, ...]:
    """The languages that the text may hold words of: ASCII holds none of a language with letters of its own."""
    return _ascii_packs() if text.isascii() else PACKS


@cache
def _ascii_packs() -> tuple[LanguagePack, ...]:
    return tuple(pack for pack in PACKS if not pack.letters)


def main_language(text: str) -> LanguagePack:
    """The language whose script has more than half of the letters, else the first."""
    claims = (pack for pack in PACKS if pack.script != "none" and script_share(text, pack.script) > 0.5)
    return next(claims, PACKS[0])


def grammar_of(text: str) -> Grammar | None:
    """The grammar of a language whose own letters occur in the text."""
    for pack in () if text.isascii() else PACKS:
        if pack.grammar is not None and _letter(pack.letters).search(text):
            return pack.grammar
    return None


def spaced(question: str) -> str:
    """A question with spaces around what asks, where its language is written without."""
    grammar = grammar_of(question)
    return question if grammar is None else grammar.spaced(question)


@cache
def _letter(letters: str) -> re.Pattern[str]:
    return re.compile(f"[{letters}]")


def each(pick: Pick) -> Iterator[str]:
    """What each pack says, those left out that say nothing."""
    return filter(None, map(pick, PACKS))


def alternatives(pick: Pick) -> str:
    """The packs' patterns as one, in the order of the packs; where none has any, a pattern that matches nothing."""
    return "|".join(each(pick)) or "(?!)"


def kinds_asked(question: str) -> tuple[str, ...]:
    """The kinds of memories that a question asks for by name: which decisions."""
    kinds = (one for pack in packs_for(question) for one in pack.questions.kinds.items())
    return tuple(dict.fromkeys(kind for kind, pattern in kinds if _kind_pattern(pattern).search(question)))


@cache
def _kind_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_WORD: Final = re.compile(r"\w\w*")
_BEGINNING: Final = re.compile(r"[^\W_]+")
BEGINNING: Final = 3
REMEMBERED: Final = 16

# Of each beginning of a word, the phrases that have a pattern which begins so, a bit for each.
_BEGINS: Final[dict[str, int]] = {}
_BITS: Final = count()


@remembered(REMEMBERED)  # a dozen rules read one question
def _read(text: str) -> tuple[str, int]:
    """The text in small letters, and the phrases that one of its words may begin."""
    lowered = text.lower()
    begun = 0
    for word in _WORD.findall(lowered):
        begun |= _BEGINS.get(word[:BEGINNING], 0)
    return lowered, begun


class Phrases:
    """Patterns that begin and end with a word, patterns of letters that no ASCII text has, and others.

    A text is searched for the first only if one of its words begins as one of them does: a pattern is tried at every
    letter, and most texts hold none. All are in small letters, for a pattern that disregards case takes twice the time.
    """

    __slots__ = ("_anywhere", "_bit", "_letters", "_words")

    def __init__(self, words: str, letters: str, *, anywhere: str | None = None) -> None:
        """`words` has a pattern on a line or several, between bars."""
        patterns = [pattern for line in words.split("\n") for pattern in between_bars(line.strip()) if pattern]
        self._bit = 1 << next(_BITS)
        for beginning in {_beginning(pattern) for pattern in patterns}:
            _BEGINS[beginning] = _BEGINS.get(beginning, 0) | self._bit
        _read.forget()  # type: ignore[attr-defined]  # what was read before knows nothing of these
        self._words = re.compile(rf"\b(?:{'|'.join(patterns)})\b", re.DOTALL)
        self._letters = re.compile(letters) if letters else None
        self._anywhere = re.compile(anywhere, re.DOTALL) if anywhere is not None else None

    @classmethod
    def of(cls, pick: Pick, *, anywhere: str | None = None) -> Phrases:
        """The phrases that the packs have for one purpose."""
        whole, within = ([pick(pack) for pack in PACKS if pack.whole_words is sort] for sort in (True, False))
        return cls("\n".join(whole), "|".join(filter(None, within)), anywhere=anywhere)

    def within(self, text: str) -> bool:
        lowered, begun = _read(text)
        if begun & self._bit and self._words.search(lowered) is not None:
            return True
        if self._anywhere is not None and self._anywhere.search(lowered) is not None:
            return True
        return self._letters is not None and not lowered.isascii() and self._letters.search(lowered) is not None

    def found_in(self, text: str) -> list[str]:
        """The phrases that the text holds, in small letters."""
        patterns = filter(None, (self._words, self._letters, self._anywhere))
        return [match.group() for pattern in patterns for match in pattern.finditer(_read(text)[0])]


# Of a pattern: a sign behind its stroke, a set of letters, or a letter.
_PIECE: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)


def between_bars(pattern: str) -> list[str]:
    """The parts of a pattern between the bars that stand in no brackets."""
    parts, depth = [""], 0
    for piece in _PIECE.findall(pattern):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _beginning(pattern: str) -> str:
    """The first letters of whatever word the pattern begins with."""
    letters = _BEGINNING.match(pattern)
    begins, rest = (letters.group(), pattern[letters.end() :]) if letters is not None else ("", pattern)
    if rest[:1] in ("?", "*", "{"):  # the last letter need not be there
        begins, rest = begins[:-1], "…"
    if len(begins) < BEGINNING and rest and not rest.startswith(" "):
        raise ValueError(f"{pattern!r} must begin with a whole word, or with {BEGINNING} letters of one")
    return begins[:BEGINNING]
