"""Fewer repetitions: a cap on rows of one document, then maximal marginal relevance.

MMR: Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from recallens.index.columns import code_of
from recallens.index.views import ordered
from recallens.model.masks import all_but, all_true, anywhere, everywhere, places
from recallens.model.memory import Kind
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import BoolArray, FloatArray, IntArray, Pick, Term, Verdict
from recallens.recall.runner import Decide
from recallens.recall.scene import Likeness, Scene
from recallens.recall.terms import deviation_of

PER_DOCUMENT = 3
LAMBDA = 0.7
# Lessons of the rest that come beside the k rows, to be checked before an answer is final. One that neither
# scores half of the best row nor holds half of the question's words is about something else.
LESSON_EXTRA = 3
LESSON_SHARE = 0.5


def by_score(scene: Scene, pool: Pool) -> IntArray:
    """The live rows, best first. One pick after another finds them in that order: no term comes between."""
    if pool.order is not None:
        return pool.order
    live = places(pool.live)
    return live[ordered(scene.columns, pool.rows[live], pool.score[live])]


def tokens_of(scene: Scene, pool: Pool, positions: IntArray) -> FloatArray:
    return scene.columns["tokens"][pool.rows[positions]].astype(np.float64)


def per_document_cap(scene: Scene) -> Decide:
    """At most three sections of one document, its best ones."""

    def decide(pool: Pool, query: Query) -> Iterable[Pick]:
        order = by_score(scene, pool)
        documents = scene.columns["document"][pool.rows[order]] if scene.columns.names["document"].texts else None
        if documents is None or not anywhere(documents >= 0):
            yield Pick("per-document-cap", order, tokens_of(scene, pool, order))
            return
        seen: dict[int, int] = {}
        keep = all_true(len(order))
        for at, document in enumerate(documents.tolist()):
            if document >= 0:
                seen[document] = seen.get(document, 0) + 1
                keep[at] = seen[document] <= PER_DOCUMENT
        chosen = order[keep]
        reason = "" if everywhere(keep) else f"more than {PER_DOCUMENT} of one document"
        yield Pick("per-document-cap", chosen, tokens_of(scene, pool, chosen), reason)

    return decide


def lesson_rows(scene: Scene) -> BoolArray:
    of_it: BoolArray = scene.columns["kind"] == code_of(Kind.LESSON)
    return of_it


def mmr_diversify(scene: Scene, likeness: Likeness, balance: float = LAMBDA) -> Decide:
    """Choose k rows one by one, each paying for its likeness to what is chosen already; then a few lessons of the rest.

    The price is a Term, so the order of choice is the order of final scores: what is left can only get dearer.
    """

    def decide(pool: Pool, query: Query) -> Iterable[Verdict]:
        order = by_score(scene, pool)
        if not len(order):
            yield Pick("mmr-diversify", order, np.empty(0))
            return
        # All rows pay, whether or not they can be chosen: those that can come first, in their order.
        row_order = order if len(order) == len(pool) else np.concatenate([order, all_but(len(pool), order)])
        scores = pool.score[order]
        unit = (1.0 - balance) / balance * _deviation(scores)
        likeness_to = likeness(pool.rows[row_order])
        worth = np.full(len(pool), -np.inf)  # -inf for what cannot be chosen, or is
        worth[: len(order)] = scores
        price = np.zeros(len(pool))  # of each row: what its likeness to the rows chosen before it costs, up to a unit
        left = worth.copy()
        picks: list[int] = []
        paid: list[float] = []
        for count in range(min(query.limit + LESSON_EXTRA, len(order))):
            if count == query.limit:
                others = ~_worthy_lessons(scene, pool, order, best=float(scores[picks[0]]))
                worth[: len(order)][others] = -np.inf
                left = worth - price
            pick = int(left.argmax())
            if worth[pick] == -np.inf:
                break
            picks.append(pick)
            paid.append(price[pick])
            worth[pick] = -np.inf
            np.maximum(price, unit * likeness_to(pick), out=price)
            np.subtract(worth, price, out=left)
        price[picks] = paid
        cost = np.empty(len(pool))
        cost[row_order] = -price
        chosen = row_order[picks]
        computed = all_true(len(pool))
        computed[chosen[0]] = False
        cost[chosen[0]] = 0.0
        if balance < 1.0:
            yield Term("mmrPenalty", cost, computed, {"lambda": balance, "unit": unit})
        beside = f", and {len(picks) - query.limit} more lessons" if len(picks) > query.limit else ""
        reason = f"first {query.limit} by score and novelty{beside}" if len(order) > len(picks) else ""
        yield Pick("mmr-diversify", chosen, tokens_of(scene, pool, chosen), reason)

    return decide


def _worthy_lessons(scene: Scene, pool: Pool, order: IntArray, *, best: float) -> BoolArray:
    rows = pool.rows[order]
    lessons: BoolArray = scene.columns["kind"][rows] == code_of(Kind.LESSON)
    if not anywhere(lessons):
        return lessons
    near = pool.score[order] >= LESSON_SHARE * best
    return lessons & (near | (scene.coverage(rows) >= LESSON_SHARE))


def _deviation(scores: FloatArray) -> float:
    return deviation_of(scores) if len(scores) > 1 else 0.0
