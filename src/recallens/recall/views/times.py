"""The time asked about as a view: a window proposes the rows that were made in it or name a day of it.

A question that is only a time is answered from its window, in turns of its sessions; of a question about something at a
time, the rows of that time are searched by themselves, so that what fits both is among the candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from recallens.index.columns import code_of, table_of
from recallens.index.views import distinct
from recallens.model.memory import Kind
from recallens.model.plan import Window
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.times import day
from recallens.model.verdict import BoolArray, FloatArray, IntArray, Note, Verdict, counted, places
from recallens.recall.scene import EVERY, Scene
from recallens.recall.views import RECENT_BATCH, TIME, Admitted, ask, found, told_within, within_windows
from recallens.text.languages import kinds_asked

# What a row is worth when its session tells of the time, beside its importance.
KIND_WORTH, WORDS_WORTH, TELLING_WORTH, NEWEST_WORTH = 1.0, 0.4, 0.2, 0.1
_TELLING: Final = table_of((Kind.EPISODE, Kind.DECISION, Kind.LESSON, Kind.GOTCHA))


def of_the_time(
    scene: Scene, cuts: bool, depth: int, admitted: Admitted, pool: Pool, query: Query
) -> Iterator[Verdict]:
    """The rows of the windows, and how many there are. `admitted` disregards the time asked about."""
    windows = scene.question.windows
    if not windows:
        return
    passing = admitted() & (scene.columns["created"] <= scene.at)
    inside = passing
    for together in ([window for window in windows if window.given is given] for given in (True, False)):
        if together:
            inside = inside & within_windows(scene.columns, EVERY, together)
    held = counted(inside)
    if not held:
        silent = cuts and (scene.question.only_windows or any(window.given for window in windows))
        yield from _nothing_then(scene, windows, passing, silent=bool(silent))
        return
    yield Note(TIME, {"held": held})
    rows = places(inside)
    if scene.question.only_windows:
        chosen = rows[in_turns(scene, rows, query.text)][:depth]
    else:
        asked = [ask(scene, view, depth, inside, batch=RECENT_BATCH).rows for view in scene.views if view != "symbolic"]
        chosen = distinct(np.concatenate([np.empty(0, dtype=np.int64), *asked]))
    yield found(scene, TIME, chosen, scene.columns["created"][chosen].astype(np.float64), RECENT_BATCH)


def _nothing_then(scene: Scene, windows: Sequence[Window], passing: BoolArray, *, silent: bool) -> Iterator[Note]:
    """Nothing is of that time: the nearest day that has something; where nothing else is asked for, this is silence."""
    rows = places(passing)
    said: dict[str, Any] = {"held": 0}
    if len(rows):
        created = scene.columns["created"][rows]
        away = np.min([np.maximum(one.start - created, created - one.end + 1) for one in windows], axis=0)
        nearest = rows[int(away.argmin())]
        said["nearest"] = day(int(scene.columns["created"][nearest]))
    yield Note(TIME, said)
    if silent and len(rows):
        lacking = [window.text for window in windows]
        id = scene.columns["id"][nearest].decode()
        yield Note("silence", {"nearest": id, "relevance": 0.0, "least": 0.0, "missing": lacking})


def in_turns(scene: Scene, rows: IntArray, question: str) -> IntArray:
    """The order in which a time is told: every session's best, then every session's second.

    What belongs to no session goes by its document or its day.
    """
    if not len(rows):
        return np.empty(0, dtype=np.int64)
    columns = scene.columns
    created, worth = columns["created"][rows], _worth(scene, rows, question)
    sessions, documents = columns["session"][rows].astype(np.int64), columns["document"][rows].astype(np.int64)
    days = created // 86_400_000
    group = np.where(sessions >= 0, sessions, np.where(documents >= 0, -1 - documents, -(1 << 40) - days))
    by_group = np.lexsort((columns["id"][rows], -created, -worth, group))
    first = np.concatenate([[True], np.diff(group[by_group]) != 0])
    starts = np.flatnonzero(first)
    turn = np.arange(len(rows)) - np.repeat(starts, np.diff(np.append(starts, len(rows))))
    turns = np.empty(len(rows), dtype=np.int64)
    turns[by_group] = turn
    order: IntArray = np.lexsort((columns["id"][rows], -created, -worth, turns))
    return order


def _worth(scene: Scene, rows: IntArray, question: str) -> FloatArray:
    """What is important, what tells of something that happened, what holds the question's own words (fixed, 결정), and
    what is new; first of all what is of a kind that is asked for. What only names a day of the time is not new in it.
    """
    columns = scene.columns
    created = columns["created"][rows].astype(np.float64)
    made_then = np.zeros(len(rows), dtype=np.bool_)
    for window in scene.question.windows:
        made_then |= (window.start <= created) & (created < window.end)
    oldest = created[made_then].min() if made_then.any() else 0.0
    newness = np.where(made_then, created - oldest, 0.0)
    worth: FloatArray = columns["importance"][rows] + NEWEST_WORTH * newness / max(float(newness.max()), 1.0)
    worth += WORDS_WORTH * scene.coverage(rows) + TELLING_WORTH * _TELLING[columns["kind"][rows]]
    wanted = [code_of(Kind(kind)) for kind in kinds_asked(question)]
    return worth + KIND_WORTH * np.isin(columns["kind"][rows], wanted) if wanted else worth


def note_times(scene: Scene, pool: Pool, query: Query) -> Iterator[Note]:
    """Why each result is of the time asked about: it was made then, or it names a day of then; or that it is not."""
    windows = scene.question.windows
    if not windows:
        return
    chosen = pool.ranked()
    rows = pool.rows[chosen]
    created = scene.columns["created"][rows].tolist()
    told = told_within(scene.columns["days_told"][rows], windows).tolist()
    reasons = {}
    for id, made, names in zip(pool.ids[chosen].tolist(), created, told, strict=True):
        then = next((window for window in windows if window.start <= made < window.end), None)
        if then is not None:
            reasons[id.decode()] = f"created {day(made)}, in “{then.text}”"
        else:
            reasons[id.decode()] = "names a day of the time asked about" if names else "of another time"
    yield Note("timeReasons", {"rows": reasons})
