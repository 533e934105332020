"""The only walk over a ledger: the recorded verdicts applied again, what each did to each row, the filters as a ladder.

The ladder of a search's answer, of the page and of the X-ray all come from here, and so does what became of one memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np
from msgspec import Struct, field, structs

from recallens.model.ledger import Entry, Ledger
from recallens.model.pool import Pool
from recallens.model.query import WATCH, Query
from recallens.model.snapshot import FilterTrace
from recallens.model.verdict import (
    BoolArray,
    FloatArray,
    Found,
    Gate,
    IntArray,
    Judgement,
    Note,
    Pick,
    Round,
    Term,
    anywhere,
    counted,
)
from recallens.renamed import preset_of_record

# The gate that keeps rows which are only watched out of the race.
NOT_PROPOSED: Final = "not-proposed"
# The picks that keep the first `limit` rows: by score alone, or by score less likeness to what is kept already.
MMR: Final = "mmr-diversify"
LIMIT_PICKS: Final = frozenset(("limit", MMR))
# The pick that keeps what is likely enough to help.
RELEVANCE_CUT: Final = "relevance-cut"
# Gates of the direct answer judge its own rows only: they explain the tier, and stand in the ladder as one filter where
# they masked rows that the ladder had counted.
DIRECT_ANSWER: Final = "direct-answer"
# Judges only what the files at hand brought in.
TOKEN_OVERLAP: Final = "token-overlap"
# Gates of one tier: they reject a row only where no other view proposed it.
_TIER_GATES: Final = (f"{DIRECT_ANSWER}:", TOKEN_OVERLAP)
# Between a filter that was pushed into the views and the next one lies what the views chose to propose.
PROPOSED: Final = "proposed"


def of_a_tier(gate: str) -> bool:
    return gate.startswith(_TIER_GATES)


def query_from_record(record: Mapping[str, Any]) -> Query:
    """The query that a ledger was made for, with its preset by the name that it has now."""
    query = Query.from_json(record)
    return query if "preset" not in record else structs.replace(query, preset=preset_of_record(query.preset))


class Step(Struct, frozen=True, eq=False):
    """A gate or a pick, and the pool that it met."""

    entry: Entry
    verdict: Gate | Pick
    before: Pool

    @property
    def stage(self) -> str:
        return self.entry.stage


class Cut(Struct, frozen=True, eq=False):
    """What a gate or pick did: the rows it judged, those of them it failed, and those it spared anyway."""

    judged: BoolArray
    failed: BoolArray
    exempt: BoolArray
    reason: str

    def holds(self, position: int) -> bool:
        return position < len(self.judged) and bool(self.judged[position])

    def rejects(self, position: int) -> bool:
        return self.holds(position) and bool(self.failed[position] and not self.exempt[position])


class Filter(Struct, eq=False):
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
        for cut in self.cuts:
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
        return next((cut for cut in self.cuts if cut.rejects(position)), None)


class Rejection(Struct, frozen=True):
    """A gate that a row does not pass. The reason is the gate's own words for all that it masked, or empty."""

    name: str
    stage: str
    reason: str


class Fate(Struct, frozen=True):
    """What became of one memory: who proposed it, which gates reject it, which pick cut it, or its rank.

    `standing` is its place by score among the rows that reached the picks, counted as if it were one of them.
    """

    id: str
    position: int | None
    views: tuple[str, ...]
    rejections: tuple[Rejection, ...]
    cut: Rejection | None
    rank: int | None
    score: float
    standing: int
    parts: Mapping[str, float]

    @property
    def gates(self) -> tuple[Rejection, ...]:
        """The gates that reject the memory for what it is, whoever proposed it."""
        return tuple(gate for gate in self.rejections if gate.name != NOT_PROPOSED and not of_a_tier(gate.name))

    @property
    def proposed(self) -> bool:
        """Whether a view proposed it that may: a tier's own gates reject what that tier alone proposed."""
        return bool(self.views) and not any(of_a_tier(gate.name) for gate in self.rejections)


