"""Changing what is known without losing it: text is immutable, so an edit is a new memory that supersedes the old."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from recallens.errors import AwaitsReview, EditConflict, InvalidInput
from recallens.ingest.draft import is_said
from recallens.model.memory import (
    PROPOSED,
    RULE,
    Event,
    EventKind,
    Memory,
    Origin,
    Relation,
    RelationType,
    Status,
    Usage,
    Zone,
)
from recallens.model.salience import CONFIRM_REINFORCEMENT, DAY_MS, DEEMPHASIS, reinforced
from recallens.model.state import BLOCKING, withheld
from recallens.model.trust import PERSON, Actor, Change, Input, InputKind, ProposedChange, lowest, rank
from recallens.store.protocols import Reader, Writer
from recallens.text.content import quotes

# What a forgotten memory was, where restoring it must not stand for a decision that nobody made.
FORGOTTEN_AS = "forgottenAs"
# The memory that it quotes, with which it was forgotten; and the agent that forgot it, who may bring it back.
FORGOTTEN_WITH = "forgottenWith"
FORGOTTEN_BY = "forgottenBy"
# Characters of a text in an error that shows it.
SHOWN = 80
# Later than any moment: another's change may be dated a little after ours and still have come first.
EVER = 2**62
# What no longer holds: it takes no other's place.
ENDED = (Status.FORGOTTEN, Status.SUPERSEDED, Status.REJECTED)
_UNDECIDED = (Status.PENDING_REVIEW, Status.QUARANTINED, Status.REJECTED)


def enter_session(tx: Writer, id: str, *, by: Actor) -> None:
    """Who acts in a session without a token has it from then on, also where a token had named it before: else that
    would see what they do there. A token has said that a session is its own before it acts."""
    if by.owner is None:
        tx.sessions.own(id, None)


def supersede(tx: Writer, old: int, new: int, at: int, session: str | None = None, *, by: Actor = PERSON) -> bool:
    """Whether it was done. Who is less trusted than one of the two only proposes it."""
    if old == new:
        raise InvalidInput("a memory cannot supersede itself")
    memories = tx.memories.get([old, new])
    if memories[old].status is Status.FORGOTTEN:
        raise InvalidInput(
            f"{memories[old].handle} is forgotten",
            hint="Restore it first with `recallens restore`.",
        )
    # What nothing has replaced cannot be at the end of a chain that begins here.
    if tx.relations.successors([new], EVER) and _leads_to(tx, start=old, target=new):
        raise InvalidInput(f"{memories[old].handle} already supersedes {memories[new].handle}: that would be a circle")
    _refuse_replaced(tx, memories[old], old, by=memories[new].id)
    if not all(map(by.may_change, memories.values())):
        propose(tx, old=old, new=new, at=at, origin=Origin.USER, by=by)
        return False
    tx.relations.supersede(old, new, at)
    for proposed in proposals(tx, memories[new], new, at):  # what was only proposed so far is so now
        if proposed.target == memories[old].id:
            tx.relations.put(new, old, structs.replace(proposed, valid_until=at))
    _take_over(tx, old, new, memories[new], at)
    _follow(tx, memories[old], memories[new], new, at, by)
    if session is not None:
        tx.sessions.link(session, [old], Usage.UPDATED, at)
    return True


def refuse_ended(memory: Memory) -> None:
    """An error where somebody would pin, date or confirm what no search brings any more."""
    if memory.status in ENDED:
        raise InvalidInput(
            f"{memory.handle} is {memory.status}", hint=f"Restore it first: `recallens restore {memory.handle}`."
        )


def _take_over(tx: Writer, old: int, new: int, memory: Memory, at: int) -> None:
    """What was proposed in the place of something more trusted and is itself replaced leaves that to its successor."""
    for each in tx.proposals.replacing(old):
        if each.num is None or each.num == new or rank(memory.zone) >= rank(tx.memories.get([each.num])[each.num].zone):
            continue
        tx.proposals.decide(each.number, accepted=False, at=at)
        tx.proposals.put(structs.replace(each, other=memory.id, other_num=new, at=at))


def _follow(tx: Writer, old: Memory, new: Memory, num: int, at: int, by: Actor) -> None:
    """What was found in a turn stays while what takes the turn's place says it too, and is replaced by that otherwise.
    What the person has confirmed, pinned or approved since is theirs."""
    for found, finding in _findings_of(tx, old):
        theirs = PINNED in finding.attributes or rank(finding.zone) > rank(old.zone) or not by.may_change(finding)
        if finding.status not in (Status.ACTIVE, Status.PENDING_REVIEW) or theirs:
            continue
        if finding.content in new.content:
            tx.lineage.put(found, [Input.of(new)])
        elif PERSON.called not in tx.lineage.confirmers(found):
            tx.relations.supersede(found, num, at)


def _findings_of(tx: Writer, turn: Memory) -> list[tuple[int, Memory]]:
    made = tx.memories.get(tx.lineage.derived_from(InputKind.MEMORY, [turn.id], quoting=True))
    return [(num, each) for num, each in made.items() if is_said(each.source_id)]


def _refuse_replaced(tx: Writer, memory: Memory, num: int, *, by: str) -> None:
    """An error where something else has replaced it: two texts would hold at once."""
    successor = tx.relations.successors([num], EVER).get(num)
    if successor is None or successor.id == by:
        return
    (newer,) = tx.memories.get(list(tx.memories.find([successor.id]).values())).values()
    texts = [withheld(each) or repr(each.content[:SHOWN]) for each in (memory, newer)]
    raise EditConflict(
        f"{memory.handle} ({texts[0]}) was already replaced by {newer.handle} ({texts[1]})",
        hint=f"Nothing was changed. Read {newer.handle} and change that one.",
    )


def propose(
    tx: Writer, old: int, new: int, at: int, confidence: float = 1.0, origin: Origin = Origin.RULE, by: Actor = PERSON
) -> None:
    """Say that one memory may supersede another; it does once somebody accepts that. Where the new one, or who says so,
    is less trusted than one of the two, the person alone is told: no relation is made before they have decided."""
    memories = tx.memories.get([old, new])
    zone = lowest((by.zone, memories[new].zone))
    if rank(zone) < max(rank(memory.zone) for memory in memories.values()):
        proposed = ProposedChange(Change.SUPERSEDE, num=old, other_num=new, zone=zone, owner=by.called or RULE, at=at,
                                  details={"confidence": confidence})  # fmt: skip
        tx.proposals.put(proposed)
        return
    relation = Relation(memories[new].id, memories[old].id, RelationType.MAY_SUPERSEDE, confidence, origin, created=at)
    tx.relations.put(new, old, relation)


def proposals(reader: Reader, memory: Memory, num: int, at: int) -> list[Relation]:
    """What a memory may supersede, where nobody has decided on it."""
    ties = [each for each in reader.relations.of(num) if each.type is RelationType.MAY_SUPERSEDE]
    return [each for each in ties if each.source == memory.id and (each.valid_until is None or each.valid_until > at)]


def replaced_by(reader: Reader, memory: Memory, num: int, at: int) -> list[int]:
    """The memories in whose place one was proposed, by a relation or by somebody less trusted."""
    ends = [each.target for each in proposals(reader, memory, num, at)]
    waiting = [each.num for each in reader.proposals.replacing(num) if each.num is not None]
    return list(dict.fromkeys([*reader.memories.find(ends).values(), *waiting]))


def decide(tx: Writer, memory: Memory, num: int, *, accept: bool, at: int) -> bool:
    """Accept or reject what a memory was proposed in the place of. Tells whether there was anything to decide."""
    open_ones, waiting = proposals(tx, memory, num, at), tx.proposals.replacing(num)
    for proposed in waiting:
        tx.proposals.decide(proposed.number, accepted=accept, at=at)
        if accept and proposed.num is not None:
            supersede(tx, old=proposed.num, new=num, at=at)
    for relation in open_ones:
        old = tx.memories.find([relation.target])[relation.target]
        tx.relations.put(num, old, structs.replace(relation, valid_until=at))
        if accept:
            supersede(tx, old=old, new=num, at=at)
    return bool(open_ones or waiting)


def wait(tx: Writer, proposed: ProposedChange, named: str) -> AwaitsReview:
    """Keep a change for the person to decide on. Who is told of it raises what this gives, once it is written down."""
    number = tx.proposals.put(proposed)
    handle = structs.replace(proposed, number=number).handle
    return AwaitsReview(f"{named} is more trusted than who asks: this is a proposal", proposal=handle, memory=named)


def _leads_to(tx: Writer, *, start: int, target: int) -> bool:
    """Whether `start` supersedes `target`, over any number of steps."""
    seen, front = {start}, [start]
    while front:
        num = front.pop()
        me = tx.memories.get([num])[num]
        older = [r.target for r in tx.relations.of(num) if r.type == "SUPERSEDES" and r.source == me.id]
        front += set(tx.memories.find(older).values()) - seen
        seen.update(front)
    return target in seen


def relate(tx: Writer, source: int, target: int, relation: Relation) -> None:
    if source == target:
        raise InvalidInput("a memory cannot be related to itself")
    tx.relations.put(source, target, relation)


def forget(tx: Writer, memory: Memory, num: int, *, at: int, by: Actor = PERSON) -> None:
    """Soft: it stays in the store, hidden from every recall at every time, until restored. So is what quotes it."""
    _hide(tx, memory, num, at, {} if by.decides else {FORGOTTEN_BY: by.called})
    hide_quotes(tx, memory, at=at, by=by)
    for session in filter(None, map(tx.sessions.get, tx.erasure.sessions([num]))):
        if session.title and memory.content.lstrip().startswith(session.title):  # an import took it from its first turn
            tx.erasure.blank_session(session.id, title=True, summary=False)


def _hide(tx: Writer, memory: Memory, num: int, at: int, marks: Mapping[str, str]) -> None:
    if memory.status is Status.FORGOTTEN:
        return
    kept = {FORGOTTEN_AS: memory.status, **marks} if memory.status in _UNDECIDED else marks
    if kept:
        tx.memories.put_attributes(num, {**memory.attributes, **kept}, at)
    tx.memories.update(num, {"status": Status.FORGOTTEN, "updated": at})


def hide_quotes(tx: Writer, memory: Memory, *, at: int, by: Actor = PERSON) -> None:
    """What quotes a memory that may not be read any longer may not be read either, until that one is restored. What the
    person has approved since is not taken away by an agent's forgetting."""
    for num, quoting in filter(lambda each: by.may_change(each[1]), _quotes_of(tx, memory)):
        _hide(tx, quoting, num, at, {FORGOTTEN_WITH: memory.id})


