"""A task: one piece of work of an agent, with what it logged and, when it has ended, how well it went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from recallens.model.citation import Citation
from recallens.model.memory import Kind


class Task(Struct, frozen=True):
    """`wording` is the id of the first task of the project that was worded alike: its own, where it is the first."""

    id: str
    namespace: str
    text: str
    started: int
    wording: str
    session: str | None = None
    project: str | None = None
    worktree: str | None = None
    ended: int | None = None
    reward: float | None = None
    summary: str | None = None
    episode: str | None = None

    @property
    def running(self) -> bool:
        return self.ended is None


class Promotion(Struct, frozen=True):
    """A pattern, skill or gotcha that repeated attempts have become; `count` is its success or occurrence count."""

    kind: Kind
    id: str
    created: bool
    count: int


class TaskOutcome(Struct, frozen=True):
    task: Task
    episode: str
    promoted: tuple[Promotion, ...] = ()


class DetailEntry(Struct, frozen=True, rename={"related": "relatedEntries"}):
    """Layer 3: a log, a snapshot or a memory as it was stored, held to a size that it says it was held to."""

    id: str
    full_content: str
    metadata: Mapping[str, Any]
    citations: tuple[Citation, ...]
    related: tuple[str, ...]
    tokens: int
    omitted_tokens: int = 0

    @property
    def truncated(self) -> bool:
        return self.omitted_tokens > 0


class Details(Struct, frozen=True):
    """`about` is the task's or the memory's id; `total` counts entries, of which a page may show fewer."""

    about: str
    entries: tuple[DetailEntry, ...]
    total: int
    task: Task | None = None
    related: tuple[str, ...] = ()
