"""Salience is derived on read, never written back: a stored decayed value would decay again.

S(t) = base·exp(−rate/(importance + 0.1)·days since last use) + min(0.1, 0.02·ln(1 + uses)), within [0.05, 1].
Reinforcement by a takes S to S + a·(1 − S). Repeated, the gap to 1 is multiplied by (1 − a) each time, so one number
r per memory keeps them all: S + r·(1 − S), where r itself decays at the memory's own rate from its own time stamp.

Uplift is how much better tasks go with a memory than without it, shrunk to the common mean while there is little to
tell. N and S are the number and the sum of rewards of all ended tasks of a namespace, n and s those of the tasks with
the memory. m0 = (S + κ·0.5)/(N + κ) is what to expect of any task, with = (s + κ·m0)/(n + κ) and
without = (S − s + κ·m0)/(N − n + κ) what to expect of one with the memory and of one without it. N and S are of tasks
of the person at the machine: no agent moves what others are measured against.

It is an observed difference: a memory that comes along in easy tasks gets credit that it did not earn. No task is
assigned by chance, so nothing here may be called an effect.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from recallens.model.memory import Sector
from recallens.model.verdict import FloatArray

DAY_MS = 86_400_000
FLOOR, CEILING = 0.05, 1.0
USE_WEIGHT, USE_CEILING = 0.02, 0.1
RECALL_REINFORCEMENT = 0.02
CONFIRM_REINFORCEMENT = 0.1
DEEMPHASIS = 0.5

DECAY_PER_DAY = {
    Sector.EPISODIC: 0.02,
    Sector.SEMANTIC: 0.005,
    Sector.PROCEDURAL: 0.01,
    Sector.EMOTIONAL: 0.003,
    Sector.REFLECTIVE: 0.008,
}
SECTOR_ORDER = tuple(Sector)
_RATES = np.array([DECAY_PER_DAY[sector] for sector in SECTOR_ORDER])


def decay(*, sector: NDArray[np.int8], importance: FloatArray, since: NDArray[np.int64], at: int) -> FloatArray:
    """exp(−rate/(importance + 0.1)·days), with time that has not yet come counted as no time."""
    days = np.maximum(at - since, 0) / DAY_MS
    return np.exp(-_RATES[sector] / (importance + 0.1) * days)


def salience(
    *,
    base: FloatArray,
    sector: NDArray[np.int8],
    importance: FloatArray,
    last_used: NDArray[np.int64],
    uses: NDArray[np.int64],
    reinforcement: FloatArray | None,
    reinforced_at: NDArray[np.int64],
    at: int,
) -> FloatArray:
    """S(t) for many memories at once; `sector` indexes SECTOR_ORDER, `last_used` is created where never used.

    Without `reinforcement` it is what time and use alone have left of each.
    """
    faded = base * decay(sector=sector, importance=importance, since=last_used, at=at)
    if np.count_nonzero(uses):
        faded += np.minimum(USE_CEILING, USE_WEIGHT * np.log1p(uses))
    own = np.minimum(np.maximum(faded, FLOOR), CEILING)
    if reinforcement is None:
        return own
    kept = reinforcement * decay(sector=sector, importance=importance, since=reinforced_at, at=at)
    return own + kept * (1.0 - own)


def reinforced(
    *, reinforcement: float, reinforced_at: int, sector: Sector, importance: float, by: float, at: int
) -> float:
    """The r to store after one more reinforcement at `at`; exact, because exponential decay composes."""
    days = max(at - reinforced_at, 0) / DAY_MS
    kept = reinforcement * float(np.exp(-DECAY_PER_DAY[sector] / (importance + 0.1) * days))
    return kept + by * (1.0 - kept)


# ── uplift ──

# κ: so many tasks at the expected reward are added to each side. With two, one lucky task moves a mean by a third.
PRIOR_TASKS = 2.0
# What a task is worth before any has ended: neither a success nor a failure.
PRIOR_REWARD = 0.5


class Uplift(Struct, frozen=True):
    """`tasks` is n; a memory that has been in no ended task has no uplift at all, which is not the same as 0."""

    value: float
    confidence: float
    tasks: int


def expected_reward(ended: int, total: float) -> float:
    """m0, within [0, 1] for rewards within [0, 1]."""
    return (total + PRIOR_TASKS * PRIOR_REWARD) / (ended + PRIOR_TASKS)


def uplifts(
    tasks: NDArray[np.int32], rewards: FloatArray, ended: int, total: float, trusted: NDArray[np.bool_]
) -> FloatArray:
    """mean with − mean without, for many memories at once; meaningless where `tasks` is 0. Of a memory that is less
    than trusted the tasks may be an agent's, which are not among the others: m0 stands for those without it."""
    expected = expected_reward(ended, total)
    prior = PRIOR_TASKS * expected
    with_it = (rewards + prior) / (tasks + PRIOR_TASKS)
    without_it = (total - rewards + prior) / np.maximum(ended - tasks + PRIOR_TASKS, PRIOR_TASKS)
    without_it = np.where(trusted, without_it, expected)
    difference: FloatArray = with_it - without_it
    return difference


def confidence(tasks: int) -> float:
    """n/(n + κ): how much of the mean with the memory is its own."""
    return tasks / (tasks + PRIOR_TASKS)


def uplift_of(tasks: int, rewards: float, ended: int, total: float, *, trusted: bool = True) -> Uplift | None:
    if not tasks:
        return None
    value = uplifts(np.array([tasks], dtype=np.int32), np.array([rewards]), ended, total, np.array([trusted]))[0]
    return Uplift(float(value), confidence(tasks), tasks)
