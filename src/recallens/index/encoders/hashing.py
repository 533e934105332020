"""A stand-in for tests of plumbing: it matches shared words and spellings and knows no meaning.

Weinberger et al., 2009, "Feature Hashing for Large Scale Multitask Learning", arXiv:0902.2206.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from recallens.errors import InvalidInput
from recallens.index.encoders.protocol import EncoderKey, Vectors, unit_rows, with_blanks_as_zeros

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DEFAULT_DIMENSION = 64
GRAM = 3


class HashingEncoder:
    languages: tuple[str, ...] = ()

    def __init__(self, dimension: int = DEFAULT_DIMENSION) -> None:
        if dimension < 1:
            raise InvalidInput(f"the dimension must be 1 or more, not {dimension}")
        self.key = EncoderKey("hashing-test", "1", dimension)

    def encode_query(self, text: str) -> Vectors:
        return self.encode_documents([text]).reshape(-1)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return with_blanks_as_zeros(texts, self.key.dimension, self._hashed)

    def _hashed(self, texts: list[str]) -> Vectors:
        rows = np.zeros((len(texts), self.key.dimension), dtype=np.float64)
        for row, text in zip(rows, texts, strict=True):
            for feature in _features(text):
                number = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest())
                row[(number >> 1) % len(row)] += 1 if number & 1 else -1
        return unit_rows(rows)


def _features(text: str) -> Iterator[str]:
    for word in text.lower().split():
        yield word
        edged = f"<{word}>"
        for start in range(len(edged) - GRAM + 1):
            yield edged[start : start + GRAM]
