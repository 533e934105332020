"""What stands still in the tests: the clock, and how a store is opened with it."""

from __future__ import annotations

from typing import Any, Protocol

from recallens.engine import Engine
from recallens.model.salience import DAY_MS

# 2026-06-01T00:00:00Z
START_MS = 1_780_272_000_000


class FixedClock:
    """A clock that moves only when it is told to."""

    def __init__(self, now: int = START_MS) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, *, days: float = 0, ms: int = 0) -> int:
        self.now += round(days * DAY_MS) + ms
        return self.now


class Open(Protocol):
    def __call__(self, name: str = ..., **options: Any) -> Engine: ...
