"""A ledger as a snapshot. It reads what the stages wrote down and decides nothing: the explanation is what ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import compress
from typing import Any, Final

from msgspec import convert

from recallens.errors import InvalidInput
from recallens.model.ledger import Ledger
from recallens.model.query import WATCH
from recallens.model.snapshot import (
    Budget,
    Conflicts,
    Provenance,
    Snapshot,
    StageTime,
    TierExplain,
    ViewTrace,
    XrayResult,
    snapshot_id_of,
)
from recallens.model.verdict import anywhere
from recallens.xray.ladder import DIRECT_ANSWER, Walk
from recallens.xray.near_misses import near_misses

# What each raw score is called, and the view whose it is.
RAW_SCORES: Final = {"cosine": "semantic", "multilingualCosine": "multilingual", "bm25": "lexical"}

_NS_PER_MS: Final = 1e6

Rows = Mapping[str, Mapping[str, Any]]


def explain(ledger: Ledger, *, audit: Mapping[str, str] | None = None, trace_id: str | None = None) -> Snapshot:
    """The X-ray of a recall. `audit` gives the audit entry of each memory that was injected."""
    walk = Walk(ledger)
    plan = _note(walk, "plan")
    if plan is None:
        raise InvalidInput("a ledger without a plan cannot be explained", hint="Explain the ledger of a whole recall.")
    query, digest = ledger.query, ledger.digest()
    views = _views(walk)
    return Snapshot(
        query=query["text"],
        snapshotId=snapshot_id_of(digest, query["now"]),
        capturedAt=query["now"],
        results=_results(walk, audit or {}),
        filters=tuple(each.trace for each in walk.ladder),
        budget=_budget(walk),
        plan={name: value for name, value in plan.items() if name != "versions"},
        views=views,
        nearMisses=near_misses(walk),
        stages=_stages(ledger),
        versions=dict(plan.get("versions", {})),
        digest=digest,
        tierExplain=_tier_explain(walk),
        sessionKey=query.get("session"),
        namespace=query.get("namespace"),
        traceId=trace_id,
        degraded={view.name: view.error for view in views if view.error is not None} | _rerank_error(walk),
        certificate=_note(walk, "certificate"),
        silence=None if len(walk.pool.ranked()) else _note(walk, "silence"),
        widening=walk.widening,
        names=_names(walk),
        time=_note(walk, "time"),
    )


def _results(walk: Walk, audit: Mapping[str, str]) -> tuple[XrayResult, ...]:
    pool, ladder = walk.pool, walk.ladder
    served, provenance = (_rows(walk, name) for name in ("served", "provenance"))
    sources, conflicts = (_rows(walk, name) for name in ("sources", "conflicts"))
    graph: Rows = (_note(walk, "graph") or {}).get("paths", {})
    items: Rows = (_note(walk, "budget") or {}).get("items", {})
    reasons: Mapping[str, str] = (_note(walk, "timeReasons") or {}).get("rows", {})
    results = []
    ranked = pool.ranked()
    proposers, parts, scores = pool.proposers(ranked), walk.ledger.parts_of(ranked), pool.score[ranked].tolist()
    names = [each.name for each in ladder]
    passed = list(zip(*(each.passed(ranked) for each in ladder), strict=True)) or [()] * len(ranked)
    sparing = [each for each in ladder if each.spares]
    raw = {name: pool.raw(view)[ranked].tolist() for name, view in RAW_SCORES.items()}
    for rank, position in enumerate(ranked.tolist(), start=1):
        memory = pool.ids[position].decode()
        named, by = walk.names.get(memory, {}), served.get(memory, {})
        path = graph.get(memory, {}) if by.get("servedBy") == "graph" else {}
        spared = (reason for each in sparing if (reason := each.spared(position)) is not None)
        results.append(
            XrayResult(
                memoryId=memory,
                path=named.get("path") or memory,
                servedBy=by.get("servedBy"),
                scoreDecomposition={**parts[rank - 1], "final": scores[rank - 1]},
                admittedBy=tuple(compress(names, passed[rank - 1])),
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
                conflicts=convert(conflicts.get(memory), Conflicts | None),
                handle=named.get("handle"),
                rawScores={name: raw[name][rank - 1] for name in raw if raw[name][rank - 1] == raw[name][rank - 1]},
                relevance=walk.relevance(position),
                relevanceParts=walk.relevance_parts(position),
                state=_tuple(named.get("state")),
                timeReason=reasons.get(memory),
                sentence=named.get("sentence"),
            )
        )
    return tuple(results)


def _names(walk: Walk) -> dict[str, str]:
    """Of the memories that replace or contradict those that are shown."""
    shown = {*walk.order, *(id for id, name in walk.names.items() if "facts" in name)}
    return {
        id: " ".join(filter(None, (name.get("handle"), name.get("title"))))
        for id, name in walk.names.items()
        if id not in shown
    }


def _tier_explain(walk: Walk) -> TierExplain | None:
    note = _note(walk, "tierExplain")
    if note is None:
        return None
    rejecting = dict.fromkeys(
        cut.reason or gate.name.removeprefix(f"{DIRECT_ANSWER}:")
        for gate in walk.direct_answer
        for cut in gate.cuts
        if anywhere(cut.judged & cut.failed)
    )
    nanos = sum(entry.nanos for entry in walk.ledger.entries if entry.stage.startswith(DIRECT_ANSWER))
    return TierExplain(
        tier=note["tier"],
        reason=note["reason"],
        candidatesConsidered=note["candidatesConsidered"],
        latencyMs=nanos / _NS_PER_MS,
        filteredBy=tuple(note.get("filteredBy", rejecting)),
        sourceAnchors=tuple(note.get("sourceAnchors", ())),
    )


def _views(walk: Walk) -> tuple[ViewTrace, ...]:
    return tuple(
        ViewTrace(
            name,
            proposed=sum(len(found.ids) for found in founds if not found.refill),
            refilled=sum(len(found.ids) for found in founds if found.refill),
            error="; ".join(dict.fromkeys(found.error for found in founds if found.error)) or None,
        )
        for name, founds in walk.found.items()
        if name != WATCH
    )


def _stages(ledger: Ledger) -> tuple[StageTime, ...]:
    nanos: dict[str, int] = {}
    for entry in ledger.entries:
        nanos[entry.stage] = nanos.get(entry.stage, 0) + entry.nanos
    return tuple(StageTime(stage, spent / _NS_PER_MS) for stage, spent in nanos.items())


def _budget(walk: Walk) -> Budget:
    asked, note = walk.ledger.query, _note(walk, "budget") or {}
    return Budget(
        chars=note.get("chars", asked["budget"] or 0),
        used=note.get("used"),
        tokens=asked.get("tokens"),
        usedTokens=note.get("usedTokens"),
        unlimited=True if asked["budget"] is None else None,
    )


def _provenance(record: Mapping[str, Any] | None, reason: str | None) -> Provenance | None:
    return None if record is None else convert({"retrievalReason": reason, **record}, Provenance)


def _note(walk: Walk, name: str) -> Mapping[str, Any] | None:
    """What was said of this last: a second round's word replaces the first's."""
    return walk.notes[name][-1] if name in walk.notes else None


def _rerank_error(walk: Walk) -> dict[str, str]:
    note = _note(walk, "rerank") or {}
    return {"rerank": note["error"]} if "error" in note else {}


def _rows(walk: Walk, name: str) -> Rows:
    return {memory: row for note in walk.notes.get(name, ()) for memory, row in note.get("rows", {}).items()}


def _tuple(values: Iterable[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)
