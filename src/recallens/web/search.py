"""The page that answers a question, or says where to begin; and a result with all that is shown of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recallens.engine import Engine
from recallens.model.ledger import Ledger
from recallens.model.memory import Kind, Memory, Sector, Status
from recallens.model.recall import Recall, SearchResult
from recallens.model.snapshot import Snapshot, XrayResult, snapshot_id
from recallens.model.terms import shown_parts
from recallens.render.records import certificate_of, filters_record
from recallens.store.records import Listing
from recallens.web.page import ShownPage
from recallens.web.pictures import Bar, Path, bar, ordered, path, scale_of
from recallens.web.visit import Visit
from recallens.xray.sensitivity import Sensitivity, sensitivity

LATEST = 6
ASKED_BEFORE = 6
KINDS = tuple(str(kind) for kind in Kind)
SECTORS = tuple(str(sector) for sector in Sector)


def search(visit: Visit) -> ShownPage:
    if not visit.query:
        return _start(visit)
    recall = _searched(visit)
    snapshot, rows = of_recall(visit.engine, recall)
    lessons = {one.memory.id for one in recall.lessons}
    return ShownPage(
        "results.html",
        {
            "recall": recall,
            "snapshot": snapshot,
            "recorded": snapshot_id(recall.ledger) if recall.recorded else None,
            "rows": [row for row in rows if row.xray.memoryId not in lessons],
            "lessons": [row for row in rows if row.xray.memoryId in lessons],
            "legend": legend(rows),
            "certificate": certificate_of(recall.ledger),
            "filters": [row for row in filters_record(recall.ledger) if row["admitted"] < row["considered"]],
            **choices(visit),
        },
    )


def _searched(visit: Visit) -> Recall:
    """As the operation `search` does it; the page needs the recall itself, for its decisions."""
    engine, asked = visit.engine, visit.question()
    options = asked.options(engine.core.clock())
    who: dict[str, Any] = {"namespace": visit.namespace, "record": visit.records, "owner": visit.caller.owner}
    return engine.search(asked.query, **options, certify=True, **who)


def _start(visit: Visit) -> ShownPage:
    engine, namespace = visit.engine, visit.namespace
    latest = engine.memories.browse(Listing(statuses=(Status.ACTIVE,), limit=LATEST), namespace=namespace)
    asked = {one.query: one for one in reversed(engine.recalls.recent(namespace=namespace, owner=visit.caller.owner))}
    return ShownPage(
        "start.html",
        {
            "latest": latest.memories,
            "total": latest.total,
            "asked": list(asked)[::-1][:ASKED_BEFORE],
            "vaults": engine.vaults.counts(namespace=namespace),
            **choices(visit),
        },
    )


def choices(visit: Visit) -> dict[str, object]:
    return {"namespaces": visit.namespaces(), "kinds": KINDS, "sectors": SECTORS}


# The exact table of an X-ray shows ten-thousandths that add up.
EXACT = 10_000


@dataclass(frozen=True, slots=True)
class Explained:
    """One row of a recall. `sum` are the parts as shown, in hundredths, which add up to the score as shown."""

    xray: XrayResult
    parts: Mapping[str, float]
    score: float
    bar: Bar
    sum: Sequence[tuple[str, int]]
    exact: Sequence[tuple[str, int]]
    why: Sensitivity | None
    memory: Memory | None = None
    found: SearchResult | None = None
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Legend:
    """The parts that occur on a page, the weightiest first."""

    names: tuple[str, ...]


def explained(
    ledger: Ledger, snapshot: Snapshot, *, memories: Mapping[str, Memory], found: Iterable[SearchResult] = ()
) -> tuple[Explained, ...]:
    parts = {one.memoryId: _parts(one) for one in snapshot.results}
    scale = scale_of(parts.values())
    reasons = {one.memory_id: one for one in sensitivity(ledger)} if snapshot.results else {}
    results = {one.memory.id: one for one in found}
    notes = ledger.notes("graph")
    paths: Mapping[str, Any] = notes[-1].get("paths", {}) if notes else {}
    rows = []
    for one in snapshot.results:
        own, score = parts[one.memoryId], one.scoreDecomposition["final"]
        rows.append(
            Explained(
                one, own, score, bar(own, scale), shown_parts(own, score), shown_parts(own, score, EXACT),
                reasons.get(one.memoryId), memories.get(one.memoryId), results.get(one.memoryId),
                path(paths.get(one.memoryId)),
            )
        )  # fmt: skip
    return tuple(rows)


def legend(rows: Iterable[Explained]) -> Legend:
    return Legend(tuple(ordered({name for row in rows for name, _ in row.sum})))


def of_recall(engine: Engine, recall: Recall) -> tuple[Snapshot, tuple[Explained, ...]]:
    snapshot = engine.recalls.snapshot_of(recall)
    memories = {one.memory.id: one.memory for one in recall.returned}
    return snapshot, explained(recall.ledger, snapshot, memories=memories, found=recall.returned)


def _parts(one: XrayResult) -> dict[str, float]:
    return {name: value for name, value in one.scoreDecomposition.items() if name != "final"}
