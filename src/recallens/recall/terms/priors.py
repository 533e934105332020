"""What a row is worth whatever the question: how it has been used, what it is, and which tier serves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from recallens.index.columns import Columns
from recallens.model.memory import Sector
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.salience import DAY_MS, SECTOR_ORDER, Trials, expected_reward, uplifts
from recallens.model.verdict import all_true, anywhere
from recallens.recall.scene import Scene
from recallens.recall.terms import Amounts, ScoreTerm
from recallens.recall.views import DIRECT, GRAPH, PROCEDURAL, REVIEW

RECENCY_RATE: Final = 0.05
# The specification's sample: a direct answer 0.30, the other tiers 0.15.
TIER_PRIOR: Final = {DIRECT: 0.30, REVIEW: 0.15, PROCEDURAL: 0.15, GRAPH: 0.15}


# ── use ──


def salience(weight: float) -> ScoreTerm:
    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts:
        return weight * scene.salience(pool.rows), all_true(len(pool)), {"weight": weight}

    return ScoreTerm("salience", formula)


def own_salience(weight: float) -> ScoreTerm:
    """Salience as time has left it; what recalls and confirmations added stands beside it as reinforcementBoost."""

    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts:
        return weight * scene.own_salience(pool.rows), all_true(len(pool)), {"weight": weight}

    return ScoreTerm("salience", formula)


def reinforcement_boost(weight: float) -> ScoreTerm:
    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts | None:
        computed = scene.usage.reinforcement[pool.rows] > 0
        if not anywhere(computed):
            return None
        gained = scene.salience(pool.rows) - scene.own_salience(pool.rows)
        return np.where(computed, weight * gained, 0.0), computed, {"weight": weight}

    return ScoreTerm("reinforcementBoost", formula)


def uplift(weight: float) -> ScoreTerm:
    """weight · β · how much better tasks went with the memory than without it; absent where no ended task had it."""

    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts | None:
        trials = _trials(scene, query)
        if not trials.ended:
            return None
        tasks, rewards = trials.tasks[pool.rows], trials.rewards[pool.rows]
        computed = tasks > 0
        value = uplifts(tasks, rewards, trials.ended, trials.total)
        stats = {
            "weight": weight,
            "beta": query.beta,
            "tasks": float(trials.ended),
            "expected": expected_reward(trials.ended, trials.total),
        }
        return np.where(computed, weight * query.beta * value, 0.0), computed, stats

    return ScoreTerm("uplift", formula)


def _trials(scene: Scene, query: Query) -> Trials:
    """The tasks that each row has been part of. The columns hold how they stand now."""
    reader, _ns, columns = scene.reader, scene.state.key, scene.columns
    if query.as_of is not None:
        return _trials_at(columns, *reader.tasks.trials_until(query.as_of))
    return Trials(columns["tasks_with"], columns["reward_with"], scene.state.tasks_ended, scene.state.reward_total)


def _trials_at(columns: Columns, counts: Sequence[tuple[int, int, float]], ended: int, total: float) -> Trials:
    tasks, rewards = np.zeros(columns.size, dtype=np.int32), np.zeros(columns.size)
    rows = columns.locate([num for num, _, _ in counts])
    known = rows >= 0
    tasks[rows[known]] = np.array([count for _, count, _ in counts], dtype=np.int32)[known]
    rewards[rows[known]] = np.array([reward for _, _, reward in counts], dtype=np.float64)[known]
    return Trials(tasks, rewards, ended, total)


# ── what it is ──


def importance(weight: float) -> ScoreTerm:
    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts:
        return weight * scene.columns["importance"][pool.rows], all_true(len(pool)), {"weight": weight}

    return ScoreTerm("importance", formula)


def recency(weight: float) -> ScoreTerm:
    """weight · exp(−0.05·days since created) (as specified)."""

    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts:
        days = np.maximum(scene.at - scene.columns["created"][pool.rows], 0) / DAY_MS
        return weight * np.exp(-RECENCY_RATE * days), all_true(len(pool)), {"weight": weight}

    return ScoreTerm("recency", formula)


def sector_boost(factors: Mapping[Sector, float]) -> ScoreTerm:
    table = np.array([factors[sector] for sector in SECTOR_ORDER])

    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts:
        factor = table[scene.columns["sector"][pool.rows]]
        return pool.score * (factor - 1.0), all_true(len(pool)), {}

    return ScoreTerm("sectorBoost", formula)


def superseded(factor: float) -> ScoreTerm:
    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts | None:
        if scene.columns.all_plain(pool.rows):
            return None
        computed = scene.superseded(pool.rows)
        return np.where(computed, pool.score * (factor - 1.0), 0.0), computed, {"factor": factor}

    return ScoreTerm("superseded", formula)


def tier_prior() -> ScoreTerm:
    """The head start of the best tier that proposed the row."""

    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts:
        prior = np.zeros(len(pool))
        for tier, worth in TIER_PRIOR.items():
            if tier in pool.found:
                prior = np.maximum(prior, np.where(pool.proposed_by(tier), worth, 0.0))
        return prior, prior > 0, {}

    return ScoreTerm("tierPrior", formula)


def clamp(low: float, high: float) -> ScoreTerm:
    """What it takes to bring each score into the interval (as specified); no other preset clamps, for it makes ties."""

    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts:
        delta = np.clip(pool.score, low, high) - pool.score
        return delta, delta != 0.0, {}

    return ScoreTerm("clamp", formula)
