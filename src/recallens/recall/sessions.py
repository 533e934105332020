"""The sessions view: summaries of recent sessions, between the conversation at hand and what was noted for good."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from recallens.index.columns import Columns, code_of
from recallens.index.lexical import BoundLexical
from recallens.index.views import best
from recallens.ingest.recaps import RECAP_SOURCE
from recallens.model.memory import Kind
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.salience import DAY_MS
from recallens.model.verdict import BoolArray, Found
from recallens.recall.runner import Decide
from recallens.recall.scene import Scene
from recallens.recall.tiers import found

SESSIONS: Final = "sessions"
# Of sessions that share as many words, the newer first; at most a tenth of a word, and nothing after a week.
RECENT_DAYS: Final = 7.0
RECENCY_SCALE: Final = 70.0


def recaps(columns: Columns) -> BoolArray:
    """The rows that sum up a session."""
    of_session = columns["source"] == columns.names["source"].find(RECAP_SOURCE)
    summaries: BoolArray = of_session & (columns["kind"] == code_of(Kind.SUMMARY))
    return summaries


def recent_sessions(scene: Scene, words: BoundLexical, *, batch: int) -> Decide:
    """The session summaries with most words of the question; one without any stays out, however recent it is."""

    def decide(pool: Pool, query: Query) -> Iterable[Found]:
        most = query.filters.medium_term_limit
        if not most:
            return
        columns = scene.columns
        overlap = words.occurrences()
        eligible = recaps(columns) & columns["alive"] & (overlap > 0) & (columns["created"] <= scene.at)
        if query.session is not None:  # the session that asks is at hand anyway
            eligible &= columns["session"] != columns.names["session"].find(query.session)
        rows = np.flatnonzero(eligible)
        days = (scene.at - columns["created"][rows]) / DAY_MS
        raw = overlap[rows] + np.where(days < RECENT_DAYS, (RECENT_DAYS - days) / RECENCY_SCALE, 0.0)
        chosen = best(columns, rows, raw, most)
        yield found(scene, SESSIONS, chosen, raw[np.searchsorted(rows, chosen)], batch)

    return decide
