"""A ledger as a snapshot. It reads what the stages wrote down and decides nothing: the explanation is what ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import compress, pairwise
from typing import Any, Final

import numpy as np

from recollect.errors import InvalidInput
from recollect.model.ledger import Entry, Ledger
from recollect.model.masks import all_true, anywhere, counted, places
from recollect.model.pool import Pool
from recollect.model.quick import quick
from recollect.model.snapshot import (
    Budget,
    Conflicts,
    FilterTrace,
    NearMiss,
    Provenance,
    Snapshot,
    StageTime,
    TierExplain,
    ViewTrace,
    XrayResult,
)
from recollect.model.snapshot_id import snapshot_id_of
from recollect.model.verdict import BoolArray, Found, Gate, IntArray, Note, Pick, Round

NEAR_MISSES: Final = 5
# Rows that are followed without taking part: the view that names them and the gate that keeps them out of the race.
WATCH: Final = "watch"
NOT_PROPOSED: Final = "not-proposed"
# Gates of the direct answer judge its own rows only: they explain the tier, and stand in the ladder as one filter where
# they masked rows that the ladder had counted.
DIRECT_ANSWER: Final = "direct-answer"
# Between a filter that was pushed into the views and the next one lies what the views chose to propose.
PROPOSED: Final = "proposed"

_NS_PER_MS: Final = 1e6

Rows = Mapping[str, Mapping[str, Any]]
# By name, in the order in which they were made.
Notes = Mapping[str, Sequence[Mapping[str, Any]]]


def explain(ledger: Ledger, *, audit: Mapping[str, str] | None = None, trace_id: str | None = None) -> Snapshot:
    """The X-ray of a recall. `audit` gives the audit entry of each memory that was injected."""
    notes = _notes(ledger.entries)
    plan = _note(notes, "plan")
    if plan is None:
        raise InvalidInput("a ledger without a plan cannot be explained", hint="Explain the ledger of a whole recall.")
    query, digest = ledger.query, ledger.digest()
    walk, views = _Walk.through(ledger.entries), _views(ledger.entries)
    ladder = walk.ladder()
    return Snapshot(
        query=query["text"],
        snapshotId=snapshot_id_of(digest, query["now"]),
        capturedAt=query["now"],
        results=_results(ledger, notes, walk.pool, ladder, audit or {}),
        filters=tuple(rung.trace for rung in ladder),
        budget=_budget(ledger, notes),
        plan={name: value for name, value in plan.items() if name != "versions"},
        views=views,
        nearMisses=_near_misses(notes, walk),
        stages=_stages(ledger.entries),
        versions=dict(plan.get("versions", {})),
        digest=digest,
        tierExplain=_tier_explain(ledger, notes, walk),
        sessionKey=query.get("session"),
        namespace=query.get("namespace"),
        traceId=trace_id,
        degraded={view.name: view.error for view in views if view.error is not None},
        certificate=_note(notes, "certificate"),
        widening=next((entry.verdict.reason for entry in ledger.entries if isinstance(entry.verdict, Round)), None),
    )


@quick
@dataclass(frozen=True, slots=True, eq=False)
class _Cut:
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
class _Rung:
    """A filter of the ladder over all its passes."""

    name: str
    considered: int = 0
    admitted: int = 0
    pushed: bool = False
    cuts: list[_Cut] = field(default_factory=list)

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

    def rejected(self, position: int) -> _Cut | None:
        for cut in self.cuts:
            if cut.rejects(position):
                return cut
        return None


@dataclass(slots=True, eq=False)
class _Walk:
    """The recorded verdicts applied again, one by one, keeping what each gate and pick did to each row."""

    pool: Pool = field(default_factory=Pool)
    rungs: dict[str, _Rung] = field(default_factory=dict)
    own: dict[str, _Rung] = field(default_factory=dict)
    picks: set[str] = field(default_factory=set)

    @staticmethod
    def through(entries: Iterable[Entry]) -> _Walk:
        walk = _Walk()
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

    def ladder(self) -> list[_Rung]:
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

    def _proposed(self, considered: int, admitted: int) -> _Rung:
        everyone = np.ones(len(self.pool), dtype=np.bool_)
        reason = "no view proposed the rest" if considered > admitted else ""
        return _Rung(PROPOSED, considered, admitted, cuts=[_Cut(everyone, ~everyone, ~everyone, reason)])

    def kept_out(self, position: int) -> tuple[str, str] | None:
        """The first filter that rejected the row, and its reason; none for a row that was only watched."""
        for rung in (*self.own.values(), *self.rungs.values()):
            cut = rung.rejected(position)
            if cut is not None:
                return None if rung.name == NOT_PROPOSED else (rung.name, cut.reason)
        return None

    def _gate(self, entry: Entry, gate: Gate) -> None:
        cut = _Cut(self.pool.live & gate.applies, gate.fails, gate.exempt, gate.reason)
        if gate.name.startswith(f"{DIRECT_ANSWER}:"):
            self._among(self.own, gate.name).cuts.append(cut)
            if entry.considered == entry.admitted:
                return
            masked = cut.judged & cut.failed & ~cut.exempt
            rung, cut = self._among(self.rungs, DIRECT_ANSWER), _Cut(masked, masked, ~masked, gate.reason)
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
    def _among(rungs: dict[str, _Rung], name: str) -> _Rung:
        if name not in rungs:
            rungs[name] = _Rung(name)
        return rungs[name]

    def _begin_again(self) -> None:
        """The picks so far count no more; what the gates masked stays masked."""
        for name in self.picks:
            self.rungs.pop(name, None)

    def _pick(self, entry: Entry, pick: Pick) -> None:
        failed = np.ones(len(self.pool), dtype=np.bool_)
        failed[pick.chosen] = False
        cut = _Cut(self.pool.live, failed, np.zeros_like(failed), pick.reason)
        self.picks.add(pick.name)
        self.rungs[pick.name] = _Rung(pick.name, entry.considered, entry.admitted, cuts=[cut])


def _results(
    ledger: Ledger, notes: Notes, pool: Pool, ladder: list[_Rung], audit: Mapping[str, str]
) -> tuple[XrayResult, ...]:
    identity, served, provenance = (_rows(notes, name) for name in ("identity", "served", "provenance"))
    sources, conflicts = (_rows(notes, name) for name in ("sources", "conflicts"))
    graph: Rows = (_note(notes, "graph") or {}).get("paths", {})
    items: Rows = (_note(notes, "budget") or {}).get("items", {})
    results = []
    ranked = pool.ranked()
    proposers, parts, scores = pool.proposers(ranked), ledger.parts_of(ranked), pool.score[ranked].tolist()
    rungs = [rung.name for rung in ladder]
    passed = list(zip(*(rung.passed(ranked) for rung in ladder), strict=True)) or [()] * len(ranked)
    sparing = [rung for rung in ladder if rung.spares]
    for rank, position in enumerate(ranked.tolist(), start=1):
        memory = pool.ids[position].decode()
        named, by = identity.get(memory, {}), served.get(memory, {})
        path = graph.get(memory, {}) if by.get("servedBy") == "graph" else {}
        spared = (reason for rung in sparing if (reason := rung.spared(position)) is not None)
        results.append(
            XrayResult(
                memoryId=memory,
                path=named.get("path") or memory,
                servedBy=by.get("servedBy"),
                scoreDecomposition={**parts[rank - 1], "final": scores[rank - 1]},
                admittedBy=tuple(compress(rungs, passed[rank - 1])),
                rank=rank,
                title=named.get("title") or memory,
                views=proposers[rank - 1],
                chars=items.get(memory, {}).get("chars"),
                tokens=items.get(memory, {}).get("tokens"),
                graphPath=_tuple(path.get("nodes")),
                graphRelations=_tuple(path.get("relations")),
                graphEdgeConfidences=_tuple(path.get("confidences")),
                auditEntryId=audit.get(memory),
                rejectedBy=next(spared, None),
                provenance=_provenance(provenance.get(memory), by.get("reason")),
                layer=sources.get(memory, {}).get("layer"),
                queryCoverage=sources.get(memory, {}).get("queryCoverage"),
                conflicts=_conflicts(conflicts.get(memory)),
            )
        )
    return tuple(results)


def _near_misses(notes: Notes, walk: _Walk) -> tuple[NearMiss, ...]:
    """The best rows that were found and not returned. A margin below 0 means that a filter, not the score, decided."""
    pool, identity = walk.pool, _rows(notes, "identity")
    chosen = pool.ranked()
    last = float(pool.score[chosen[-1]]) if len(chosen) else None
    left = all_true(len(pool))
    left[chosen] = False
    others = places(left)
    misses: list[NearMiss] = []
    for position in others[np.lexsort((pool.ids[others], -pool.score[others]))].tolist():
        if len(misses) == NEAR_MISSES:
            break
        kept_out = walk.kept_out(position)
        if kept_out is None:
            continue
        memory, score = pool.ids[position].decode(), float(pool.score[position])
        named, (by, reason) = identity.get(memory, {}), kept_out
        misses.append(
            NearMiss(
                memoryId=memory,
                path=named.get("path") or memory,
                title=named.get("title") or memory,
                keptOutBy=by,
                score=score,
                reason=reason or None,
                margin=None if last is None else last - score,
            )
        )
    return tuple(misses)


def _tier_explain(ledger: Ledger, notes: Notes, walk: _Walk) -> TierExplain | None:
    note = _note(notes, "tierExplain")
    if note is None:
        return None
    rejecting = dict.fromkeys(
        cut.reason or rung.name.removeprefix(f"{DIRECT_ANSWER}:")
        for rung in walk.own.values()
        for cut in rung.cuts
        if anywhere(cut.judged & cut.failed)
    )
    nanos = sum(entry.nanos for entry in ledger.entries if entry.stage.startswith(DIRECT_ANSWER))
    return TierExplain(
        tier=note["tier"],
        reason=note["reason"],
        candidatesConsidered=note["candidatesConsidered"],
        latencyMs=nanos / _NS_PER_MS,
        filteredBy=tuple(note.get("filteredBy", rejecting)),
        sourceAnchors=tuple(note.get("sourceAnchors", ())),
    )


def _views(entries: Iterable[Entry]) -> tuple[ViewTrace, ...]:
    views: dict[str, list[Found]] = {}
    for entry in entries:
        if isinstance(entry.verdict, Found) and entry.verdict.view != WATCH:
            views.setdefault(entry.verdict.view, []).append(entry.verdict)
    return tuple(
        ViewTrace(
            name,
            proposed=sum(len(found.ids) for found in founds if not found.refill),
            refilled=sum(len(found.ids) for found in founds if found.refill),
            error="; ".join(dict.fromkeys(found.error for found in founds if found.error)) or None,
        )
        for name, founds in views.items()
    )


def _stages(entries: Iterable[Entry]) -> tuple[StageTime, ...]:
    nanos: dict[str, int] = {}
    for entry in entries:
        nanos[entry.stage] = nanos.get(entry.stage, 0) + entry.nanos
    return tuple(StageTime(stage, spent / _NS_PER_MS) for stage, spent in nanos.items())


def _budget(ledger: Ledger, notes: Notes) -> Budget:
    asked, note = ledger.query, _note(notes, "budget") or {}
    return Budget(
        chars=note.get("chars", asked["budget"]),
        used=note.get("used"),
        tokens=note.get("tokens", asked.get("tokens")),
        usedTokens=note.get("usedTokens"),
    )


_PROVENANCE = frozenset(field.name for field in fields(Provenance))


def _provenance(record: Mapping[str, Any] | None, reason: str | None) -> Provenance | None:
    if record is None:
        return None
    said: dict[str, Any] = {name: tuple(value) if type(value) is list else value for name, value in record.items()}
    if not said.keys() <= _PROVENANCE:
        said = {name: value for name, value in said.items() if name in _PROVENANCE}
    return Provenance(**{"retrievalReason": reason, **said})


def _conflicts(record: Mapping[str, Any] | None) -> Conflicts | None:
    if record is None:
        return None
    return Conflicts(record["severity"], tuple(record["reasons"]), tuple(record["memories"]))


def _notes(entries: Iterable[Entry]) -> Notes:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        if isinstance(entry.verdict, Note):
            found.setdefault(entry.verdict.name, []).append(entry.verdict.data)
    return found


def _note(notes: Notes, name: str) -> Mapping[str, Any] | None:
    """What was said of this last: a second round's word replaces the first's."""
    return notes[name][-1] if name in notes else None


def _rows(notes: Notes, name: str) -> Rows:
    return {memory: row for note in notes.get(name, ()) for memory, row in note.get("rows", {}).items()}


def _tuple(values: Iterable[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)
