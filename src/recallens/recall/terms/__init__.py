"""A score is a sum of terms, and nothing else ever touches a score.

A term is declared once, above its formula: its name, the view that it needs, and whether it says how well a row fits
the question. A preset lists terms; a new one is a function in this folder and an entry in that list. Its words for
people are made from its name, unless `model/terms.py` has better ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Concatenate, Final, ParamSpec

import numpy as np
from msgspec import Struct

from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import BoolArray, FloatArray, Term, anywhere
from recallens.recall.scene import Scene
from recallens.recall.views import HYBRID_VIEWS

# What a term adds to each candidate, on which candidates it is computed, and the numbers that it was computed with.
# Where it is not computed it is absent, which is not the same as 0; None is absent everywhere.
Amounts = tuple[FloatArray, BoolArray, Mapping[str, float]]
Settings = ParamSpec("Settings")
Formula = Callable[Concatenate[Scene, Pool, Query, Settings], Amounts | None]


# Rows of each view that scores are measured against: a score must not depend on how many results are asked for.
MEASURED: Final = 40


class ScoreTerm(Struct, frozen=True, eq=False):
    name: str
    formula: Formula[...]
    view: str | None = None  # the view whose scores it reads: where that view is not asked, the term is left out
    fits: bool = False  # it says how well a row fits the question, which is what alpha weighs
    orders: bool = False  # it orders what is relevant, so it is added after relevance was judged and cannot change that
    settings: tuple[Any, ...] = ()  # what the preset says of it, such as its weight


def score_term(
    name: str, *, view: str | None = None, fits: bool = False, orders: bool = False
) -> Callable[[Formula[Settings]], Callable[Settings, ScoreTerm]]:
    """Make a term of a formula. A preset calls it with what follows the query in the signature: `recency(0.05)`."""

    def named(formula: Formula[Settings]) -> Callable[Settings, ScoreTerm]:
        def with_settings(*settings: Settings.args, **more: Settings.kwargs) -> ScoreTerm:
            return ScoreTerm(name, partial(formula, **more) if more else formula, view, fits, orders, settings)

        return with_settings

    return named


def weighed(scene: Scene, term: ScoreTerm, by_alpha: bool, pool: Pool, query: Query) -> Iterator[Term]:
    """The term as the query weighs it: by alpha, and by the caller's own factor. An absent term says nothing."""
    amounts = term.formula(scene, pool, query, *term.settings)
    if amounts is None or not anywhere(amounts[1]):
        return
    delta, computed, stats = amounts
    factor, weights = 1.0, {}
    if by_alpha:
        factor = weights["alpha"] = query.alpha
    if term.name in query.weights:
        weights["factor"] = query.weights[term.name]
        factor *= weights["factor"]
    if factor != 1.0:
        delta, stats = delta * factor, {**stats, **weights}
    yield Term(term.name, delta, computed, stats)


def measured_against(pool: Pool) -> BoolArray:
    """The candidates that set the scale of a score: the best of each view, as many whatever the caller's limit."""
    sample = np.zeros(len(pool), dtype=np.bool_)
    for view in HYBRID_VIEWS:
        if view in pool.found:
            positions = pool.found[view].positions
            sample[positions[pool.live[positions]][:MEASURED]] = True
    return sample if anywhere(sample) else pool.live


def floor_and_deviation(sample: FloatArray) -> tuple[float, float]:
    if len(sample) < 2:  # nothing to measure a lone candidate against: its raw score speaks for itself
        return 0.0, 1.0
    deviation = deviation_of(sample)
    # Candidates that are all alike have nothing to tell apart: dividing by almost nothing would tell them apart anyway.
    return float(np.minimum.reduce(sample)), deviation if deviation > 1e-9 else 1.0


def deviation_of(sample: FloatArray) -> float:
    """As `sample.std()` computes it, to the last bit, without what it does to serve every shape and kind of array."""
    off = sample - np.add.reduce(sample) / len(sample)
    off *= off
    return math.sqrt(np.add.reduce(off) / len(sample))
