"""What the store holds: one memory, the vaults and their files, and figures of it all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import groupby

from recallens.engine.maintenance import RECALL_DAYS
from recallens.engine.vaults import FILES_A_PAGE
from recallens.model.memory import Memory, Relation, RelationType, Status, Zone
from recallens.model.vault import FiledSections
from recallens.web.page import ShownPage
from recallens.web.pictures import chart, share
from recallens.web.visit import Visit

MOST_AROUND = 50
AROUND = 6


def memory(visit: Visit) -> ShownPage:
    engine, namespace = visit.engine, visit.namespace
    found = engine.get(visit.named["id"], namespace=namespace)
    relations = engine.memories.relations(found.id, namespace=namespace)
    others = engine.memories.many((_far(relation, found) for relation in relations), namespace=namespace)
    chain = engine.memories.lineage(found.id, namespace=namespace)
    return ShownPage(
        "memory.html",
        {
            "memory": found,
            "salience": engine.memories.salience([found])[found.id],
            "relations": [
                (relation, others[_far(relation, found)], relation.source == found.id)
                for relation in relations
                if relation.type is not RelationType.SUPERSEDES and _far(relation, found) in others
            ],
            "chain": chain if len(chain) > 1 else (),
            "context": engine.sessions.context(found.id, namespace=namespace),
            "check": engine.maintenance.citations.last_check(found.id, namespace=namespace),
            "warnings": warnings(found),
        },
    )


def warnings(memory: Memory) -> list[str]:
    """What one should know before trusting it."""
    found = []
    match memory.status:
        case Status.ACTIVE:
            pass
        case Status.PENDING_REVIEW:
            found.append("It waits for review and is not recalled until it is approved.")
        case Status.QUARANTINED:
            found.append("It is in quarantine: it is kept and never given to an agent.")
        case Status.SUPERSEDED:
            found.append("Something newer replaced it.")
        case Status.REJECTED | Status.ARCHIVED | Status.FORGOTTEN:
            found.append(f"It is {memory.status} and is not recalled.")
    if memory.zone is Zone.QUARANTINE and memory.status is not Status.QUARANTINED:
        found.append("It came from an untrusted source and stays in quarantine until someone approves it.")
    if not memory.citations:
        found.append("It cites nothing: take it as a hypothesis.")
    return found


def timeline(visit: Visit) -> ShownPage:
    depth = visit.whole("around", AROUND, MOST_AROUND)
    found = visit.engine.layers.timeline(visit.named["id"], depth, depth, namespace=visit.namespace)
    return ShownPage("timeline.html", {"timeline": found, "depth": depth, "most": MOST_AROUND})


def _far(relation: Relation, memory: Memory) -> str:
    return relation.target if relation.source == memory.id else relation.source


def stats(visit: Visit) -> ShownPage:
    found = visit.engine.maintenance.stats(namespace=visit.namespace)
    survey = visit.engine.maintenance.survey(namespace=visit.namespace)
    tenths = {f"{low / 10:.1f}–{(low + 1) / 10:.1f}": count for low, count in enumerate(survey.saliences)}
    lengths = {("over 400" if bound is None else f"≤ {bound}"): count for bound, count in survey.lengths.items()}
    return ShownPage(
        "stats.html",
        {
            "stats": found,
            "survey": survey,
            "grown": chart(survey.grown),
            "saliences": chart(tenths),
            "lengths": chart(lengths),
            "recalls": chart({day: survey.recalls.get(day, 0) for day in _days(visit.engine.core.clock())}),
            "share": share,
            "shown": ("kind", "sector", "status", "zone"),
        },
    )


def _days(now: int) -> list[str]:
    """Every day of the window, so that quiet ones show."""
    today = datetime.fromtimestamp(now / 1000, tz=UTC).date()
    return [(today - timedelta(days=back)).isoformat() for back in range(RECALL_DAYS, -1, -1)]


MOST_PAGES = 10_000


def vault(visit: Visit) -> ShownPage:
    engine, namespace = visit.engine, visit.namespace
    known = engine.vaults.all(namespace=namespace)
    counts = engine.vaults.counts(namespace=namespace)
    chosen = visit.given.get("vault", "") or (known[0].name if known else "")
    like = visit.given.get("file", "").strip()
    if not chosen:
        return ShownPage("vault.html", {"vaults": known, "counts": counts, "page": None})
    at = visit.whole("page", 1, MOST_PAGES)
    page = engine.vaults.files(chosen, like=like, offset=(at - 1) * FILES_A_PAGE, namespace=namespace)
    return ShownPage(
        "vault.html",
        {
            "vaults": known,
            "counts": counts,
            "page": page,
            "like": like,
            "at": at,
            "pages": max(1, -(-page.total // FILES_A_PAGE)),
            "folders": [(name, list(files)) for name, files in groupby(sorted(page.files, key=_folder), key=_folder)],
        },
    )


def _folder(filed: FiledSections) -> str:
    return filed.file.path.rpartition("/")[0]
