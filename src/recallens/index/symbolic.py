"""The symbolic view: paths, commits, symbols, error codes, dates and tags that the query names, matched exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recallens.index.columns import Columns
from recallens.index.top import best
from recallens.index.views import Proposals
from recallens.model.verdict import BoolArray, FloatArray, IntArray
from recallens.store.protocols import Reader


class BoundSymbolic:
    """A row's raw score is the share of the query's labels that it carries."""

    name = "symbolic"

    def __init__(
        self, columns: Columns, labels: Sequence[tuple[str, str]], hits: Sequence[tuple[str, str, int]]
    ) -> None:
        self.labels = labels
        self._columns = columns
        # A query that names nothing exactly is the usual one: it costs no array over the namespace.
        self._scores = _shares(columns, labels, hits) if hits else None

    def propose(self, k: int, mask: BoolArray | None = None, beside: IntArray | None = None) -> Proposals:
        if self._scores is None:
            return Proposals.none()
        eligible = (self._scores > 0) & self._columns["alive"]
        if mask is not None:
            eligible &= mask
        rows = np.flatnonzero(eligible)
        chosen = best(self._columns, rows, self._scores[rows], k)
        return Proposals(chosen, self._scores[chosen], more=len(rows) > k)

    def score(self, rows: IntArray) -> FloatArray:
        return np.zeros(len(rows)) if self._scores is None else self._scores[rows]


def _shares(columns: Columns, labels: Sequence[tuple[str, str]], hits: Sequence[tuple[str, str, int]]) -> FloatArray:
    rows = columns.locate([num for _, _, num in hits]).tolist()
    carried = {(row, value) for row, (value, _, _) in zip(rows, hits, strict=True) if row >= 0}
    scores = np.zeros(columns.size)
    np.add.at(scores, np.array([row for row, _ in carried], dtype=np.int64), 1.0 / len({value for value, _ in labels}))
    return scores


def bind_symbolic(reader: Reader, columns: Columns, labels: Sequence[tuple[str, str]]) -> BoundSymbolic:
    return BoundSymbolic(columns, labels, reader.terms.labelled(labels) if labels else ())