def _quotes_of(tx: Writer, memory: Memory) -> list[tuple[int, Memory]]:
    """Texts that were made of a memory, hold some of its words, and have not taken its place."""
    made = tx.memories.get(tx.lineage.derived_from(InputKind.MEMORY, [memory.id], quoting=True))
    return [(num, each) for num, each in made.items() if quotes(each.content, memory.content)]


def restore(tx: Writer, memory: Memory, num: int, *, at: int) -> Status:
    """Back to what it would be: superseded if something still supersedes it, undecided if it was, else active. What was
    replaced holds again, and what was rejected waits again."""
    if memory.status is Status.SUPERSEDED:
        return revive(tx, memory, num, at=at)
    if memory.status is Status.REJECTED:
        tx.memories.update(num, {"status": Status.PENDING_REVIEW, "updated": at})
        return Status.PENDING_REVIEW
    if memory.status not in (Status.FORGOTTEN, Status.ARCHIVED):
        raise InvalidInput(f"{memory.handle} is {memory.status}", hint="There is nothing to restore.")
    with_another = memory.attributes.get(FORGOTTEN_WITH)
    source = tx.memories.get(list(tx.memories.find([with_another]).values())) if with_another is not None else {}
    if any(other.status in BLOCKING for other in source.values()):
        (other,) = source.values()
        raise InvalidInput(
            f"{memory.handle} quotes {other.handle}, which is {other.status}", hint="Restore that first."
        )
    was = memory.attributes.get(FORGOTTEN_AS)
    marks = {FORGOTTEN_AS, FORGOTTEN_WITH, FORGOTTEN_BY}
    if memory.attributes.keys() & marks:
        kept = {name: value for name, value in memory.attributes.items() if name not in marks}
        tx.memories.put_attributes(num, kept, at)
    status = Status.SUPERSEDED if tx.relations.successors([num], at) else Status(was or Status.ACTIVE)
    tx.memories.update(num, {"status": status, "updated": at})
    for quoting, one in _quotes_of(tx, memory):
        if one.status is Status.FORGOTTEN and one.attributes.get(FORGOTTEN_WITH) == memory.id:
            restore(tx, one, quoting, at=at)
    return status


