"""The page that answers a question, or says where to begin; and a result with all that is shown of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from recallens.model.ledger import Ledger
from recallens.model.memory import Memory, Status
from recallens.model.recall import SearchResult
from recallens.model.snapshot import Snapshot, XrayResult, snapshot_id
from recallens.model.terms import shown_parts
from recallens.render.records import certificate_of
from recallens.render.times import time_line, time_of
from recallens.render.verdict import verdict_of
from recallens.store.records import Listing
from recallens.web.page import ShownPage, show
from recallens.web.pictures import Bar, Path, bar, ordered, path, scale_of
from recallens.web.visit import Visit
from recallens.xray.sensitivity import Sensitivity, sensitivity

LATEST = ASKED_BEFORE = 6
# The exact table of an X-ray shows ten-thousandths that add up.
EXACT = 10_000


def search(visit: Visit) -> ShownPage:
    """As the operation `search` does it; the page needs the recall itself, for its decisions."""
    if not visit.query:
        return _start(visit)
    engine, question = visit.engine, visit.question()
    who: dict[str, Any] = {"namespace": visit.namespace, "record": visit.records, "owner": visit.caller.owner}
    recall = engine.search(question.query, **visit.options(question), certify=True, **who)
    snapshot = engine.recalls.snapshot_of(recall)
    results = {result.memory.id: result for result in recall.results}
    memories = {id: result.memory for id, result in results.items()}
    rows = explained(recall.ledger, snapshot, memories=memories, results=results)
    return show(
        "results.html", recall=recall, snapshot=snapshot, verdict=verdict_of(recall), rows=rows,
        recorded=snapshot_id(recall.ledger) if recall.recorded else None,
        certificate=certificate_of(recall.ledger), asked_time=time_line(time_of(recall.ledger)),
        filters=[trace for trace in snapshot.filters if trace.admitted < trace.considered],
    )  # fmt: skip


def _start(visit: Visit) -> ShownPage:
    engine, namespace = visit.engine, visit.namespace
    latest = engine.memories.browse(Listing(statuses=(Status.ACTIVE,), limit=LATEST), namespace=namespace)
    recent = reversed(engine.recalls.recent(namespace=namespace, owner=visit.caller.owner))
    asked = list({recall.query: None for recall in recent})[::-1][:ASKED_BEFORE]
    vaults = engine.vaults.counts(namespace=namespace)
    return show("start.html", latest=latest.memories, total=latest.total, asked=asked, vaults=vaults)


class Explained(Struct, frozen=True):
    xray: XrayResult
    score: float
    bar: Bar
    sum: Sequence[tuple[str, int]]  # the parts as shown, in hundredths, which add up to the score as shown
    exact: Sequence[tuple[str, int]]
    why: Sensitivity | None
    memory: Memory | None = None
    result: SearchResult | None = None
    path: Path | None = None


def explained(
    ledger: Ledger, snapshot: Snapshot, *, memories: Mapping[str, Memory], results: Mapping[str, SearchResult] = {}
) -> list[Explained]:
    parts = {
        row.memoryId: {name: value for name, value in row.scoreDecomposition.items() if name != "final"}
        for row in snapshot.results
    }
    scale = scale_of(parts.values())
    reasons = {reason.memory_id: reason for reason in sensitivity(ledger)} if snapshot.results else {}
    paths = graph_paths(ledger)
    rows = []
    for row in snapshot.results:
        id, own, score = row.memoryId, parts[row.memoryId], row.scoreDecomposition["final"]
        shown, exact = shown_parts(own, score), shown_parts(own, score, EXACT)
        known = (reasons.get(id), memories.get(id), results.get(id), path(paths.get(id)))
        rows.append(Explained(row, score, bar(own, scale), shown, exact, *known))
    return rows


def graph_paths(ledger: Ledger) -> Mapping[str, Any]:
    """The path to each memory that the graph view proposed."""
    notes = ledger.notes("graph")
    return notes[-1].get("paths", {}) if notes else {}


def legend(rows: Iterable[Explained]) -> list[str]:
    """The parts that occur on a page, the weightiest first."""
    return ordered({name for row in rows for name, _ in row.sum})
