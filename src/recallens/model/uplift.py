"""How much better tasks go with a memory than without it, shrunk to the common mean while there is little to tell.

N and S are the number and the sum of rewards of all ended tasks of a namespace, n and s those of the tasks with the
memory. m0 = (S + κ·0.5)/(N + κ) is what to expect of any task, with = (s + κ·m0)/(n + κ) and
without = (S − s + κ·m0)/(N − n + κ) what to expect of one with the memory and of one without it.

It is an observed difference: a memory that comes along in easy tasks gets credit that it did not earn. No task is
assigned by chance, so nothing here may be called an effect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recallens.model.verdict import FloatArray

# κ: so many tasks at the expected reward are added to each side. With two, one lucky task moves a mean by a third.
PRIOR_TASKS = 2.0
# What a task is worth before any has ended: neither a success nor a failure.
PRIOR_REWARD = 0.5


@dataclass(frozen=True, slots=True)
class Uplift:
    """`tasks` is n; a memory that has been in no ended task has no uplift at all, which is not the same as 0."""

    value: float
    confidence: float
    tasks: int


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """n and s of each row at the judging time, and N and S of the namespace."""

    tasks: NDArray[np.int32]
    rewards: FloatArray
    ended: int
    total: float


def expected_reward(ended: int, total: float) -> float:
    """m0, within [0, 1] for rewards within [0, 1]."""
    return (total + PRIOR_TASKS * PRIOR_REWARD) / (ended + PRIOR_TASKS)


def uplifts(tasks: NDArray[np.int32], rewards: FloatArray, ended: int, total: float) -> FloatArray:
    """mean with − mean without, for many memories at once; meaningless where `tasks` is 0."""
    prior = PRIOR_TASKS * expected_reward(ended, total)
    with_it = (rewards + prior) / (tasks + PRIOR_TASKS)
    without_it = (total - rewards + prior) / (ended - tasks + PRIOR_TASKS)
    difference: FloatArray = with_it - without_it
    return difference


def confidence(tasks: int) -> float:
    """n/(n + κ): how much of the mean with the memory is its own."""
    return tasks / (tasks + PRIOR_TASKS)


def uplift_of(tasks: int, rewards: float, ended: int, total: float) -> Uplift | None:
    if not tasks:
        return None
    value = uplifts(np.array([tasks], dtype=np.int32), np.array([rewards]), ended, total)[0]
    return Uplift(float(value), confidence(tasks), tasks)
