"""The best few of some rows by BM25, where the words are many and most rows that hold one are far behind: MaxScore.

Words are taken from the rarest on. Once all that are left could not lift a row to the last place, no row that holds
none of the words taken is among the best, and the commonest words are only looked up in the few rows that may be
(Turtle and Flood, "Query evaluation: strategies and optimizations", 1995). Those are scored in the order of the text,
so that each has to the last bit the score that adding everything up gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from recallens.index.bm25 import Bm25, idf, length_norm, saturation
from recallens.index.lexical import LexicalIndex
from recallens.index.segments import Postings
from recallens.index.views import best, largest
from recallens.model.verdict import BoolArray, FloatArray, IntArray

# Where more than this share of all that the words can add is left, no row is ahead by so much; and each look at who is
# ahead is worth its time after so much less is left.
FIRST_LOOK: Final = 0.35
NEXT_LOOK: Final = 0.85
# Sums of the same numbers in another order differ by less.
EPSILON: Final = 1e-9


class _WordPostings(Struct, frozen=True, eq=False):
    lists: Sequence[Postings]  # of one segment each, in the order of rows
    worth: float  # its idf

    @property
    def size(self) -> int:
        return sum(len(postings.rows) for postings in self.lists)

    def counts(self, rows: IntArray) -> FloatArray:
        """How often each of the rows holds it."""
        counts, wanted = np.zeros(len(rows)), rows.astype(np.int32)
        for postings in self.lists:
            at = np.minimum(postings.rows.searchsorted(wanted), len(postings.rows) - 1)
            counts += np.where(postings.rows[at] == wanted, postings.counts[at], 0)
        return counts


class ScoredAmong:
    """Some rows of an index, among which the best are looked for, by these words and by others."""

    def __init__(self, index: LexicalIndex, rows: IntArray, formula: Bm25) -> None:
        self._index, self._formula = index, formula
        self.rows = rows
        self._places = np.full(index.columns.size, -1, dtype=np.int32)
        self._places[rows] = np.arange(len(rows), dtype=np.int32)
        self._norm = length_norm(formula, index.columns["length"][rows], index.mean_length)

    def best(self, numbers: Sequence[int], allowed: BoolArray, k: int) -> IntArray:
        """The k best of those that are allowed and hold any of the words of these numbers, best first."""
        words = self._words(numbers)
        so_far = np.where(allowed, 0.0, -np.inf)
        rest = sorted(words, key=lambda word: word.size, reverse=True)
        left = every = sum(map(self._most, words))
        look, floor = FIRST_LOOK * every, 0.0
        while rest and left >= floor:
            word = rest.pop()
            left -= self._most(word)
            for postings in word.lists:
                at = self._places[postings.rows]
                here = at >= 0
                at, counts = at[here], postings.counts[here].astype(np.float64)
                so_far[at] += word.worth * saturation(self._formula, counts, self._norm[at])
            if left < look and len(so_far) > k:
                look, floor = NEXT_LOOK * left, self._floor(so_far, k)
        places = np.flatnonzero((so_far > 0.0) & (so_far + left >= floor))
        so_far = so_far[places]
        for word in reversed(rest):
            left -= self._most(word)
            so_far += self._scores(word, places)
            if len(places) > k:
                ahead = so_far + left >= self._floor(so_far, k)
                places, so_far = places[ahead], so_far[ahead]
        scores = np.zeros(len(places))
        for word in words:
            scores += self._scores(word, places)
        return best(self._index.columns, self.rows[places], scores, k)

    def _words(self, numbers: Sequence[int]) -> list[_WordPostings]:
        index = self._index
        index.look_up(numbers)
        held = [lists for number in numbers if (lists := index.postings(number))]
        return [
            _WordPostings(lists, idf(self._formula, index.documents, sum(map(index.active_rows, lists))))
            for lists in held
        ]

    def _most(self, word: _WordPostings) -> float:
        """What it adds to a row that is nothing but this word."""
        return (self._formula.k1 + 1.0) * word.worth

    def _scores(self, word: _WordPostings, places: IntArray) -> FloatArray:
        return word.worth * saturation(self._formula, word.counts(self.rows[places]), self._norm[places])

    def _floor(self, so_far: FloatArray, k: int) -> float:
        return float(largest(so_far, k)) * (1.0 - EPSILON)
