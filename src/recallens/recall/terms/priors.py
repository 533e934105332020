"""What a row is worth whatever the question: how it has been used, what it is, and which tier serves it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from recallens.index.columns import code_of, table_of
from recallens.model.memory import Kind, Sector, Zone
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.salience import DAY_MS, SECTOR_ORDER, decay, expected_reward, uplifts
from recallens.model.verdict import FloatArray, IntArray, all_but, all_true, anywhere, places
from recallens.recall.scene import Scene
from recallens.recall.terms import Amounts, deviation_of, measured_against, score_term
from recallens.recall.views import DIRECT, GRAPH, PROCEDURAL, REVIEW, SAME_FILE

RECENCY_RATE: Final = 0.05
_WARNINGS: Final = table_of((Kind.GOTCHA, Kind.LESSON))
# Places for what names a file under review, and how far it stands before the next row, in deviations: more than its
# likeness to what is chosen before it may cost.
RESERVED: Final = 3
MARGIN: Final = 0.5
# As likely to help as this, a row is an answer.
ANSWERS: Final = 0.5
# The specification's sample: a direct answer 0.30, the other tiers 0.15.
TIER_PRIOR: Final = {DIRECT: 0.30, REVIEW: 0.15, PROCEDURAL: 0.15, GRAPH: 0.15}


# ── use ──


def within_zone(scene: Scene, pool: Pool, delta: FloatArray) -> FloatArray:
    """What agents say of how a row did raises it among its like: one that is less than trusted comes no nearer to the
    next trusted row above it than half the way."""
    trusted = scene.columns["zone"][pool.rows] == code_of(Zone.TRUSTED)
    lower = ~trusted & (delta > 0)
    above = np.sort(pool.score[trusted & pool.live])
    if not len(above) or not anywhere(lower):
        return delta
    place = np.searchsorted(above, pool.score, side="left")
    room = np.where(place < len(above), above[np.minimum(place, len(above) - 1)] - pool.score, np.inf)
    return np.where(lower, np.minimum(delta, room / 2.0), delta)


@score_term("salience")
def salience(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts:
    return weight * scene.salience(pool.rows), all_true(len(pool)), {"weight": weight}


@score_term("salience")
def own_salience(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts:
    """Salience as time has left it; what recalls and confirmations added stands beside it as reinforcementBoost."""
    return weight * scene.salience(pool.rows, own=True), all_true(len(pool)), {"weight": weight}


@score_term("reinforcementBoost", orders=True)
def reinforcement_boost(scene: Scene, pool: Pool, query: Query, share: float) -> Amounts | None:
    """share · what time has left of the reinforcement, from 0 to 1 · the best score so far · how relevant the row is
    beside the best: what is beside the point gains nothing by having been right about something else.
    """
    reinforcement = scene.usage.reinforcement[pool.rows]
    worth = np.maximum(pool.score, 0.0)
    if pool.relevance is not None and (most := pool.relevance[pool.live].max(initial=0.0)) > 0:
        worth = worth[pool.live].max(initial=0.0) * np.minimum(pool.relevance / most, 1.0)
    computed = (reinforcement > 0) & (worth > 0)
    if not anywhere(computed):
        return None
    columns, rows = scene.columns, pool.rows
    kept = reinforcement * decay(
        sector=columns["sector"][rows],
        importance=columns["importance"][rows],
        since=scene.usage.reinforced_at[rows],
        at=scene.at,
    )
    boost = np.where(computed, share * kept * worth, 0.0)
    return within_zone(scene, pool, boost), computed, {"weight": share}


@score_term("uplift")
def uplift(scene: Scene, pool: Pool, query: Query, weight: float, warns: bool = False) -> Amounts | None:
    """weight · β · how much better tasks went with the memory than without it; absent where no ended task had it. What
    agents have tried is measured against what is to be expected of any task.

    With `warns` a warning is not blamed for the failures that it came along in: they say how much it is needed.
    """
    columns, ended, total = scene.columns, scene.state.tasks_ended, scene.state.reward_total
    tasks, rewards = columns["tasks_with"], columns["reward_with"]  # of each row, as they stand now
    if query.as_of is not None:
        counts, ended, total = scene.reader.tasks.trials_until(query.as_of)
        tasks, rewards = np.zeros_like(tasks), np.zeros_like(rewards)
        for row, (_, count, reward) in zip(columns.locate([num for num, _, _ in counts]), counts, strict=True):
            if row >= 0:
                tasks[row], rewards[row] = count, reward
    tasks, rewards = tasks[pool.rows], rewards[pool.rows]
    computed = tasks > 0
    if not anywhere(computed):
        return None
    value = uplifts(tasks, rewards, ended, total, columns["zone"][pool.rows] == code_of(Zone.TRUSTED))
    if warns:
        value = np.where(_WARNINGS[columns["kind"][pool.rows]], np.abs(value), value)
    expected = expected_reward(ended, total)
    stats = {"weight": weight, "beta": query.beta, "tasks": float(ended), "expected": expected}
    return within_zone(scene, pool, np.where(computed, weight * query.beta * value, 0.0)), computed, stats


# ── what it is ──


@score_term("importance")
def importance(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts:
    return weight * scene.columns["importance"][pool.rows], all_true(len(pool)), {"weight": weight}


@score_term("recency")
def recency(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts:
    """weight · exp(−0.05·days since created) (as specified)."""
    days = np.maximum(scene.at - scene.columns["created"][pool.rows], 0) / DAY_MS
    return weight * np.exp(-RECENCY_RATE * days), all_true(len(pool)), {"weight": weight}


@score_term("sectorBoost")
def sector_boost(scene: Scene, pool: Pool, query: Query, factors: Mapping[Sector, float]) -> Amounts:
    factor = np.array([factors[sector] for sector in SECTOR_ORDER])[scene.columns["sector"][pool.rows]]
    return pool.score * (factor - 1.0), all_true(len(pool)), {}


@score_term("superseded")
def superseded(scene: Scene, pool: Pool, query: Query, factor: float) -> Amounts | None:
    if scene.columns.all_plain(pool.rows):
        return None
    computed = scene.superseded(pool.rows)
    return np.where(computed, pool.score * (factor - 1.0), 0.0), computed, {"factor": factor}


@score_term("review")
def review(scene: Scene, pool: Pool, query: Query, factor: float) -> Amounts | None:
    """A draft or a rejected note stands behind what holds."""
    if not scene.columns.names["review"].texts:
        return None
    computed = scene.columns["review"][pool.rows] >= 0
    return np.where(computed, np.abs(pool.score) * (factor - 1.0), 0.0), computed, {"factor": factor}


@score_term("tierPrior", orders=True)
def tier_prior(scene: Scene, pool: Pool, query: Query) -> Amounts:
    """The head start of the best tier that proposed the row. The best rows that name a file under review have places of
    their own: behind the best other row where that one answers, else before it.
    """
    prior = np.zeros(len(pool))
    for tier, worth in TIER_PRIOR.items():
        if tier in pool.found:
            prior = np.maximum(prior, np.where(pool.proposed_by(tier), worth, 0.0))
    named = places(pool.live & (pool.raw(REVIEW) >= SAME_FILE))
    if len(named):
        reserved = named[np.argsort(-pool.score[named], kind="stable")[:RESERVED]]
        lift = _ahead_of(pool, all_but(len(pool), reserved)) - pool.score[reserved].min()
        prior[reserved] = np.maximum(prior[reserved], lift)
    return prior, prior > 0, {}


def _ahead_of(pool: Pool, positions: IntArray) -> float:
    """A score to stand before these rows with; behind the first of them, where it answers the question."""
    live = positions[pool.live[positions]]
    scores = np.sort(pool.score[live])[::-1]
    best = live[pool.score[live].argmax()] if len(live) else -1
    answered = len(live) > 0 and pool.relevance is not None and pool.relevance[best] >= ANSWERS
    ahead = scores[1:] if answered else scores
    sample = pool.score[measured_against(pool)]
    return float(ahead[0]) + deviation_of(sample) * MARGIN if len(ahead) else 0.0


@score_term("clamp")
def clamp(scene: Scene, pool: Pool, query: Query, low: float, high: float) -> Amounts:
    """What it takes to bring each score into the interval (as specified); no other preset clamps, for it makes ties."""
    delta = np.clip(pool.score, low, high) - pool.score
    return delta, delta != 0.0, {}
