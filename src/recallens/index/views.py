"""A view answers two questions about one query: which rows it proposes, and how it scores any row at all."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from msgspec import Struct

from recallens.model.verdict import BoolArray, FloatArray, IntArray


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
        ...

    def score(self, rows: IntArray) -> FloatArray:
        """The raw score of each row, NaN where the view cannot say."""
        ...
