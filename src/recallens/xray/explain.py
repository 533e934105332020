"""A ledger as a snapshot. It reads what the stages wrote down and decides nothing: the explanation is what ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import compress
from typing import Any, Final

import numpy as np

from recallens.errors import InvalidInput
from recallens.model.ledger import Entry, Ledger
from recallens.model.masks import all_but, anywhere
from recallens.model.pool import Pool
from recallens.model.query import WATCH
from recallens.model.snapshot import (
    Budget,
    Conflicts,
    NearMiss,
    Provenance,
    Snapshot,
    StageTime,
    TierExplain,
    ViewTrace,
    XrayResult,
)
from recallens.model.snapshot_id import snapshot_id_of
from recallens.model.verdict import Found, Note, Round
from recallens.xray.walk import DIRECT_ANSWER, Rung, Walk

NEAR_MISSES: Final = 5

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
    walk, views = Walk.through(ledger.entries), _views(ledger.entries)
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


def _results(
    ledger: Ledger, notes: Notes, pool: Pool, ladder: list[Rung], audit: Mapping[str, str]
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


def _near_misses(notes: Notes, walk: Walk) -> tuple[NearMiss, ...]:
    """The best rows that were found and not returned. A margin below 0 means that a filter, not the score, decided."""
    pool, identity = walk.pool, _rows(notes, "identity")
    chosen = pool.ranked()
    last = float(pool.score[chosen[-1]]) if len(chosen) else None
    others = all_but(len(pool), chosen)
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


def _tier_explain(ledger: Ledger, notes: Notes, walk: Walk) -> TierExplain | None:
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
