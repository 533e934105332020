"""BM25, one formula on every engine.

score = Σ over terms of weight · idf · tf·(k1 + 1) / (tf + k1·(1 − b + b·length/mean length))
(Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.)
"""

from __future__ import annotations

import math
from typing import Any, Literal

from msgspec import Struct
from numpy.typing import NDArray

from recallens.model.verdict import FloatArray

FTS5_IDF_FLOOR = 1e-6


class Bm25(Struct, frozen=True):
    k1: float = 1.5
    b: float = 0.75
    idf: Literal["lucene", "fts5"] = "lucene"


def lucene_idf(documents: int, frequency: int) -> float:
    """Never negative, and never 0 for a term that half of the rows hold."""
    return math.log1p((documents - frequency + 0.5) / (frequency + 0.5))


def fts5_idf(documents: int, frequency: int) -> float:
    """FTS5's own: about 0 for a term in more than half of the rows."""
    value = math.log((documents - frequency + 0.5) / (frequency + 0.5)) if frequency <= documents else 0.0
    return value if value > 0 else FTS5_IDF_FLOOR


def idf(formula: Bm25, documents: int, frequency: int) -> float:
    return (lucene_idf if formula.idf == "lucene" else fts5_idf)(documents, frequency)


def length_norm(formula: Bm25, lengths: NDArray[Any], mean: float) -> FloatArray:
    """k1·(1 − b + b·length/mean): what tf is weighed against, for every row at once."""
    return formula.k1 * (1.0 - formula.b + formula.b * lengths / max(mean, 1.0))


def saturation(formula: Bm25, frequencies: FloatArray, norm: FloatArray) -> FloatArray:
    return frequencies * (formula.k1 + 1.0) / (frequencies + norm)
