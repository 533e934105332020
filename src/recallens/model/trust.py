"""Trust as information flow: who acts, what a derived text is made of, and which restrictions it has from that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct, structs

from recallens.model.memory import PROPOSED, Memory, Status, Zone, handle_of
from recallens.model.state import BLOCKING, EVERYTHING, Sight, withheld

IMPORT: Final = "import"  # the source of what a file says
SUSPECTED: Final = "suspected"  # the attribute that tells a reviewer what speaks against a text
SWAPPED: Final = "it puts one number in the place of another"
STUFFED: Final = "it heaps up words for searches to find"
_RANKS: Final = {zone: rank for rank, zone in enumerate(Zone)}


def rank(zone: Zone) -> int:
    """How far a zone is trusted: 0 is the least."""
    return _RANKS[zone]


class BudgetClaim(StrEnum):
    """What of a budget a memory may claim."""

    FIRST = "first"  # trusted and likely to help: half is for what is like it
    NONE = "none"
    LOWER = "lower"  # less trusted: takes half at most, beside what has a claim


# What is trusted and at least this likely to help is neither measured against what is less trusted nor crowded out.
CLAIMED_FROM: Final = 0.125


def claim_of(zone: Zone, relevance: float | None) -> BudgetClaim:
    if zone is not Zone.TRUSTED:
        return BudgetClaim.LOWER
    return BudgetClaim.FIRST if relevance is None or relevance >= CLAIMED_FROM else BudgetClaim.NONE


def room_beside(claimed: Iterable[float], most: float) -> float:
    """What less trusted items may take of a budget beside items with a claim, which cost so much each: half of it, or
    more where these leave it free. An item that alone takes more than half is claimed nothing for: it has to be better.
    """
    return most - min(sum(cost for cost in claimed if cost <= most / 2), most / 2)


def turns_within(claims: Sequence[BudgetClaim], *budgets: tuple[Sequence[float], float]) -> list[int]:
    """The order in which items are given room, each budget being what every item costs of it and how much there is: as
    they stand, but for what is less trusted and has no room beside what has a claim, which comes last.
    """
    left = [
        room_beside([cost for cost, claim in zip(costs, claims, strict=True) if claim is BudgetClaim.FIRST], most)
        for costs, most in budgets
    ]
    first, late = list[int](), list[int]()
    for at, claim in enumerate(claims):
        is_lower = claim is BudgetClaim.LOWER
        if is_lower and any(costs[at] > room for (costs, _), room in zip(budgets, left, strict=True)):
            late.append(at)
            continue
        first.append(at)
        if is_lower:
            left = [room - costs[at] for (costs, _), room in zip(budgets, left, strict=True)]
    return first + late


def lowest(zones: Iterable[Zone]) -> Zone:
    """The least trusted of some zones; what is made of nothing is as trusted as its maker."""
    return min(zones, key=rank, default=Zone.TRUSTED)


def speaks_to_reader(memory: Memory) -> bool:
    """Whether the screening found that it speaks to who reads it; what only bends recall does not."""
    found = memory.attributes.get(SUSPECTED)
    return isinstance(found, list | tuple) and any(reason not in (SWAPPED, STUFFED) for reason in found)


def heaps_words(memory: Memory) -> bool:
    """Whether the screening found that it is made of words for searches to find."""
    found = memory.attributes.get(SUSPECTED)
    return isinstance(found, list | tuple) and STUFFED in found


class Actor(Struct, frozen=True):
    """Who acts. What they write enters in their zone at most; who does not decide changes nothing in a higher one."""

    zone: Zone = Zone.WORKING
    owner: str | None = None  # the id of a token; None is the person at the machine, or a program that they run
    source: str | None = None  # what is written is recorded as from there; None leaves it to what is written
    approves: bool = False  # a principle that they write holds at once, and waits for nobody to approve it
    decides: bool = False  # the person at the machine, by whatever surface: they may change everything
    sight: Sight = Sight()  # what they may see: the rest is not there for whatever they ask or do
    dates: bool = False  # what they date in the past was known then: the person, also of a file that they load

    @property
    def called(self) -> str:
        """How their confirmations and proposals are told from those of others: never by a name of their choice."""
        return self.owner or ("" if self.decides else "agent")

    def may_change(self, memory: Memory) -> bool:
        return self.decides or rank(self.zone) >= rank(memory.zone)

    def by(self, memory: Memory) -> Actor:
        """Who acts by a text that they have not read: it has no more say than it is trusted, as an agent's where it is
        proposed, and none while it waits for review. Who decides has read what they write, but not every line of a
        file that they load."""
        if self.approves or (self.decides and self.source != IMPORT):
            return self
        proposed = Zone.WORKING if memory.review == PROPOSED else Zone.TRUSTED
        held = withheld(memory, memory.scopes) is not None
        zone = lowest((self.zone, Zone.QUARANTINE if held else memory.zone, proposed))
        return structs.replace(self, zone=zone, decides=self.decides and zone is Zone.TRUSTED)


class Word(StrEnum):
    """What becomes of what somebody says of how a memory did."""

    COUNTS = "counts"
    WAITS = "waits"  # as a proposal: nothing is moved before the person at the machine accepts it
    NOTHING = "nothing"


# Of one agent so many tasks count for a memory, however many it reports.
MOST_TRIALS: Final = 5


def word_on(by: Actor, memory: Memory, *, lowers: bool, writer: str | None = None, said: int = 0) -> Word:
    """Whether a task's outcome counts for a memory. Every outcome goes through it: an agent lowers nothing but what it
    wrote itself, and raises what is no more trusted than it is, so often and no more."""
    if by.decides or by.zone is Zone.TRUSTED:
        return Word.COUNTS
    own = by.may_change(memory) and (writer == by.called or not lowers)
    if lowers and not own:
        return Word.WAITS
    return Word.COUNTS if own and (lowers or said < MOST_TRIALS) else Word.NOTHING


PERSON: Final = Actor(Zone.TRUSTED, approves=True, decides=True, sight=EVERYTHING, dates=True)


def importer(zone: Zone) -> Actor:
    """A file that the person loads is theirs, but nobody has read every line of it."""
    whole = zone is Zone.TRUSTED
    return Actor(zone, None if whole else IMPORT, source=IMPORT, decides=whole, sight=EVERYTHING, dates=True)


class InputKind(StrEnum):
    MEMORY = "memory"
    LOG = "log"
    SESSION = "session"
    TASK = "task"


class Input(Struct, frozen=True):
    """One thing that a text was made of. `replaced`: the text took its place, so that both never hold at once."""

    kind: InputKind
    id: str
    zone: Zone
    scopes: tuple[str, ...] = ()
    review: str | None = None
    replaced: bool = False
    num: int = 0  # of a memory
    waits: bool = False  # for a decision, and what is made of it with it; not what a person wrote in its place

    @classmethod
    def of(cls, memory: Memory, *, replaced: bool = False) -> Input:
        """What is forgotten, rejected or in quarantine makes a text that is for nobody before a person has decided."""
        review = memory.review if memory.review == PROPOSED else None
        zone = Zone.QUARANTINE if memory.status in BLOCKING else memory.zone
        waits = memory.status is Status.PENDING_REVIEW and not replaced
        return cls(InputKind.MEMORY, memory.id, zone, memory.scopes, review, replaced, memory.num, waits)

    @property
    def name(self) -> str:
        return handle_of(self.num) if self.num else f"{self.kind} {self.id}"


class Restrictions(Struct, frozen=True):
    """What holds for a text because of what it was made of."""

    zone: Zone = Zone.TRUSTED
    scopes: tuple[str, ...] = ()
    review: str | None = None
    waits: bool = False


def derived(inputs: Iterable[Input]) -> Restrictions:
    """The lowest zone and every restriction of everything that a text is made of. Every stored text goes through it."""
    made_of = tuple(inputs)
    scopes = dict.fromkeys(scope for each in made_of for scope in each.scopes)
    review = next((each.review for each in made_of if each.review is not None), None)
    waits = any(each.waits for each in made_of)
    return Restrictions(lowest(each.zone for each in made_of), tuple(scopes), review, waits)


class Delivery(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One recall that returned a memory: when, in which session and task, to which token's caller, and its record."""

    at: int
    session: str | None = None
    task: str | None = None
    owner: str | None = None
    snapshot_id: str | None = None


