"""The whole X-ray of a recall, fresh or recorded, and its copies to keep."""

from __future__ import annotations

from recallens.model.ledger import Ledger
from recallens.model.snapshot import Snapshot
from recallens.operations import OPERATIONS, perform
from recallens.render import FORMATS
from recallens.web.answering import Download, Page
from recallens.web.drawing import funnel, share
from recallens.web.results import explained, legend
from recallens.web.searching import choices
from recallens.web.visits import Visit
from recallens.xray.explain import explain

ABOUT_XRAY = (
    "See every decision of a recall: who proposed what, which filter kept what out, and how each score adds up."
)


def fresh(visit: Visit) -> Page:
    """Asked now, and recorded nowhere."""
    if not visit.query:
        return Page("ask.html", {"title": "X-ray", "about": ABOUT_XRAY, "action": "/xray", **choices(visit)})
    visit.captured()
    engine, asked = visit.engine, visit.question()
    query = engine.question(asked.query, **asked.options(engine.clock()), namespace=visit.namespace)
    ledger = engine.ledger(query)
    return _xray(visit, ledger, explain(ledger), recorded=False)


def recorded(visit: Visit) -> Page:
    ledger, audit = visit.recorded(visit.named["id"])
    return _xray(visit, ledger, explain(ledger, audit=audit), recorded=True)


def _xray(visit: Visit, ledger: Ledger, snapshot: Snapshot, *, recorded: bool) -> Page:
    wanted = {one.memoryId for one in snapshot.results}
    notes = ledger.notes("graph")
    paths = notes[-1].get("paths", {}) if notes else {}
    along = {id for one in wanted for id in paths.get(one, {}).get("nodes", ())}
    covering = {id for one in (snapshot.certificate or {}).get("requirements", ()) for id in one["coveredBy"]}
    memories = visit.engine.memories_of(wanted | along | covering, namespace=visit.namespace)
    rows = explained(ledger, snapshot, memories=memories)
    total = sum(stage.ms for stage in snapshot.stages)
    budget = snapshot.budget
    return Page(
        "xray.html",
        {
            "snapshot": snapshot,
            "recorded": recorded,
            "rows": rows,
            "legend": legend(rows),
            "memories": memories,
            "rungs": funnel(snapshot.filters),
            "slowest": max((stage.ms for stage in snapshot.stages), default=0.0),
            "total_ms": total,
            "used": share(budget.used or 0, budget.chars) if budget.chars else None,
            "used_tokens": share(budget.usedTokens or 0, budget.tokens) if budget.tokens else None,
            "formats": tuple(FORMATS),
            "share": share,
            "certificate": snapshot.certificate,
            **choices(visit),
        },
    )


def download_fresh(visit: Visit) -> Download:
    given = visit.question().model_dump(mode="json", by_alias=True, exclude_unset=True)
    return _download(visit, "recall_xray", given)


def download_recorded(visit: Visit) -> Download:
    return _download(visit, "get_snapshot", {"id": visit.named["id"], "namespace": visit.namespace})


def _download(visit: Visit, operation: str, given: dict[str, object]) -> Download:
    """The one renderer's words, as on every surface."""
    format = visit.given.get("format", "text")
    answer = perform(OPERATIONS[operation], visit.engine, visit.caller, {**given, "format": format})
    ending, media = FORMATS[format]
    return Download(f"xray.{ending}", media, answer.text)