def revive(tx: Writer, memory: Memory, num: int, *, at: int) -> Status:
    """What was replaced holds again. What replaced it stays, unless it was an edit: two texts of one memory never hold
    at once."""
    if memory.document is not None:
        raise InvalidInput(f"{memory.handle} is a part of a note", hint="Change the note itself.")
    ties = [each for each in tx.relations.of(num) if each.type is RelationType.SUPERSEDES and each.target == memory.id]
    holding = [each for each in ties if each.valid_until is None or each.valid_until > at]
    successors = tx.memories.get(list(tx.memories.find([each.source for each in holding]).values()))
    for other in successors.values():
        if other.status is Status.SUPERSEDED:
            raise InvalidInput(f"{other.handle}, which replaced it, was replaced too", hint="Restore that one first.")
    for tie in holding:
        new = tx.memories.find([tie.source])[tie.source]
        tx.relations.put(new, num, structs.replace(tie, valid_until=at))
        if any(each.replaced and each.id == memory.id for each in tx.lineage.of([new]).get(new, [])):
            forget(tx, successors[new], new, at=at)
        _say_again(tx, memory, successors[new], at)
    tx.memories.update(num, {"status": Status.ACTIVE, "valid_until": None, "updated": at})
    return Status.ACTIVE


def _say_again(tx: Writer, turn: Memory, successor: Memory, at: int) -> None:
    """What was found in a turn holds again with it, where what had taken the turn's place took it away."""
    for num, finding in _findings_of(tx, turn):
        ties = [tie for tie in tx.relations.of(num) if tie.type is RelationType.SUPERSEDES and tie.target == finding.id]
        for tie in (each for each in ties if each.source == successor.id and each.holds(at)):
            tx.relations.put(tx.memories.find([tie.source])[tie.source], num, structs.replace(tie, valid_until=at))
            tx.memories.update(num, {"status": Status.ACTIVE, "valid_until": None, "updated": at})
        if finding.status is Status.FORGOTTEN and finding.attributes.get(FORGOTTEN_WITH) == successor.id:
            kept = {name: value for name, value in finding.attributes.items() if name != FORGOTTEN_WITH}
            tx.memories.put_attributes(num, kept, at)
            tx.memories.update(num, {"status": Status.ACTIVE, "updated": at})


