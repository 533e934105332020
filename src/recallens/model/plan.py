"""How a question will be searched, worked out from the question alone before anything is looked at."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct, field, to_builtins

from recallens.model.times import day


class Intent(StrEnum):
    HOW_TO_DO = "how_to_do"
    WHAT_HAPPENED = "what_happened"
    KNOWN_ISSUES = "known_issues"
    ENVIRONMENT = "environment"
    CODE_STRUCTURE = "code_structure"


INTENT_ALIASES = {"how_to": Intent.HOW_TO_DO, "gotchas": Intent.KNOWN_ISSUES}


class Scope(StrEnum):
    TASK = "task"
    WORKTREE = "worktree"
    PROJECT = "project"
    ORG = "org"


class Strategy(StrEnum):
    SIMPLE = "simple"
    STANDARD = "standard"
    COMPLEX = "complex"


class Level(StrEnum):
    """How abstract a question or a text is."""

    PRINCIPLE = "principle"
    CONCEPT = "concept"
    IMPLEMENTATION = "implementation"


class Factors(Struct, frozen=True, rename={"entity_count": "entityCount", "multi_hop": "multiHop", "broad": "scope"}):
    """The specification's factors; `length` and `entity_count` are shares of what counts as many, within 0 and 1."""

    length: float
    entity_count: float
    temporal: bool
    multi_hop: bool
    broad: bool


class Complexity(Struct, frozen=True):
    score: float
    factors: Factors


class Window(Struct, frozen=True):
    """A time that the question speaks of, as whole days: from `start` up to and without `end`, epoch milliseconds."""

    text: str
    start: int
    end: int

    def to_json(self) -> dict[str, str]:
        return {"text": self.text, "from": day(self.start), "to": day(self.end)}


class Plan(Struct, frozen=True):
    complexity: Complexity
    strategy: Strategy
    intent: Intent | None
    intent_given: bool
    level: Level
    windows: tuple[Window, ...] = ()
    expansions: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """What does not apply is left out."""
        factors = self.complexity.factors
        record: dict[str, Any] = {
            "complexity": self.complexity.score,
            "factors": {**to_builtins(factors), "scope": "broad" if factors.broad else "narrow"},
            "strategy": str(self.strategy),
            "level": str(self.level),
        }
        if self.intent is not None:
            record |= {"intent": str(self.intent), "intentGiven": self.intent_given}
        if self.windows:
            record["windows"] = [window.to_json() for window in self.windows]
        if self.expansions:
            record["expansions"] = {word: list(others) for word, others in self.expansions.items()}
        return record
