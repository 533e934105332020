"""The views beside the hybrid ones: runbooks, files under review, recent sessions, the newest rows, and rows that are
only followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from recallens.index.columns import code_of, table_of
from recallens.index.lexical import BoundLexical
from recallens.index.views import best
from recallens.ingest.prepare import labels
from recallens.model.memory import Kind, Memory, Sector
from recallens.model.plan import Intent
from recallens.model.pool import Pool
from recallens.model.query import WATCH, Query
from recallens.model.salience import DAY_MS
from recallens.model.verdict import Found, Gate, IntArray, Note, Verdict, anywhere
from recallens.recall.scene import Scene
from recallens.recall.sources import cited_files, session_summaries
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
)
from recallens.text.normalize import normalize

# Of sessions that share as many words, the newer first; at most a tenth of a word, and nothing after a week.
RECENT_DAYS: Final = 7.0
RECENCY_SCALE: Final = 70.0

_RUNBOOKS: Final = table_of((Kind.SKILL, Kind.PATTERN))


def procedural(scene: Scene, words: BoundLexical, depth: int, pool: Pool, query: Query) -> Iterator[Found]:
    """Skills and runbooks that share the question's words, when the question asks how to do something."""
    plan = scene.question.plan
    if plan is None or plan.intent is not Intent.HOW_TO_DO:
        return
    columns, rows = scene.columns, words.matching
    runbooks = _RUNBOOKS[columns["kind"][rows]] | (columns["sector"][rows] == code_of(Sector.PROCEDURAL))
    chosen = words.best_of(runbooks, depth)
    yield found(scene, PROCEDURAL, chosen.rows, chosen.raw, FIRST_BATCH)


def review_context(scene: Scene, depth: int, pool: Pool, query: Query) -> Iterator[Found]:
    """What is known of the files that a change touches: rows that name one (1), and rows that only name one of the same
    name (0.5). Where a project begins differs, so that the longer of two paths may hold the shorter.
    """
    columns = scene.columns
    files = sorted({normalize(file) for file in query.files or query.filters.affected})
    tails = {file: ["/".join(parts[at:]) for at in range(len(parts))] for file in files for parts in [file.split("/")]}
    values = sorted({tail for file in files for tail in tails[file]})
    cited = cited_files(scene.reader, sorted({tails[file][-1] for file in files}))
    parts = ((num, value) for num, path in cited for value in (path, path.rsplit("/", 1)[-1]) if value in values)
    hits = scene.reader.terms.labelled([(value, "path") for value in values])
    hits += [(value, "path", num) for num, value in parts]
    last = {tails[file][-1] for file in files} - set(files)
    whole = columns.mask_of([num for value, _, num in hits if value not in last])
    rows = np.flatnonzero(columns.mask_of([num for _, _, num in hits]) & columns["alive"])
    rows = best(columns, rows, whole[rows] + 0.5 * columns["importance"][rows], depth)
    nums = columns["num"][rows].tolist()
    memories = scene.bodies.of(nums).memories
    paths = {num: [*_paths(memories[num]), *(path for other, path in cited if other == num)] for num in nums}
    within = [any(path.endswith(f"/{file}") for file in files for path in paths[num]) for num in nums]
    yield found(scene, REVIEW, rows, np.where(whole[rows] | np.array(within, dtype=np.bool_), 1.0, 0.5), FIRST_BATCH)


def _paths(memory: Memory) -> Iterator[str]:
    return (value for value, kind in labels(memory.annotations, memory.citations) if kind == "path")


def recent_sessions(scene: Scene, words: BoundLexical, pool: Pool, query: Query) -> Iterator[Found]:
    """The session summaries with most words of the question; one without any stays out, however recent it is."""
    most = query.filters.medium_term_limit
    if not most:
        return
    columns = scene.columns
    overlap = words.occurrences()
    eligible = session_summaries(columns) & columns["alive"] & (overlap > 0) & (columns.held_from <= scene.at)
    if query.session is not None:  # the session that asks is at hand anyway
        eligible &= columns["session"] != columns.names["session"].find(query.session)
    rows = np.flatnonzero(eligible)
    days = (scene.at - columns["created"][rows]) / DAY_MS
    raw = overlap[rows] + np.where(days < RECENT_DAYS, (RECENT_DAYS - days) / RECENCY_SCALE, 0.0)
    chosen = best(columns, rows, raw, most)
    yield found(scene, SESSIONS, chosen, raw[np.searchsorted(rows, chosen)], FIRST_BATCH)


def recent_scan(scene: Scene, cuts: bool, admitted: Admitted, pool: Pool, query: Query) -> Iterator[Found]:
    """The newest memories that the filters admit, where nothing was found and results are wanted all the same."""
    if cuts or anywhere(pool.live):
        return
    created = scene.columns["created"]
    rows = np.flatnonzero(admitted() & (scene.columns.held_from <= scene.at))
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
