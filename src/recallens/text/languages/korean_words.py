"""Korean words as a dictionary has them, each with the words of English for it; some 15,400 common ones, written by
hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

WORDS: Final = Path(__file__).parents[1] / "data" / "korean_english.txt"


@cache
def korean_english() -> Mapping[str, tuple[str, ...]]:
    lines = (line.split() for line in WORDS.read_text(encoding="utf-8").splitlines())
    return {korean: tuple(english) for korean, *english in lines}


def is_listed(word: str) -> bool:
    return word in korean_english()
