"""When two texts are the same memory: equal by hash, or near enough that keeping both would only repeat.

Similarity alone would merge "port 8080" with "port 8081", "is safe" with "is not safe", and the warehouse in Seoul
with the one in Busan. So a merge also needs the same polarity, the same numbers and the same words, whatever their
endings and the small words between them. Where in doubt, both are kept.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from recallens.text.content import subject_words
from recallens.text.languages import alternatives, each
from recallens.text.normalize import clean, fold
from recallens.text.stopwords import FULL_WEIGHT, token_weight
from recallens.text.tokenizer import tokenize

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# Two texts merge above this share of common tokens, never at it.
JACCARD_FLOOR: Final = 0.8

_NEGATION: Final = re.compile(alternatives(lambda pack: pack.memories.negation))
_PLAIN_NOT: Final = re.compile(alternatives(lambda pack: pack.memories.plain_negation))
_NUMBERED: Final = re.compile(r"(?<![a-z0-9_./:-])(?=[a-z_./:-]*+\d)[a-z0-9_./:-]++")
_NUMBER_WORD: Final = re.compile(alternatives(lambda pack: pack.memories.number_words))


def content_hash(text: str) -> str:
    """SHA-256 of the text as it would be kept, blanks around it aside."""
    return sha256(clean(text).strip().encode("utf-8")).hexdigest()


def jaccard(a: Collection[str], b: Collection[str]) -> float:
    """Common tokens over all tokens; 0 where there are none."""
    first, second = set(a), set(b)
    union = len(first | second)
    return len(first & second) / union if union else 0.0


def same_polarity(text_a: str, text_b: str) -> bool:
    """Whether both negate alike, in kind and in parity, and neither says the other's opposite."""
    return _negations(text_a) == _negations(text_b) and not _opposed(text_a, text_b)


def same_numbers(text_a: str, text_b: str) -> bool:
    """Whether numbers, versions and identifiers with digits are the same, in the same order."""
    return _numbers(text_a) == _numbers(text_b)


def same_order(tokens_a: Sequence[str], tokens_b: Sequence[str]) -> bool:
    """Whether what both say comes in the same order: on here and off there is not off here and on there."""
    common = {token for token in set(tokens_a) & set(tokens_b) if token_weight(token) == FULL_WEIGHT}
    return [token for token in tokens_a if token in common] == [token for token in tokens_b if token in common]


def is_near_duplicate(text_a: str, tokens_a: Sequence[str], text_b: str, tokens_b: Sequence[str]) -> bool:
    """Whether one of the two texts may stand for both."""
    if subject_words(text_a, tokens_a) != subject_words(text_b, tokens_b):
        return False
    if jaccard(tokens_a, tokens_b) <= JACCARD_FLOOR or not same_order(tokens_a, tokens_b):
        return False
    return same_numbers(text_a, text_b) and same_polarity(text_a, text_b)


def _negations(text: str) -> tuple[int, frozenset[str]]:
    # Contractions and `cannot` negate as `not` does.
    negations = ["not" if _PLAIN_NOT.fullmatch(word) else word for word in _NEGATION.findall(fold(text))]
    return len(negations) % 2, frozenset(negations)


def _opposed(text_a: str, text_b: str) -> bool:
    tokens_a, tokens_b = set(tokenize(text_a)), set(tokenize(text_b))
    only_a, only_b = tokens_a - tokens_b, tokens_b - tokens_a
    return any(
        (first in only_a and second in only_b) or (second in only_a and first in only_b)
        for first, second in _opposites()
    )


@cache
def _opposites() -> tuple[tuple[str, str], ...]:
    """Two texts that differ by one of these pairs share nearly all of their tokens and say the contrary."""
    pairs = ",".join(each(lambda pack: pack.memories.opposites)).split(",")
    return tuple((first, second) for first, second in map(tokenize, pairs))


def _numbers(text: str) -> list[str]:
    folded = fold(text)
    # A number reads the same with or without the stop that closes its sentence.
    return [number.strip("./:-") for number in _NUMBERED.findall(folded)] + _NUMBER_WORD.findall(folded)
