"""What a stage may say. A stage returns verdicts and changes nothing; only `Pool.apply` acts on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import UNSET, Struct, UnsetType, field
from numpy.typing import NDArray

IdArray = NDArray[np.bytes_]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]

ID_DTYPE = np.dtype("S26")


class Found(Struct, frozen=True, eq=False, tag_field="type", tag="found"):
    """A view proposes these rows, best first, with these raw scores; or it failed with this error.

    `rows` are positions in the resident columns of this recall. They are not part of the record: a ledger knows rows
    by their ids alone.
    """

    view: str
    ids: IdArray
    raw: FloatArray
    rows: IntArray | UnsetType = UNSET
    batch: int = 0
    refill: bool = False
    pushed: bool = False
    error: str | None = None


class Gate(Struct, frozen=True, eq=False, tag_field="type", tag="gate"):
    """Of the rows it applies to, those in `fails` are masked, unless they are in `exempt`.

    `pushed` holds (considered, admitted) over the whole namespace where the views were asked with this
    gate's mask pushed in, so that the pool alone would show nothing rejected.
    """

    name: str
    applies: BoolArray
    fails: BoolArray
    exempt: BoolArray
    reason: str = ""
    pushed: tuple[int, int] | None = None

    def masked(self) -> BoolArray | None:
        """The rows that it takes out, None where it takes out none, as most gates do."""
        if not anywhere(self.fails):
            return None
        return self.applies & self.fails & ~self.exempt


class Term(Struct, frozen=True, eq=False, tag_field="type", tag="term"):
    """Add `delta` to each row's score. Where `computed` is false the term is absent, which is not the same as 0."""

    name: str
    delta: FloatArray
    computed: BoolArray
    stats: Mapping[str, int | float] = field(default_factory=dict)  # a digest tells 0 from 0.0


# Log-odds beyond this are as good as certain, and their exponential would not fit a number.
FARTHEST_ODDS = 500.0


class Peers(Struct, frozen=True, eq=False):
    """Rows that are measured among themselves too, since all others are less trusted: `least` and `share` are those of
    a judgement, as they are without the others.
    """

    rows: BoolArray
    least: float
    share: float


class Judgement(Struct, frozen=True, eq=False, tag_field="type", tag="judgement"):
    """How likely each row is to help, as a probability beside its score: it changes no order by itself.

    The log-odds of a row are the bias and, for each signal that has a weight, the weight times the row's value. Where a
    value is NaN the signal is absent, and adds nothing.
    """

    name: str
    probability: FloatArray
    bias: float
    weights: Mapping[str, float]
    signals: Mapping[str, FloatArray]
    least: float  # where no row is as likely to help as this, nothing is
    share: float = 0.0  # of the best row's probability: beside it, what is less likely than that does not help
    peers: tuple[Peers, ...] | UnsetType = UNSET  # the more trusted among the rows; absent where all are alike

    @classmethod
    def of(
        cls, name: str, bias: float, weights: Mapping[str, float], signals: Mapping[str, FloatArray], *, least: float,
        share: float = 0.0, peers: Sequence[Peers] = (),
    ) -> Judgement:  # fmt: skip
        odds = bias + sum(weight * np.nan_to_num(signals[signal]) for signal, weight in weights.items())
        bounded = np.clip(np.asarray(odds, dtype=np.float64), -FARTHEST_ODDS, FARTHEST_ODDS)
        return cls(name, 1.0 / (1.0 + np.exp(-bounded)), bias, weights, signals, least, share, tuple(peers) or UNSET)

    def parts_of(self, position: int) -> dict[str, float]:
        """What each signal adds to the log-odds of one row; absent signals are left out."""
        values = {name: float(self.signals[name][position]) for name in self.weights}
        return {name: self.weights[name] * value for name, value in values.items() if value == value}


class Bond(Struct, frozen=True, eq=False, tag_field="type", tag="bond"):
    """Each row of `beside` belongs beside the row of `relevant` at the same place, as a warning beside the failure that
    it explains: where the second is likely to help, the cut keeps the first. Both are positions in the pool.
    """

    name: str
    beside: IntArray
    relevant: IntArray


class Pick(Struct, frozen=True, eq=False, tag_field="type", tag="pick"):
    """These pool positions, in this order, at this cost each; every other live row is cut."""

    name: str
    chosen: IntArray
    cost: FloatArray
    reason: str = ""


class Note(Struct, frozen=True, eq=False, tag_field="type", tag="note"):
    """A fact that changes no row."""

    name: str
    data: Mapping[str, Any]


class Round(Struct, frozen=True, eq=False, tag_field="type", tag="round"):
    """Begin again on the same rows: what the gates masked stays masked, scores and picks so far count no more."""

    number: int
    reason: str = ""


Verdict = Found | Gate | Term | Judgement | Bond | Pick | Note | Round


# ── masks over a few rows ──
# Looking at a mask's bytes takes a third of the time of numpy's functions, which serve every kind of array; a recall
# asks some hundred times. They save 0.26 ms of a recall of 4.5 ms with the hashing encoder, 0.4 ms of 12 with MiniLM.


def places(mask: BoolArray) -> IntArray:
    """Where it is true; as `np.flatnonzero`."""
    return mask.nonzero()[0]


def anywhere(mask: BoolArray) -> bool:
    """As `mask.any()`."""
    return 1 in mask.tobytes()


def everywhere(mask: BoolArray) -> bool:
    """As `mask.all()`."""
    return 0 not in mask.tobytes()


def counted(mask: BoolArray) -> int:
    """As `np.count_nonzero`."""
    return mask.tobytes().count(1)


def all_but(count: int, these: IntArray) -> IntArray:
    """The places up to `count` without some of them, in order; as `np.setdiff1d`."""
    left = all_true(count)
    left[these] = False
    return places(left)


def all_true(count: int) -> BoolArray:
    """As `np.ones`."""
    return ~np.zeros(count, dtype=np.bool_)
