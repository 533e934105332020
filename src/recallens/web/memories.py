"""One memory in full, and what came before and after it."""

from __future__ import annotations

from recallens.model.memory import Memory, Relation, RelationType, Status, Zone
from recallens.web.answering import Page
from recallens.web.visits import Visit

MOST_AROUND = 50
AROUND = 6


def memory(visit: Visit) -> Page:
    engine, namespace = visit.engine, visit.namespace
    found = engine.get(visit.named["id"], namespace=namespace)
    relations = engine.memories.relations(found.id, namespace=namespace)
    others = engine.memories.many((_far(relation, found) for relation in relations), namespace=namespace)
    chain = engine.memories.lineage(found.id, namespace=namespace)
    return Page(
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


def timeline(visit: Visit) -> Page:
    depth = visit.whole("around", AROUND, MOST_AROUND)
    found = visit.engine.layers.timeline(visit.named["id"], depth, depth, namespace=visit.namespace)
    return Page("timeline.html", {"timeline": found, "depth": depth, "most": MOST_AROUND})


def _far(relation: Relation, memory: Memory) -> str:
    return relation.target if relation.source == memory.id else relation.source
