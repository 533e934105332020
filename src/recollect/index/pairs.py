"""What the order of words says of some rows: which hold the query's neighbouring words side by side, which are code.

Word pairs: Metzler and Croft, "A Markov Random Field Model for Term Dependencies", SIGIR 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.index.bm25 import Bm25, saturation
from recollect.model.verdict import FloatArray
from recollect.text.tokenizer import tokenize

Terms = NDArray[np.uint32]

# A long document's beginning says what it is; the rest would only cost time.
READ_TERMS = 1_024

# Words that programs hold and prose seldom does, as the tokenizer leaves them. At the shares below, 85% of the
# functions of cosqa-dev are code, 14% of React's pages, and at most 1% of any set of prose.
CODE_WORDS = tuple(
    dict.fromkeys(
        tokenize(
            "def self return elif none str int len isinstance lambda import kwargs args raise except const var null"
            " undefined function func struct void bool boolean static public private async await param params println"
            " printf console fn impl nil elseif endif typeof instanceof"
        )
    )
)
CODE_SHARE = 0.05
CODE_KINDS = 2


@dataclass(frozen=True, slots=True)
class Pair:
    """Two words that stand side by side in the query, by number, and what the pair is worth."""

    first: int
    second: int
    worth: float


def pair_scores(sequences: Sequence[Terms], pairs: Sequence[Pair], norm: FloatArray, formula: Bm25) -> FloatArray:
    """BM25 of the pairs as if each were one term, for each row."""
    total = np.zeros(len(sequences))
    if not pairs or not len(sequences):
        return total
    terms, owner = _joined(sequences)
    wanted = _marks(terms, [number for pair in pairs for number in (pair.first, pair.second)])[terms]
    at = np.flatnonzero(wanted[:-1] & wanted[1:] & (owner[:-1] == owner[1:]))
    first, second, rows = terms[at], terms[at + 1], owner[at]
    for pair in pairs:
        held = rows[(first == pair.first) & (second == pair.second)]
        if len(held):
            frequencies = np.bincount(held, minlength=len(sequences)).astype(np.float64)
            total += pair.worth * saturation(formula, frequencies, norm)
    return total


def code_share(sequences: Sequence[Terms], code: Sequence[int]) -> float:
    """The share of these rows that are source code."""
    if not code or not len(sequences):
        return 0.0
    terms, owner = _joined(sequences)
    at = np.flatnonzero(_marks(terms, code)[terms])
    if not len(at):
        return 0.0
    size = len(sequences)
    counts = np.bincount(owner[at], minlength=size)
    kinds = np.bincount(np.unique(owner[at].astype(np.int64) << 32 | terms[at]) >> 32, minlength=size)
    lengths = np.bincount(owner, minlength=size)
    return float(((counts > CODE_SHARE * lengths) & (kinds >= CODE_KINDS)).mean())


def _joined(sequences: Sequence[Terms]) -> tuple[Terms, NDArray[np.intp]]:
    heads = [sequence[:READ_TERMS] for sequence in sequences]
    return np.concatenate(heads), np.repeat(np.arange(len(heads)), [len(head) for head in heads])


def _marks(terms: Terms, numbers: Sequence[int]) -> NDArray[np.bool_]:
    """A table of all term numbers that is true at these."""
    table = np.zeros(int(max(terms.max(initial=0), max(numbers))) + 1, dtype=np.bool_)
    table[list(numbers)] = True
    return table
