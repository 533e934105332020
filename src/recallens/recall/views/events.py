"""What happened, as a time: "since the release" is dated by the memory that tells of it.

Which one that is, is decided by how much of the phrase a memory's own words cover, the rare ones first of all, and by
what it is: a report of the thing itself comes before a plan of it and one that looks back on it, what worked before the
attempt that failed, and of reports that tell of it within days of each other the first: the next ones tell what was
done then. What only dates itself by the event tells of something else. Where no memory covers it, nothing is dated.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from recallens.index.columns import code_of, table_of
from recallens.index.encoding import LazySemantic
from recallens.index.images import DamagedIndex
from recallens.index.lexical import bind_lexical, bind_words
from recallens.model.memory import Kind, Memory, Sector, title_of
from recallens.model.plan import DatedEvent, Window
from recallens.model.query import Mode, Query
from recallens.model.salience import DAY_MS
from recallens.model.state import FAILURE, withheld
from recallens.model.times import day
from recallens.model.verdict import BoolArray, FloatArray, IntArray
from recallens.recall.facets import FacetKind
from recallens.recall.gates import filter_rules, passing
from recallens.recall.plan import PLANNED_CHARACTERS, held_then
from recallens.recall.presets import Preset
from recallens.recall.scene import MULTILINGUAL, SEMANTIC, Scene, facets_asked
from recallens.recall.views.event_words import (
    HAPPENED,
    READ_CHARACTERS,
    SAME_MEANING,
    Coverage,
    EventWord,
    coverage,
    other_words_of,
    pattern,
    read,
    says_something,
    words_of,
)
from recallens.text.days_told import DAY_BITS, MONTHS_FROM
from recallens.text.languages import grammar_of
from recallens.text.stopwords import FULL_WEIGHT, expansions, projects_named, token_weight
from recallens.text.times import EventPhrase, day_of, event_phrase
from recallens.text.tokenizer import tokenize
from recallens.text.wordforms import SpokenWords

# How many rows each view is asked for, and how many of them are read: those that look likeliest before they are.
CANDIDATES: Final = 40
READ_CLOSELY: Final = 12
# How much a row must tell of what happened and of what it happened to; of the whole phrase, where it is no episode.
LEAST_HAPPENING, LEAST_ANCHORS, LEAST_WORDS, ALL_WORDS = 0.45, 0.4, 0.5, 0.8
# How alike an episode must be that holds nearly all, or half, of what it happened to and tells what happened in words
# that are not known for it. One that is so much alike need hold nothing. Chosen on 184 questions in five stores.
NEARLY_ALL, HALF = 0.7, 0.5
LIKE_NEARLY_ALL, LIKE_HALF, LIKE_THOUGH_ASTRAY, CLEARLY_ALIKE = 0.4, 0.5, 0.6, 0.65
# One that is as much alike may be the event: it is told, and dates nothing.
PERHAPS_ALIKE: Final = 0.3
# A report that is so many days older and lacks no more worth is the event, and the other its aftermath.
AFTERMATH_DAYS, AFTERMATH_WORTH, AFTERMATH_WORDS = 7, 0.3, 0.2
# The second encoder finds the short words of an event less like a report than the first one does.
OF_SECOND_ENCODER: Final = 0.1
# What a row is worth beside its shares of words and meaning.
TELLS, CHANGES, REPORTS, NEWEST, OWN_DAY, NAMED_PROJECT = 0.4, 0.3, 0.2, 0.1, 0.1, 0.3
LOOKS_BACK, FAILED, PLANS, TIMELESS = -0.35, -0.35, -0.5, -0.3
_TELLING: Final = table_of((Kind.EPISODE,))
_TIMELESS: Final = table_of((Kind.GOTCHA, Kind.SKILL, Kind.PATTERN, Kind.PREFERENCE, Kind.PRINCIPLE))
# Version 4 is not version 7. A year is no such number: a text need not tell its own.
_YEAR_DIGITS: Final = 4


def dated(scene: Scene, preset: Preset, query: Query) -> Scene:
    """The scene with the time that its question tells by an event, where a memory tells of that."""
    plan, text = scene.question.plan, query.text[:PLANNED_CHARACTERS]
    phrase = event_phrase(text, day_of(query.at)) if plan is not None and query.mode is Mode.HYBRID else None
    # What is named by pointing ("after that") is no event that could be looked for.
    named = phrase is not None and any(token_weight(token) == FULL_WEIGHT for token in tokenize(phrase.event))
    if plan is None or phrase is None or not named:
        return scene
    row, surely = _event(scene, preset, phrase, text, passing(scene, filter_rules(scene, query))[0])
    if row is None or not surely:
        perhaps = None if row is None else _told_by(scene, row, query)[1]
        plan = replace(plan, undated=phrase.text, perhaps=perhaps)
        return replace(scene, question=replace(scene.question, plan=plan))
    own = [window for window in plan.windows if window.given or window.text not in phrase.text]
    windows = held_then(text, _together(_window(scene, phrase, row, query), own), query.at)
    plan = replace(plan, windows=windows)
    projects = projects_named(text, scene.columns.names["project"].codes)
    facets = facets_asked(text, scene.question.annotations, plan, projects)
    if windows[0].as_of and all(facet.kind is FacetKind.TIME for facet in facets):
        # Who asks how something was before it changed names it by the change.
        facets += facets_asked(text, scene.question.annotations, replace(plan, windows=()), projects)
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


class _Candidates(Struct, frozen=True, eq=False):
    """The rows that may tell of the event, what each tells of its words, and how alike it is."""

    rows: IntArray
    memories: list[Memory]
    cosines: FloatArray
    covers: Coverage
    tells: BoolArray  # an episode, which tells what happened
    changed: BoolArray  # it says that something is otherwise now
    reports: BoolArray  # it is told in the past
    timeless: BoolArray

    def say(self, name: str) -> BoolArray:
        """Which of them a pattern of the languages matches."""
        return _matching(name, self.memories)


def _matching(name: str, memories: list[Memory]) -> BoolArray:
    return np.array([pattern(name).search(memory.content[:READ_CHARACTERS]) is not None for memory in memories])


def _event(
    scene: Scene, preset: Preset, phrase: EventPhrase, question: str, admitted: BoolArray
) -> tuple[int | None, bool]:
    """The row that tells of the event best, and whether it surely does: by its words, or by what it means. None where
    none reports anything that is like it.
    """
    admitted = admitted & (scene.columns.held_from <= scene.at)
    written = phrase.event
    if not _only(pattern("changes"), written):
        asked = written
    else:  # the raise, the move: of what, the rest of the question says
        asked = written = f"{written} {question.replace(phrase.text, ' ')}"
    lexical = bind_lexical(
        scene.reader, scene.index.lexical, asked, formula=preset.formula, prefixes=preset.prefixes,
        expansions=expansions(asked, dict.fromkeys(tokenize(asked))),
    )  # fmt: skip
    words = words_of(written, lexical)
    rows = lexical.propose(CANDIDATES, admitted).rows
    told = bind_words(
        scene.reader, scene.index.lexical, other_words_of(words), formula=preset.formula, name="event"
    )  # fmt: skip
    rows = np.union1d(rows, told.propose(CANDIDATES, admitted).rows)
    rows, cosines = _by_meaning(scene, phrase.event, rows, admitted)
    if not len(rows) or not words:
        return None, False
    likely = lexical.coverage(rows) + cosines + REPORTS * (told.score(rows) > 0) + TELLS * _tells(scene, rows)
    chosen = np.sort(np.argsort(-likely, kind="stable")[:READ_CLOSELY])
    rows, cosines = rows[chosen], cosines[chosen]
    candidates = _candidates(scene, words, rows, cosines)
    fits = _fits(candidates, words)
    if fits.any():
        return _best(scene, phrase, candidates, fits), True
    covers = candidates.covers
    may = (candidates.tells | candidates.changed | candidates.reports) & (cosines >= PERHAPS_ALIKE)
    # What only is of the same sort, or befell the same, is as far from it as most.
    may &= (cosines >= LIKE_NEARLY_ALL) | ((covers.happening > 0) & (covers.anchors >= LEAST_ANCHORS))
    return (_best(scene, phrase, candidates, may), False) if may.any() else (None, False)


def _candidates(scene: Scene, words: list[EventWord], rows: IntArray, cosines: FloatArray) -> _Candidates:
    columns = scene.columns
    nums = columns["num"][rows].tolist()
    bodies = scene.bodies.of(nums).memories
    memories = [bodies[num] for num in nums]
    changed = _matching("corrections", memories)
    tells = _tells(scene, rows)
    timeless = _TIMELESS[columns["kind"][rows]]
    return _Candidates(
        rows=rows,
        memories=memories,
        cosines=cosines,
        covers=coverage(words, memories, scene.bodies.translated(nums), changed, tells),
        tells=tells,
        changed=changed,
        reports=~timeless & _matching("reports", memories),
        timeless=timeless,
    )


def _tells(scene: Scene, rows: IntArray) -> BoolArray:
    """Which of them are episodes, which tell what happened."""
    columns = scene.columns
    tells: BoolArray = _TELLING[columns["kind"][rows]] | (columns["sector"][rows] == code_of(Sector.EPISODIC))
    return tells


def _fits(candidates: _Candidates, words: list[EventWord]) -> BoolArray:
    """Which of them tell of the event at all: in words that are known for what happened, or by what they mean."""
    cosines, covers, tells = candidates.cosines, candidates.covers, candidates.tells
    eventful = tells | candidates.changed | candidates.reports
    # A translation in common alone does not make the event of another sort the one that is meant.
    happened = (covers.happening >= LEAST_HAPPENING) & (~covers.astray | (covers.happening > SAME_MEANING))
    # That something happened says little, where nothing tells what.
    happened &= (covers.happening > HAPPENED) | (cosines > PERHAPS_ALIKE)
    if all(word.is_anchor for word in words):  # the phrase has no word for what happened
        happened &= cosines >= LIKE_NEARLY_ALL
    happened &= covers.anchors >= LEAST_ANCHORS
    by_words = happened & (tells | (eventful & (covers.shares >= LEAST_WORDS) & (covers.rarest | covers.of_sort)))
    by_words |= (covers.shares > ALL_WORDS) & (~covers.astray | (covers.happening > SAME_MEANING))
    by_meaning = (covers.anchors >= NEARLY_ALL) & (cosines >= LIKE_NEARLY_ALL)
    by_meaning |= (covers.anchors >= HALF) & (cosines >= LIKE_HALF)
    by_meaning &= ~covers.astray | ((covers.anchors >= NEARLY_ALL) & (cosines >= LIKE_THOUGH_ASTRAY))
    by_meaning &= tells | (eventful & (covers.happening > 0))
    fits: BoolArray = by_words | by_meaning | (eventful & (cosines >= CLEARLY_ALIKE))
    fits &= ~candidates.timeless  # what one does then, and not that it happened
    if figures := [word.text for word in words if word.text.isdigit() and len(word.text) < _YEAR_DIGITS]:
        fits &= np.array([all(map(SpokenWords(read(memory)).says, figures)) for memory in candidates.memories])
    return fits


def _best(scene: Scene, phrase: EventPhrase, candidates: _Candidates, fits: BoolArray) -> int:
    """Of those that fit: the report of the thing itself, and of several within days of each other the first."""
    columns, rows = scene.columns, candidates.rows
    tells, reports, held = candidates.tells, candidates.reports, candidates.covers.shares
    created, ids = columns["created"][rows], columns["id"][rows]
    happened = np.maximum.reduce([TELLS * tells, CHANGES * candidates.changed, REPORTS * reports])
    worth = held + candidates.cosines + happened + TIMELESS * candidates.timeless
    worth += NEWEST * (created - created.min()) / max(float(np.ptp(created)), 1.0)
    worth += OWN_DAY * (columns["days_told"][rows] != 0)
    worth += NAMED_PROJECT * np.isin(columns["project"][rows], scene.question.projects)
    if not pattern("recounts").search(phrase.event):
        worth += LOOKS_BACK * (columns["kind"][rows] == code_of(Kind.LESSON))
    failed = np.zeros(len(rows), dtype=np.bool_)
    for name, price in (("recounts", LOOKS_BACK), ("failed", FAILED)):
        if not pattern(name).search(phrase.event):
            said = candidates.say(name)
            worth += price * said
            failed |= said
    if not pattern("failed").search(phrase.event):
        worth += FAILED * (columns["reward"][rows] <= FAILURE)
        failed |= columns["reward"][rows] <= FAILURE
    if not pattern("plans").search(phrase.event):  # who only plans it does not tell that it came
        worth += PLANS * candidates.say("plans")
    worth = np.where(fits, worth, -np.inf)
    best = np.lexsort((ids, -created, -worth))[0]
    if pattern("concludes").search(phrase.event):  # what came of it is told last
        return int(rows[best])
    early = fits & candidates.covers.rarest & (tells | reports) & ~failed
    early &= columns["project"][rows] == columns["project"][rows[best]]
    early &= (created <= created[best]) & (created[best] - created <= AFTERMATH_DAYS * DAY_MS)
    early &= (held >= held[best] - AFTERMATH_WORDS) & (worth >= worth[best] - AFTERMATH_WORTH)
    early[best] = True
    return int(rows[early][np.lexsort((ids[early], -worth[early], created[early] // DAY_MS))[0]])


def _by_meaning(scene: Scene, event: str, rows: IntArray, admitted: BoolArray) -> tuple[IntArray, FloatArray]:
    """The rows and those that mean the event, each with its likeness: the better one of the encoders that read it."""
    readers = {name: view.asking(event) for name, view in scene.views.items() if isinstance(view, LazySemantic)}
    try:
        for reader in readers.values():
            for among in (admitted, admitted & _TELLING[scene.columns["kind"]]):
                rows = np.union1d(rows, reader.propose(CANDIDATES, among).rows)
        scores = {name: reader.score(rows) for name, reader in readers.items()}
    except DamagedIndex:
        raise
    except Exception:  # its failure is in the ledger, from when the question itself is put to it
        return rows, np.zeros(len(rows))
    # The first encoder says nothing of a phrase in a language that it cannot read.
    first = scores.get(SEMANTIC) if not scene.question.unread else None
    cosines = first if first is not None else np.full(len(rows), np.nan)
    if MULTILINGUAL in scores:
        cosines = np.fmax(cosines, scores[MULTILINGUAL] + OF_SECOND_ENCODER)
    return rows, np.nan_to_num(cosines)


def _only(words: re.Pattern[str], phrase: str) -> bool:
    """Whether all that the phrase names is of the pattern."""
    grammar = grammar_of(phrase)
    named = grammar.nouns(phrase) if grammar else [w for w in re.findall(r"\w+", phrase.lower()) if says_something(w)]
    return bool(named) and all(words.fullmatch(word) for word in named)


def _told_by(scene: Scene, row: int, query: Query) -> tuple[int, DatedEvent]:
    """The day of an event in milliseconds, and the memory that tells of it: the first day that its text names, or that
    on which it was made.
    """
    columns = scene.columns
    told = int(columns["days_told"][row]) & ((1 << DAY_BITS) - 1)
    by_text = 0 < told < MONTHS_FROM and told * DAY_MS <= scene.at
    at = (told if by_text else int(columns["created"][row]) // DAY_MS) * DAY_MS
    num = int(columns["num"][row])
    memory = scene.bodies.of([num]).memories[num]
    title = title_of(memory) if withheld(memory, query.scopes) is None else None
    return at, DatedEvent(memory.id, memory.handle, title, day(at), "its text" if by_text else "when it was made")


def _window(scene: Scene, phrase: EventPhrase, row: int, query: Query) -> Window:
    """The days that the phrase counts from the event's. What is open goes up to the end of the day of asking."""
    at, event = _told_by(scene, row, query)
    start = 0 if phrase.first is None else at + phrase.first * DAY_MS
    now = (scene.at // DAY_MS + 1) * DAY_MS
    end = max(now, at + DAY_MS) if phrase.end is None else at + phrase.end * DAY_MS
    return Window(phrase.text, start, end, event=event)
