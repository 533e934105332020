"""A task: one piece of work of an agent, with what it logged and, when it has ended, how well it went."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from recallens.model.memory import Kind, Zone


class Ending(StrEnum):
    """How a task ended, where no number says it; `REWARDS` has the number of each."""

    SUCCESS = "success"
    PARTIAL = "partial"
    FAILURE = "failure"


REWARDS: Mapping[Ending, float] = {Ending.SUCCESS: 1.0, Ending.PARTIAL: 0.5, Ending.FAILURE: 0.0}


class Task(Struct, frozen=True):
    """`wording` is the id of the first task of the project that did the same: its own, where it is the first, and
    while it runs.
    """

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
    zone: Zone = Zone.TRUSTED  # of who started it
    owner: str | None = None  # the token that started it; None is the person, or an agent on their machine

    def is_of(self, owner: str | None) -> bool:
        """Whether who acts may log into it, end it and write in it: a token into what it started, others anywhere."""
        return owner is None or owner == self.owner

    @property
    def running(self) -> bool:
        return self.ended is None


class Promotion(Struct, frozen=True):
    """A pattern, skill or gotcha that repeated attempts have become; `count` is its success or occurrence count."""

    kind: Kind
    id: str
    created: bool
    count: int


class Credit(Struct, frozen=True):
    """A memory that was of use in a task although nobody said so, and what of it the task's log shows."""

    id: str
    handle: str
    shown: str


class TaskOutcome(Struct, frozen=True):
    task: Task
    episode: str
    promoted: tuple[Promotion, ...] = ()
    credited: tuple[Credit, ...] = ()
    waiting: tuple[str, ...] = ()  # more trusted than who says that it failed them: that is a proposal
