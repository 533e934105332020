"""The views beside the hybrid ones: runbooks, files under review, recent sessions, the newest rows, and rows that are
only followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from recallens.index.columns import code_of, table_of
from recallens.index.lexical import BoundLexical
from recallens.index.views import best
from recallens.model.memory import Kind, Sector
from recallens.model.pool import Pool
from recallens.model.query import WATCH, Query
from recallens.model.salience import DAY_MS
from recallens.model.verdict import Found, Gate, IntArray, Note, Verdict, anywhere
from recallens.recall.scene import Scene
from recallens.recall.sources import session_summaries
from recallens.recall.views import (
    FIRST_BATCH,
    PROCEDURAL,
    RECENT,
    RECENT_BATCH,
    REVIEW,
    SESSIONS,
    WATCH_BATCH,
    Admitted,
    found,
    proposed_by_others,
    within_windows,
)
from recallens.text.languages import alternatives
from recallens.text.normalize import normalize

# Of sessions that share as many words, the newer first; at most a tenth of a word, and nothing after a week.
RECENT_DAYS: Final = 7.0
RECENCY_SCALE: Final = 70.0

_TASK_START: Final = re.compile(alternatives(lambda pack: pack.questions.task_start), re.IGNORECASE)
_RUNBOOKS: Final = table_of((Kind.SKILL, Kind.PATTERN))


def starts_a_task(text: str) -> bool:
    return _TASK_START.search(text) is not None


def procedural(scene: Scene, words: BoundLexical, depth: int, pool: Pool, query: Query) -> Iterator[Found]:
    """Skills and runbooks that share the question's words, when the question starts a task."""
    if not starts_a_task(query.text):
        return
    columns, rows = scene.columns, words.matching
    runbooks = _RUNBOOKS[columns["kind"][rows]] | (columns["sector"][rows] == code_of(Sector.PROCEDURAL))
    chosen = words.best_of(runbooks, depth)
    yield found(scene, PROCEDURAL, chosen.rows, chosen.raw, FIRST_BATCH)


def review_context(scene: Scene, depth: int, pool: Pool, query: Query) -> Iterator[Found]:
    """What is known of the files that a change touches: rows that name one, in full or by its last part."""
    reader, _ns, columns = scene.reader, scene.state.key, scene.columns
    files = {normalize(file) for file in query.files}
    values = sorted(files | {file.rsplit("/", 1)[-1] for file in files})
    hits = reader.terms.labelled([(value, "path") for value in values])
    rows = np.flatnonzero(columns.mask_of([num for _, _, num in hits]) & columns["alive"])
    chosen = best(columns, rows, columns["importance"][rows], depth)
    yield found(scene, REVIEW, chosen, columns["importance"][chosen], FIRST_BATCH)


def recent_sessions(scene: Scene, words: BoundLexical, pool: Pool, query: Query) -> Iterator[Found]:
    """The session summaries with most words of the question; one without any stays out, however recent it is."""
    most = query.filters.medium_term_limit
    if not most:
        return
    columns = scene.columns
    overlap = words.occurrences()
    eligible = session_summaries(columns) & columns["alive"] & (overlap > 0) & (columns["created"] <= scene.at)
    if query.session is not None:  # the session that asks is at hand anyway
        eligible &= columns["session"] != columns.names["session"].find(query.session)
    rows = np.flatnonzero(eligible)
    days = (scene.at - columns["created"][rows]) / DAY_MS
    raw = overlap[rows] + np.where(days < RECENT_DAYS, (RECENT_DAYS - days) / RECENCY_SCALE, 0.0)
    chosen = best(columns, rows, raw, most)
    yield found(scene, SESSIONS, chosen, raw[np.searchsorted(rows, chosen)], FIRST_BATCH)


def recent_scan(scene: Scene, cuts: bool, admitted: Admitted, pool: Pool, query: Query) -> Iterator[Found]:
    """The newest memories that the filters admit: of the time asked about, where a question asks about nothing else;
    and where nothing was found and the caller wants results all the same.
    """
    windows = scene.question.only_windows
    if not windows and (cuts or anywhere(pool.live)):
        return
    created = scene.columns["created"]
    eligible = admitted() & (created <= scene.at)
    if windows:
        eligible &= within_windows(created, windows)
    rows = np.flatnonzero(eligible)
    chosen = best(scene.columns, rows, created[rows].astype(np.float64), query.limit)
    yield found(scene, RECENT, chosen, created[chosen].astype(np.float64), RECENT_BATCH)


# ── rows that are followed: what "why not this one?" reads ──


def follow(scene: Scene, depth: int, pool: Pool, query: Query) -> Iterator[Verdict]:
    """Put the watched rows in the pool, and say where each view ranks them."""
    reader, _ns, columns = scene.reader, scene.state.key, scene.columns
    nums = reader.memories.find(query.watch)
    rows = columns.locate([nums[id] for id in query.watch if id in nums])
    rows = rows[rows >= 0]
    unknown = [id for id in query.watch if id not in nums]
    yield Note(WATCH, {"rows": _standings(scene, rows, depth), "unknown": unknown})
    yield found(scene, WATCH, rows, np.full(len(rows), np.nan), WATCH_BATCH)


def mask_unproposed(pool: Pool, query: Query) -> Iterator[Gate]:
    """Watched rows that no view proposed take no part."""
    watched = pool.proposed_by(WATCH)
    fails = watched & ~proposed_by_others(pool, WATCH)
    none = np.zeros(len(pool), dtype=np.bool_)
    yield Gate("not-proposed", watched, fails, none, "no view proposed it" if fails.any() else "")


def _standings(scene: Scene, rows: IntArray, depth: int) -> dict[str, dict[str, dict[str, float]]]:
    """Each watched row's rank among all rows of the namespace, in each view that finds something in it.

    A row without a score has no rank: a view would never propose it, however far down it was asked.
    """
    alive = np.flatnonzero(scene.columns["alive"])
    standings: dict[str, dict[str, dict[str, float]]] = {scene.columns["id"][row].decode(): {} for row in rows}
    for view in scene.views:
        everyone = scene.score(view, alive)
        for row, score in zip(rows.tolist(), scene.score(view, rows).tolist(), strict=True):
            if not np.isnan(score) and score != 0.0:
                rank = int((everyone > score).sum()) + 1
                standings[scene.columns["id"][row].decode()][view] = {"rank": rank, "score": score, "depth": depth}
    return standings
