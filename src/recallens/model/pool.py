"""The candidates of one recall, in columns. Rows are masked, never removed, so a rejected row keeps its score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, assert_never

import numpy as np
from msgspec import UNSET, Struct, field
from msgspec.structs import replace

from recallens.model.verdict import (
    ID_DTYPE,
    Bond,
    BoolArray,
    FloatArray,
    Found,
    Gate,
    IdArray,
    IntArray,
    Judgement,
    Note,
    Peers,
    Pick,
    Round,
    Term,
    Verdict,
    all_true,
    anywhere,
    counted,
    places,
)


def _empty(dtype: Any) -> Any:
    return field(default_factory=lambda: np.empty(0, dtype=dtype))


class Proposal(Struct, frozen=True, eq=False):
    """What one view said of the pool: which positions, and the raw score of each."""

    positions: IntArray
    raw: FloatArray


class Pool(Struct, frozen=True, eq=False):
    """An immutable version of the candidates; `apply` gives the next one. `places` are the positions by id."""

    ids: IdArray = _empty(ID_DTYPE)
    rows: IntArray = _empty(np.int64)
    batch: IntArray = _empty(np.int64)
    live: BoolArray = _empty(np.bool_)
    score: FloatArray = _empty(np.float64)
    found: Mapping[str, Proposal] = field(default_factory=dict)
    order: IntArray | None = None
    passed: BoolArray = _empty(np.bool_)  # by every gate, whatever the picks
    round: int = 1
    relevance: FloatArray | None = None  # how likely each row is to help, where that was judged
    least_relevance: float = 0.0  # where no row is as likely, nothing is delivered
    share: float = 0.0  # beside the best row, what is less likely than this share of it is left out
    peers: tuple[Peers, ...] = ()  # the more trusted rows, which are measured without the others too
    bonds: tuple[Bond, ...] = ()
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
        views: list[tuple[str, ...]] = [()] * len(self)
        for view, proposal in self.found.items():
            if ":" not in view and view != "watch":
                for position in proposal.positions.tolist():
                    views[position] += (view,)
        return list(map(views.__getitem__, positions.tolist()))

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

    def circles(self) -> tuple[Peers, ...]:
        """The rows that are measured together: all of them, then those that are measured without the others too."""
        return (Peers(all_true(len(self)), self.least_relevance, self.share), *self.peers)

    def floor(self, among: Peers) -> float:
        """How likely to help a row must be: beside one that is likely enough, a share of the root of its relevance."""
        live = self.relevance[self.live & among.rows] if self.relevance is not None else np.empty(0)
        best = float(live.max()) if len(live) else 0.0
        return among.share * math.sqrt(best) if best >= among.least else among.least

    def floors(self) -> FloatArray:
        """How likely to help each row must be: the least that is asked of it in any of its circles. So what is less
        trusted may lower what is asked of a row, and raises nothing.
        """
        floors = np.full(len(self), np.inf)
        for among in self.circles():
            floors[among.rows] = np.minimum(floors[among.rows], self.floor(among))
        return floors

    def helps(self, rows: BoolArray) -> bool:
        """Whether any of the rows is so likely to help that something is delivered."""
        if self.relevance is None:
            return False
        return any(anywhere(rows & among.rows & (self.relevance >= among.least)) for among in self.circles())

    def likely(self) -> BoolArray:
        """The rows that are likely enough to help, and, where any is, those that belong beside one of them."""
        likely = np.zeros(len(self), dtype=np.bool_) if self.relevance is None else self.relevance >= self.floors()
        beside = [bond.beside[likely[bond.relevant]] for bond in self.bonds] if counted(likely & self.live) else []
        for rows in beside:
            likely[rows] = True
        return likely

    def apply(self, verdict: Verdict) -> Pool:
        return self.step(verdict)[0]

    def step(self, verdict: Verdict) -> tuple[Pool, int, int]:
        """The pool after a verdict, how many rows the verdict considered, and how many it admitted."""
        considered = counted(self.live)
        match verdict:
            case Term():  # most speak of every row or of none, and then there is less to do
                computed = counted(verdict.computed)
                if not computed:
                    return self, considered, 0
                if computed == len(self):
                    return replace(self, score=self.score + verdict.delta), considered, considered
                score = self.score + np.where(verdict.computed, verdict.delta, 0.0)
                return replace(self, score=score), considered, counted(self.live & verdict.computed)
            case Gate():
                judged, masked = self.live & verdict.applies, verdict.masked()
                considered = counted(judged)
                if masked is None:
                    return self, considered, considered
                kept = ~masked
                behind = replace(self, live=self.live & kept, passed=self.passed & kept)
                return behind, considered, counted(judged & kept)
            case Judgement():
                peers = () if verdict.peers is UNSET else verdict.peers
                likely = replace(
                    self, relevance=verdict.probability, least_relevance=verdict.least, share=verdict.share, peers=peers
                )
                return likely, considered, considered
            case Note():
                return self, 0, 0
            case Bond():
                return replace(self, bonds=(*self.bonds, verdict)), considered, len(verdict.beside)
            case Found():
                return self._with_rows(verdict)
            case Pick():
                live = np.zeros(len(self), dtype=np.bool_)
                live[verdict.chosen] = True
                return replace(self, live=live & self.live, order=verdict.chosen), considered, len(verdict.chosen)
            case Round():
                fresh = np.zeros(len(self))
                again = replace(
                    self, live=self.passed, score=fresh, order=None, relevance=None, peers=(), bonds=(),
                    round=verdict.number,
                )  # fmt: skip
                return again, considered, counted(self.passed)
        assert_never(verdict)

    def _with_rows(self, proposed: Found) -> tuple[Pool, int, int]:
        size, considered = len(self), len(proposed.ids)
        # The position of each id, -1 for those that are not in the pool yet.
        positions = np.array([self.places.get(id, -1) for id in proposed.ids.tolist()], dtype=np.int64)
        fresh = positions < 0
        count = counted(fresh)
        positions[fresh] = np.arange(size, size + count)
        proposal = Proposal(positions, proposed.raw)
        before = self.found.get(proposed.view)
        if before is not None:
            known = np.zeros(size + count, dtype=np.bool_)
            known[before.positions] = True
            new = ~known[positions]
            proposal = Proposal(
                np.concatenate([before.positions, positions[new]]), np.concatenate([before.raw, proposed.raw[new]])
            )
        found = {**self.found, proposed.view: proposal}
        if not count:
            return replace(self, found=found), considered, 0
        ids = proposed.ids[fresh]
        rows = np.full(count, -1, dtype=np.int64) if proposed.rows is UNSET else proposed.rows[fresh]
        grown = replace(
            self,
            ids=np.concatenate([self.ids, ids]),
            rows=np.concatenate([self.rows, rows]),
            batch=np.concatenate([self.batch, np.full(count, proposed.batch, dtype=np.int64)]),
            live=np.concatenate([self.live, all_true(count)]),
            score=np.concatenate([self.score, np.zeros(count)]),
            found=found,
            passed=np.concatenate([self.passed, all_true(count)]),
            places={**self.places, **dict(zip(ids.tolist(), range(size, size + count), strict=True))},
        )
        return grown, considered, count


NOBODY = Pool()