class Walk:
    """One ledger, walked once. Terms and picks are those of the last round; what the gates masked stays masked."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.terms: dict[str, Term] = {}
        self.notes: dict[str, list[Mapping[str, Any]]] = {}
        self.found: dict[str, list[Found]] = {}
        self.widening: str | None = None
        self.judgement: Judgement | None = None
        steps: list[Step] = []
        picking = {entry.stage for entry in ledger.last_round() if isinstance(entry.verdict, Pick)}
        pool, base = Pool(), None
        for entry in ledger.entries:
            if base is None and entry.stage in picking:
                base = pool
            match entry.verdict:
                case Gate() | Pick() as verdict:
                    steps.append(Step(entry, verdict, pool))
                case Term() as term:
                    self.terms[term.name] = term
                case Judgement() as judgement:
                    self.judgement = judgement
                case Note() as note:
                    self.notes.setdefault(note.name, []).append(note.data)
                case Found() as found:
                    self.found.setdefault(found.view, []).append(found)
                case Round() as again:
                    steps = [step for step in steps if isinstance(step.verdict, Gate)]
                    self.terms, base = {}, None
                    self.widening = again.reason if self.widening is None else self.widening
            pool = pool.apply(entry.verdict)
        self.steps: Sequence[Step] = steps
        self.pool = pool
        self.base = pool if base is None else base  # the pool that the picks chose from

    @cached_property
    def query(self) -> Query:
        return query_from_record(self.ledger.query)

    @cached_property
    def names(self) -> Mapping[str, Mapping[str, Any]]:
        """What each memory is called that the describing stage named, by id."""
        return {id: name for note in self.notes.get("identity", ()) for id, name in note.get("rows", {}).items()}

    @property
    def limit(self) -> int:
        """How many results were asked for in the end: a wider look asks for more."""
        plans = self.notes.get("plan", ())
        return int(plans[-1].get("limit", self.query.limit)) if plans else self.query.limit

    def relevance(self, position: int) -> float | None:
        return None if self.judgement is None else float(self.judgement.probability[position])

    def words_held(self, position: int) -> float | None:
        """How much of the question the row says, as it was judged."""
        held = None if self.judgement is None else self.judgement.signals.get("words")
        return None if held is None else float(held[position])

    def relevance_parts(self, position: int) -> Mapping[str, float] | None:
        return None if self.judgement is None else self.judgement.parts_of(position)

    def relevance_floor(self, position: int) -> float | None:
        """Below this the row was not likely enough to help: what is more trusted is measured among its like too."""
        cuts = self.notes.get(RELEVANCE_CUT, ())
        if not cuts:
            return None
        before = next((step.before for step, pick in self.picks if pick.name == RELEVANCE_CUT), None)
        return float(cuts[-1]["least"] if before is None or not before.peers else before.floors()[position])

    # ── the filters ──

    @cached_property
    def _filters(self) -> tuple[dict[str, Filter], dict[str, Filter]]:
        """Those of the ladder, and the direct answer's own, each by name in the order of their first pass."""
        filters: dict[str, Filter] = {}
        own: dict[str, Filter] = {}
        for step in self.steps:
            match step.verdict:
                case Gate() as gate:
                    _add_gate(filters, own, step, gate)
                case Pick() as pick:
                    failed = np.ones(len(step.before), dtype=np.bool_)
                    failed[pick.chosen] = False
                    cut = Cut(step.before.live, failed, np.zeros_like(failed), pick.reason)
                    filters[pick.name] = Filter(pick.name, step.entry.considered, step.entry.admitted, cuts=[cut])
        return filters, own

    @property
    def direct_answer(self) -> Sequence[Filter]:
        """The gates that the direct answer holds against its own rows."""
        return tuple(self._filters[1].values())

    @cached_property
    def ladder(self) -> list[Filter]:
        """The filters in order, each considering what the one before it admitted."""
        filters = [each for each in self._filters[0].values() if each.name != NOT_PROPOSED]
        if filters and filters[0].name == DIRECT_ANSWER:
            del filters[0]  # what it masked before the first filter, no filter has counted
        for at, (before, after) in reversed(list(enumerate(pairwise(filters), start=1))):
            if before.name in (DIRECT_ANSWER, TOKEN_OVERLAP):  # they judged some rows, and let the others pass
                masked = before.considered - before.admitted
                before.considered, before.admitted = after.considered + masked, after.considered
            if before.pushed and not after.pushed:
                filters.insert(at, self._proposed(before.admitted, after.considered))
        return filters

    def _proposed(self, considered: int, admitted: int) -> Filter:
        everyone = np.ones(len(self.pool), dtype=np.bool_)
        reason = "no view proposed the rest" if considered > admitted else ""
        return Filter(PROPOSED, considered, admitted, cuts=[Cut(everyone, ~everyone, ~everyone, reason)])

    def kept_out(self, position: int) -> tuple[str, str] | None:
        """The first filter that rejected the row, and its reason; none for a row that was only watched."""
        filters, own = self._filters
        for each in (*own.values(), *filters.values()):
            cut = each.rejected(position)
            if cut is not None:
                return None if each.name == NOT_PROPOSED else (each.name, cut.reason)
        return None

    # ── what became of a memory ──

    @cached_property
    def order(self) -> list[str]:
        """The ids of the results."""
        return [id.decode() for id in self.pool.ids[self.pool.ranked()].tolist()]

    @cached_property
    def rank(self) -> Mapping[str, int]:
        return {id: at for at, id in enumerate(self.order, start=1)}

    @cached_property
    def picks(self) -> Sequence[tuple[Step, Pick]]:
        return tuple((step, step.verdict) for step in self.steps if isinstance(step.verdict, Pick))

    def score(self, id: str) -> float:
        return float(self.pool.score[self.pool.places[id.encode()]])

    def place(self, id: str) -> int | None:
        return self.pool.places.get(id.encode())

    def fate(self, id: str) -> Fate:
        at = self.place(id)
        if at is None:
            return Fate(id, None, (), (), None, None, 0.0, len(np.flatnonzero(self.base.live)) + 1, {})
        views = tuple(
            view for view, found in self.pool.found.items() if view != WATCH and bool((found.positions == at).any())
        )
        return Fate(
            id=id,
            position=at,
            views=views,
            rejections=self._rejections(at, proposed=bool(views)),
            cut=self._cut(at),
            rank=self.rank.get(id),
            score=float(self.pool.score[at]),
            standing=self.standing(at),
            parts={
                name: float(term.delta[at])
                for name, term in self.terms.items()
                if at < len(term.delta) and term.computed[at]
            },
        )

    def standing(self, at: int, scores: FloatArray | None = None) -> int:
        """The row's place by these scores (its own, at the picks, by default); of equals, the chosen come first."""
        values = self.base.score if scores is None else scores
        if at >= len(values):
            return int(self.base.live.sum()) + 1
        ahead = self.base.live & (values > values[at])
        chosen = np.zeros(len(self.base), dtype=np.bool_)
        chosen[self.earlier(at)] = True
        return int((ahead | (self.base.live & (values == values[at]) & chosen)).sum()) + 1

    def earlier(self, at: int) -> IntArray:
        """The results before this row; all of them if it is none."""
        order = self.pool.ranked() if self.picks else np.empty(0, dtype=np.int64)
        here = np.flatnonzero(order == at)
        return order[: here[0]] if len(here) else order

    def _rejections(self, at: int, *, proposed: bool) -> tuple[Rejection, ...]:
        rejections: dict[str, Rejection] = {}
        for step in self.steps:
            gate = step.verdict
            if not isinstance(gate, Gate) or at >= len(gate.fails):
                continue
            if not (gate.applies[at] and gate.fails[at]) or gate.exempt[at]:
                continue
            if not proposed and of_a_tier(gate.name):
                continue
            reason = gate.reason if step.before.live[at] else ""
            rejections.setdefault(gate.name, Rejection(gate.name, step.stage, reason))
        return tuple(rejections.values())

    def _cut(self, at: int) -> Rejection | None:
        for step, pick in self.picks:
            if at < len(step.before) and step.before.live[at] and not bool((pick.chosen == at).any()):
                return Rejection(pick.name, step.stage, pick.reason)
        return None

    def limit_pick(self) -> tuple[Step, Pick] | None:
        return next(((step, pick) for step, pick in self.picks if pick.name in LIMIT_PICKS), None)

    def exhausted(self) -> bool:
        """Whether a higher limit could not change the answer: nothing was cut by it and no view had more to propose."""
        plans = self.notes.get("plan")
        depth = plans[0].get("depth") if plans else None
        cut = any(e.considered > e.admitted for e in self.ledger.entries if _cuts_at_limit(e.verdict))
        return not cut and depth is not None and all(len(f.ids) < depth for each in self.found.values() for f in each)


