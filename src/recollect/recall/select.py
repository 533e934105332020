"""Order and cut: by score, then newest, then id."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from recollect.index.top import ordered
from recollect.model.masks import places
from recollect.model.pool import Pool
from recollect.model.query import Query
from recollect.model.verdict import Pick
from recollect.recall.runner import Decide
from recollect.recall.scene import Scene


def limit(scene: Scene) -> Decide:
    def decide(pool: Pool, query: Query) -> Iterable[Pick]:
        live = places(pool.live)
        order = live[ordered(scene.columns, pool.rows[live], pool.score[live])]
        chosen = order[: query.limit]
        cost = scene.columns["tokens"][pool.rows[chosen]].astype(np.float64)
        reason = f"first {query.limit} by score" if len(order) > query.limit else ""
        yield Pick("limit", chosen, cost, reason)

    return decide
