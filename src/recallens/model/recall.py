"""What a search gives back: the results, and the ledger that caused them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from recallens.model.ledger import Ledger
from recallens.model.memory import Memory, Session, Usage
from recallens.model.query import Query
from recallens.model.quick import quick


class MatchType(StrEnum):
    SEMANTIC = "semantic"
    KEYWORD = "keyword"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Successor:
    """The memory that replaced another: its first 200 characters are enough to see what changed."""

    id: str
    content: str
    created: int


@quick
@dataclass(frozen=True, slots=True)
class SearchResult:
    """`mark` marks the query's words in a text, where words had a part in finding it."""

    rank: int
    memory: Memory
    score: float
    salience: float
    match_type: MatchType | None
    views: tuple[str, ...]
    parts: Mapping[str, float]
    source_session: Session | None = None
    is_superseded: bool = False
    superseded_by: Successor | None = None
    related_count: int = 0
    mark: Callable[[str], str] | None = field(default=None, repr=False, compare=False)

    @property
    def highlights(self) -> tuple[str, ...]:
        """The text around the words that were asked for, marked; for who shows results, and made when they ask."""
        excerpt = self.mark(self.memory.content) if self.mark is not None else ""
        return (excerpt,) if excerpt else ()


@quick
@dataclass(frozen=True, slots=True)
class Recall:
    """`degraded` names each view that failed and why; `recorded` is false where nothing could be written.

    `lessons` came beside the results that were asked for: what to check before an answer is final.
    """

    query: Query
    results: tuple[SearchResult, ...]
    ledger: Ledger
    encoder: str | None
    degraded: Mapping[str, str] = field(default_factory=dict)
    recorded: bool = False
    audit: Mapping[str, str] = field(default_factory=dict)
    notice: str | None = None
    lessons: tuple[SearchResult, ...] = ()

    @property
    def returned(self) -> tuple[SearchResult, ...]:
        return (*self.results, *self.lessons)


@dataclass(frozen=True, slots=True)
class SessionSummary:
    id: str
    started: int
    summary: str | None


@dataclass(frozen=True, slots=True)
class SessionContext:
    """A memory's latest link to a session, and how many memories that session touched."""

    session: Session
    memories_in_session: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Timeline:
    anchor: Memory
    before: tuple[Memory, ...]
    after: tuple[Memory, ...]
    sessions: Mapping[str, SessionSummary]
