"""The recorded verdicts applied again: what each gate and pick did to each row, and the filters as a ladder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np
from msgspec import Struct

from recallens.model.ledger import Entry
from recallens.model.masks import anywhere, counted
from recallens.model.pool import Pool
from recallens.model.snapshot import FilterTrace
from recallens.model.verdict import BoolArray, Gate, IntArray, Pick, Round

# The gate that keeps rows out of the race which are only followed.
NOT_PROPOSED: Final = "not-proposed"
# Gates of the direct answer judge its own rows only: they explain the tier, and stand in the ladder as one filter where
# they masked rows that the ladder had counted.
DIRECT_ANSWER: Final = "direct-answer"
# Between a filter that was pushed into the views and the next one lies what the views chose to propose.
PROPOSED: Final = "proposed"


class Cut(Struct, frozen=True, eq=False):
    """One gate or pick as it met the pool: the rows it judged, those of them it failed, and those it spared anyway."""

    judged: BoolArray
    failed: BoolArray
    exempt: BoolArray
    reason: str

    def holds(self, position: int) -> bool:
        return position < len(self.judged) and bool(self.judged[position])

    def rejects(self, position: int) -> bool:
        known = position < len(self.judged)
        return known and bool(self.failed[position] and self.judged[position] and not self.exempt[position])


@dataclass(slots=True, eq=False)
class Rung:
    """A filter of the ladder over all its passes."""

    name: str
    considered: int = 0
    admitted: int = 0
    pushed: bool = False
    cuts: list[Cut] = field(default_factory=list)

    @property
    def trace(self) -> FilterTrace:
        exempt = sum(counted(cut.judged & cut.failed & cut.exempt) for cut in self.cuts)
        reasons = dict.fromkeys(cut.reason for cut in self.cuts if cut.reason)
        return FilterTrace(
            self.name, self.considered, self.admitted, "; ".join(reasons) or None, exempt=exempt, pushed=self.pushed
        )

    def passed(self, positions: IntArray) -> list[bool]:
        """Which of the rows it judged and never failed."""
        judged, failed = (np.zeros(len(positions), dtype=np.bool_) for _ in range(2))
        last = max(positions.tolist(), default=-1)
        for cut in self.cuts:
            if last < len(cut.judged):
                by_it = cut.judged[positions]
                judged |= by_it
                failed |= by_it & cut.failed[positions]
                continue
            known = positions < len(cut.judged)  # rows that came later were not there to be judged
            at = positions[known]
            judged[known] |= cut.judged[at]
            failed[known] |= cut.judged[at] & cut.failed[at]
        passed: list[bool] = (judged & ~failed).tolist()
        return passed

    @property
    def spares(self) -> bool:
        """Whether any row that it would have rejected was exempt."""
        return any(anywhere(cut.judged & cut.failed & cut.exempt) for cut in self.cuts)

    def spared(self, position: int) -> str | None:
        """Why it would have rejected a row that was exempt from it."""
        for cut in self.cuts:
            if cut.holds(position) and cut.failed[position] and cut.exempt[position]:
                return cut.reason or self.name
        return None

    def rejected(self, position: int) -> Cut | None:
        for cut in self.cuts:
            if cut.rejects(position):
                return cut
        return None


@dataclass(slots=True, eq=False)
class Walk:
    """The recorded verdicts applied again, one by one, keeping what each gate and pick did to each row."""

    pool: Pool = field(default_factory=Pool)
    rungs: dict[str, Rung] = field(default_factory=dict)
    own: dict[str, Rung] = field(default_factory=dict)
    picks: set[str] = field(default_factory=set)

    @staticmethod
    def through(entries: Iterable[Entry]) -> Walk:
        walk = Walk()
        for entry in entries:
            match entry.verdict:
                case Gate():
                    walk._gate(entry, entry.verdict)
                case Pick():
                    walk._pick(entry, entry.verdict)
                case Round():
                    walk._begin_again()
            walk.pool = walk.pool.apply(entry.verdict)
        return walk

    def ladder(self) -> list[Rung]:
        """The filters in order, each considering what the one before it admitted."""
        rungs = [rung for rung in self.rungs.values() if rung.name != NOT_PROPOSED]
        if rungs and rungs[0].name == DIRECT_ANSWER:
            del rungs[0]  # what it masked before the first filter, no filter has counted
        for at, (before, after) in reversed(list(enumerate(pairwise(rungs), start=1))):
            if before.name == DIRECT_ANSWER:
                masked = before.considered - before.admitted
                before.considered, before.admitted = after.considered + masked, after.considered
            if before.pushed and not after.pushed:
                rungs.insert(at, self._proposed(before.admitted, after.considered))
        return rungs

    def _proposed(self, considered: int, admitted: int) -> Rung:
        everyone = np.ones(len(self.pool), dtype=np.bool_)
        reason = "no view proposed the rest" if considered > admitted else ""
        return Rung(PROPOSED, considered, admitted, cuts=[Cut(everyone, ~everyone, ~everyone, reason)])

    def kept_out(self, position: int) -> tuple[str, str] | None:
        """The first filter that rejected the row, and its reason; none for a row that was only watched."""
        for rung in (*self.own.values(), *self.rungs.values()):
            cut = rung.rejected(position)
            if cut is not None:
                return None if rung.name == NOT_PROPOSED else (rung.name, cut.reason)
        return None

    def _gate(self, entry: Entry, gate: Gate) -> None:
        cut = Cut(self.pool.live & gate.applies, gate.fails, gate.exempt, gate.reason)
        if gate.name.startswith(f"{DIRECT_ANSWER}:"):
            self._among(self.own, gate.name).cuts.append(cut)
            if entry.considered == entry.admitted:
                return
            masked = cut.judged & cut.failed & ~cut.exempt
            rung, cut = self._among(self.rungs, DIRECT_ANSWER), Cut(masked, masked, ~masked, gate.reason)
        else:
            rung = self._among(self.rungs, gate.name)
        rung.cuts.append(cut)
        if gate.pushed is not None:
            # The mask was laid over the whole namespace, so later passes hold no row that it has not counted.
            rung.considered, rung.admitted = gate.pushed
            rung.pushed = True
        elif not rung.pushed:
            rung.considered += entry.considered
            rung.admitted += entry.admitted

    @staticmethod
    def _among(rungs: dict[str, Rung], name: str) -> Rung:
        if name not in rungs:
            rungs[name] = Rung(name)
        return rungs[name]

    def _begin_again(self) -> None:
        """The picks so far count no more; what the gates masked stays masked."""
        for name in self.picks:
            self.rungs.pop(name, None)

    def _pick(self, entry: Entry, pick: Pick) -> None:
        failed = np.ones(len(self.pool), dtype=np.bool_)
        failed[pick.chosen] = False
        cut = Cut(self.pool.live, failed, np.zeros_like(failed), pick.reason)
        self.picks.add(pick.name)
        self.rungs[pick.name] = Rung(pick.name, entry.considered, entry.admitted, cuts=[cut])
