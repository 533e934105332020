"""The time asked about, as parts of a score: how near a row is to it, and whose turn it is to tell of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from recallens.model.plan import Window
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.salience import DAY_MS
from recallens.model.verdict import BoolArray, FloatArray, anywhere, places
from recallens.recall.scene import Scene
from recallens.recall.terms import Amounts, score_term
from recallens.recall.terms.relevance import talk_share
from recallens.recall.views import told_within, within_windows
from recallens.recall.views.turns import in_turns

# A memory just outside the time that the question speaks of may still be meant: at this many days, or at the length of
# the window if that is longer, it keeps 37 percent; but what came later does not say what held then.
SLACK_DAYS: Final = 7.0
MOST_SLACK_DAYS: Final = 92.0  # an open one has no length
LEAST_MATCH: Final = 0.01
# What a note that was made long before a time is worth, of which it is asked what held then.
LEAST_HELD: Final = 0.9


@score_term("timeMatch")
def time_match(scene: Scene, pool: Pool, query: Query, weight: float, in_talk: float = 1.0) -> Amounts | None:
    """weight · 1 inside a window of the question, and exp(−days outside / slack) beyond it; the best of its windows.

    As far as the candidates are turns of a talk, it is multiplied by `in_talk`.
    """
    windows, columns = scene.question.windows, scene.columns
    if not windows or not len(pool):
        return None
    created, held_from = (times[pool.rows].astype(np.float64) for times in (columns["created"], columns.held_from))
    match = _closeness(created, held_from, windows, columns["position"][pool.rows] < 0)
    match[told_within(scene.columns["days_told"][pool.rows], windows)] = 1.0
    computed = match >= LEAST_MATCH
    weight *= 1.0 + (in_talk - 1.0) * talk_share(scene, pool)
    return np.where(computed, weight * match, 0.0), computed, {"weight": weight}


def _closeness(created: FloatArray, held_from: FloatArray, windows: Sequence[Window], is_note: BoolArray) -> FloatArray:
    best = np.zeros(len(created))
    for window in windows:
        made = held_from if window.as_of else created
        outside = np.maximum(np.maximum(window.start - made, made - (window.end - 1)), 0.0) / DAY_MS
        slack = min(max(SLACK_DAYS, (window.end - window.start) / DAY_MS), MOST_SLACK_DAYS)
        near = np.exp(-outside / slack)
        if window.as_of:  # what was noted long before held as well, until something else was said
            held = np.where(is_note, LEAST_HELD, 0.0)
            near = np.where(held_from >= window.end, 0.0, held + (1.0 - held) * near)
        best = np.maximum(best, near)
    return best


@score_term("timeTurn", orders=True)
def time_turn(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """What it takes to stand in its turn, weight / place above the best, when a time is told in turns of its sessions;
    only where a question asks about nothing else, so that its words say nothing.
    """
    if not scene.question.only_windows or not len(pool):
        return None
    then = pool.live & within_windows(scene.columns, pool.rows, scene.question.windows)
    inside = places(then)
    best = float(pool.score[pool.live].max()) if anywhere(pool.live) else 0.0
    amounts = np.zeros(len(pool))
    order = inside[in_turns(scene, pool.rows[inside], query.text)]
    amounts[order] = best + weight / (1.0 + np.arange(len(order))) - pool.score[order]
    return amounts, then, {"weight": weight, "best": best}
