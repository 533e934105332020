"""Following a memory through a recall without letting it take part: what "why not this one?" reads."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from recallens.model.pool import Pool
from recallens.model.query import WATCH, Query
from recallens.model.verdict import Found, Gate, IntArray, Note, Verdict
from recallens.recall.runner import Decide
from recallens.recall.scene import Scene


def follow(scene: Scene, rows: IntArray, unknown: list[str], depth: int, *, batch: int) -> Decide:
    """Put the watched rows in the pool; those that no view proposed are masked at once."""

    def decide(pool: Pool, query: Query) -> Iterable[Verdict]:
        ids = scene.columns["id"][rows]
        yield Note(WATCH, {"rows": _standings(scene, rows, depth), "unknown": unknown})
        yield Found(WATCH, ids, np.full(len(rows), np.nan), rows, batch=batch)

    return decide


def mask_unproposed() -> Decide:
    def decide(pool: Pool, query: Query) -> Iterable[Gate]:
        watched = pool.proposed_by(WATCH)
        others = np.zeros(len(pool), dtype=np.bool_)
        for view in pool.found:
            if view != WATCH:
                others |= pool.proposed_by(view)
        fails = watched & ~others
        none = np.zeros(len(pool), dtype=np.bool_)
        yield Gate("not-proposed", watched, fails, none, "no view proposed it" if fails.any() else "")

    return decide


def _standings(scene: Scene, rows: IntArray, depth: int) -> dict[str, dict[str, dict[str, float]]]:
    """Each watched row's rank among all rows of the namespace, in each view that finds something in it.

    A score of nothing has no place: a view would never propose it, however far down it was asked.
    """
    alive = np.flatnonzero(scene.columns["alive"])
    found: dict[str, dict[str, dict[str, float]]] = {scene.columns["id"][row].decode(): {} for row in rows}
    for view in scene.views:
        everyone = scene.score(view, alive)
        for row, score in zip(rows.tolist(), scene.score(view, rows).tolist(), strict=True):
            if not np.isnan(score) and score != 0.0:
                rank = int((everyone > score).sum()) + 1
                found[scene.columns["id"][row].decode()][view] = {"rank": rank, "score": score, "depth": depth}
    return found