def _cuts_at_limit(verdict: object) -> bool:
    return isinstance(verdict, Pick) and verdict.name in LIMIT_PICKS


def _add_gate(filters: dict[str, Filter], own: dict[str, Filter], step: Step, gate: Gate) -> None:
    entry = step.entry
    cut = Cut(step.before.live & gate.applies, gate.fails, gate.exempt, gate.reason)
    name = gate.name
    if gate.name.startswith(f"{DIRECT_ANSWER}:"):
        own.setdefault(gate.name, Filter(gate.name)).cuts.append(cut)
        if entry.considered == entry.admitted:
            return
        masked = cut.judged & cut.failed & ~cut.exempt
        name, cut = DIRECT_ANSWER, Cut(masked, masked, ~masked, gate.reason)
    each = filters.setdefault(name, Filter(name))
    each.cuts.append(cut)
    if gate.pushed is not None:
        # The mask was laid over the whole namespace, so later passes hold no row that it has not counted.
        each.considered, each.admitted = gate.pushed
        each.pushed = True
    elif not each.pushed:
        each.considered += entry.considered
        each.admitted += entry.admitted


def ladder_of(ledger: Ledger) -> tuple[FilterTrace, ...]:
    """What each filter considered and admitted, in order."""
    return tuple(each.trace for each in Walk(ledger).ladder)
