"""Turns of phrase, in English and in Korean."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import count
from typing import Final

_WORD: Final = re.compile(r"\w\w*")
_BEGINNING: Final = re.compile(r"[a-z0-9]+")
BEGINNING: Final = 3
REMEMBERED: Final = 16


# Of each beginning of a word, the phrases that have a pattern which begins so, a bit for each.
_BEGINS: Final[dict[str, int]] = {}
_BITS: Final = count()


@lru_cache(maxsize=REMEMBERED)  # a dozen rules read one question
def _read(text: str) -> tuple[str, int]:
    """The text in small letters, and the phrases that one of its words may begin."""
    lowered = text.lower()
    begun = 0
    for word in _WORD.findall(lowered):
        begun |= _BEGINS.get(word[:BEGINNING], 0)
    return lowered, begun


class Phrases:
    """Patterns that begin and end with a word, and others that are looked for anywhere.

    A text is searched for the former only if one of its words begins as one of them does: a pattern is tried at every
    letter, and most texts hold none. All are in small letters, for a pattern that disregards case takes twice the time;
    a text in ASCII is not searched for Korean.
    """

    __slots__ = ("_anywhere", "_bit", "_english", "_korean")

    def __init__(self, english: str, korean: str, *, anywhere: str | None = None) -> None:
        """`english` has a pattern on a line or several, between bars."""
        patterns = [pattern for line in english.split("\n") for pattern in _alternatives(line.strip()) if pattern]
        self._bit = 1 << next(_BITS)
        for beginning in {_beginning(pattern) for pattern in patterns}:
            _BEGINS[beginning] = _BEGINS.get(beginning, 0) | self._bit
        _read.cache_clear()  # what was read before knows nothing of these
        self._english = re.compile(rf"\b(?:{'|'.join(patterns)})\b", re.DOTALL)
        self._anywhere = re.compile(anywhere, re.DOTALL) if anywhere is not None else None
        self._korean = re.compile(korean)

    def within(self, text: str) -> bool:
        lowered, begun = _read(text)
        if begun & self._bit and self._english.search(lowered) is not None:
            return True
        if self._anywhere is not None and self._anywhere.search(lowered) is not None:
            return True
        return not lowered.isascii() and self._korean.search(lowered) is not None


def _alternatives(pattern: str) -> list[str]:
    """The parts of a pattern between the bars that stand in no brackets."""
    found, depth = [""], 0
    for character in pattern:
        depth += (character == "(") - (character == ")")
        if character == "|" and not depth:
            found.append("")
        else:
            found[-1] += character
    return found


def _beginning(pattern: str) -> str:
    """The first letters of whatever word the pattern begins with."""
    letters = _BEGINNING.match(pattern)
    begins, rest = (letters.group(), pattern[letters.end() :]) if letters is not None else ("", pattern)
    if rest[:1] in ("?", "*", "{"):  # the last letter need not be there
        begins, rest = begins[:-1], "…"
    if len(begins) < BEGINNING and rest and not rest.startswith(" "):
        raise ValueError(f"{pattern!r} must begin with a whole word, or with {BEGINNING} letters of one")
    return begins[:BEGINNING]
