"""A text within so many tokens: whole sentences where one fits, else words, and always saying that it was cut."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from recallens.text.counting import count_tokens
from recallens.text.sentences import ELLIPSIS, sentence_ends

# No running text has tokens this long: what lies beyond cannot fit, and a document may be long.
_LONGEST_TOKEN: Final = 24


def fit(text: str, tokens: int) -> tuple[str, bool]:
    """As much of the text as fits, and whether anything is missing. A cut text ends in an ellipsis."""
    text = text.strip()
    head = text[: max(tokens, 0) * _LONGEST_TOKEN]
    if len(head) == len(text) and count_tokens(text) <= tokens:
        return text, False

    def cut(end: int) -> str:
        return f"{head[:end].rstrip()} {ELLIPSIS}"

    def word_cut(end: int) -> str:
        return head[:end].rstrip(" \t\r\n,;:-") + ELLIPSIS

    ends = [end for end in sentence_ends(head) if end < len(text) and head[:end].strip()]
    if len(head) < len(text) and ends and ends[-1] == len(head):
        ends.pop()  # the head ends there, not a sentence
    if shorter := _longest(ends, cut, tokens):
        return shorter, True
    breaks = [at for at, character in enumerate(head) if at and character.isspace()]
    return _longest(breaks, word_cut, tokens) or _longest(range(1, len(head)), word_cut, tokens) or "", True


def _longest(ends: Sequence[int], cut: Callable[[int], str], tokens: int) -> str | None:
    """The longest cut that fits. Text that is longer is hardly ever fewer tokens, and a last look settles it."""
    at = bisect_right(ends, tokens, key=lambda end: count_tokens(cut(end)))
    while at > 0:
        shorter = cut(ends[at - 1])
        if count_tokens(shorter) <= tokens:
            return shorter
        at -= 1
    return None


def one_line(text: str) -> str:
    return " ".join(text.split())
