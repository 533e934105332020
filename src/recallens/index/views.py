"""What a view gives of one query: the rows that it proposes, in the order of its scores, and a score for any row.

The symbolic view stands here too: paths, commits, symbols, error codes, dates and tags that the query names exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from recallens.index.columns import Columns
from recallens.model.verdict import BoolArray, FloatArray, IntArray, all_true, anywhere, places
from recallens.store.protocols import Reader


class Proposals(Struct, frozen=True, eq=False):
    """Rows, best first, with the view's raw scores. `more` says whether asking for more rows could give any."""

    rows: IntArray
    raw: FloatArray
    more: bool

    @staticmethod
    def none() -> Proposals:
        return Proposals(np.empty(0, dtype=np.int64), np.empty(0), more=False)


class BoundView(Protocol):
    """A view, asked one query at one version of the index."""

    name: str

    def propose(self, k: int, mask: BoolArray | None = None, beside: IntArray | None = None) -> Proposals:
        """The k best rows, of those in the mask. `beside` are rows of others, of which it will be asked too."""

    def score(self, rows: IntArray) -> FloatArray:
        """The raw score of each row, NaN where the view cannot say."""


# ── the best rows, with ties settled the same way everywhere: newer first, then by id ──


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
        cut = largest(scores, k)
        above = scores > cut
        level = places(scores == cut)
        wanted = k - int(above.sum())
        if len(level) > wanted:
            level = level[ordered(columns, rows[level], scores[level])[:wanted]]
        keep = np.concatenate([places(above), level])
        rows, scores = rows[keep], scores[keep]
    return rows[ordered(columns, rows, scores)]


def largest(values: NDArray[Any], k: int) -> Any:
    """The k-th largest of more than k values. As many are at least as large as the k-th of some columns' maxima: only
    those are put in order, where there are very many in a tenth of the time."""
    columns = 16 * k
    height = len(values) // columns
    if height >= 4:
        highest = values[: height * columns].reshape(height, columns).max(axis=0)
        values = values[~(values < np.partition(highest, columns - k)[columns - k])]  # what is no number stays
    return np.partition(values, len(values) - k)[len(values) - k]


# From this part of a namespace on, marking every row takes less time than sorting those that are asked for.
MANY_ROWS = 32


# ── scores of the few rows that hold any of the query's words ──


class ScoredRows(Struct, eq=False):
    """Rows in their order, each with its score and with the share of the query's words that it holds."""

    rows: IntArray
    scores: FloatArray
    coverage: FloatArray
    _asked: IntArray | None = None
    _at: IntArray = np.empty(0, dtype=np.int64)
    _here: BoolArray = np.empty(0, dtype=np.bool_)

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
    known = _among(size, rows)
    # A table over the namespace, of which only the entries of these rows are ever written or read.
    place = np.empty(size, dtype=np.int32)
    place[known] = np.arange(len(known), dtype=np.int32)
    at = place[rows]
    sums: list[FloatArray] = [np.bincount(at, weights=values).astype(np.float64, copy=False) for values in columns]
    return known.astype(np.int64), sums


def _among(size: int, rows: NDArray[Any]) -> NDArray[Any]:
    """The distinct rows in order: many are marked in a table over the namespace, few are sorted."""
    if MANY_ROWS * len(rows) < size:
        return distinct(rows)
    held = np.zeros(size, dtype=np.bool_)
    held[rows] = True
    return np.flatnonzero(held)


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Each value once, in order; a tenth of the time of `np.unique`, which hashes."""
    ordered = np.sort(values)
    keep = all_true(len(ordered))
    np.not_equal(ordered[1:], ordered[:-1], out=keep[1:])
    return ordered[keep]


# ── the symbolic view ──


class BoundSymbolic:
    """A row's raw score is the share of the query's labels that it carries."""

    name = "symbolic"

    def __init__(
        self, columns: Columns, labels: Sequence[tuple[str, str]], hits: Sequence[tuple[str, str, int]]
    ) -> None:
        self.labels = labels
        self._columns = columns
        # A query that names nothing exactly is the usual one: it costs no array over the namespace.
        self._scores: FloatArray | None = None
        self._carriers: dict[str, set[int]] = {}
        if hits:
            rows = columns.locate([num for _, _, num in hits]).tolist()
            carried = {(row, value) for row, (value, _, _) in zip(rows, hits, strict=True) if row >= 0}
            for row, value in carried:
                self._carriers.setdefault(value, set()).add(row)
            self._scores = np.zeros(columns.size)
            share = 1.0 / len({value for value, _ in labels})
            np.add.at(self._scores, np.array([row for row, _ in carried], dtype=np.int64), share)

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

    def carries(self, value: str, rows: IntArray) -> BoolArray | None:
        """Which rows carry this label, in their text or in what they cite; None where none of the namespace does."""
        carriers = self._carriers.get(value)
        return None if carriers is None else np.array([row in carriers for row in rows.tolist()], dtype=np.bool_)


def bind_symbolic(reader: Reader, columns: Columns, labels: Sequence[tuple[str, str]]) -> BoundSymbolic:
    return BoundSymbolic(columns, labels, reader.terms.labelled(labels) if labels else ())
