"""Progressive disclosure: what an agent gets of a memory at each layer, and what to ask for next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from recallens.model.memory import Citation, Kind

# In front of what cites nothing: it may be true, and nobody has said where it comes from.
HYPOTHESIS = "[HYPOTHESIS] "

INDEX_TOKENS = 50
TIMELINE_TOKENS = 150


class Relationship(StrEnum):
    """How a memory of a timeline stands to the one that was asked about."""

    BEFORE = "before"
    AFTER = "after"
    SAME_TASK = "same_task"


@dataclass(frozen=True, slots=True)
class Handles:
    """What leads on: the id to ask a timeline around, and the task, or else the memory, to ask details of."""

    timeline: str
    details: str


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """Layer 1. `text` is the entry as an agent reads it, and `tokens` what that costs."""

    id: str
    summary: str
    utility_score: float
    type: Kind
    citations: tuple[Citation, ...]
    more_citations: int
    is_cited: bool
    truncated: bool
    created: int
    author: str | None
    text: str
    tokens: int
    next: Handles


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """Layer 2. `summary` is the memory's own text as far as it fits; `text` has what surrounds it as well."""

    id: str
    task: str | None
    reward: float | None
    created: int
    relation: Relationship
    summary: str
    type: Kind
    citations: tuple[Citation, ...]
    more_citations: int
    is_cited: bool
    truncated: bool
    text: str
    tokens: int
    next: Handles
