"""Why a memory waits for a decision, in sentences for the person who decides."""

from __future__ import annotations

from collections.abc import Iterator

from recallens.model.memory import PROPOSED, Memory, Status, Zone
from recallens.model.state import MemoryState

SUSPECTED = "suspected"


def reasons(memory: Memory, state: MemoryState | None = None) -> list[str]:
    found = list(_reasons(memory, state))
    return found or ["somebody put it up for review"]


def _reasons(memory: Memory, state: MemoryState | None) -> Iterator[str]:
    yield from (str(each) for each in memory.attributes.get(SUSPECTED, ()))
    if memory.zone is Zone.QUARANTINE or memory.status is Status.QUARANTINED:
        yield "it came from a source that is not trusted"
    if memory.review == PROPOSED:
        yield "a rule made it of other memories"
    elif memory.review is not None:
        yield f"its note is {memory.review}"
    if state is not None:
        yield from state.doubts()
        if state.says_again is not None:
            yield f"an agent says the same as {state.says_again}"
