"""How a memory stands, which every layer shows; and the one gate that decides who may see its text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from enum import StrEnum
from typing import Final

from msgspec import Struct, structs

from recallens.model.memory import Annotations, Memory, Status, Zone
from recallens.model.plan import Scope

# Scopes that say where a memory belongs and keep nobody out. Any other word is a context: who does not hold it does
# not see the text.
OPEN_SCOPES: Final = frozenset((*map(str, Scope), "repo", "work"))
ONLY_HERE: Final = "do-not-use-outside-this-context"  # the specification's context
BLOCKING: Final = (Status.FORGOTTEN, Status.REJECTED, Status.QUARANTINED)
# A reward up to the first is a failure, one from the second on a success.
FAILURE, SUCCESS = 0.3, 0.7


def withheld(memory: Memory, scopes: Collection[str] = ()) -> str | None:
    """Why a caller who holds these scopes may not see the memory's text; None where they may."""
    if memory.status in BLOCKING:
        return str(memory.status)
    if memory.zone is Zone.QUARANTINE:
        return "quarantined"
    if memory.scopes and not_held(memory, scopes):
        return "meant for another context only"
    return None


def not_held(memory: Memory, scopes: Collection[str]) -> list[str]:
    """The contexts that a memory is meant for, without those that the caller holds: every one has to be held."""
    return [scope for scope in memory.scopes if scope not in OPEN_SCOPES and scope not in scopes]


class Sight(Struct, frozen=True):
    """What a caller may see: `everything`, or what is open to all and what is meant for the contexts that they hold."""

    scopes: frozenset[str] = frozenset()
    everything: bool = False

    def withholds(self, memory: Memory) -> str | None:
        """Why its text is kept from them; None where it is not."""
        return None if self.everything else withheld(memory, self.scopes)

    def shown(self, memory: Memory) -> Memory:
        """The memory as they see it: of what is withheld, that it is there and what it is."""
        if self.withholds(memory) is None:
            return memory
        return structs.replace(
            memory, content="", title=None, summary=None, tags=(), scopes=(), citations=(), attributes={}, author=None,
            annotations=Annotations(),
        )  # fmt: skip


class Verified(StrEnum):
    """Whether what a memory cites was looked for, and found as it was cited."""

    YES = "yes"
    NO = "no"
    UNCHECKED = "unchecked"


def is_hypothesis(memory: Memory, verified: Verified) -> bool:
    """What rests on nothing that anybody has seen: it cites nothing, what it cites is not there, or nobody has looked
    and only somebody less trusted says so."""
    unseen = verified is Verified.UNCHECKED and memory.zone is not Zone.TRUSTED
    return not memory.citations or verified is Verified.NO or unseen


EVERYTHING: Final = Sight(everything=True)


class MemoryState(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What is out of the ordinary about a memory; other memories are named by their handles."""

    project: str | None = None
    status: Status = Status.ACTIVE
    zone: Zone = Zone.TRUSTED
    superseded_by: tuple[str, ...] = ()  # from the next to the last of its successors
    supersedes: tuple[str, ...] = ()
    disputed_by: tuple[str, ...] = ()
    maybe_replaced_by: tuple[str, ...] = ()  # proposed in its place, and not decided on
    may_replace: tuple[str, ...] = ()
    stale: str | None = None  # why it may not hold any longer
    cites: str | None = None  # what speaks against what it cites, in two or three words
    review: str | None = None  # of a note that was never settled: draft or rejected
    outcome: float | None = None  # the reward of the memory, or of its task
    withheld: str | None = None  # why its text is kept back
    verified: Verified = Verified.UNCHECKED
    made_of: tuple[str, ...] = ()  # of a text that is less than trusted: what made it so

    def remarks(self, named: Callable[[str], str] = str) -> Iterator[str]:
        """The state in a few words each, the project first, as `named` writes what a caller called it."""
        if self.project is not None:
            yield named(self.project)
        yield from self.warnings()
        if self.outcome is not None:
            judged = "failed" if self.outcome <= FAILURE else "succeeded" if self.outcome >= SUCCESS else "outcome"
            yield f"{judged} {self.outcome:.2g}"
        if self.zone is not Zone.TRUSTED and self.withheld is None and not self.made_of:
            yield f"{self.zone} zone"
        if self.withheld is not None:
            yield f"withheld: {self.withheld}"

    def warnings(self) -> Iterator[str]:
        """What speaks against relying on it, in words that name the other memory."""
        if self.superseded_by:
            first, *_, last = (*self.superseded_by, self.superseded_by[-1])
            yield f"superseded by {first}" + (f", now {last}" if last != first else "")
        elif self.status is Status.SUPERSEDED:
            yield "superseded"
        yield from self.doubts()
        if self.cites is not None:
            yield self.cites
        if self.stale is not None:
            yield "stale"
        if self.review is not None:
            yield f"{self.review}, needs review"
        if self.status is Status.PENDING_REVIEW:
            yield "under review"
        if self.status is Status.ARCHIVED:
            yield "archived"
        if self.made_of and self.withheld is None:
            more = f" +{len(self.made_of) - 1}" if len(self.made_of) > 1 else ""
            yield f"{self.zone}: from {self.made_of[0]}{more}"

    def doubts(self) -> Iterator[str]:
        """Which other memories speak against it, or it against them."""
        if self.disputed_by:
            yield f"disputed by {', '.join(self.disputed_by)}"
        if self.maybe_replaced_by and not self.superseded_by:
            yield f"maybe replaced by {', '.join(self.maybe_replaced_by)}"
        if self.may_replace:
            yield f"may replace {', '.join(self.may_replace)}"