PINNED = "pinned"


def pin(tx: Writer, memory: Memory, num: int, *, pinned: bool, at: int) -> bool:
    """Whether that changed anything."""
    if (PINNED in memory.attributes) == pinned:
        return False
    kept = {name: value for name, value in memory.attributes.items() if name != PINNED}
    tx.memories.put_attributes(num, kept | ({PINNED: at} if pinned else {}), at)
    return True


def unrelate(tx: Writer, source: int, target: int, kind: RelationType, *, at: int) -> Relation:
    """End a relation; it stays as history."""
    ends = tx.memories.get([source, target])
    ties = [
        each for each in tx.relations.of(source)
        if (each.source, each.target, each.type) == (ends[source].id, ends[target].id, kind)
        and (each.valid_until is None or each.valid_until > at)
    ]  # fmt: skip
    if not ties:
        raise InvalidInput(f"{ends[source].handle} has no relation {kind} to {ends[target].handle}")
    tx.relations.put(source, target, structs.replace(ties[0], valid_until=at))
    return ties[0]


def strengthen(
    tx: Writer, num: int, kind: EventKind, *, by: float, now: int, session: str | None = None,
    task: str | None = None, owner: str | None = None,
) -> None:  # fmt: skip
    """A memory that was used or confirmed: its decay starts anew, and its salience takes a step towards 1."""
    memory = tx.memories.get([num])[num]
    step = reinforced(
        reinforcement=memory.reinforcement, reinforced_at=memory.reinforced_at or 0, sector=memory.sector,
        importance=memory.importance, by=by, at=now,
    )  # fmt: skip
    tx.memories.reinforce([(num, step)], now)
    confirmed = memory.confirmed or kind is EventKind.CONFIRMED
    tx.memories.update(num, {"uses": memory.uses + 1, "last_used": now, "confirmed": int(confirmed)})
    tx.trail.record([Event(memory.namespace, kind, now, session=session, task=task, amount=by, owner=owner)], [num])
    if session is not None:
        tx.sessions.link(session, [num], Usage.REINFORCED, now)


