"""A memory that was used or confirmed: its decay starts anew, and its salience takes a step towards 1."""

from __future__ import annotations

from recallens.model.memory import Event, EventKind, Usage
from recallens.model.salience import reinforced
from recallens.store.protocols import Writer


def strengthen(
    tx: Writer,
    num: int,
    kind: EventKind,
    *,
    by: float,
    now: int,
    session: str | None = None,
    task: str | None = None,
) -> None:
    memory = tx.memories.get([num])[num]
    step = reinforced(
        reinforcement=memory.reinforcement,
        reinforced_at=memory.reinforced_at or 0,
        sector=memory.sector,
        importance=memory.importance,
        by=by,
        at=now,
    )
    tx.memories.reinforce([(num, step)], now)
    confirmed = memory.confirmed or kind is EventKind.CONFIRMED
    tx.memories.update(num, {"uses": memory.uses + 1, "last_used": now, "confirmed": int(confirmed)})
    tx.trail.record([Event(memory.namespace, kind, now, session=session, task=task, amount=by)], [num])
    if session is not None:
        tx.sessions.link(session, [num], Usage.REINFORCED, now)
