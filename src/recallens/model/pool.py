"""The candidates of one recall, in columns. Rows are masked, never removed, so a rejected row keeps its score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

import numpy as np
from msgspec import UNSET, Struct, field, structs

from recallens.model.verdict import (
    ID_DTYPE,
    BoolArray,
    FloatArray,
    Found,
    Gate,
    IdArray,
    IntArray,
    Note,
    Pick,
    Round,
    Term,
    Verdict,
    all_true,
    counted,
    places,
)


def _empty_ids() -> IdArray:
    return np.empty(0, dtype=ID_DTYPE)


def _empty_ints() -> IntArray:
    return np.empty(0, dtype=np.int64)


class Proposal(Struct, frozen=True, eq=False):
    """What one view said of the pool: which positions, and the raw score of each."""

    positions: IntArray
    raw: FloatArray


class Pool(Struct, frozen=True, eq=False):
    """An immutable version of the candidates; `apply` gives the next one. `places` are the positions by id."""

    ids: IdArray = field(default_factory=_empty_ids)
    rows: IntArray = field(default_factory=_empty_ints)
    batch: IntArray = field(default_factory=_empty_ints)
    live: BoolArray = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    score: FloatArray = field(default_factory=lambda: np.empty(0, dtype=np.float64))
    found: Mapping[str, Proposal] = field(default_factory=dict)
    order: IntArray | None = None
    passed: BoolArray = field(default_factory=lambda: np.empty(0, dtype=np.bool_))  # by every gate, whatever the picks
    round: int = 1
    places: Mapping[bytes, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def proposed_by(self, view: str) -> BoolArray:
        mask = np.zeros(len(self), dtype=np.bool_)
        if view in self.found:
            mask[self.found[view].positions] = True
        return mask

    def proposers(self, positions: IntArray) -> list[tuple[str, ...]]:
        """The views that proposed each row. A name with a colon is a step inside a tier, and "watch" takes no part."""
        told = [
            (view, set(proposal.positions.tolist()))
            for view, proposal in self.found.items()
            if ":" not in view and view != "watch"
        ]
        return [tuple(view for view, proposed in told if position in proposed) for position in positions.tolist()]

    def raw(self, view: str) -> FloatArray:
        """The view's raw scores, NaN where it did not propose the row."""
        scores = np.full(len(self), np.nan)
        if view in self.found:
            proposal = self.found[view]
            scores[proposal.positions] = proposal.raw
        return scores

    def ranked(self) -> IntArray:
        """The positions in result order: the last pick's, or every live row as it stands."""
        return self.order if self.order is not None else places(self.live)

    def apply(self, verdict: Verdict) -> Pool:
        return self.step(verdict)[0]

    def step(self, verdict: Verdict) -> tuple[Pool, int, int]:
        """The pool after a verdict, how many rows the verdict considered, and how many it admitted."""
        match verdict:
            case Term():
                return self._with_term(verdict)
            case Gate():
                return self._behind(verdict)
            case Note():
                return self, 0, 0
            case Found():
                return self._with_rows(verdict)
            case Pick():
                live = np.zeros(len(self), dtype=np.bool_)
                live[verdict.chosen] = True
                return self._with(live=live & self.live, order=verdict.chosen), counted(self.live), len(verdict.chosen)
            case Round():
                fresh = np.zeros(len(self))
                again = structs.replace(self, live=self.passed, score=fresh, order=None, round=verdict.number)
                return again, counted(self.live), counted(self.passed)
        assert_never(verdict)

    def _with_term(self, term: Term) -> tuple[Pool, int, int]:
        """Most terms speak of every row or of none, and then there is less to do."""
        considered, computed = counted(self.live), counted(term.computed)
        if not computed:
            return self, considered, 0
        if computed == len(self):
            return self._with(score=self.score + term.delta), considered, considered
        score = self.score + np.where(term.computed, term.delta, 0.0)
        return self._with(score=score), considered, counted(self.live & term.computed)

    def _behind(self, gate: Gate) -> tuple[Pool, int, int]:
        considered, masked = self.live & gate.applies, gate.masked()
        count = counted(considered)
        if masked is None:
            return self, count, count
        kept = ~masked
        return self._with(live=self.live & kept, passed=self.passed & kept), count, counted(considered & kept)

    def _with(
        self,
        *,
        live: BoolArray | None = None,
        score: FloatArray | None = None,
        passed: BoolArray | None = None,
        order: IntArray | None = None,
        found: Mapping[str, Proposal] | None = None,
    ) -> Pool:
        """The same rows, of which something else is said; dozens of these make a recall, so no general copy."""
        return Pool(
            self.ids,
            self.rows,
            self.batch,
            self.live if live is None else live,
            self.score if score is None else score,
            self.found if found is None else found,
            self.order if order is None else order,
            self.passed if passed is None else passed,
            self.round,
            self.places,
        )

    def _with_rows(self, found: Found) -> tuple[Pool, int, int]:
        size, considered = len(self), len(found.ids)
        positions = self.locate(found.ids)
        fresh = positions < 0
        count = counted(fresh)
        positions[fresh] = np.arange(size, size + count)
        before = self.found.get(found.view)
        proposal = Proposal(positions, found.raw)
        if before is not None:
            told = set(before.positions.tolist())
            new = np.array([position not in told for position in positions.tolist()], dtype=np.bool_)
            proposal = Proposal(
                np.concatenate([before.positions, positions[new]]),
                np.concatenate([before.raw, found.raw[new]]),
            )
        known = {**self.found, found.view: proposal}
        if not count:
            return self._with(found=known), considered, 0
        everyone = all_true(count)
        ids = found.ids[fresh]
        rows = np.full(count, -1, dtype=np.int64) if found.rows is UNSET else found.rows[fresh]
        grown = Pool(
            np.concatenate([self.ids, ids]),
            np.concatenate([self.rows, rows]),
            np.concatenate([self.batch, np.full(count, found.batch, dtype=np.int64)]),
            np.concatenate([self.live, everyone]),
            np.concatenate([self.score, np.zeros(count)]),
            known,
            self.order,
            np.concatenate([self.passed, everyone]),
            self.round,
            {**self.places, **dict(zip(ids.tolist(), range(size, size + count), strict=True))},
        )
        return grown, considered, count

    def locate(self, ids: IdArray) -> IntArray:
        """The position of each id in the pool, -1 where it is not in it."""
        if not self.places:
            return np.full(len(ids), -1, dtype=np.int64)
        return np.array([self.places.get(id, -1) for id in ids.tolist()], dtype=np.int64)


NOBODY = Pool()
