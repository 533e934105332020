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


class DatedEvent(Struct, frozen=True, rename="camel"):
    """The memory that says when something happened, and where that stands: in its text, or in when it was made."""

    id: str
    handle: str
    title: str | None  # of one whose text is withheld, none
    day: str
    dated_by: str


class Window(Struct, frozen=True):
    """A time that the question speaks of, as whole days: from `start` up to and without `end`, epoch milliseconds.

    A `vague` one only means about then; a `given` one was not read but asked for; `event` is what it is dated by. Of an
    `as_of` one it is asked what held at its end, and not what happened in it.
    """

    text: str
    start: int
    end: int
    vague: bool = False
    given: bool = False
    event: DatedEvent | None = None
    as_of: bool = False

    def to_json(self) -> dict[str, Any]:
        record: dict[str, Any] = {"text": self.text, "from": day(self.start), "to": day(self.end)}
        record |= {"asOf": day(self.end - 1)} if self.as_of else {}
        return record if self.event is None else record | {"event": to_builtins(self.event)}


class PlaceOfProject(Struct, frozen=True):
    """Where something is said to have happened, as written, and the project that it is of."""

    text: str
    project: str


class Plan(Struct, frozen=True):
    complexity: Complexity
    strategy: Strategy
    intent: Intent | None
    intent_given: bool
    level: Level
    intent_confidence: float = 0.0  # how sure an intent is that was read out of the question; 1 where it is stated
    intent_cues: tuple[str, ...] = ()  # what it was read from
    windows: tuple[Window, ...] = ()
    undated: str | None = None  # a time that is told by what happened, where no memory surely tells of that
    perhaps: DatedEvent | None = None  # which one may tell of it
    place: PlaceOfProject | None = None  # of a question that names a time, a place and nothing else
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
            record |= {"intentConfidence": self.intent_confidence, "intentCues": list(self.intent_cues)}
        if self.windows:
            record["windows"] = [window.to_json() for window in self.windows]
        if self.undated is not None:
            record["undated"] = self.undated
        if self.perhaps is not None:
            record["perhaps"] = to_builtins(self.perhaps)
        if self.place is not None:
            record["place"] = to_builtins(self.place)
        if self.expansions:
            record["expansions"] = {word: list(others) for word, others in self.expansions.items()}
        return record