class Influence(Struct, frozen=True):
    """What a memory was made of, the recalls that returned it, and the texts that were made of it, over any steps."""

    memory: Memory
    made_of: tuple[Input, ...]
    recalls: tuple[Delivery, ...]
    derived: tuple[Memory, ...]


class Change(StrEnum):
    """What somebody less trusted may propose against a memory."""

    SUPERSEDE = "supersede"
    FORGET = "forget"
    RESTORE = "restore"
    DEEMPHASISE = "deemphasise"
    RELATE = "relate"
    DOCUMENT = "document"


Details = Mapping[str, str | float | None]
NO_DETAILS: Final[Details] = {}


class ProposedChange(Struct, frozen=True):
    """A change that waits: nothing of it holds before the person at the machine accepts it."""

    change: Change
    memory: str | None = None
    num: int | None = None
    other: str | None = None
    other_num: int | None = None
    zone: Zone = Zone.WORKING
    owner: str = ""
    at: int = 0
    details: Details = NO_DETAILS
    number: int = 0

    @property
    def handle(self) -> str:
        return f"p{self.number}"

    def words(self, named: str, other: str | None = None) -> str:
        """What would be done, to memories as they are named."""
        if self.change is Change.SUPERSEDE:
            return f"replace {named} by {other}"
        if self.change is Change.RELATE:
            return f"{named} {self.details.get('relation')} {other}"
        if self.change is Change.DOCUMENT:
            text = str(self.details.get("text") or "")
            shown = text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
            return f"replace the document {self.details.get('path')} by {len(text):,} characters: {shown}"
        return f"{self.change} {named}"


# Of a document that is proposed, so much is told where the proposals are listed.
SHOWN_CHARACTERS: Final = 600
_PROPOSAL: Final = re.compile(r"[pP]([1-9][0-9]{0,17})")


def proposal_number(handle: str) -> int | None:
    """The number that the handle of a proposal names; None for what is none."""
    match = _PROPOSAL.fullmatch(handle.strip())
    return int(match[1]) if match else None
