"""What a memory has been worth: how much better tasks went with it than without it, as a Term of the ledger."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recallens.index.columns import Columns
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.salience import Trials, expected_reward, uplifts
from recallens.model.verdict import Term
from recallens.recall.scene import Scene
from recallens.recall.terms import TermStage


def uplift(weight: float) -> TermStage:
    """weight · β · uplift, absent for a memory that no ended task has had."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term | None:
        trials = scene.trials
        stats = {"weight": weight, "beta": query.beta}
        if trials is None or not trials.ended:
            return None
        tasks, rewards = trials.tasks[pool.rows], trials.rewards[pool.rows]
        computed = tasks > 0
        value = uplifts(tasks, rewards, trials.ended, trials.total)
        told = {**stats, "tasks": float(trials.ended), "expected": expected_reward(trials.ended, trials.total)}
        return Term("uplift", np.where(computed, weight * query.beta * value, 0.0), computed, told)

    return term


def trials_now(columns: Columns, ended: int, total: float) -> Trials:
    return Trials(columns["tasks_with"], columns["reward_with"], ended, total)


def trials_at(columns: Columns, counted: Sequence[tuple[int, int, float]], ended: int, total: float) -> Trials:
    """As they stood at a time: the columns hold only how they stand now."""
    tasks, rewards = np.zeros(columns.size, dtype=np.int32), np.zeros(columns.size)
    places = columns.locate([num for num, _, _ in counted])
    known = places >= 0
    tasks[places[known]] = np.array([count for _, count, _ in counted], dtype=np.int32)[known]
    rewards[places[known]] = np.array([reward for _, _, reward in counted], dtype=np.float64)[known]
    return Trials(tasks, rewards, ended, total)
