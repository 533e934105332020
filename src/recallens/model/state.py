"""How a memory stands, which every layer shows; and the one gate that decides who may see its text."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from msgspec import Struct

from recallens.model.memory import Memory, Status, Zone

# The context scope that keeps a memory from every caller who does not hold it.
ONLY_HERE: Final = "do-not-use-outside-this-context"
BLOCKING: Final = (Status.FORGOTTEN, Status.REJECTED, Status.QUARANTINED)
# A reward up to the first is a failure, one from the second on a success.
FAILURE, SUCCESS = 0.3, 0.7


def withheld(memory: Memory, scopes: Collection[str] = ()) -> str | None:
    """Why a caller who holds these scopes may not see the memory's text; None where they may."""
    if memory.status in BLOCKING:
        return str(memory.status)
    if memory.zone is Zone.QUARANTINE:
        return "quarantined"
    if ONLY_HERE in memory.scopes and ONLY_HERE not in scopes:
        return "meant for another context only"
    return None


class MemoryState(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What is out of the ordinary about a memory; other memories are named by their handles."""

    project: str | None = None
    status: Status = Status.ACTIVE
    zone: Zone = Zone.TRUSTED
    superseded_by: tuple[str, ...] = ()  # from the next to the last of its successors
    supersedes: tuple[str, ...] = ()
    disputed_by: tuple[str, ...] = ()
    stale: str | None = None  # why it may not hold any longer
    outcome: float | None = None  # the reward of the memory, or of its task
    withheld: str | None = None  # why its text is kept back

    def remarks(self) -> Iterator[str]:
        """The state in a few words each, the project first."""
        if self.project is not None:
            yield self.project
        if self.superseded_by:
            first, *_, last = (*self.superseded_by, self.superseded_by[-1])
            yield f"superseded by {first}" + (f", now {last}" if last != first else "")
        elif self.status is Status.SUPERSEDED:
            yield "superseded"
        if self.disputed_by:
            yield f"disputed by {', '.join(self.disputed_by)}"
        if self.stale is not None:
            yield "stale"
        if self.status is Status.PENDING_REVIEW:
            yield "under review"
        if self.status is Status.ARCHIVED:
            yield "archived"
        if self.outcome is not None:
            judged = "failed" if self.outcome <= FAILURE else "succeeded" if self.outcome >= SUCCESS else "outcome"
            yield f"{judged} {self.outcome:.2g}"
        if self.zone is not Zone.TRUSTED and self.withheld is None:
            yield f"{self.zone} zone"
        if self.withheld is not None:
            yield f"withheld: {self.withheld}"
