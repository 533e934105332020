"""One formula a function; each is a Term of the ledger. Sums are scores: nothing else ever touches a score."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping

import numpy as np

from recallens.model.memory import Sector
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.salience import DAY_MS, SECTOR_ORDER
from recallens.model.verdict import BoolArray, FloatArray, Term, all_true, anywhere, everywhere
from recallens.recall.scene import Scene

TermStage = Callable[[Scene, Pool, Query], Term | None]


def every(pool: Pool) -> BoolArray:
    return all_true(len(pool))


def spread(name: str, view: str, weight: float) -> TermStage:
    """weight · (raw − floor) / spread: how far a row stands above the weakest candidate, in standard deviations.

    A constant less than a z-score, so it ranks as one does, and it is never negative. Every candidate is scored by the
    view, whether or not the view proposed it; a row that the view cannot score (no vector yet) has no such term.
    """

    def term(scene: Scene, pool: Pool, query: Query) -> Term:
        trust = weight * scene.fluency if view == "semantic" else weight
        raw = scene.score(view, pool.rows)
        computed = ~np.isnan(raw)
        of_all = everywhere(computed)
        floor, deviation = scene.once(
            f"spread of {view}",
            pool.live,
            lambda: floor_and_deviation(of_live(raw, pool) if of_all else raw[computed & pool.live]),
        )
        delta = trust * (raw - floor) / deviation
        if not of_all:
            delta = np.where(computed, delta, 0.0)
        return Term(name, delta, computed, {"floor": floor, "deviation": deviation, "weight": trust})

    return term


def floor_and_deviation(sample: FloatArray) -> tuple[float, float]:
    if len(sample) < 2:  # nothing to measure a lone candidate against: its raw score speaks for itself
        return 0.0, 1.0
    deviation = deviation_of(sample)
    # Candidates that are all alike have nothing to tell apart: dividing by almost nothing would tell them apart anyway.
    return float(np.minimum.reduce(sample)), deviation if deviation > 1e-9 else 1.0


def of_live(values: FloatArray, pool: Pool) -> FloatArray:
    return values if everywhere(pool.live) else values[pool.live]


def deviation_of(sample: FloatArray) -> float:
    """As `sample.std()` computes it, to the last bit, without what it does to serve every shape and kind of array."""
    off = sample - np.add.reduce(sample) / len(sample)
    off *= off
    return math.sqrt(np.add.reduce(off) / len(sample))


def proposed_cosine(name: str, weight: float) -> TermStage:
    """weight · cosine, where the semantic view proposed the row (as specified)."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term:
        raw = pool.raw("semantic")
        computed = ~np.isnan(raw)
        return Term(name, np.where(computed, weight * raw, 0.0), computed, {"weight": weight})

    return term


FTS_SCALE = 10.0


def proposed_keyword(name: str, weight: float) -> TermStage:
    """weight · min(1, |rank| / 10), where the lexical view proposed the row (as specified)."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term:
        raw = pool.raw("lexical")
        computed = ~np.isnan(raw)
        value = np.minimum(1.0, np.abs(np.where(computed, raw, 0.0)) / FTS_SCALE)
        return Term(name, weight * value, computed, {"weight": weight})

    return term


def share(name: str, view: str, weight: float) -> TermStage:
    """weight · raw, for a view whose raw score is already a share between 0 and 1; absent where it is 0."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term | None:
        raw = scene.score(view, pool.rows)
        computed = raw > 0
        if not anywhere(computed):
            return None
        return Term(name, np.where(computed, weight * raw, 0.0), computed, {"weight": weight})

    return term


def salience(weight: float) -> TermStage:
    def term(scene: Scene, pool: Pool, query: Query) -> Term:
        return Term("salience", weight * scene.salience(pool.rows), every(pool), {"weight": weight})

    return term


def own_salience(weight: float) -> TermStage:
    """Salience as time has left it; what recalls and confirmations added stands beside it as reinforcementBoost."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term:
        return Term("salience", weight * scene.own_salience(pool.rows), every(pool), {"weight": weight})

    return term


def reinforcement_boost(weight: float) -> TermStage:
    def term(scene: Scene, pool: Pool, query: Query) -> Term | None:
        computed = scene.usage.reinforcement[pool.rows] > 0
        if not anywhere(computed):
            return None
        gained = scene.salience(pool.rows) - scene.own_salience(pool.rows)
        return Term("reinforcementBoost", np.where(computed, weight * gained, 0.0), computed, {"weight": weight})

    return term


def graph(weight: float) -> TermStage:
    """weight · strength, where the walk along relations reached the row."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term | None:
        if "graph" not in pool.found:
            return None
        raw = pool.raw("graph")
        computed = ~np.isnan(raw)
        return Term("graph", np.where(computed, weight * raw, 0.0), computed, {"weight": weight})

    return term


def importance(weight: float) -> TermStage:
    def term(scene: Scene, pool: Pool, query: Query) -> Term:
        return Term("importance", weight * scene.columns["importance"][pool.rows], every(pool), {"weight": weight})

    return term


RECENCY_RATE = 0.05


def recency(weight: float) -> TermStage:
    """weight · exp(−0.05·days since created) (as specified)."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term:
        days = np.maximum(scene.at - scene.columns["created"][pool.rows], 0) / DAY_MS
        return Term("recency", weight * np.exp(-RECENCY_RATE * days), every(pool), {"weight": weight})

    return term


def sector_boost(factors: Mapping[Sector, float]) -> TermStage:
    table = np.array([factors[sector] for sector in SECTOR_ORDER])

    def term(scene: Scene, pool: Pool, query: Query) -> Term:
        factor = table[scene.columns["sector"][pool.rows]]
        return Term("sectorBoost", pool.score * (factor - 1.0), every(pool))

    return term


def superseded(factor: float) -> TermStage:
    def term(scene: Scene, pool: Pool, query: Query) -> Term | None:
        if scene.all_plain(pool.rows):
            return None
        computed = scene.superseded(pool.rows)
        return Term("superseded", np.where(computed, pool.score * (factor - 1.0), 0.0), computed, {"factor": factor})

    return term


def clamp(low: float, high: float) -> TermStage:
    """What it takes to bring each score into the interval (as specified); no other preset clamps, for it makes ties."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term:
        delta = np.clip(pool.score, low, high) - pool.score
        return Term("clamp", delta, delta != 0.0)

    return term


def as_stage(scene: Scene, term: TermStage, relevance: Collection[str] = ()) -> Callable[[Pool, Query], Iterable[Term]]:
    """The term as the query weighs it: alpha for what says how well a row fits, and the caller's own factor.

    One that is absent everywhere is left out: it says nothing of any row.
    """

    def decide(pool: Pool, query: Query) -> Iterable[Term]:
        found = term(scene, pool, query)
        if found is None or not anywhere(found.computed):
            return
        factor, told = 1.0, {}
        if found.name in relevance:
            factor = told["alpha"] = query.alpha
        if found.name in query.weights:
            told["factor"] = query.weights[found.name]
            factor *= told["factor"]
        if factor != 1.0:
            found = Term(found.name, found.delta * factor, found.computed, {**found.stats, **told})
        yield found

    return decide
