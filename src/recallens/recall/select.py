"""Order and cut: by score, then newest, then id."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from recallens.index.views import ordered
from recallens.model.masks import places
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import Pick
from recallens.recall.runner import Decide
from recallens.recall.scene import Scene


def limit(scene: Scene) -> Decide:
    def decide(pool: Pool, query: Query) -> Iterable[Pick]:
        live = places(pool.live)
        order = live[ordered(scene.columns, pool.rows[live], pool.score[live])]
        chosen = order[: query.limit]
        cost = scene.columns["tokens"][pool.rows[chosen]].astype(np.float64)
        reason = f"first {query.limit} by score" if len(order) > query.limit else ""
        yield Pick("limit", chosen, cost, reason)

    return decide
