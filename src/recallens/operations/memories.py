"""Memories: looking at them, changing them, saying how they did; one by one, or several at once by the owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StringConstraints

from recallens.ingest.citations import parse_citation
from recallens.ingest.draft import Draft
from recallens.ingest.validate import option, parse_when, text_content
from recallens.model.citation import Standing
from recallens.model.memory import Kind, Memory, RelationType, Sector, Status, Tier
from recallens.operations.arguments import (
    PAGE,
    Arguments,
    Citations,
    Content,
    Cursor,
    Limit,
    Name,
    Names,
    NumberedPage,
    Share,
    When,
    cursor_of,
    place_of,
)
from recallens.operations.operation import LOCAL, OWNER, READ, WRITE, Answer, Call, Operation, not_here
from recallens.render.records import Record, check_record, memory_record, relation_record, shown_record
from recallens.store.records import Listing
from recallens.text.normalize import normalize

if TYPE_CHECKING:
    from recallens.engine import Engine


class Remember(Arguments):
    content: Content
    title: Annotated[str, StringConstraints(max_length=500)] | None = None
    project: Name | None = None
    sector: Sector | None = None
    kind: Kind | None = None
    tier: Tier | None = None
    tags: Names = ()
    scopes: Names = ()
    citations: Citations = ()
    importance: Share | None = None
    confidence: Share | None = None
    session: Name | None = None
    task: Name | None = None
    worktree: Name | None = None
    author: Name | None = None
    created: When | None = None
    valid_from: When | None = None
    valid_until: When | None = None
    supersedes: Annotated[Name | None, Field(description="The memory that it replaces.")] = None
    dedupe: bool = True


class Memories(Arguments):
    project: Name | None = None
    sector: Sector | None = None
    kind: Kind | None = None
    tier: Tier | None = None
    status: Annotated[tuple[Status, ...], Field(max_length=len(Status), description="Any of these.")] = (Status.ACTIVE,)
    tag: Name | None = None
    of_session: Annotated[Name | None, Field(description="Only what this session touched.")] = None
    limit: Limit = PAGE
    cursor: Cursor = None


class OneMemory(Arguments):
    id: Annotated[Name, Field(description="A memory's id, or six of its first characters or more.")]

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.id,)


class Edit(OneMemory):
    content: Content


class Supersede(Arguments):
    old: Name
    new: Name


class Forget(OneMemory):
    hard: Annotated[bool, Field(description="For good, leaving no byte behind; never by a token.")] = False


class Confirm(OneMemory):
    session: Name | None = None


class Review(OneMemory):
    decision: Literal["approve", "reject"]


class Relate(Arguments):
    source: Name
    target: Name
    relation: RelationType = RelationType.RELATED_TO
    confidence: Share = 1.0


class Feedback(Arguments):
    memories: Annotated[Names, Field(min_length=1)]
    verdict: Annotated[
        Literal["used", "confirmed", "unhelpful"],
        Field(description="It was of use; it proved right; or it was of no use, and weighs half from now on."),
    ]
    task: Annotated[Name | None, Field(description="The running task in which it was used.")] = None
    session: Name | None = None


class KeepMemory(Arguments):
    """`attributes` are those of a `Draft`; without `embed` its vector waits."""

    content: str
    attributes: Mapping[str, Any]
    dedupe: bool | None = None
    embed: bool = True


class NumberedMemories(NumberedPage):
    """No status is any of them."""

    project: str | None = None
    sector: str | None = None
    kind: str | None = None
    tier: str | None = None
    statuses: tuple[str, ...] = (Status.ACTIVE,)
    tag: str | None = None
    of_session: str | None = None


class SeveralMemories(Arguments):
    ids: tuple[str, ...]


class ForgetSeveral(SeveralMemories):
    hard: bool = False


class ConfirmSeveral(SeveralMemories):
    session: str | None = None


class ReviewSeveral(SeveralMemories):
    approve: bool


class CheckCitations(Arguments):
    """No ids are every memory that cites anything."""

    ids: tuple[str, ...] = ()
    root: str | None = None
    project: str | None = None
    mark: bool = False


def remember(engine: Engine, call: Call, given: Remember) -> Answer:
    now, attributes = engine.core.clock(), given.given("dedupe")
    for name in ("created", "valid_from", "valid_until"):
        if name in attributes:
            attributes[name] = parse_when(attributes[name], now_ms=now)
    attributes["citations"] = tuple(parse_citation(text) for text in given.citations)
    # What replaces a memory may well say nearly the same as it.
    dedupe = False if given.supersedes is not None or not given.dedupe else None
    draft = Draft(**attributes, **call.written_as())
    return Answer(engine.remember(draft, dedupe=dedupe, namespace=call.namespace).to_json())


def list_memories(engine: Engine, call: Call, asked: Memories) -> Answer:
    filters = filters_of(asked)
    shown = ["memories", call.namespace, *filters.values(), list(asked.status), asked.of_session]
    place = place_of(asked.cursor, shown, (int, str))
    after = None if place is None else (place[0], place[1])
    listing = Listing(**filters, statuses=asked.status, session=asked.of_session, limit=asked.limit, after=after)
    page = engine.memories.browse(listing, namespace=call.namespace)
    record: Record = {"total": page.total, "memories": memory_records(engine, page.memories)}
    if len(page.memories) == asked.limit:
        record["next"] = cursor_of(shown, [page.memories[-1].created, page.memories[-1].id])
    return Answer(record)


def filters_of(asked: Memories | NumberedMemories) -> dict[str, Any]:
    """Each as the store compares it: what the owner gives has not been checked yet."""
    return {
        "project": asked.project,
        "sector": None if asked.sector is None else option(Sector, asked.sector, "sector"),
        "kind": None if asked.kind is None else option(Kind, asked.kind, "kind"),
        "tier": None if asked.tier is None else option(Tier, asked.tier, "tier"),
        "tag": None if asked.tag is None else normalize(asked.tag.lstrip("#")),
    }


def memory_records(engine: Engine, memories: Sequence[Memory]) -> list[Record]:
    saliences = engine.memories.salience(memories)
    return [memory_record(memory, saliences[memory.id]) for memory in memories]


def get_memory(engine: Engine, call: Call, asked: OneMemory) -> Answer:
    """As `recallens show --json` prints it."""
    where = {"namespace": call.namespace}
    memory = engine.get(asked.id, **where)
    relations = engine.memories.relations(memory.id, **where)
    after = [tie.source for tie in relations if tie.type is RelationType.SUPERSEDES and tie.target == memory.id]
    record = shown_record(
        memory,
        salience=engine.memories.salience([memory])[memory.id],
        relations=relations,
        uplift=engine.tasks.uplift_of([memory.id], **where).get(memory.id),
        context=engine.sessions.context(memory.id, **where),
        check=engine.maintenance.citations.last_check(memory.id, **where),
        successor=engine.get(after[-1], **where) if after else None,
    )
    return Answer(record)


def edit_memory(engine: Engine, call: Call, asked: Edit) -> Answer:
    zone = call.caller.zone
    return Answer(engine.edit(asked.id, asked.content, zone=zone, namespace=call.namespace).to_json())


def supersede(engine: Engine, call: Call, asked: Supersede) -> Answer:
    old, new = known_ids(engine, call, asked.old, asked.new)
    engine.supersede(old, new, namespace=call.namespace)
    return Answer({"old": old, "new": new})


def forget(engine: Engine, call: Call, asked: Forget | ForgetSeveral) -> Answer:
    if asked.hard and not call.caller.local:
        raise not_here("deleting for good")
    ids = list(dict.fromkeys(known_ids(engine, call, *asked.ids)))
    for id in ids:
        engine.forget(id, hard=asked.hard, namespace=call.namespace)
    return Answer({"forgotten": ids, "hard": asked.hard})


def restore(engine: Engine, call: Call, asked: OneMemory) -> Answer:
    (id,) = known_ids(engine, call, asked.id)
    return Answer({"id": id, "status": engine.restore(id, namespace=call.namespace)})


def deemphasise(engine: Engine, call: Call, asked: OneMemory) -> Answer:
    (id,) = known_ids(engine, call, asked.id)
    return Answer({"id": id, "baseSalience": engine.memories.deemphasise(id, namespace=call.namespace)})


def confirm(engine: Engine, call: Call, asked: Confirm | ConfirmSeveral) -> Answer:
    ids = known_ids(engine, call, *asked.ids)
    for id in ids:
        engine.confirm(id, session=asked.session, namespace=call.namespace)
    return Answer({"confirmed": ids})


def list_reviews(engine: Engine, call: Call, asked: Arguments) -> Answer:
    waiting = engine.memories.awaiting_review(namespace=call.namespace)
    return Answer({"memories": memory_records(engine, waiting)})


def review(engine: Engine, call: Call, asked: Review) -> Answer:
    (id,) = known_ids(engine, call, asked.id)
    engine.memories.review(id, approve=asked.decision == "approve", namespace=call.namespace)
    return Answer({"id": id, "decision": asked.decision})


def relate(engine: Engine, call: Call, asked: Relate) -> Answer:
    source, target = known_ids(engine, call, asked.source, asked.target)
    made = engine.relate(source, target, asked.relation, confidence=asked.confidence, namespace=call.namespace)
    return Answer(relation_record(made))


def relations(engine: Engine, call: Call, asked: OneMemory) -> Answer:
    ties = engine.memories.relations(asked.id, namespace=call.namespace)
    return Answer({"relations": [relation_record(tie) for tie in ties]})


def feedback(engine: Engine, call: Call, asked: Feedback) -> Answer:
    where: dict[str, Any] = {"namespace": call.namespace}
    if asked.verdict == "used":
        ids = engine.tasks.used(asked.memories, task=asked.task, session=asked.session, **where)
        return Answer({"verdict": asked.verdict, "memories": ids})
    ids = known_ids(engine, call, *asked.memories)
    for id in ids:
        if asked.verdict == "confirmed":
            engine.confirm(id, session=asked.session, **where)
        else:
            engine.memories.deemphasise(id, **where)
    return Answer({"verdict": asked.verdict, "memories": ids})


# ── several at once, by the owner ──


def keep_memory(engine: Engine, call: Call, given: KeepMemory) -> Answer:
    draft = Draft(given.content, **given.attributes)
    dedupe = False if draft.supersedes is not None and given.dedupe is None else given.dedupe
    if given.embed:
        remembered = engine.remember(draft, dedupe=dedupe, namespace=call.namespace)
    else:
        ((remembered,),) = engine.memories.remember_many([draft], dedupe=dedupe, namespace=call.namespace)
    return Answer(remembered.to_json(), value=remembered)


def page_of_memories(engine: Engine, call: Call, asked: NumberedMemories) -> Answer:
    statuses = tuple(option(Status, status, "status") for status in asked.statuses)
    start = (asked.page - 1) * max(asked.limit, 0)
    listing = Listing(**filters_of(asked), statuses=statuses, session=asked.of_session, limit=asked.limit, offset=start)
    page = engine.memories.browse(listing, namespace=call.namespace)
    records = memory_records(engine, page.memories)
    return Answer({"total": page.total, "page": asked.page, "limit": asked.limit, "memories": records}, value=page)


def rewrite_memory(engine: Engine, call: Call, asked: Edit) -> Answer:
    """The same text changes nothing."""
    old = engine.get(asked.id, namespace=call.namespace)
    if text_content(asked.content) == old.content:
        return Answer({"id": old.id, "supersedes": None, "changed": False})
    new = engine.edit(old.id, asked.content, namespace=call.namespace)
    return Answer({"id": new.id, "supersedes": old.id, "changed": True})


def restore_memories(engine: Engine, call: Call, asked: SeveralMemories) -> Answer:
    statuses = {id: engine.restore(id, namespace=call.namespace) for id in known_ids(engine, call, *asked.ids)}
    return Answer({"restored": [{"id": id, "status": status} for id, status in statuses.items()]})


def deemphasise_memories(engine: Engine, call: Call, asked: SeveralMemories) -> Answer:
    ids = known_ids(engine, call, *asked.ids)
    weights = [(id, engine.memories.deemphasise(id, namespace=call.namespace)) for id in ids]
    return Answer({"deemphasised": [{"id": id, "baseSalience": weight} for id, weight in weights]})


def review_memories(engine: Engine, call: Call, asked: ReviewSeveral) -> Answer:
    ids = known_ids(engine, call, *asked.ids)
    for id in ids:
        engine.memories.review(id, approve=asked.approve, namespace=call.namespace)
    return Answer({"approved" if asked.approve else "rejected": ids})


def link_memories(engine: Engine, call: Call, asked: Relate) -> Answer:
    source, target = (engine.get(id, namespace=call.namespace).id for id in (asked.source, asked.target))
    engine.relate(source, target, asked.relation, confidence=asked.confidence, namespace=call.namespace)
    return Answer({"source": source, "target": target, "relation": asked.relation, "confidence": asked.confidence})


def check_citations(engine: Engine, call: Call, asked: CheckCitations) -> Answer:
    root = engine.maintenance.citations.workspace(asked.root)
    checks = engine.maintenance.citations.check(
        asked.ids or None, root=root, project=asked.project, mark=asked.mark, namespace=call.namespace
    )
    counts = Counter(each.standing for check in checks for each in check.checked)
    record = {
        "root": None if root is None else str(root),
        "marked": asked.mark,
        "memories": len(checks),
        **{standing.value: counts[standing] for standing in Standing},
        "checks": [check_record(check) for check in checks],
    }
    return Answer(record, value=checks)


def known_ids(engine: Engine, call: Call, *names: str) -> list[str]:
    """All of them known before anything is changed."""
    return [engine.get(name, namespace=call.namespace).id for name in dict.fromkeys(names)]


MEMORIES = (
    Operation("remember", "Keep a memory; one that says the same is not kept twice.", WRITE, Remember, remember),
    Operation("list_memories", "Memories, newest first, a page at a time.", READ, Memories, list_memories),
    Operation("get_memory", "One memory in full: text, citations, relations, session.", READ, OneMemory, get_memory),
    Operation("edit_memory", "Give a memory a new text; the old one stays as history.", WRITE, Edit, edit_memory),
    Operation("supersede", "Say that one memory replaces another.", WRITE, Supersede, supersede),
    Operation("forget", "Hide a memory.", WRITE, Forget, forget),
    Operation("restore", "Bring a forgotten memory back.", WRITE, OneMemory, restore),
    Operation("deemphasise", "Halve a memory's weight, and keep it.", WRITE, OneMemory, deemphasise),
    Operation("confirm", "Say that a memory proved right.", WRITE, Confirm, confirm),
    Operation("list_reviews", "Memories that wait for a decision, oldest first.", READ, Arguments, list_reviews),
    Operation("review", "Approve or reject a memory that waits; approving makes it trusted.", LOCAL, Review, review),
    Operation("relate", "Link two memories.", WRITE, Relate, relate),
    Operation("relations", "The relations of a memory.", READ, OneMemory, relations),
    Operation("feedback", "Say how memories did: used, confirmed, or unhelpful.", WRITE, Feedback, feedback),
)  # fmt: skip

CURATION = (
    Operation("keep_memory", "Keep a memory with every attribute that it can have.", OWNER, KeepMemory, keep_memory),
    Operation("page_of_memories", "Memories by pages, newest first.", OWNER, NumberedMemories, page_of_memories),
    Operation("rewrite_memory", "Give a memory a new text, unless it is the old one.", OWNER, Edit, rewrite_memory),
    Operation("forget_memories", "Hide memories, or delete them for good.", OWNER, ForgetSeveral, forget),
    Operation("restore_memories", "Bring back what was forgotten.", OWNER, SeveralMemories, restore_memories),
    Operation("deemphasise_memories", "Halve the weight of memories, and keep them.", OWNER, SeveralMemories,
              deemphasise_memories),
    Operation("confirm_memories", "Say that memories proved right.", OWNER, ConfirmSeveral, confirm),
    Operation("review_memories", "Approve or reject memories that wait.", OWNER, ReviewSeveral, review_memories),
    Operation("link_memories", "Link two memories.", OWNER, Relate, link_memories),
    Operation("check_citations", "Whether what memories cite is there.", OWNER, CheckCitations, check_citations),
)  # fmt: skip
