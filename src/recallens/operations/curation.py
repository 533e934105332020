"""What the owner keeps, lists and decides on at the machine: several memories at once, as the command prints it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recallens.errors import InvalidInput
from recallens.ingest.curation import refuse_ended
from recallens.ingest.draft import Draft
from recallens.ingest.validate import option, text_content
from recallens.model.citation import Finding, Standing, Worktree
from recallens.model.memory import Kind, Memory, Sector, Status, Tier, title_of
from recallens.model.trust import proposal_number
from recallens.operations.arguments import PAGE, Arguments
from recallens.operations.memories import Edit, Relate, may_replace
from recallens.operations.operation import Answer, Call, Operation, Right
from recallens.render.records import check_record, memory_record
from recallens.store.records import Listing
from recallens.text.normalize import normalize
from recallens.text.wordforms import words_named

if TYPE_CHECKING:
    from recallens.engine import Engine
from recallens.engine.erasure import leftover, refusal

# Memories, each with words of a topic.
Named = list[tuple[Memory, tuple[str, ...]]]


class KeepMemory(Arguments, frozen=True, kw_only=True):
    """`attributes` are those of a `Draft`; without `embed` its vector waits."""

    content: str
    attributes: Mapping[str, Any]
    dedupe: bool | None = None
    embed: bool = True


class KeepDocument(Arguments, frozen=True, kw_only=True):
    text: str
    path: str
    title: str | None = None
    project: str | None = None


class NumberedMemories(Arguments, frozen=True):
    """No status is any of them."""

    project: str | None = None
    sector: str | None = None
    kind: str | None = None
    tier: str | None = None
    statuses: tuple[str, ...] = (Status.ACTIVE,)
    tag: str | None = None
    of_session: str | None = None
    pinned: bool = False
    page: int = 1
    limit: int = PAGE


class SeveralMemories(Arguments, frozen=True, kw_only=True):
    ids: tuple[str, ...]


class ForgetSeveral(SeveralMemories, frozen=True, kw_only=True):
    hard: bool = False
    dry_run: bool = False


class ForgetAbout(Arguments, frozen=True, kw_only=True):
    topic: str
    dry_run: bool = True
    sure: tuple[str, ...] = ()
    limit: int = 50


class PinSeveral(SeveralMemories, frozen=True, kw_only=True):
    pinned: bool = True


class HoldMemory(Arguments, frozen=True, kw_only=True):
    """`until` of None is without an end."""

    id: str
    until: int | None = None


class VerifyErasure(Arguments, frozen=True, kw_only=True):
    texts: tuple[str, ...] = ()


class ConfirmSeveral(SeveralMemories, frozen=True, kw_only=True):
    session: str | None = None


class ReviewSeveral(SeveralMemories, frozen=True, kw_only=True):
    approve: bool


class CheckCitations(Arguments, frozen=True):
    """No ids are every memory that cites anything."""

    ids: tuple[str, ...] = ()
    root: str | None = None
    project: str | None = None
    mark: bool = False


def keep_memory(engine: Engine, call: Call, given: KeepMemory) -> Answer:
    draft = Draft(given.content, **given.attributes)
    dedupe = False if draft.supersedes is not None and given.dedupe is None else given.dedupe
    if given.embed:
        remembered = engine.remember(draft, dedupe=dedupe, namespace=call.namespace)
    else:
        ((remembered,),) = engine.memories.remember_many([draft], dedupe=dedupe, namespace=call.namespace)
    return Answer(remembered.to_json(), value=(remembered, may_replace(engine, remembered, call.namespace)))


def keep_document(engine: Engine, call: Call, given: KeepDocument) -> Answer:
    added = engine.memories.add_document(
        given.text, path=given.path, title=given.title, project=given.project, namespace=call.namespace
    )
    engine.maintenance.publish(call.namespace)
    return Answer({"document": added.document.id, "path": given.path, "memories": list(added.memories)})


def page_of_memories(engine: Engine, call: Call, asked: NumberedMemories) -> Answer:
    listing = Listing(
        project=asked.project, session=asked.of_session, pinned=asked.pinned, limit=asked.limit,
        sector=None if asked.sector is None else option(Sector, asked.sector, "sector"),
        kind=None if asked.kind is None else option(Kind, asked.kind, "kind"),
        tier=None if asked.tier is None else option(Tier, asked.tier, "tier"),
        statuses=tuple(option(Status, status, "status") for status in asked.statuses),
        tag=None if asked.tag is None else normalize(asked.tag.lstrip("#")),
        offset=(asked.page - 1) * max(asked.limit, 0),
    )  # fmt: skip
    page = engine.memories.browse(listing, namespace=call.namespace)
    saliences = engine.memories.salience(page.memories)
    records = [memory_record(memory, saliences[memory.id]) for memory in page.memories]
    return Answer({"total": page.total, "page": asked.page, "limit": asked.limit, "memories": records}, value=page)


def rewrite_memory(engine: Engine, call: Call, asked: Edit) -> Answer:
    """The same text changes nothing."""
    old = engine.get(asked.id, namespace=call.namespace)
    if text_content(asked.content) == old.content:
        return Answer({"id": old.id, "handle": old.handle, "supersedes": None, "changed": False})
    new = engine.edit(old.id, asked.content, namespace=call.namespace)
    changed = {"id": new.id, "handle": new.handle, "supersedes": old.id, "supersedesHandle": old.handle}
    return Answer({**changed, "changed": True})


def forget_memories(engine: Engine, call: Call, asked: ForgetSeveral) -> Answer:
    named = _named(engine, call, asked.ids)
    if asked.dry_run:
        foreseen = engine.maintenance.erasure.foresee(list(named), namespace=call.namespace) if asked.hard else None
        told = {} if foreseen is None else {"receipt": foreseen.to_json()}
        listed = [_brief(memory) for memory in engine.memories.many(list(named), namespace=call.namespace).values()]
        return Answer({"dryRun": True, "memories": listed, "hard": asked.hard, **told}, value=foreseen)
    record = {"forgotten": list(named), "handles": list(named.values()), "hard": asked.hard}
    if asked.hard:
        receipt = engine.maintenance.erasure.erase(list(named), namespace=call.namespace)
        return Answer({**record, "receipt": receipt.to_json()}, value=receipt, failure=refusal(receipt))
    with engine.memories.reversals.together():
        for id in named:
            engine.forget(id, namespace=call.namespace)
    return Answer(record)


def forget_about(engine: Engine, call: Call, asked: ForgetAbout) -> Answer:
    """What is about a topic; `sure` are those that were looked at before."""
    about, related = memories_about(engine, asked.topic, limit=asked.limit, namespace=call.namespace)
    if not asked.dry_run:
        gone = [memory for memory, _ in about if memory.id in asked.sure]
        with engine.memories.reversals.together():
            for memory in gone:
                engine.forget(memory.id, namespace=call.namespace)
        named = {"forgotten": [memory.id for memory in gone], "handles": [memory.handle for memory in gone]}
        return Answer({"topic": asked.topic, **named})
    record = {
        "topic": asked.topic, "dryRun": True,
        "memories": [{**_brief(memory), "names": list(words)} for memory, words in about],
        "related": [{**_brief(memory), "lacks": list(words)} for memory, words in related],
    }  # fmt: skip
    return Answer(record, value=[memory for memory, _ in about])


def memories_about(
    engine: Engine, topic: str, *, limit: int, namespace: str, scopes: Sequence[str] = ()
) -> tuple[Named, Named]:
    """What says every word of a topic, with these; and what says some of them, with those that it lacks.

    A search brings more, and only the first may be forgotten unread. Nothing of it is recorded: nobody asks to know.
    """
    if not topic.strip():
        raise InvalidInput("name a topic", hint="Nothing was changed.")
    about, related = [], []
    query = engine.recalls.query(topic, limit=limit, scopes=scopes, cut=False, namespace=namespace)
    for memory in (result.memory for result in engine.recall(query).results):
        said, lacking = words_named(topic, " ".join((memory.title or "", memory.content, *memory.tags)))
        if said and not lacking:
            about.append((memory, said))
        elif said:
            related.append((memory, lacking))
    return about, related


def _brief(memory: Memory) -> dict[str, str]:
    return {"id": memory.id, "handle": memory.handle, "title": title_of(memory)}


def pin_memories(engine: Engine, call: Call, asked: PinSeveral) -> Answer:
    named = _named(engine, call, asked.ids, holding=asked.pinned)
    with engine.memories.reversals.together():
        for id in named:
            engine.memories.pin(id, pinned=asked.pinned, namespace=call.namespace)
    return Answer({"pinned" if asked.pinned else "unpinned": list(named), "handles": list(named.values())})


def hold_memory(engine: Engine, call: Call, asked: HoldMemory) -> Answer:
    memory = engine.get(asked.id, namespace=call.namespace)
    engine.memories.hold_until(memory.id, asked.until, namespace=call.namespace)
    return Answer({"id": memory.id, "handle": memory.handle, "validUntil": asked.until, "before": memory.valid_until})


def unlink_memories(engine: Engine, call: Call, asked: Relate) -> Answer:
    source, target = (engine.get(id, namespace=call.namespace).id for id in (asked.source, asked.target))
    engine.memories.unrelate(source, target, asked.relation, namespace=call.namespace)
    return Answer({"source": source, "target": target, "relation": asked.relation, "removed": True})


def undo_change(engine: Engine, call: Call, asked: Arguments) -> Answer:
    return Answer({"undone": engine.memories.undo(namespace=call.namespace)})


def verify_erasure(engine: Engine, call: Call, asked: VerifyErasure) -> Answer:
    if not all(text.strip() for text in asked.texts):
        raise InvalidInput("an empty text is in everything", hint="Name words that should be gone, or none.")
    proof = engine.maintenance.erasure.verify(asked.texts)
    return Answer(proof.to_json(), value=proof, failure=leftover(proof))


def restore_memories(engine: Engine, call: Call, asked: SeveralMemories) -> Answer:
    named = _named(engine, call, asked.ids)
    statuses = {id: engine.restore(id, namespace=call.namespace) for id in named}
    return Answer({
        "restored": [{"id": id, "handle": named[id], "status": status} for id, status in statuses.items()]
    })  # fmt: skip


def deemphasise_memories(engine: Engine, call: Call, asked: SeveralMemories) -> Answer:
    named = _named(engine, call, asked.ids)
    weights = {id: engine.memories.deemphasise(id, namespace=call.namespace) for id in named}
    return Answer({
        "deemphasised": [{"id": id, "handle": named[id], "baseSalience": own} for id, own in weights.items()]
    })  # fmt: skip


def confirm_memories(engine: Engine, call: Call, asked: ConfirmSeveral) -> Answer:
    named = _named(engine, call, asked.ids, holding=True)
    for id in named:
        engine.confirm(id, session=asked.session, namespace=call.namespace)
    return Answer({"confirmed": list(named), "handles": list(named.values())})


def review_memories(engine: Engine, call: Call, asked: ReviewSeveral) -> Answer:
    proposals = {id: id for id in asked.ids if proposal_number(id) is not None}
    named = _named(engine, call, [id for id in asked.ids if id not in proposals]) | proposals
    for id in named:
        engine.memories.review(id, approve=asked.approve, namespace=call.namespace)
    word = "approved" if asked.approve else "rejected"
    return Answer({word: list(named), "handles": list(named.values())})


def link_memories(engine: Engine, call: Call, asked: Relate) -> Answer:
    source, target = (engine.get(id, namespace=call.namespace).id for id in (asked.source, asked.target))
    engine.relate(source, target, asked.relation, confidence=asked.confidence, namespace=call.namespace)
    return Answer({"source": source, "target": target, "relation": asked.relation, "confidence": asked.confidence})


def _named(engine: Engine, call: Call, names: Sequence[str], *, holding: bool = False) -> dict[str, str]:
    """Handles by id; all of them known, and with `holding` in force, before anything is changed."""
    memories = [engine.get(name, namespace=call.namespace) for name in names]
    for memory in memories if holding else ():
        refuse_ended(memory)
    return {memory.id: memory.handle for memory in memories}


def check_citations(engine: Engine, call: Call, asked: CheckCitations) -> Answer:
    root = engine.maintenance.citations.here(asked.root)
    checks = engine.maintenance.citations.check(
        asked.ids or None, root=asked.root, project=asked.project, mark=asked.mark, namespace=call.namespace
    )
    counts = Counter(each.standing for check in checks for each in check.checked)
    findings = Counter(each.finding for check in checks for each in check.checked if each.finding is not None)
    place = checks[0].worktree if checks else Worktree()
    record = {
        "root": None if root is None else str(root),
        "branch": place.branch or None,
        "commit": place.commit or None,
        "marked": asked.mark,
        "memories": len(checks),
        **{standing.value: counts[standing] for standing in Standing},
        **{finding.value: findings[finding] for finding in Finding},
        "checks": [check_record(check) for check in checks],
    }
    return Answer(record, value=checks)


CURATION = (
    Operation("keep_memory", "Keep a memory with every attribute that it can have.", Right.OWNER, KeepMemory,
              keep_memory),
    Operation("keep_document", "Keep a document; its sections become memories.", Right.OWNER, KeepDocument,
              keep_document),
    Operation("page_of_memories", "Memories by pages, newest first.", Right.OWNER, NumberedMemories,
              page_of_memories),
    Operation("rewrite_memory", "Give a memory a new text, unless it is the old one.", Right.OWNER, Edit,
              rewrite_memory),
    Operation("forget_memories", "Hide memories, or delete them for good.", Right.OWNER, ForgetSeveral,
              forget_memories),
    Operation("forget_about", "Hide what is about a topic.", Right.OWNER, ForgetAbout, forget_about),
    Operation("pin_memories", "Tell memories first at the start of every session, or no longer.", Right.OWNER,
              PinSeveral, pin_memories),
    Operation("hold_memory", "Say until when a memory holds.", Right.OWNER, HoldMemory, hold_memory),
    Operation("unlink_memories", "Remove a link between two memories.", Right.OWNER, Relate, unlink_memories),
    Operation("undo_change", "Take the last change back.", Right.OWNER, Arguments, undo_change),
    Operation("verify_erasure", "Look at every byte of the store for what is deleted, or for texts.", Right.OWNER,
              VerifyErasure, verify_erasure),
    Operation("restore_memories", "Bring back what was forgotten.", Right.OWNER, SeveralMemories, restore_memories),
    Operation("deemphasise_memories", "Halve the weight of memories, and keep them.", Right.OWNER, SeveralMemories,
              deemphasise_memories),
    Operation("confirm_memories", "Say that memories proved right.", Right.OWNER, ConfirmSeveral, confirm_memories),
    Operation("review_memories", "Approve or reject memories that wait.", Right.OWNER, ReviewSeveral, review_memories),
    Operation("link_memories", "Link two memories.", Right.OWNER, Relate, link_memories),
    Operation("check_citations", "Whether what memories cite is there.", Right.OWNER, CheckCitations,
              check_citations),
)  # fmt: skip
