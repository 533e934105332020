"""The time asked about as a view: a window proposes the rows that were made in it or name a day of it.

A question that is only a time is answered from its window, in turns of its sessions; of a question about something at a
time, the rows of that time are searched by themselves, so that what fits both is among the candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from recallens.index.views import distinct
from recallens.model.plan import Window
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.times import day
from recallens.model.verdict import BoolArray, Note, Verdict, counted, places
from recallens.recall.scene import EVERY, Scene
from recallens.recall.views import RECENT_BATCH, TIME, Admitted, ask, found, told_within, within_windows
from recallens.recall.views.turns import in_turns


def of_the_time(
    scene: Scene, cuts: bool, depth: int, admitted: Admitted, pool: Pool, query: Query
) -> Iterator[Verdict]:
    """The rows of the windows, and how many there are. `admitted` disregards the time asked about."""
    windows = scene.question.windows
    if not windows:
        return
    passing = admitted() & (scene.columns.held_from <= scene.at)
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
    listed = {"listed": len(reasons)} if scene.question.only_windows else {}
    yield Note("timeReasons", {"rows": reasons, **listed})
