"""The arithmetic that every encoder shares: unit rows, and blank texts set apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from recallens.index.encoders.protocol import Vectors


def unit_rows(rows: NDArray[Any]) -> Vectors:
    """Each row at length one; a row of zeros stays zero."""
    wide = rows.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    scaled: NDArray[np.float64] = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)
    return scaled.astype(np.float32)


def with_blanks_as_zeros(texts: Sequence[str], dimension: int, encode: Callable[[list[str]], Vectors]) -> Vectors:
    """`encode` sees only the texts that say something; the others are rows of zeros."""
    said = [place for place, text in enumerate(texts) if text.strip()]
    vectors = np.zeros((len(texts), dimension), dtype=np.float32)
    if said:
        vectors[said] = encode([well_formed(texts[place]) for place in said])
    return vectors


def well_formed(text: str) -> str:
    """Lone surrogates, which no tokenizer and no JSON reader takes, become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
