"""Changing what is known without losing it: text is immutable, so an edit is a new memory that supersedes the old."""

from __future__ import annotations

from collections.abc import Sequence

from recallens.errors import InvalidInput
from recallens.model.memory import Event, EventKind, Memory, Relation, Status, Usage, Zone
from recallens.model.salience import CONFIRM_REINFORCEMENT, DAY_MS, DEEMPHASIS, reinforced
from recallens.store.protocols import Writer

# What a forgotten memory was, where restoring it must not stand for a decision that nobody made.
FORGOTTEN_AS = "forgottenAs"
_UNDECIDED = (Status.PENDING_REVIEW, Status.QUARANTINED, Status.REJECTED)


def supersede(tx: Writer, old: int, new: int, at: int, session: str | None = None) -> None:
    if old == new:
        raise InvalidInput("a memory cannot supersede itself")
    memories = tx.memories.get([old, new])
    if memories[old].status is Status.FORGOTTEN:
        raise InvalidInput(f"{memories[old].id} is forgotten", hint="Restore it first with `recallens restore`.")
    if _leads_to(tx, start=old, target=new):
        raise InvalidInput(f"{memories[old].id} already supersedes {memories[new].id}: that would be a circle")
    tx.relations.supersede(old, new, at)
    if session is not None:
        tx.sessions.link(session, [old], Usage.UPDATED, at)


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


def confirm(tx: Writer, num: int, *, at: int, session: str | None) -> None:
    strengthen(tx, num, EventKind.CONFIRMED, by=CONFIRM_REINFORCEMENT, now=at, session=session)


def deemphasise(tx: Writer, memory: Memory, num: int, *, at: int) -> float:
    base = memory.base_salience * DEEMPHASIS
    tx.memories.update(num, {"base_salience": base, "updated": at})
    return base


def approve(tx: Writer, memory: Memory, num: int, *, at: int) -> None:
    _must_await_review(memory)
    zone = Zone.TRUSTED if memory.zone is Zone.QUARANTINE else memory.zone
    tx.memories.update(num, {"status": Status.ACTIVE, "zone": zone, "updated": at})


def reject(tx: Writer, memory: Memory, num: int, *, at: int) -> None:
    _must_await_review(memory)
    tx.memories.update(num, {"status": Status.REJECTED, "updated": at})


def _must_await_review(memory: Memory) -> None:
    waiting = memory.status in (Status.PENDING_REVIEW, Status.QUARANTINED)
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
