"""What the order of words says of some rows: which hold the query's neighbouring words side by side, which are code.

Word pairs: Metzler and Croft, "A Markov Random Field Model for Term Dependencies", SIGIR 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.index.bm25 import Bm25, saturation
from recollect.index.scored import distinct
from recollect.index.segments import Segment, Terms
from recollect.model.verdict import BoolArray, FloatArray, IntArray

# A long document's beginning says what it is; the rest would only cost time.
READ_TERMS = 1_024

# Words that programs hold and prose seldom does, as the tokenizer leaves them. At the shares below, 85% of the
# functions of cosqa-dev are code, 14% of React's pages, and at most 1% of any set of prose.
CODE_WORDS = (
    "def", "self", "return", "elif", "none", "str", "int", "len", "isinst", "lambda", "import", "kwarg", "arg",
    "rais", "except", "const", "var", "null", "undefin", "function", "func", "struct", "void", "bool", "boolean",
    "static", "public", "privat", "async", "await", "param", "println", "printf", "consol", "fn", "impl", "nil",
    "elseif", "endif", "typeof", "instanceof",
)  # fmt: skip
CODE_SHARE = 0.05
CODE_KINDS = 2
# Short functions hold too few such words to be known, so a list of which this much is code is all code.
MOSTLY = 0.75


@dataclass(frozen=True, slots=True)
class Pair:
    """Two words that stand side by side in the query, by number, and what the pair is worth."""

    first: int
    second: int
    worth: float


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The terms of some rows in text order, one after the other, and the place of the row that each belongs to."""

    terms: Terms
    owner: NDArray[np.int64]
    size: int


def read(segments: Sequence[Segment], rows: IntArray) -> Reading:
    """The beginnings of these rows, from whichever segment holds each."""
    terms, owners = [np.empty(0, dtype=np.uint32)], [np.empty(0, dtype=np.int64)]
    for segment in segments:
        places = np.flatnonzero((rows >= segment.first) & (rows < segment.first + len(segment)))
        if len(places):
            at = rows[places] - segment.first
            starts = segment.offsets[at]
            lengths = np.minimum(segment.offsets[at + 1] - starts, READ_TERMS)
            ends = np.cumsum(lengths)
            terms.append(segment.forward[np.arange(ends[-1]) + np.repeat(starts - ends + lengths, lengths)])
            owners.append(np.repeat(places, lengths))
    return Reading(np.concatenate(terms), np.concatenate(owners), len(rows))


def pair_scores(reading: Reading, pairs: Sequence[Pair], norm: FloatArray, formula: Bm25) -> FloatArray:
    """BM25 of the pairs as if each were one term, for each row."""
    terms, owner = reading.terms, reading.owner
    total = np.zeros(reading.size)
    if not pairs or not len(terms):
        return total
    at = np.flatnonzero(_marked(terms, [pair.first for pair in pairs])[:-1])
    at = at[owner[at] == owner[at + 1]]
    first, second, rows = terms[at], terms[at + 1], owner[at]
    for pair in pairs:
        held = rows[(first == pair.first) & (second == pair.second)]
        if len(held):
            frequencies = np.bincount(held, minlength=reading.size).astype(np.float64)
            total += pair.worth * saturation(formula, frequencies, norm)
    return total


def code_share(reading: Reading, live: BoolArray, code: Sequence[int]) -> float:
    """How far the live rows are source code, from 0 to 1."""
    if not code or not live.any():
        return 0.0
    terms, owner, size = reading.terms, reading.owner, reading.size
    at = np.flatnonzero(_marked(terms, code))
    if not len(at):
        return 0.0
    counts = np.bincount(owner[at], minlength=size)
    lengths = np.bincount(owner, minlength=size)
    likely = (counts > CODE_SHARE * lengths) & (counts >= CODE_KINDS) & live
    if not np.count_nonzero(likely):
        return 0.0
    kinds = np.bincount(distinct((owner[at] << 32) | terms[at]) >> 32, minlength=size)
    return min(1.0, float((likely & (kinds >= CODE_KINDS))[live].mean()) / MOSTLY)


def _marked(terms: Terms, numbers: Sequence[int]) -> BoolArray:
    """Which of the terms are among these: by a table of all numbers, which is quicker here than any search."""
    table = np.zeros(int(max(terms.max(initial=0), max(numbers))) + 1, dtype=np.bool_)
    table[list(numbers)] = True
    return table[terms]
