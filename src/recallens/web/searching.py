"""The first page: a question, and what answers it, each result with why it is there."""

from __future__ import annotations

from recallens.model.memory import Kind, Sector, Status
from recallens.model.recall import Recall
from recallens.model.snapshot_id import snapshot_id
from recallens.render.records import certificate_of, filters_record
from recallens.store.records import Listing
from recallens.web.answering import Page
from recallens.web.results import legend, of_recall
from recallens.web.visits import Visit

LATEST = 6
ASKED_BEFORE = 6
KINDS = tuple(str(kind) for kind in Kind)
SECTORS = tuple(str(sector) for sector in Sector)


def search(visit: Visit) -> Page:
    if not visit.query:
        return _start(visit)
    recall = _searched(visit)
    snapshot, rows = of_recall(visit.engine, recall)
    lessons = {one.memory.id for one in recall.lessons}
    return Page(
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
    options = asked.options(engine.clock())
    who = {"namespace": visit.namespace, "record": visit.records, "owner": visit.caller.owner}
    return engine.search(asked.query, **options, certify=True, **who)


def _start(visit: Visit) -> Page:
    engine, namespace = visit.engine, visit.namespace
    latest = engine.browse(Listing(statuses=(Status.ACTIVE,), limit=LATEST), namespace=namespace)
    asked = {one.query: one for one in reversed(engine.recorded_recalls(namespace=namespace, owner=visit.caller.owner))}
    return Page(
        "start.html",
        {
            "latest": latest.memories,
            "total": latest.total,
            "asked": list(asked)[::-1][:ASKED_BEFORE],
            "vaults": engine.vault_counts(namespace=namespace),
            **choices(visit),
        },
    )


def choices(visit: Visit) -> dict[str, object]:
    return {"namespaces": visit.namespaces(), "kinds": KINDS, "sectors": SECTORS}
