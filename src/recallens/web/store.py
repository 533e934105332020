"""What the store holds: one memory, the vaults and their files, and figures of it all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import groupby

from msgspec import structs

from recallens.engine.maintenance import RECALL_DAYS
from recallens.engine.vaults import FILES_A_PAGE
from recallens.errors import RecallensError
from recallens.ingest.curation import PINNED
from recallens.model.memory import PROPOSED, Memory, Relation, RelationType, Status, Zone
from recallens.model.vault import FiledSections
from recallens.render.review import reasons
from recallens.web.page import ShownPage, show
from recallens.web.pictures import chart, share
from recallens.web.visit import Visit

MOST_AROUND = 50
AROUND = 6
MOST_PAGES = 10_000
_WARNINGS = {
    Status.PENDING_REVIEW: "It waits for review and is not recalled until it is approved.",
    Status.QUARANTINED: "It is in quarantine: it is kept and never given to an agent.",
    Status.SUPERSEDED: "Something newer replaced it.",
    **{own: f"It is {own} and is not recalled." for own in (Status.REJECTED, Status.ARCHIVED, Status.FORGOTTEN)},
}
# Replacing is an action of its own, and what may replace something is for rules to propose.
RELATABLE = tuple(
    str(each) for each in RelationType if each not in (RelationType.SUPERSEDES, RelationType.MAY_SUPERSEDE)
)
WAITING = (Status.PENDING_REVIEW, Status.QUARANTINED)
_REVIEWS = {"draft": "a draft", "rejected": "rejected"}


def memory(visit: Visit, *, problem: RecallensError | None = None, text: str | None = None) -> ShownPage:
    """With a problem, what was sent is shown again, so that nothing is lost."""
    engine, namespace = visit.engine, visit.namespace
    memory = engine.get(visit.named["id"], namespace=namespace)
    hidden = visit.caller.sight.withholds(memory) is not None
    now = engine.core.clock()
    relations = [each for each in engine.memories.relations(memory.id, namespace=namespace) if each.holds(now)]
    others = engine.memories.many((_far(relation, memory) for relation in relations), namespace=namespace)
    chain = engine.memories.lineage(memory.id, namespace=namespace)
    values: dict[str, object] = {
        "memory": memory, "hidden": hidden, "relation_types": RELATABLE, "pinned": PINNED in memory.attributes,
        "problem": None if problem is None else f"{problem.message}. {problem.hint or ''}",
        "text": "" if hidden else memory.content if text is None else text,
        "reasons": reasons(memory) if memory.status in WAITING and not hidden else (),
        "salience": engine.memories.salience([memory])[memory.id],
        "relations": [
            (relation, others[_far(relation, memory)], relation.source == memory.id)
            for relation in relations
            if relation.type is not RelationType.SUPERSEDES and _far(relation, memory) in others
        ],
        "chain": chain if len(chain) > 1 else (),
        "context": None if hidden else engine.sessions.context(memory.id, namespace=namespace),
        "check": None if hidden else engine.maintenance.citations.last_check(memory.id, namespace=namespace),
        "warnings": warnings(memory),
    }  # fmt: skip
    return ShownPage("memory.html", values, 200 if problem is None else 400)


def warnings(memory: Memory) -> list[str]:
    """What one should know before trusting it."""
    untrusted = memory.zone is Zone.QUARANTINE and memory.status is not Status.QUARANTINED
    sentences = (
        _WARNINGS.get(memory.status),
        f"The note says that it is {_REVIEWS[memory.review]}: look at it first." if memory.review in _REVIEWS else None,
        "It is proposed: it holds as a rule once somebody approves it." if memory.review == PROPOSED else None,
        "It came from an untrusted source and stays in quarantine until someone approves it." if untrusted else None,
        None if memory.citations else "It cites nothing: take it as a hypothesis.",
    )
    return [sentence for sentence in sentences if sentence is not None]


def timeline(visit: Visit) -> ShownPage:
    depth = visit.whole("around", AROUND, MOST_AROUND)
    timeline = visit.engine.layers.timeline(visit.named["id"], depth, depth, namespace=visit.namespace)
    return show("timeline.html", timeline=timeline, depth=depth, most=MOST_AROUND)


def _far(relation: Relation, memory: Memory) -> str:
    return relation.target if relation.source == memory.id else relation.source


def stats(visit: Visit) -> ShownPage:
    survey = visit.engine.maintenance.survey(namespace=visit.namespace)
    tenths = {f"{low / 10:.1f}–{(low + 1) / 10:.1f}": count for low, count in enumerate(survey.saliences)}
    lengths = {("over 400" if bound is None else f"≤ {bound}"): count for bound, count in survey.lengths.items()}
    # Every day of the window, so that quiet ones show.
    today = datetime.fromtimestamp(visit.engine.core.clock() / 1000, tz=UTC).date()
    days = [(today - timedelta(days=back)).isoformat() for back in range(RECALL_DAYS, -1, -1)]
    return show(
        "stats.html", stats=visit.engine.maintenance.stats(namespace=visit.namespace), survey=survey,
        grown=chart(survey.grown), saliences=chart(tenths), lengths=chart(lengths),
        recalls=chart({day: survey.recalls.get(day, 0) for day in days}), share=share,
        shown=("kind", "sector", "status", "zone"),
    )  # fmt: skip


def vault(visit: Visit) -> ShownPage:
    engine, namespace = visit.engine, visit.namespace
    vaults = engine.vaults.all(namespace=namespace)
    counts = engine.vaults.counts(namespace=namespace)
    chosen = visit.given.get("vault", "") or (vaults[0].name if vaults else "")
    like = visit.given.get("file", "").strip()
    if not chosen:
        return show("vault.html", vaults=vaults, counts=counts, page=None)
    at = visit.whole("page", 1, MOST_PAGES)
    page = engine.vaults.files(chosen, like=like, offset=(at - 1) * FILES_A_PAGE, namespace=namespace)
    known = engine.memories.many((part.id for filed in page.files for part in filed.sections), namespace=namespace)
    hidden = {id for id, memory in known.items() if visit.caller.sight.withholds(memory) is not None}
    if hidden:
        files = (structs.replace(f, sections=tuple(p for p in f.sections if p.id not in hidden)) for f in page.files)
        page = structs.replace(page, files=tuple(files))
    return show(
        "vault.html", vaults=vaults, counts=counts, page=page, like=like, at=at,
        pages=max(1, -(-page.total // FILES_A_PAGE)),
        folders=[(name, list(files)) for name, files in groupby(sorted(page.files, key=_folder), key=_folder)],
    )  # fmt: skip


def _folder(filed: FiledSections) -> str:
    return filed.file.path.rpartition("/")[0]
