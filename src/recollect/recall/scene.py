"""Everything one recall looks at: a version of the columns, the views bound to the query, and the judging time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recollect.index.columns import NEVER, Columns, code_of
from recollect.index.views import BoundView
from recollect.model.memory import EventKind, Status
from recollect.model.salience import SECTOR_ORDER, reinforced, salience
from recollect.model.verdict import BoolArray, FloatArray, IntArray

Rows = IntArray | slice
EVERY = slice(None)

UsageEvents = Sequence[tuple[int, str, int, float | None]]


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """What salience needs to know of each row's history, as it stood at the judging time."""

    last_used: NDArray[np.int64]
    uses: NDArray[np.int64]
    reinforcement: FloatArray
    reinforced_at: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """`linked` and `tagged` are rows that the caller's session and tag filters admit, None where not asked for.

    `fluency` is the share of the query that the encoder can read: its opinion weighs as much.
    """

    columns: Columns
    views: Mapping[str, BoundView]
    at: int
    usage: Usage
    linked: BoolArray | None = None
    tagged: BoolArray | None = None
    fluency: float = 1.0
    notes: Mapping[str, object] = field(default_factory=dict)

    def salience(self, rows: Rows) -> FloatArray:
        columns, usage = self.columns, self.usage
        return salience(
            base=columns["base_salience"][rows],
            sector=columns["sector"][rows],
            importance=columns["importance"][rows],
            last_used=usage.last_used[rows],
            uses=usage.uses[rows],
            reinforcement=usage.reinforcement[rows],
            reinforced_at=usage.reinforced_at[rows],
            at=self.at,
        )

    def score(self, view: str, rows: IntArray) -> FloatArray:
        """The view's raw score of each row, NaN where it cannot say, which is everywhere if it failed."""
        try:
            return self.views[view].score(rows)
        except Exception:  # the failure itself is in the ledger, from when the view was asked to propose
            return np.full(len(rows), np.nan)

    def superseded(self, rows: Rows) -> BoolArray:
        """Closed at the judging time: an end that is still to come does not count, none at all counts as passed."""
        end = self.columns["valid_until"][rows]
        replaced = self.columns["status"][rows] == code_of(Status.SUPERSEDED)
        closed: BoolArray = (end <= self.at) | (replaced & (end == NEVER))
        return closed


def usage_now(columns: Columns) -> Usage:
    return Usage(columns["last_used"], columns["uses"], columns["reinforcement"], columns["reinforced_at"])


def usage_at(columns: Columns, events: UsageEvents, at: int) -> Usage:
    """The history up to `at`, told again from the events: the columns hold only how it ended."""
    last_used = columns["created"].copy()
    uses = np.zeros(columns.size, dtype=np.int64)
    reinforcement = np.zeros(columns.size)
    reinforced_at = np.zeros(columns.size, dtype=np.int64)
    rows = columns.locate([num for num, *_ in events]).tolist()
    for row, (_, kind, when, amount) in zip(rows, events, strict=True):
        if row < 0 or when > at:
            continue
        if kind in (EventKind.USED, EventKind.CONFIRMED):
            last_used[row] = max(last_used[row], when)
            uses[row] += 1
        if amount:
            reinforcement[row] = reinforced(
                reinforcement=float(reinforcement[row]),
                reinforced_at=int(reinforced_at[row]),
                sector=SECTOR_ORDER[columns["sector"][row]],
                importance=float(columns["importance"][row]),
                by=amount,
                at=when,
            )
            reinforced_at[row] = when
    return Usage(last_used, uses, reinforcement, reinforced_at)
