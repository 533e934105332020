"""What an agent is given for a task within a token budget, what was left out, and what a little more would buy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from recallens.model.memory import Memory
from recallens.model.query import DEFAULT_TOKENS

# Gotchas come out of what the others leave, where there is enough of it.
GOTCHAS_FROM = 1_000
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
    """Each section's share; a budget below the usual one shrinks all of them alike, a larger one leaves more over."""
    return {name: share * min(total, DEFAULT_TOKENS) // DEFAULT_TOKENS for name, share in FULL_ALLOCATION.items()}


@dataclass(frozen=True, slots=True)
class TokenBudget:
    total: int
    used: int
    allocation: Mapping[SectionName, int]

    @property
    def remaining(self) -> int:
        return self.total - self.used


@dataclass(frozen=True, slots=True)
class Item:
    """One piece as delivered, header included. `name` is a memory's id or, of a constitution, its file."""

    name: str
    text: str
    tokens: int
    memory: Memory | None = None
    score: float | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """`allocated` is what it may spend; `used` is what its heading and items cost."""

    name: SectionName
    allocated: int
    used: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    name: str
    section: SectionName
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True)
class Purchase:
    """What the same selection takes in with so many tokens more, and what it then has no room for."""

    tokens: int
    enters: tuple[Item, ...]
    leaves: tuple[Item, ...]

    @property
    def cost(self) -> int:
        return sum(item.tokens for item in self.enters) - sum(item.tokens for item in self.leaves)


@dataclass(frozen=True, slots=True)
class Context:
    """`block` is the text to deliver; `budget.used` is what it costs. `snapshots` are the recalls that it rests on."""

    task: str
    block: str
    budget: TokenBudget
    sections: tuple[Section, ...]
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
    def truncated(self) -> bool:
        return any(item.truncated for item in self.items)
