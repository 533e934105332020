"""What an agent is given: a context for a task within a token budget, and the layers in which it reads on."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from recallens.model.citation import Citation
from recallens.model.memory import Kind, Memory
from recallens.model.query import DEFAULT_TOKENS
from recallens.model.state import MemoryState
from recallens.model.trust import Input, Restrictions, derived

# Gotchas are told at length out of what is left over, where there is enough of it.
GOTCHAS_FROM = 1_000
# Of the total, one memory takes at most this part.
MOST_OF_TOTAL = 8
# How much more is tried out, to say what it would bring.
MORE_TOKENS = 500


class SectionName(StrEnum):
    """In the order in which they are delivered."""

    CONSTITUTION = "constitution"
    SKILLS = "skills"
    CONTEXT = "context"
    CODE_SYMBOLS = "codeSymbols"
    GOTCHAS = "gotchas"


FULL_ALLOCATION: Mapping[SectionName, int] = {
    SectionName.CONSTITUTION: 1_000,
    SectionName.SKILLS: 2_000,
    SectionName.CONTEXT: 4_000,
    SectionName.CODE_SYMBOLS: 1_000,
}


def allocation(total: int) -> dict[SectionName, int]:
    """What each section may spend on telling at length. A budget below the usual one shrinks all of them alike, a
    larger one leaves more over.
    """
    return {name: share * min(total, DEFAULT_TOKENS) // DEFAULT_TOKENS for name, share in FULL_ALLOCATION.items()}


class TokenBudget(Struct, frozen=True):
    total: int
    used: int
    allocation: Mapping[SectionName, int]

    @property
    def remaining(self) -> int:
        return self.total - self.used


class Item(Struct, frozen=True):
    """One piece as delivered, header included. `name` is a memory's id or, of a constitution, its file."""

    name: str
    text: str
    tokens: int
    memory: Memory | None = None
    score: float | None = None
    relevance: float | None = None  # how likely it is to help, where that was judged
    truncated: bool = False  # an excerpt, or a constitution that is cut


class ContextSection(Struct, frozen=True):
    """`allocated` is its share, or more where its excerpts take more; `used` is what its heading and items cost."""

    name: SectionName
    allocated: int
    used: int
    items: tuple[Item, ...]


class LeftOut(Struct, frozen=True, rename={"name": "id"}):
    name: str
    section: SectionName
    tokens: int
    reason: str
    handle: str | None = None


class Purchase(Struct, frozen=True):
    """What the same selection takes in with so many tokens more, and what it then has no room for."""

    tokens: int
    enters: tuple[Item, ...]
    leaves: tuple[Item, ...]

    @property
    def cost(self) -> int:
        return sum(item.tokens for item in self.enters) - sum(item.tokens for item in self.leaves)


class Context(Struct, frozen=True):
    """`block` is the text to deliver; `budget.used` is what it costs. `snapshots` names the recall that it rests on."""

    task: str
    block: str
    budget: TokenBudget
    sections: tuple[ContextSection, ...]
    left_out: tuple[LeftOut, ...]
    next: Purchase
    recorded: bool = False
    audit: Mapping[str, str] = field(default_factory=dict)
    snapshots: Mapping[str, str] = field(default_factory=dict)
    degraded: Mapping[str, str] = field(default_factory=dict)
    notice: str | None = None

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(item for section in self.sections for item in section.items)

    @property
    def memories(self) -> tuple[Item, ...]:
        """What is of this task and not of every one."""
        return tuple(item for section in self.sections[1:] for item in section.items)

    @property
    def restrictions(self) -> Restrictions:
        """The block is one text: it is as little trusted as the least of what it is made of."""
        return derived(Input.of(item.memory) for item in self.items if item.memory is not None)

    @property
    def truncated(self) -> bool:
        return any(item.truncated for item in self.items)


# ── progressive disclosure: what an agent gets of a memory at each layer, and what to ask for next ──

# In front of what cites nothing: it may be true, and nobody has said where it comes from.
HYPOTHESIS = "[HYPOTHESIS] "
# What cites nothing, in a word among the remarks of a line; JSON has the specification's label before the text.
UNCITED = "hypothesis"

# A memory of up to this many tokens is whole in layer 1, and this is what a line costs in the median. A line of a
# longer memory is held to a little more, its head included, for most end before it.
INDEX_TOKENS = 60
LONGEST_LINE = 62
TIMELINE_TOKENS = 150
TIMELINE_BUDGET = 1_000
CERTIFICATE_TOKENS = 60


class Relationship(StrEnum):
    """How a memory of a timeline stands to the one that was asked about."""

    BEFORE = "before"
    AFTER = "after"
    SAME_TASK = "same_task"


class IndexEntry(Struct, frozen=True):
    """Layer 1. `text` is the line that an agent reads, and `tokens` what that costs."""

    id: str
    handle: str
    summary: str
    utility_score: float
    type: Kind
    citations: tuple[Citation, ...]
    truncated: bool
    created: int
    state: MemoryState
    text: str
    tokens: int
    relevance: float | None = None
    source: str | None = None  # of what is not the trusted person's

    @property
    def is_cited(self) -> bool:
        return bool(self.citations)


class TimelineEntry(Struct, frozen=True):
    """Layer 2. `summary` is the memory's own text as far as it fits; `text` has what surrounds it as well.

    `relation` is None for the memory that was asked about.
    """

    id: str
    handle: str
    task: str | None
    created: int
    relation: Relationship | None
    summary: str
    type: Kind
    citations: tuple[Citation, ...]
    truncated: bool
    state: MemoryState
    beside: Mapping[str, str]
    text: str
    tokens: int

    @property
    def reward(self) -> float | None:
        return self.state.outcome
