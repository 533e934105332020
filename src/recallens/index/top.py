"""The best rows of a dense score array, with ties settled the same way everywhere: newer first, then by id."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recallens.index.columns import Columns
from recallens.model.verdict import FloatArray, IntArray, anywhere, places


def ordered(columns: Columns, rows: IntArray, scores: FloatArray) -> IntArray:
    """The order of `rows` by score, newest, id."""
    order: IntArray = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    if not anywhere(ranked[1:] == ranked[:-1]) and not np.isnan(ranked[-1:]).any():
        return order  # no ties to settle, which is usual and saves reading dates and ids
    return np.lexsort((columns["id"][rows], -columns["created"][rows], -scores))


def best(columns: Columns, rows: IntArray, scores: NDArray[Any], k: int) -> IntArray:
    """The k best of `rows`, best first. What falls on the cut is chosen by the tie rule, not by chance."""
    if k <= 0 or not len(rows):
        return rows[:0]
    if len(rows) > k:
        cut = np.partition(scores, len(scores) - k)[len(scores) - k]
        above = scores > cut
        level = places(scores == cut)
        wanted = k - int(above.sum())
        if len(level) > wanted:
            level = level[ordered(columns, rows[level], scores[level])[:wanted]]
        keep = np.concatenate([places(above), level])
        rows, scores = rows[keep], scores[keep]
    return rows[ordered(columns, rows, scores)]
