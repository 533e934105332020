"""Memories one by one: looking at them, changing them, saying how they did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta, structs

from recallens.errors import AwaitsReview
from recallens.ingest.citations import parse_citation
from recallens.ingest.draft import Draft
from recallens.ingest.validate import parse_when
from recallens.model.memory import Kind, Memory, RelationType, Sector, Status, Tier, as_json, title_of
from recallens.model.state import withheld
from recallens.model.trust import PERSON, proposal_number
from recallens.operations.arguments import (
    PAGE,
    AnswerFormat,
    Arguments,
    Citations,
    Content,
    Cursor,
    Limit,
    Name,
    Names,
    Share,
    When,
    cursor_of,
    place_of,
)
from recallens.operations.operation import Answer, Call, Operation, Right, Written, answered, local_only
from recallens.render.formats import as_title, visible
from recallens.render.records import Record, memory_record, relation_record, shown_record
from recallens.render.review import reasons
from recallens.store.records import Listing
from recallens.text.normalize import normalize

if TYPE_CHECKING:
    from recallens.engine import Engine
    from recallens.ingest.batch import Remembered


class Remember(Arguments, frozen=True, kw_only=True):
    content: Content
    title: Annotated[str, Meta(max_length=500)] | None = None
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
    supersedes: Annotated[Name | None, Meta(description="The memory that it replaces.")] = None
    dedupe: bool = True
    format: AnswerFormat = "json"


class MemoryFilters(Arguments, frozen=True):
    project: Name | None = None
    sector: Sector | None = None
    kind: Kind | None = None
    tier: Tier | None = None
    status: Annotated[tuple[Status, ...], Meta(max_length=len(Status), description="Any of these.")] = (Status.ACTIVE,)
    tag: Name | None = None
    of_session: Annotated[Name | None, Meta(description="Only what this session touched.")] = None
    limit: Limit = PAGE
    cursor: Cursor = None


class OneMemory(Arguments, frozen=True, kw_only=True):
    id: Annotated[Name, Meta(description="A memory's id, or six of its first characters or more.")]


class Edit(OneMemory, frozen=True, kw_only=True):
    content: Content


class Supersede(Arguments, frozen=True, kw_only=True):
    old: Name
    new: Name


class Forget(OneMemory, frozen=True, kw_only=True):
    hard: Annotated[bool, Meta(description="For good, leaving no byte behind; never by a token.")] = False
    format: AnswerFormat = "json"


class Confirm(OneMemory, frozen=True, kw_only=True):
    session: Name | None = None


class Review(OneMemory, frozen=True, kw_only=True):
    decision: Literal["approve", "reject"]


class Relate(Arguments, frozen=True, kw_only=True):
    source: Name
    target: Name
    relation: RelationType = RelationType.RELATED_TO
    confidence: Share = 1.0


class Feedback(Arguments, frozen=True, kw_only=True):
    memories: Annotated[Names, Meta(min_length=1)]
    verdict: Annotated[
        Literal["used", "confirmed", "unhelpful"],
        Meta(description="It was of use; it proved right; or it was of no use, and weighs half from now on."),
    ]
    task: Annotated[Name | None, Meta(description="The running task in which it was used.")] = None
    session: Name | None = None


def remember(engine: Engine, call: Call, given: Remember) -> Answer | Written:
    now = engine.core.clock()
    if given.task is not None:
        engine.tasks.refuse_anothers(given.task, namespace=call.namespace)
    said = given.beside("citations", "dedupe", "format")
    for name in said.keys() & {"created", "valid_from", "valid_until"}:
        said[name] = parse_when(said[name], now_ms=now)
    draft = Draft(
        **said,
        citations=tuple(parse_citation(text) for text in given.citations),
        source=call.caller.source,
    )
    if given.supersedes is not None:
        known_ids(engine, call, given.supersedes)
    # What replaces a memory may well say nearly the same as it.
    dedupe = False if given.supersedes is not None or not given.dedupe else None
    kept = engine.remember(draft, dedupe=dedupe, namespace=call.namespace)

    def words() -> str:
        memory = engine.get(kept.id, namespace=call.namespace)
        hidden = f" Without what looked like a secret: {', '.join(kept.redacted)}." if kept.redacted else ""
        held = f" {_PROPOSES.format(old=kept.proposes)}" if kept.proposes is not None else ""
        doubt = f" It waits for a person's review, because {', '.join(kept.suspected)}." if kept.waits else ""
        kept_as = "Kept as " if kept.outcome == "created" else "Known already as "
        rival = "" if held else f" {may_replace(engine, kept, call.namespace)}".rstrip()
        return f"{kept_as}{memory.handle}.{held}{rival}{doubt}{hidden}"

    return replace(answered(given.format, kept.to_json, words), proposed=kept.proposes is not None)


def may_replace(engine: Engine, kept: Remembered, namespace: str | None) -> str:
    """What a new text seems to correct, and how that is accepted; empty where it corrects nothing."""
    if kept.may_replace is None:
        return ""
    old = as_title(visible(title_of(engine.get(kept.may_replace, namespace=namespace))))
    accept = f"`recallens review approve {kept.handle}`"
    return f"It may replace {kept.may_replace} ({old}), which holds too until {accept} accepts it."


_PROPOSES = (
    "PROPOSED, not done: {old} is more trusted than who asks and holds until the person at the machine accepts this in"
    " its place (`recallens review`)."
)


def list_memories(engine: Engine, call: Call, asked: MemoryFilters) -> Answer:
    filters: dict[str, Any] = {
        "project": asked.project, "sector": asked.sector, "kind": asked.kind, "tier": asked.tier,
        "tag": None if asked.tag is None else normalize(asked.tag.lstrip("#")),
    }  # fmt: skip
    shown = ["memories", call.namespace, *filters.values(), list(asked.status), asked.of_session]
    place = place_of(asked.cursor, shown, (int, str))
    listing = Listing(
        **filters, statuses=asked.status, session=asked.of_session, limit=asked.limit,
        after=None if place is None else (place[0], place[1]),
    )  # fmt: skip
    found = engine.memories.browse(listing, namespace=call.namespace)
    saliences = engine.memories.salience(found.memories)
    record: Record = {
        "total": found.total,
        "memories": [_record(call, memory, saliences) for memory in found.memories],
    }
    if len(found.memories) == asked.limit:
        record["next"] = cursor_of(shown, [found.memories[-1].created, found.memories[-1].id])
    return Answer(record)


def _record(call: Call, memory: Memory, saliences: Mapping[str, float]) -> Record:
    return memory_record(memory, saliences[memory.id], sight=call.caller.sight)


def get_memory(engine: Engine, call: Call, asked: OneMemory) -> Answer:
    """As `recallens show --json` prints it."""
    where = {"namespace": call.namespace}
    memory = engine.get(asked.id, **where)
    relations = engine.memories.relations(memory.id, **where)
    now = engine.core.clock()
    relations = [each for each in relations if each.holds(now)]
    after = [one.source for one in relations if one.type is RelationType.SUPERSEDES and one.target == memory.id]
    parts: dict[str, Any] = {
        "salience": engine.memories.salience([memory])[memory.id],
        "relations": relations,
        "uplift": engine.tasks.uplift_of([memory.id], **where).get(memory.id),
        "context": engine.sessions.context(memory.id, **where),
        "check": engine.maintenance.citations.last_check(memory.id, **where),
        "successor": engine.get(after[-1], **where) if after else None,
    }
    record = shown_record(memory, **parts, sight=call.caller.sight)
    if call.caller.sees_withheld:  # what others propose is for who decides on it
        state = engine.layers.states([memory], **where)[memory.id]
        parts["doubts"] = list(state.doubts())
        record |= {"state": {"doubts": parts["doubts"]}} if parts["doubts"] else {}
    return Answer(record, value=(memory, parts))


def edit_memory(engine: Engine, call: Call, asked: Edit) -> Answer:
    edited = engine.edit(asked.id, asked.content, namespace=call.namespace)
    told = {"proposed": True, "detail": _PROPOSES.format(old=edited.proposes)} if edited.proposes is not None else {}
    return Answer(edited.to_json() | told, proposed=edited.proposes is not None)


def supersede(engine: Engine, call: Call, asked: Supersede) -> Answer:
    old, new = (engine.memories.seen(name, namespace=call.namespace) for name in (asked.old, asked.new))
    engine.supersede(old.id, new.id, namespace=call.namespace)
    return Answer({"old": old.id, "new": new.id, "handles": [old.handle, new.handle]})


def forget(engine: Engine, call: Call, asked: Forget) -> Answer | Written:
    if asked.hard:
        local_only(call, "deleting for good")
    before = engine.memories.seen(asked.id, namespace=call.namespace)
    called = visible(title_of(before))
    gone = engine.forget(before.id, hard=asked.hard, namespace=call.namespace)
    record: dict[str, Any] = {"forgotten": [gone.id], "handles": [gone.handle], "hard": asked.hard}
    undone = "for good" if asked.hard else f"`recallens restore {gone.handle}` brings it back"
    return answered(asked.format, lambda: record, lambda: f"Forgot {gone.handle} ({called}); {undone}.")


def restore(engine: Engine, call: Call, asked: OneMemory) -> Answer:
    memory = engine.get(asked.id, namespace=call.namespace)
    return Answer({"id": memory.id, "status": engine.restore(memory.id, namespace=call.namespace)})


def deemphasise(engine: Engine, call: Call, asked: OneMemory) -> Answer:
    (id,) = known_ids(engine, call, asked.id)
    return Answer({"id": id, "baseSalience": engine.memories.deemphasise(id, namespace=call.namespace)})


def confirm(engine: Engine, call: Call, asked: Confirm) -> Answer:
    (id,) = known_ids(engine, call, asked.id)
    engine.confirm(id, session=asked.session, namespace=call.namespace)
    return Answer({"confirmed": [id]})


def list_reviews(engine: Engine, call: Call, asked: Arguments) -> Answer:
    waits, sight = engine.memories.awaiting_review(namespace=call.namespace), call.caller.sight
    waiting = [memory for memory in waits if sight.withholds(memory) is None]
    saliences, states = engine.memories.salience(waiting), engine.layers.states(waiting, namespace=call.namespace)
    if call.caller.sees_withheld:  # a text that an agent says by itself is its own; the person may want to know of it
        for id, other in engine.memories.repeating(waiting, namespace=call.namespace).items():
            states[id] = structs.replace(states[id], says_again=f"{other.handle} ({withheld(other)})")
    standing = [{"state": state} if (state := as_json(states[memory.id])) else {} for memory in waiting]
    records = [_record(call, memory, saliences) | {"reasons": reasons(memory, states[memory.id])} | state
               for memory, state in zip(waiting, standing, strict=True)]  # fmt: skip
    """Which changes others propose is for who decides on them."""
    listed = {memory.id for memory in waiting}  # a text that would take a place stands there, and is decided on with it
    proposals = [each for each in engine.memories.proposals(namespace=call.namespace) if each.other not in listed]
    if not call.caller.sees_withheld:
        proposals = [each for each in proposals if each.owner == call.caller.actor.called]
    named = engine.memories.handles(
        (id for each in proposals for id in (each.memory, each.other) if id is not None), namespace=call.namespace
    )
    changes = [
        (each, visible(each.words(named.get(each.memory or "", ""), named.get(each.other or "")))) for each in proposals
    ]
    told = [
        {"id": each.handle, "change": each.change, "memory": each.memory, "other": each.other, "words": words,
         "by": each.owner, "zone": each.zone, "at": each.at,
         **({"text": each.details["text"]} if "text" in each.details else {})}
        for each, words in changes
    ]  # fmt: skip
    return Answer({"memories": records, "proposals": told}, value=(waiting, states, changes))


def review(engine: Engine, call: Call, asked: Review) -> Answer:
    """The right to it has been checked: it is decided by the person at the machine."""
    named = proposal_number(asked.id) is not None
    id = asked.id if named else engine.get(asked.id, namespace=call.namespace).id
    with engine.core.acting(PERSON):
        engine.memories.review(id, approve=asked.decision == "approve", namespace=call.namespace)
    return Answer({"id": id, "decision": asked.decision})


def relate(engine: Engine, call: Call, asked: Relate) -> Answer:
    source, target = (known_ids(engine, call, name)[0] for name in (asked.source, asked.target))
    made = engine.relate(source, target, asked.relation, confidence=asked.confidence, namespace=call.namespace)
    return Answer(relation_record(made))


def relations(engine: Engine, call: Call, asked: OneMemory) -> Answer:
    found = engine.memories.relations(asked.id, namespace=call.namespace)
    return Answer({"relations": [relation_record(one) for one in found]})


def influence(engine: Engine, call: Call, asked: OneMemory) -> Answer:
    """Whom it reached. To whom else it was given, and in which session, is for who looks after the store."""
    found, caller = engine.memories.influence(asked.id, namespace=call.namespace), call.caller
    own = [each for each in found.recalls if caller.sees_withheld or each.owner == (caller.owner or None)]
    recalls = [as_json(each) for each in own[:MOST_RECALLS]]
    derived = [
        {"id": memory.id, "handle": memory.handle, "kind": memory.kind, "zone": memory.zone, "status": memory.status,
         "title": title_of(memory)}
        for memory in found.derived
        if caller.sight.withholds(memory) is None
    ]  # fmt: skip
    made_of = () if caller.sight.withholds(found.memory) else found.made_of
    return Answer(
        {
            "id": found.memory.id, "handle": found.memory.handle, "madeOf": [each.name for each in made_of],
            "recalled": len(own), "recalls": recalls, "derived": derived,
        },
        value=(found, own),
    )  # fmt: skip


# Recalls that are named one by one, the latest; how many there were is said.
MOST_RECALLS = 100


def feedback(engine: Engine, call: Call, asked: Feedback) -> Answer:
    where: dict[str, Any] = {"namespace": call.namespace}
    if asked.verdict == "used":
        ids = engine.tasks.used(asked.memories, task=asked.task, session=asked.session, **where)
        return Answer({"verdict": asked.verdict, "memories": ids})
    ids, waiting = known_ids(engine, call, *asked.memories), {}
    for id in ids:
        if asked.verdict == "confirmed":
            engine.confirm(id, session=asked.session, **where)
            continue
        try:
            engine.memories.deemphasise(id, **where)
        except AwaitsReview as waits:
            waiting[id] = waits.proposal
    done = [id for id in ids if id not in waiting]
    told = {"proposed": True, "proposals": waiting} if waiting else {}
    return Answer({"verdict": asked.verdict, "memories": done, **told}, proposed=bool(waiting))


def known_ids(engine: Engine, call: Call, *names: str) -> list[str]:
    """All of them known, to who asks, before anything is changed."""
    return [engine.memories.seen(name, namespace=call.namespace).id for name in dict.fromkeys(names)]


MEMORIES = (
    Operation("remember", "Keep a memory; one that says the same is not kept twice.", Right.WRITE, Remember, remember),
    Operation("list_memories", "Memories, newest first, a page at a time.", Right.READ, MemoryFilters, list_memories),
    Operation("get_memory", "One memory in full: text, citations, relations, session.", Right.READ, OneMemory,
              get_memory),
    Operation("edit_memory", "Give a memory a new text; the old one stays as history.", Right.WRITE, Edit, edit_memory),
    Operation("supersede", "Say that one memory replaces another.", Right.WRITE, Supersede, supersede),
    Operation("forget", "Hide a memory.", Right.WRITE, Forget, forget),
    Operation("restore", "Bring a forgotten memory back.", Right.WRITE, OneMemory, restore),
    Operation("deemphasise", "Halve a memory's weight, and keep it.", Right.WRITE, OneMemory, deemphasise),
    Operation("confirm", "Say that a memory proved right.", Right.WRITE, Confirm, confirm),
    Operation("list_reviews", "Memories that wait for a decision, oldest first.", Right.READ, Arguments, list_reviews),
    Operation("review", "Approve or reject a memory that waits; approving makes it trusted.", Right.LOCAL, Review,
              review),
    Operation("relate", "Link two memories.", Right.WRITE, Relate, relate),
    Operation("relations", "The relations of a memory.", Right.READ, OneMemory, relations),
    Operation("influence", "Whom a memory reached: the recalls that returned it, and the texts made of it.", Right.READ,
              OneMemory, influence),
    Operation("feedback", "Say how memories did: used, confirmed, or unhelpful.", Right.WRITE, Feedback, feedback),
)  # fmt: skip
