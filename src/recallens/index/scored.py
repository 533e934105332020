"""What a query says of the few rows that hold any of its words, kept by row: most rows of a namespace hold none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recallens.model.verdict import BoolArray, FloatArray, IntArray, all_true


@dataclass(slots=True, eq=False)
class Scored:
    """Rows in their order, each with its score and with the share of the query's words that it holds."""

    rows: IntArray
    scores: FloatArray
    coverage: FloatArray
    _asked: IntArray | None = None
    _at: IntArray = field(init=False)
    _here: BoolArray = field(init=False)

    def score_of(self, rows: IntArray) -> FloatArray:
        return self._of(self.scores, rows)

    def coverage_of(self, rows: IntArray) -> FloatArray:
        return self._of(self.coverage, rows)

    def _of(self, values: FloatArray, rows: IntArray) -> FloatArray:
        if not len(self.rows):
            return np.zeros(len(rows))
        if self._asked is not rows:  # a dozen stages ask about the same rows: they are looked for once
            self._at = np.minimum(self.rows.searchsorted(rows), len(self.rows) - 1)
            self._here = self.rows[self._at] == rows
            self._asked = rows
        return np.where(self._here, values[self._at], 0.0)


def added_up(size: int, rows: NDArray[Any], *columns: FloatArray) -> tuple[IntArray, list[FloatArray]]:
    """The distinct rows in order, and what each has of every column, summed in the order in which it stands there."""
    known = distinct(rows)
    # A table over the namespace, of which only the entries of these rows are ever written or read.
    place = np.empty(size, dtype=np.int32)
    place[known] = np.arange(len(known), dtype=np.int32)
    at = place[rows]
    sums: list[FloatArray] = [np.bincount(at, weights=values).astype(np.float64, copy=False) for values in columns]
    return known.astype(np.int64), sums


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Each value once, in order; a tenth of the time of `np.unique`, which hashes."""
    ordered = np.sort(values)
    keep = all_true(len(ordered))
    np.not_equal(ordered[1:], ordered[:-1], out=keep[1:])
    return ordered[keep]
