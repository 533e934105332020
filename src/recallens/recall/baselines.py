"""What a ranking has to beat: words alone, meaning alone, the two by reciprocal rank. No tier, prior or diversity."""

from __future__ import annotations

import numpy as np

from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import Term
from recallens.recall.scene import Scene
from recallens.recall.terms import TermStage

# Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet", SIGIR 2009.
RRF_K = 60


def raw_score(name: str, view: str) -> TermStage:
    """The view's own score of the rows it proposed."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term:
        raw = pool.raw(view)
        computed = ~np.isnan(raw)
        return Term(name, np.where(computed, raw, 0.0), computed)

    return term


def reciprocal_rank(name: str, view: str) -> TermStage:
    """1 / (60 + rank), by the rank at which the view proposed the row."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term:
        delta = np.zeros(len(pool))
        if view in pool.found:
            positions = pool.found[view].positions
            delta[positions] = 1.0 / (RRF_K + 1.0 + np.arange(len(positions)))
        return Term(name, delta, delta > 0, {"k": float(RRF_K)})

    return term