def restate(tx: Writer, amounts: Mapping[int, tuple[float, int] | None]) -> None:
    """What notes say of how often they have proved right, in place of what they said before: how much that reinforces
    each memory and since when. Everything else that has happened to it counts as before.
    """
    nums = sorted(amounts)
    memories = tx.memories.get(nums)
    tx.trail.drop_stated(nums)
    said = [(num, stated) for num in nums if (stated := amounts[num]) is not None]
    events = [Event(memories[num].namespace, EventKind.STATED, at, amount=amount) for num, (amount, at) in said]
    tx.trail.record(events, [num for num, _ in said])
    _reinforce_anew(tx, memories)


def _reinforce_anew(tx: Writer, memories: Mapping[int, Memory]) -> None:
    """As strong as what has happened to each makes it."""
    nums = sorted(memories)
    steps: dict[int, tuple[float, int]] = dict.fromkeys(nums, (0.0, 0))
    for num, _, at, amount in tx.trail.usage_of(nums):
        if amount:
            memory, (before, since) = memories[num], steps[num]
            step = reinforced(
                reinforcement=before, reinforced_at=since, sector=memory.sector, importance=memory.importance,
                by=amount, at=at,
            )  # fmt: skip
            steps[num] = step, at
    for num, (step, at) in steps.items():
        tx.memories.reinforce([(num, step)], at)


def foldable(reader: Reader, before: int) -> tuple[dict[int, float], list[int]]:
    """Of recalls before a time that reinforced a memory: the last of each memory with the amount of them all, and the
    others, which may then go. A memory that was reinforced in other ways as well keeps all of them.
    """
    events: dict[int, list[tuple[int, str, int, float]]] = {}
    for num, id, kind, at, amount in reader.trail.reinforcing(before):
        events.setdefault(num, []).append((id, kind, at, amount))
    several = {
        num: own
        for num, own in events.items()
        if len(own) > 1 and all(kind == EventKind.RECALLED for _, kind, *_ in own)
    }
    folded: dict[int, float] = {}
    for num, memory in reader.memories.get(list(several)).items():
        kept, since = 0.0, 0
        for _, _, at, amount in several[num]:
            kept = reinforced(
                reinforcement=kept, reinforced_at=since, sector=memory.sector, importance=memory.importance, by=amount,
                at=at,
            )  # fmt: skip
            since = at
        folded[several[num][-1][0]] = kept
    return folded, [id for own in several.values() for id, *_ in own[:-1]]


