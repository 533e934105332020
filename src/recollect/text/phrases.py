"""Turns of phrase, in English and in Korean."""

from __future__ import annotations

import re


class Phrases:
    """Patterns over small letters. A pattern that disregards case is tried letter by letter, in twice the time; a text
    in ASCII is not searched for Korean.
    """

    __slots__ = ("_english", "_korean")

    def __init__(self, english: str, korean: str) -> None:
        self._english = re.compile(english, re.DOTALL)
        self._korean = re.compile(korean)

    def within(self, lowered: str) -> bool:
        if self._english.search(lowered) is not None:
            return True
        return not lowered.isascii() and self._korean.search(lowered) is not None
