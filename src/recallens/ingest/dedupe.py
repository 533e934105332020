"""When two texts are the same memory: equal by hash, or near enough that keeping both would only repeat.

Similarity alone would merge "port 8080" with "port 8081", "is safe" with "is not safe", and the warehouse in Seoul
with the one in Busan. So a merge also needs the same polarity, the same numbers and the same words, whatever their
endings and the small words between them. Where in doubt, both are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, lru_cache
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Final

import numpy as np

from recallens.text.content import morphemes
from recallens.text.languages import alternatives, each
from recallens.text.normalize import clean, fold
from recallens.text.stopwords import FULL_WEIGHT, token_weight
from recallens.text.tokenizer import tokenize

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

# Two texts merge above this share of common tokens, never at it.
JACCARD_FLOOR: Final = 0.8
# The expected Hamming distance at a cosine c is 64·arccos(c)/π: 3 bits is c = 0.99, 6 is 0.96, 9 is 0.90,
# 12 is 0.83. In a short text one other word makes another fact, so that it must be all but equal; in a long
# one a few words in a hundred are an edit. Each row: up to this many tokens, at most this distance.
DISTANCE_BY_LENGTH: Final = ((8, 3), (24, 6), (64, 9))
LONGEST_DISTANCE: Final = 12

_NEGATION: Final = re.compile(alternatives(lambda pack: pack.memories.negation))
_PLAIN_NOT: Final = re.compile(alternatives(lambda pack: pack.memories.plain_negation))
_NUMBERED: Final = re.compile(r"(?<![a-z0-9_./:-])(?=[a-z_./:-]*+\d)[a-z0-9_./:-]++")
_NUMBER_WORD: Final = re.compile(alternatives(lambda pack: pack.memories.number_words))


def content_hash(text: str) -> str:
    """SHA-256 of the text as it would be kept, blanks around it aside."""
    return sha256(clean(text).strip().encode("utf-8")).hexdigest()


def simhash(tokens: Sequence[str]) -> int:
    """Charikar's fingerprint: each bit is the sign of the tokens' weighted vote; equal tokens, equal bits."""
    return int.from_bytes(np.packbits(votes(tokens) > 0.0, bitorder="little").tobytes(), "little") if tokens else 0


def votes(tokens: Sequence[str]) -> NDArray[np.float32]:
    """For each bit of the fingerprint, the tokens that have it less those that have not."""
    counts = Counter(tokens)
    hashes = np.fromiter(map(_token_hash, counts), dtype="<u8", count=len(counts))
    bits = np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").astype(np.float32)
    weights = np.fromiter(counts.values(), dtype=np.float32, count=len(counts))
    for_and_against: NDArray[np.float32] = weights @ (2.0 * bits - 1.0)
    return for_and_against


def max_distance(token_count: int) -> int:
    """The most bits in which the fingerprints of two texts of this length may differ."""
    return next((distance for longest, distance in DISTANCE_BY_LENGTH if token_count <= longest), LONGEST_DISTANCE)


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
    if morphemes(fold(text_a)) != morphemes(fold(text_b)):  # first: it is known of each text, and mostly says no
        return False
    if jaccard(tokens_a, tokens_b) <= JACCARD_FLOOR or not same_order(tokens_a, tokens_b):
        return False
    distance = (simhash(tokens_a) ^ simhash(tokens_b)).bit_count()
    if distance > max_distance(min(len(tokens_a), len(tokens_b))):
        return False
    return same_numbers(text_a, text_b) and same_polarity(text_a, text_b)


@lru_cache(maxsize=65_536)  # about 8 MB
def _token_hash(token: str) -> int:
    # Tokens come from the tokenizer without surrogates; any other caller's are replaced, not refused.
    return int.from_bytes(blake2b(token.encode("utf-8", "replace"), digest_size=8).digest(), "little")


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