def confirm(tx: Writer, num: int, *, at: int, session: str | None, by: Actor = PERSON) -> bool:
    """Of each owner one confirmation counts, however often it is said: whether this one does."""
    counts = by.called not in tx.lineage.confirmers(num)
    if counts:
        strengthen(tx, num, EventKind.CONFIRMED, by=CONFIRM_REINFORCEMENT, now=at, session=session, owner=by.called)
    return counts


def take_back_confirmation(tx: Writer, memory: Memory, num: int, *, by: Actor = PERSON) -> None:
    """As if this owner had never confirmed it; whatever else has happened to it counts as before."""
    tx.trail.drop_confirmations(num, by.called)
    left = any(kind == EventKind.CONFIRMED for _, kind, _, _ in tx.trail.usage_of([num]))
    tx.memories.update(num, {"uses": max(memory.uses - 1, 0), "confirmed": int(left)})
    _reinforce_anew(tx, {num: memory})


def deemphasise(tx: Writer, memory: Memory, num: int, *, at: int) -> float:
    base = memory.base_salience * DEEMPHASIS
    tx.memories.update(num, {"base_salience": base, "updated": at})
    return base


def approve(tx: Writer, memory: Memory, num: int, *, at: int) -> None:
    """What an agent wrote waits for nobody, and may be approved all the same: it is trusted from then on."""
    if memory.status is not Status.ACTIVE or memory.zone is not Zone.WORKING:
        _must_await_review(memory)
    review = None if memory.review == PROPOSED else memory.review
    status = Status.SUPERSEDED if tx.relations.successors([num], at) else Status.ACTIVE
    tx.memories.update(num, {"status": status, "zone": Zone.TRUSTED, "review": review, "updated": at})
    tx.tasks.recount(num=num)  # what is trusted is judged by the person alone


def reject(tx: Writer, memory: Memory, num: int, *, at: int) -> None:
    """What a rule made may be rejected at any time: what it had taken the place of then holds again. So may what an
    agent wrote and nobody has approved."""
    made_by_rule = memory.source == RULE and memory.status is Status.ACTIVE
    if not made_by_rule and (memory.status is not Status.ACTIVE or memory.zone is not Zone.WORKING):
        _must_await_review(memory)
    tx.memories.update(num, {"status": Status.REJECTED, "updated": at})
    hide_quotes(tx, memory, at=at)
    ties = [tie for tie in tx.relations.of(num) if tie.type is RelationType.SUPERSEDES and tie.source == memory.id]
    for tie in ties if made_by_rule else ():
        old = tx.memories.find([tie.target])[tie.target]
        tx.relations.put(num, old, structs.replace(tie, valid_until=at))
        if tx.memories.get([old])[old].review != PROPOSED:  # a proposal that was overtaken is no loss
            tx.memories.update(old, {"status": Status.ACTIVE, "valid_until": None, "updated": at})


def _must_await_review(memory: Memory) -> None:
    waiting = memory.status in (Status.PENDING_REVIEW, Status.QUARANTINED) or memory.review == PROPOSED
    if not waiting and not (memory.status is Status.ACTIVE and memory.zone is Zone.QUARANTINE):
        raise InvalidInput(
            f"{memory.handle} is {memory.status} and {memory.zone}: it is not waiting for review",
            hint="`recallens review list` shows what is.",
        )


def prunable(memories: Sequence[Memory], *, older_than_days: int, now: int, superseded: bool) -> list[Memory]:
    """Forgotten or rejected for longer than the retention; superseded ones are history and go only when asked for."""
    edge = now - older_than_days * DAY_MS
    gone = {Status.FORGOTTEN, Status.REJECTED} | ({Status.SUPERSEDED} if superseded else set())
    return [memory for memory in memories if memory.status in gone and memory.updated < edge]
