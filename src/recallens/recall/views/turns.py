"""The order in which a time is told, where a question asks about nothing else: its words only say which kind of thing
is wanted, so it goes by what the rows are and when they were made.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

import numpy as np

from recallens.index.bm25 import Bm25
from recallens.index.columns import code_of, table_of
from recallens.index.lexical import bind_lexical
from recallens.model.memory import Kind
from recallens.model.salience import DAY_MS
from recallens.model.state import FAILURE
from recallens.model.verdict import BoolArray, FloatArray, IntArray
from recallens.recall.scene import Scene
from recallens.text.languages import alternatives, each, kinds_asked
from recallens.text.times import milliseconds

# What a row is worth when its session tells of the time, beside its importance.
WORDS_WORTH, TELLING_WORTH, NEWEST_WORTH, TROUBLE_WORTH = 0.4, 0.2, 0.1, 0.3
# What happened and went wrong, or was a milestone, where no kind of thing is asked for.
NOTABLE_WORTH: Final = 0.3
# How much of what went wrong a warning tells, and any other row that only says so.
WARNS, SAYS = 0.6, 0.3
# What followed an event is worth half of its nearness after so many days.
NEAR_DAYS: Final = 14.0
FEW_DAYS: Final = 2
_TELLING: Final = table_of((Kind.EPISODE, Kind.DECISION, Kind.LESSON, Kind.GOTCHA))
_WARNINGS: Final = table_of((Kind.GOTCHA, Kind.LESSON))
_TROUBLE: Final = re.compile(alternatives(lambda pack: pack.questions.trouble), re.IGNORECASE)
_WORDS_OF_TROUBLE: Final = " ".join(each(lambda pack: pack.memories.trouble))
_MILESTONES: Final = " ".join(each(lambda pack: pack.memories.milestones))


def in_turns(scene: Scene, rows: IntArray, question: str) -> IntArray:
    """The order in which a time is told: what is of the kind and the project asked for, then the rest; of each every
    session's best, then every session's second. What belongs to no session goes by its document or its day.

    A time that is told by an event goes from the event on, what is nearest to it first; the event itself is told last,
    unless its own day is asked about.
    """
    if not len(rows):
        return np.empty(0, dtype=np.int64)
    for each_window in scene.question.windows:  # what happened is no kind that is asked for
        question = question.replace(each_window.text, " ")
    columns, trouble = scene.columns, _troubled(scene, rows, question)
    created, worth = columns["created"][rows], _worth(scene, rows, question) + TROUBLE_WORTH * trouble
    unasked = _places_asked(scene, rows, question, trouble)
    window = next((window for window in scene.question.windows if window.event is not None), None)
    if window is not None and window.event is not None:
        event = columns["id"][rows] == window.event.id.encode()
        projects = columns["project"][columns["id"] == window.event.id.encode()]
        elsewhere = ~np.isin(columns["project"][rows], scene.question.projects or projects)
        away = np.abs(created // DAY_MS - milliseconds(date.fromisoformat(window.event.day)) // DAY_MS)
        worth = worth + 1.0 / (1.0 + away / NEAR_DAYS)
        its_days = 0 < window.end - window.start <= 2 * DAY_MS
        last, first = event & (not its_days), event & its_days
        order: IntArray = np.lexsort((columns["id"][rows], -created, -worth, elsewhere, unasked > 1, ~first, last))
        return order
    elsewhere = ~np.isin(columns["project"][rows], scene.question.projects) & bool(scene.question.projects)
    # What went wrong is told first, and then what was done about it.
    newest = -NEWEST_WORTH if _TROUBLE.search(question) else NEWEST_WORTH
    worth = worth + newest * _newness(scene, rows) - unasked
    sessions, documents = columns["session"][rows].astype(np.int64), columns["document"][rows].astype(np.int64)
    days = created // DAY_MS
    group = np.where(sessions >= 0, sessions, np.where(documents >= 0, -1 - documents, -(1 << 40) - days))
    by_group = np.lexsort((columns["id"][rows], -created, -worth, group))
    first = np.concatenate([[True], np.diff(group[by_group]) != 0])
    starts = np.flatnonzero(first)
    turn = np.arange(len(rows)) - np.repeat(starts, np.diff(np.append(starts, len(rows))))
    turns = np.empty(len(rows), dtype=np.int64)
    turns[by_group] = turn
    # What was made in the time comes before what only speaks of it; of a day or two, what speaks of it is as good.
    short = all(each.end - each.start <= FEW_DAYS * DAY_MS for each in scene.question.windows)
    told_later = ~_made_then(scene, rows) & (not short)
    return np.lexsort((columns["id"][rows], -created, -worth, turns, unasked, told_later, elsewhere))


def _made_then(scene: Scene, rows: IntArray) -> BoolArray:
    created = scene.columns["created"][rows]
    then: BoolArray = np.any(
        [(each.start <= created) & (created < each.end) for each in scene.question.windows], axis=0
    )
    return then


def _places_asked(scene: Scene, rows: IntArray, question: str, trouble: FloatArray) -> IntArray:
    """0 for rows of a kind that the question names, or that tell of what went wrong, 1 for warnings of it, 2 for the
    rest: for all where it asks for neither.
    """
    kinds = scene.columns["kind"][rows]
    wanted = [code_of(Kind(kind)) for kind in kinds_asked(question)]
    if wanted:
        return np.where(np.isin(kinds, wanted), 0, 2)
    return np.where(trouble >= 1.0, 0, np.where(trouble >= WARNS, 1, 2))


def _troubled(scene: Scene, rows: IntArray, question: str) -> FloatArray:
    """How much each row tells of something that went wrong, where the question asks for that: what happened and says
    so, then warnings, then what only says so.
    """
    if not _TROUBLE.search(question):
        return np.zeros(len(rows))
    says = _says(scene, rows, _WORDS_OF_TROUBLE)
    kinds, failed = scene.columns["kind"][rows], scene.columns["reward"][rows] <= FAILURE
    value = np.where(says, SAYS, 0.0) + np.where(_WARNINGS[kinds], WARNS, 0.0)
    value[(says & (kinds == code_of(Kind.EPISODE))) | failed] = 1.0
    return value


def _says(scene: Scene, rows: IntArray, said: str) -> BoolArray:
    words = bind_lexical(scene.reader, scene.index.lexical, said, formula=Bm25(), prefixes="none")
    says: BoolArray = np.any(words.presence(list(words.words), rows), axis=0)
    return says


def _worth(scene: Scene, rows: IntArray, question: str) -> FloatArray:
    """What is important, what tells of something that happened, above all of what is notable, and what holds the
    question's own words (결정): but the accident is seldom told by that word, and what followed it is.
    """
    columns = scene.columns
    worth: FloatArray = columns["importance"][rows] + TELLING_WORTH * _TELLING[columns["kind"][rows]]
    if _TROUBLE.search(question):
        return worth
    notable = (columns["kind"][rows] == code_of(Kind.EPISODE)) & _says(
        scene, rows, f"{_WORDS_OF_TROUBLE} {_MILESTONES}"
    )
    worth += WORDS_WORTH * scene.coverage(rows) + NOTABLE_WORTH * notable
    return worth


def _newness(scene: Scene, rows: IntArray) -> FloatArray:
    """From 0 to 1. What only names a day of the time is not new in it."""
    created = scene.columns["created"][rows].astype(np.float64)
    made_then = _made_then(scene, rows)
    oldest = created[made_then].min() if made_then.any() else 0.0
    newness = np.where(made_then, created - oldest, 0.0)
    return newness / max(float(newness.max()), 1.0)
