"""Changing what is known without losing it: text is immutable, so an edit is a new memory that supersedes the old."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from recallens.errors import EditConflict, InvalidInput
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
from recallens.model.state import withheld
from recallens.store.protocols import Reader, Writer

# What a forgotten memory was, where restoring it must not stand for a decision that nobody made.
FORGOTTEN_AS = "forgottenAs"
# Characters of a text in an error that shows it.
SHOWN = 80
# Later than any moment: another's change may be dated a little after ours and still have come first.
EVER = 2**62
_UNDECIDED = (Status.PENDING_REVIEW, Status.QUARANTINED, Status.REJECTED)


def supersede(tx: Writer, old: int, new: int, at: int, session: str | None = None) -> None:
    if old == new:
        raise InvalidInput("a memory cannot supersede itself")
    memories = tx.memories.get([old, new])
    if memories[old].status is Status.FORGOTTEN:
        raise InvalidInput(f"{memories[old].id} is forgotten", hint="Restore it first with `recallens restore`.")
    # What nothing has replaced cannot be at the end of a chain that begins here.
    if tx.relations.successors([new], EVER) and _leads_to(tx, start=old, target=new):
        raise InvalidInput(f"{memories[old].id} already supersedes {memories[new].id}: that would be a circle")
    _refuse_replaced(tx, memories[old], old, by=memories[new].id)
    tx.relations.supersede(old, new, at)
    if session is not None:
        tx.sessions.link(session, [old], Usage.UPDATED, at)


def _refuse_replaced(tx: Writer, memory: Memory, num: int, *, by: str) -> None:
    """An error where something else has replaced it: two texts would hold at once."""
    successor = tx.relations.successors([num], EVER).get(num)
    if successor is None or successor.id == by:
        return
    (newer,) = tx.memories.get(list(tx.memories.find([successor.id]).values())).values()
    text = withheld(newer) or f"{successor.content!r}"
    raise EditConflict(
        f"{memory.handle} {memory.content[:SHOWN]!r} was already replaced by {newer.handle} ({text})",
        hint=f"Nothing was changed. Read {newer.handle} and change that one.",
    )


def propose(tx: Writer, old: int, new: int, at: int, confidence: float = 1.0) -> None:
    """Say that one memory may supersede another; it does once somebody accepts that."""
    memories = tx.memories.get([old, new])
    relation = Relation(
        memories[new].id, memories[old].id, RelationType.MAY_SUPERSEDE, confidence, Origin.RULE, created=at
    )
    tx.relations.put(new, old, relation)


def proposals(reader: Reader, memory: Memory, num: int, at: int) -> list[Relation]:
    """What a memory may supersede, where nobody has decided on it."""
    ties = [each for each in reader.relations.of(num) if each.type is RelationType.MAY_SUPERSEDE]
    return [each for each in ties if each.source == memory.id and (each.valid_until is None or each.valid_until > at)]


def decide(tx: Writer, memory: Memory, num: int, *, accept: bool, at: int) -> bool:
    """Accept or reject what a memory was proposed in the place of. Tells whether there was anything to decide."""
    open_ones = proposals(tx, memory, num, at)
    for relation in open_ones:
        old = tx.memories.find([relation.target])[relation.target]
        tx.relations.put(num, old, structs.replace(relation, valid_until=at))
        if accept:
            supersede(tx, old=old, new=num, at=at)
    return bool(open_ones)


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


def forget(tx: Writer, memory: Memory, num: int, *, at: int) -> None:
    """Soft: it stays in the store, hidden from every recall at every time, until restored."""
    if memory.status is Status.FORGOTTEN:
        return
    if memory.status in _UNDECIDED:
        tx.memories.put_attributes(num, {**memory.attributes, FORGOTTEN_AS: memory.status}, at)
    tx.memories.update(num, {"status": Status.FORGOTTEN, "updated": at})


def restore(tx: Writer, memory: Memory, num: int, *, at: int) -> Status:
    """Back to what it would be: superseded if something still supersedes it, undecided if it was, else active."""
    if memory.status not in (Status.FORGOTTEN, Status.ARCHIVED):
        raise InvalidInput(
            f"{memory.id} is {memory.status}, not forgotten or archived", hint="There is nothing to restore."
        )
    was = memory.attributes.get(FORGOTTEN_AS)
    if was is not None:
        kept = {name: value for name, value in memory.attributes.items() if name != FORGOTTEN_AS}
        tx.memories.put_attributes(num, kept, at)
    status = Status.SUPERSEDED if tx.relations.successors([num], at) else Status(was or Status.ACTIVE)
    tx.memories.update(num, {"status": status, "updated": at})
    return status


def strengthen(
    tx: Writer, num: int, kind: EventKind, *, by: float, now: int, session: str | None = None, task: str | None = None
) -> None:
    """A memory that was used or confirmed: its decay starts anew, and its salience takes a step towards 1."""
    memory = tx.memories.get([num])[num]
    step = reinforced(
        reinforcement=memory.reinforcement, reinforced_at=memory.reinforced_at or 0, sector=memory.sector,
        importance=memory.importance, by=by, at=now,
    )  # fmt: skip
    tx.memories.reinforce([(num, step)], now)
    confirmed = memory.confirmed or kind is EventKind.CONFIRMED
    tx.memories.update(num, {"uses": memory.uses + 1, "last_used": now, "confirmed": int(confirmed)})
    tx.trail.record([Event(memory.namespace, kind, now, session=session, task=task, amount=by)], [num])
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


def confirm(tx: Writer, num: int, *, at: int, session: str | None) -> None:
    strengthen(tx, num, EventKind.CONFIRMED, by=CONFIRM_REINFORCEMENT, now=at, session=session)


def deemphasise(tx: Writer, memory: Memory, num: int, *, at: int) -> float:
    base = memory.base_salience * DEEMPHASIS
    tx.memories.update(num, {"base_salience": base, "updated": at})
    return base


def approve(tx: Writer, memory: Memory, num: int, *, at: int) -> None:
    _must_await_review(memory)
    proposed = memory.review == PROPOSED
    zone = Zone.TRUSTED if proposed or memory.zone is Zone.QUARANTINE else memory.zone
    review = None if proposed else memory.review
    tx.memories.update(num, {"status": Status.ACTIVE, "zone": zone, "review": review, "updated": at})


def reject(tx: Writer, memory: Memory, num: int, *, at: int) -> None:
    """What a rule made may be rejected at any time: what it had taken the place of then holds again."""
    made_by_rule = memory.source == RULE and memory.status is Status.ACTIVE
    if not made_by_rule:
        _must_await_review(memory)
    tx.memories.update(num, {"status": Status.REJECTED, "updated": at})
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
            f"{memory.id} is {memory.status} and {memory.zone}: it is not waiting for review",
            hint="`recallens review list` shows what is.",
        )


def prunable(memories: Sequence[Memory], *, older_than_days: int, now: int, superseded: bool) -> list[Memory]:
    """Forgotten or rejected for longer than the retention; superseded ones are history and go only when asked for."""
    edge = now - older_than_days * DAY_MS
    gone = {Status.FORGOTTEN, Status.REJECTED} | ({Status.SUPERSEDED} if superseded else set())
    return [memory for memory in memories if memory.status in gone and memory.updated < edge]
