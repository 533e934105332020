"""What happened, as a time: "since the release" is dated by the memory that tells of it.

Which one that is, is decided by words and meaning as for any question, where what tells of something that happened has
the better of what only speaks of it, and the newer of two.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from msgspec.structs import replace

from recallens.index.columns import code_of, table_of
from recallens.index.encoding import LazySemantic
from recallens.index.images import DamagedIndex
from recallens.index.lexical import bind_lexical
from recallens.model.memory import Kind, Sector, title_of
from recallens.model.plan import DatedEvent, Window
from recallens.model.query import Mode, Query
from recallens.model.salience import DAY_MS
from recallens.model.state import withheld
from recallens.model.times import day
from recallens.model.verdict import BoolArray, FloatArray, IntArray
from recallens.recall.gates import filter_rules, passing
from recallens.recall.plan import PLANNED_CHARACTERS
from recallens.recall.presets import Preset
from recallens.recall.scene import Scene, facets_asked
from recallens.text.stopwords import FULL_WEIGHT, expansions, token_weight
from recallens.text.times import DAY_BITS, MONTHS_FROM, EventPhrase, day_of, event_phrase
from recallens.text.tokenizer import tokenize

# How many rows each view is asked for, and how much of the phrase's words one must hold, or how alike it must be.
CANDIDATES: Final = 40
LEAST_WORDS, LEAST_COSINE = 0.5, 0.5
# What it is worth, beside the shares of words and meaning, to tell of something that happened, and to be the newest.
EVENT_WORTH, NEWEST_WORTH = 0.4, 0.1
_EVENTS: Final = table_of((Kind.EPISODE,))


def dated(scene: Scene, preset: Preset, query: Query) -> Scene:
    """The scene with the time that its question tells by an event, where a memory tells of that."""
    plan, text = scene.question.plan, query.text[:PLANNED_CHARACTERS]
    phrase = event_phrase(text, day_of(query.at)) if plan is not None and query.mode is Mode.HYBRID else None
    # What is named by pointing ("after that") is no event that could be looked for.
    named = phrase is not None and any(token_weight(token) == FULL_WEIGHT for token in tokenize(phrase.event))
    if plan is None or phrase is None or not named:
        return scene
    row = _event(scene, preset, phrase, passing(scene, filter_rules(scene, query))[0])
    if row is None:
        return scene
    own = [window for window in plan.windows if window.given or window.text not in phrase.text]
    windows = _together(_window(scene, phrase, row, query), own)
    plan = replace(plan, windows=windows)
    facets = facets_asked(text, scene.question.annotations, plan)
    return replace(scene, question=replace(scene.question, plan=plan, facets=facets))


def _together(dated: Window, own: list[Window]) -> tuple[Window, ...]:
    """A time that the question names as well narrows the other: what of it is since then, or before then."""
    read = [window for window in own if not window.given]
    both = [
        replace(dated, start=max(dated.start, window.start), end=min(dated.end, window.end))
        for window in read
        if max(dated.start, window.start) < min(dated.end, window.end)
    ]
    return (*(both or [dated]), *(window for window in own if window.given))


def _event(scene: Scene, preset: Preset, phrase: EventPhrase, admitted: BoolArray) -> int | None:
    """The row that tells of the event best; none where none holds its words or means it."""
    columns, admitted = scene.columns, admitted & (scene.columns["created"] <= scene.at)
    asked = [
        bind_lexical(scene.reader, scene.index.lexical, words, formula=preset.formula, prefixes=preset.prefixes)
        for words in wordings(phrase.event)
    ]
    rows = np.unique(np.concatenate([words.propose(CANDIDATES, admitted).rows for words in asked]))
    semantic, cosines = scene.views.get("semantic"), np.zeros(len(rows))
    if isinstance(semantic, LazySemantic):
        meaning = semantic.asking(phrase.event)
        try:
            rows = np.union1d(rows, meaning.propose(CANDIDATES, admitted).rows)
            cosines = np.nan_to_num(meaning.score(rows))
        except DamagedIndex:
            raise
        except Exception:  # its failure is in the ledger, from when the question itself is put to it
            cosines = np.zeros(len(rows))
    held = np.max([words.coverage(rows) for words in asked], axis=0)
    fits = (held >= LEAST_WORDS) | (cosines >= LEAST_COSINE)
    if not fits.any():
        return None
    worth = held + cosines + EVENT_WORTH * _tells(scene, rows) + NEWEST_WORTH * _newness(scene, rows)
    order = np.lexsort((columns["id"][rows], -columns["created"][rows], -np.where(fits, worth, -np.inf)))
    return int(rows[order[0]])


def wordings(event: str) -> list[str]:
    """The words of an event, and those of the other language for them where all that say something are known."""
    others = expansions(event, dict.fromkeys(tokenize(event)))
    foreign = [next((each for each in words if each.isascii() != word.isascii()), "") for word, words in others.items()]
    return [event, " ".join(foreign)] if foreign and all(foreign) else [event]


def _tells(scene: Scene, rows: IntArray) -> BoolArray:
    """Which rows tell of something that happened."""
    episodic = scene.columns["sector"][rows] == code_of(Sector.EPISODIC)
    tells: BoolArray = _EVENTS[scene.columns["kind"][rows]] | episodic
    return tells


def _newness(scene: Scene, rows: IntArray) -> FloatArray:
    created = scene.columns["created"][rows].astype(np.float64)
    newness: FloatArray = (created - created.min()) / max(float(np.ptp(created)), 1.0)
    return newness


def _window(scene: Scene, phrase: EventPhrase, row: int, query: Query) -> Window:
    """From the event's day on, or up to it: the day that its text names first, or the one on which it was made."""
    columns = scene.columns
    told = int(columns["days_told"][row]) & ((1 << DAY_BITS) - 1)
    by_text = 0 < told < MONTHS_FROM and told * DAY_MS <= scene.at
    at = (told if by_text else int(columns["created"][row]) // DAY_MS) * DAY_MS
    num = int(columns["num"][row])
    memory = scene.bodies.of([num]).memories[num]
    title = title_of(memory) if withheld(memory, query.scopes) is None else None
    event = DatedEvent(memory.id, memory.handle, title, day(at), "its text" if by_text else "when it was made")
    end = (scene.at // DAY_MS + 1) * DAY_MS
    start, end = (at, max(end, at + DAY_MS)) if phrase.since else (0, at)
    return Window(phrase.text, start, end, event=event)
