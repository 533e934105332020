"""The symbolic view: paths, commits, symbols, error codes, dates and tags that the query names, matched exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recollect.index.columns import Columns
from recollect.index.top import best
from recollect.index.views import Proposals
from recollect.model.verdict import BoolArray, FloatArray, IntArray
from recollect.store.protocols import Reader


class BoundSymbolic:
    """A row's raw score is the share of the query's labels that it carries."""

    name = "symbolic"

    def __init__(
        self, columns: Columns, labels: Sequence[tuple[str, str]], hits: Sequence[tuple[str, str, int]]
    ) -> None:
        self.labels = labels
        self._columns = columns
        self._scores = np.zeros(columns.size)
        if labels:
            carried = {
                (columns_row, value)
                for (value, _, _), columns_row in zip(
                    hits, columns.locate([num for _, _, num in hits]).tolist(), strict=True
                )
                if columns_row >= 0
            }
            rows = np.array([row for row, _ in carried], dtype=np.int64)
            np.add.at(self._scores, rows, 1.0 / len({value for value, _ in labels}))

    def propose(self, k: int, mask: BoolArray | None = None) -> Proposals:
        eligible = (self._scores > 0) & self._columns["alive"]
        if mask is not None:
            eligible &= mask
        rows = np.flatnonzero(eligible)
        chosen = best(self._columns, rows, self._scores[rows], k)
        return Proposals(chosen, self._scores[chosen], more=len(rows) > k)

    def score(self, rows: IntArray) -> FloatArray:
        scores: FloatArray = self._scores[rows]
        return scores


def bind_symbolic(reader: Reader, ns: int, columns: Columns, labels: Sequence[tuple[str, str]]) -> BoundSymbolic:
    return BoundSymbolic(columns, labels, reader.labelled(ns, labels) if labels else ())
