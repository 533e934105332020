"""How a memory stands, which every layer shows; and the one gate that decides who may see its text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from enum import StrEnum
from typing import Final

from msgspec import Struct

from recallens.model.memory import Kind, Memory, Status, Zone
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
    if memory.status is Status.PENDING_REVIEW:
        return "waits for review"
    if memory.zone is Zone.QUARANTINE:
        return "quarantined"
    if memory.scopes and not_held(memory, scopes):
        return "meant for another context only"
    return None


def not_held(memory: Memory, scopes: Collection[str]) -> list[str]:
    """The contexts that a memory is meant for, without those that the caller holds: every one has to be held."""
    return [scope for scope in memory.scopes if scope not in OPEN_SCOPES and scope not in scopes]


class Sight(Struct, frozen=True):
    """What a caller may see: `everything`, or what is open to all and what is meant for the contexts that they hold.

    What somebody did in a session or a task is theirs. An `owner`, the id of a token, sees of another's session only
    that a memory which they may see was made in it, and of another's task nothing; without one every session and task
    is seen, as by the person at the machine and a program that they run.
    """

    scopes: frozenset[str] = frozenset()
    everything: bool = False
    owner: str | None = None

    @property
    def held(self) -> frozenset[str] | None:
        """The contexts of what they may see, the open ones among them; None where that is everything."""
        return None if self.everything else OPEN_SCOPES | self.scopes

    def withholds(self, memory: Memory) -> str | None:
        """Why its text is kept from them; None where it is not."""
        return None if self.everything else withheld(memory, self.scopes)

    def shown(self, memory: Memory) -> Memory:
        """The memory as they see it: of what is withheld, its handle, when it was made and what withholds it. Its kind,
        sector and the like are read off its text."""
        if self.withholds(memory) is None:
            return memory
        return Memory(
            memory.id, memory.namespace, "", memory.created, memory.created, status=memory.status, zone=memory.zone,
            num=memory.num,
        )  # fmt: skip

    def stands(self, memory: Memory, state: MemoryState) -> MemoryState:
        """Its state as they see it."""
        reason = self.withholds(memory)
        return state if reason is None else MemoryState(status=memory.status, zone=memory.zone, withheld=reason)


class Verified(StrEnum):
    """Whether what a memory cites was looked for, and found as it was cited."""

    YES = "yes"
    NO = "no"
    UNCHECKED = "unchecked"


def is_hypothesis(memory: Memory, verified: Verified) -> bool:
    """What rests on nothing that anybody has seen: it cites nothing, what it cites is not there, or nobody has looked
    and only somebody less trusted says so. A principle that the person has set rests on them."""
    unseen = verified is Verified.UNCHECKED and memory.zone is not Zone.TRUSTED
    settled = memory.kind is Kind.PRINCIPLE and memory.zone is Zone.TRUSTED and memory.review is None
    return (not memory.citations and not settled) or verified is Verified.NO or unseen


EVERYTHING: Final = Sight(everything=True)


# How the reason begins why a view answered in part: its vectors are still being made.
INCOMPLETE: Final = "vectors incomplete: "


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
    proposes_to_replace: tuple[str, ...] = ()  # what is more trusted, and holds until the person decides
    stated_otherwise_by: tuple[
        str, ...
    ] = ()  # by newer ones of the same answer: another value or name, or the contrary
    stale: str | None = None  # why it may not hold any longer
    cites: str | None = None  # what speaks against what it cites, in two or three words
    review: str | None = None  # of a note that was never settled: draft or rejected
    outcome: float | None = None  # the reward of the memory, or of its task
    withheld: str | None = None  # why its text is kept back
    verified: Verified = Verified.UNCHECKED
    says_again: str | None = None  # of an agent's own text: what says the same and is withheld, for the person to know
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
        yield from self.against()
        if self.stale is not None:
            yield "stale"
        if self.status is Status.PENDING_REVIEW:
            yield "under review"
        if self.status is Status.ARCHIVED:
            yield "archived"
        if self.says_again is not None:
            yield f"says the same as {self.says_again}"
        if self.made_of and self.withheld is None:
            more = f" +{len(self.made_of) - 1}" if len(self.made_of) > 1 else ""
            yield f"{self.zone}: from {self.made_of[0]}{more}"

    def against(self) -> Iterator[str]:
        """What other memories, what it cites and its own note say against it."""
        if self.superseded_by:
            first, *_, last = (*self.superseded_by, self.superseded_by[-1])
            yield f"superseded by {first}" + (f", now {last}" if last != first else "")
        elif self.status is Status.SUPERSEDED:
            yield "superseded"
        yield from self.doubts()
        if self.cites is not None:
            yield self.cites
        if self.review is not None:
            yield f"{self.review}, needs review"

    def doubts(self) -> Iterator[str]:
        """Which other memories speak against it, or it against them."""
        yield from self.in_doubt()
        if self.may_replace:
            yield f"may replace {', '.join(self.may_replace)}"

    def in_doubt(self) -> Iterator[str]:
        """Which other memories speak against it, and in whose place it only asks to be put."""
        if self.disputed_by:
            yield f"disputed by {', '.join(self.disputed_by)}"
        if self.superseded_by:
            return
        if self.proposes_to_replace:
            yield f"proposes to replace {', '.join(self.proposes_to_replace)}"
        if self.maybe_replaced_by:
            yield f"maybe replaced by {', '.join(self.maybe_replaced_by)}"
        others = [each for each in self.stated_otherwise_by if each not in (*self.maybe_replaced_by, *self.disputed_by)]
        if others:
            yield f"stated otherwise by {', '.join(others)}"
