"""What happened, as a time: "since the release" is dated by the memory that tells of it.

Which one that is, is decided by how much of the phrase a memory's own words cover, the rare ones first of all, and by
what it is: a report of the thing itself comes before one that looks back on it, what worked before the attempt that
failed, and of reports that tell of it within days of each other the first: the next ones tell what was done then.
What only dates itself by the event tells of something else. Where no memory covers it, nothing is dated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from recallens.index.columns import code_of, table_of
from recallens.index.encoding import LazySemantic
from recallens.index.images import DamagedIndex
from recallens.index.lexical import BoundLexical, bind_lexical, bind_words
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
from recallens.recall.scene import MULTILINGUAL, SEMANTIC, Scene, facets_asked, on_first_scale
from recallens.text.languages import PACKS, alternatives, each, grammar_of
from recallens.text.languages.translation import TranslatedWords
from recallens.text.stopwords import FULL_WEIGHT, expansions, projects_named, token_weight
from recallens.text.times import DAY_BITS, MONTHS_FROM, EventPhrase, day_of, event_phrase, without_event_phrases
from recallens.text.tokenizer import tokenize
from recallens.text.wordforms import SpokenWords, letters

# How many rows each view is asked for, and how much of a text is read: what says what happened stands early on.
CANDIDATES: Final = 40
READ_CHARACTERS: Final = 2_000
# How much of the phrase's words a row must hold, or how alike it must be and tell of something that happened.
LEAST_WORDS, LEAST_COSINE = 0.5, 0.5
# What words and likeness must come to for a report of the same sort of event that lacks the weightiest word. Of 20
# events that nobody told of, likeness alone (from 0.3) dated 9 by another of their sort; this dates none.
LEAST_TOGETHER: Final = 0.9
# What a word weighs that only says that something changed, or that may be a verb's form, beside its rarity.
FAINT_WORD: Final = 0.4
ANOTHER_WORD: Final = 0.9
WITHIN_A_WORD: Final = 0.7
HAPPENED: Final = 0.5
ALL_WORDS: Final = 0.8
# A report that is so many days older and lacks no more worth is the event, and the other its aftermath.
AFTERMATH_DAYS, AFTERMATH_WORTH, AFTERMATH_WORDS = 7, 0.3, 0.2
# What a row is worth beside its shares of words and meaning.
TELLS, CHANGES, REPORTS, NEWEST, OWN_DAY, NAMED_PROJECT = 0.4, 0.3, 0.2, 0.1, 0.1, 0.3
LOOKS_BACK, FAILED, TIMELESS = -0.35, -0.35, -0.3
_TELLING: Final = table_of((Kind.EPISODE,))
_TIMELESS: Final = table_of((Kind.GOTCHA, Kind.SKILL, Kind.PATTERN, Kind.PREFERENCE, Kind.PRINCIPLE))
# Letters that two forms of a verb have in common: 바꾼, 바꿔.
_STEM_LETTERS: Final = 3
# Version 4 is not version 7. A year is no such number: a text need not tell its own.
_YEAR_DIGITS: Final = 4


class _Word(Struct, frozen=True):
    """A word of the phrase, and the tokens by which a text holds it: its own, or those of another word for it."""

    text: str
    own: frozenset[str]
    others: tuple[frozenset[str], ...]
    weight: float
    faint: bool  # it says what was done, or that something changed or happened: a text may say that in another way
    inflected: bool  # it may be a verb's form, of which another form begins alike
    changes: bool
    happens: bool
    sort: re.Pattern[str] | None  # the words in which an event of its sort is told
    thing: re.Pattern[str] | None  # the words for what it names, where work has several


def dated(scene: Scene, preset: Preset, query: Query) -> Scene:
    """The scene with the time that its question tells by an event, where a memory tells of that."""
    plan, text = scene.question.plan, query.text[:PLANNED_CHARACTERS]
    phrase = event_phrase(text, day_of(query.at)) if plan is not None and query.mode is Mode.HYBRID else None
    # What is named by pointing ("after that") is no event that could be looked for.
    named = phrase is not None and any(token_weight(token) == FULL_WEIGHT for token in tokenize(phrase.event))
    if plan is None or phrase is None or not named:
        return scene
    row = _event(scene, preset, phrase, text, passing(scene, filter_rules(scene, query))[0])
    if row is None:
        return replace(scene, question=replace(scene.question, plan=replace(plan, undated=phrase.text)))
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


def _event(scene: Scene, preset: Preset, phrase: EventPhrase, question: str, admitted: BoolArray) -> int | None:
    """The row that tells of the event best; none where none covers its words or means it."""
    columns, admitted = scene.columns, admitted & (scene.columns["created"] <= scene.at)
    written = phrase.event
    if not _only(_pattern("changes"), written):
        asked = written
    else:  # the raise, the move: of what, the rest of the question says
        asked = written = f"{written} {question.replace(phrase.text, ' ')}"
    lexical = bind_lexical(
        scene.reader, scene.index.lexical, asked, formula=preset.formula, prefixes=preset.prefixes,
        expansions=expansions(asked, dict.fromkeys(tokenize(asked))),
    )  # fmt: skip
    words = _words_of(written, lexical)
    rows = lexical.propose(CANDIDATES, admitted).rows
    if others := dict.fromkeys(
        chain(*(_literal(group) for word in words for group in (word.sort, word.thing) if group))
    ):
        told = bind_words(scene.reader, scene.index.lexical, list(others), formula=preset.formula, name="event")
        rows = np.union1d(rows, told.propose(CANDIDATES, admitted).rows)
    rows, cosines = _by_meaning(scene, phrase.event, rows, admitted)
    if not len(rows) or not words:
        return None
    nums = columns["num"][rows].tolist()
    bodies = scene.bodies.of(nums).memories
    memories = [bodies[num] for num in nums]
    changed = np.array(
        [_pattern("corrections").search(memory.content[:READ_CHARACTERS]) is not None for memory in memories]
    )
    tells = _TELLING[columns["kind"][rows]] | (columns["sector"][rows] == code_of(Sector.EPISODIC))
    translated = scene.bodies.translated(nums) if MULTILINGUAL in scene.views else [None] * len(nums)
    held, covered, of_sort = _coverage(words, memories, translated, changed, tells)
    timeless = _TIMELESS[columns["kind"][rows]]
    reports = ~timeless & np.array(
        [_pattern("reports").search(memory.content[:READ_CHARACTERS]) is not None for memory in memories]
    )
    eventful = tells | changed | reports
    fits = (held >= LEAST_WORDS) & covered & (eventful | (held > ALL_WORDS))
    fits |= (cosines >= LEAST_COSINE) & (tells | changed | (reports & (held > 0)))
    fits |= of_sort & eventful & (held + cosines >= LEAST_TOGETHER)
    if figures := [word.text for word in words if word.text.isdigit() and len(word.text) < _YEAR_DIGITS]:
        fits &= np.array([all(map(SpokenWords(_read(memory)).says, figures)) for memory in memories])
    if not fits.any():
        return None
    created = columns["created"][rows]
    happened = np.maximum.reduce([TELLS * tells, CHANGES * changed, REPORTS * reports])
    worth = held + cosines + happened + TIMELESS * timeless
    worth += NEWEST * (created - created.min()) / max(float(np.ptp(created)), 1.0)
    worth += OWN_DAY * (columns["days_told"][rows] != 0)
    worth += NAMED_PROJECT * np.isin(columns["project"][rows], scene.question.projects)
    if not _pattern("recounts").search(phrase.event):
        worth += LOOKS_BACK * (columns["kind"][rows] == code_of(Kind.LESSON))
    failed = np.zeros(len(rows), dtype=np.bool_)
    for name, price in (("recounts", LOOKS_BACK), ("failed", FAILED)):
        if not _pattern(name).search(phrase.event):
            said = [_pattern(name).search(memory.content[:READ_CHARACTERS]) is not None for memory in memories]
            worth += price * np.array(said)
            failed |= np.array(said)
    if not _pattern("failed").search(phrase.event):
        worth += FAILED * (columns["reward"][rows] <= FAILURE)
        failed |= columns["reward"][rows] <= FAILURE
    worth = np.where(fits, worth, -np.inf)
    best = np.lexsort((columns["id"][rows], -created, -worth))[0]
    if _pattern("concludes").search(phrase.event):  # what came of it is told last
        return int(rows[best])
    early = fits & covered & (tells | reports) & ~failed & (columns["project"][rows] == columns["project"][rows[best]])
    early &= (created <= created[best]) & (created[best] - created <= AFTERMATH_DAYS * DAY_MS)
    early &= (held >= held[best] - AFTERMATH_WORDS) & (worth >= worth[best] - AFTERMATH_WORTH)
    early[best] = True
    return int(rows[early][np.lexsort((columns["id"][rows[early]], -worth[early], created[early] // DAY_MS))[0]])


def _by_meaning(scene: Scene, event: str, rows: IntArray, admitted: BoolArray) -> tuple[IntArray, FloatArray]:
    """The rows and those that mean the event, each with its likeness: the better one of the encoders that read it."""
    readers = {name: view.asking(event) for name, view in scene.views.items() if isinstance(view, LazySemantic)}
    try:
        for reader in readers.values():
            rows = np.union1d(rows, reader.propose(CANDIDATES, admitted).rows)
        scores = {name: reader.score(rows) for name, reader in readers.items()}
    except DamagedIndex:
        raise
    except Exception:  # its failure is in the ledger, from when the question itself is put to it
        return rows, np.zeros(len(rows))
    # The first encoder says nothing of a phrase in a language that it cannot read.
    first = scores.get(SEMANTIC) if not scene.question.unread else None
    cosines = first if first is not None else np.full(len(rows), np.nan)
    if MULTILINGUAL in scores:
        cosines = np.fmax(cosines, on_first_scale(scores[MULTILINGUAL]))
    return rows, np.nan_to_num(cosines)


def _words_of(event: str, lexical: BoundLexical) -> list[_Word]:
    """What the phrase names: words that say something, nouns without their particles, and the other words for each."""
    others, words = expansions(event, dict.fromkeys(tokenize(event))), dict[str, bool]()
    grammar = grammar_of(event)
    for token in tokenize(event):
        if not grammar_of(token) and token_weight(token) == FULL_WEIGHT:
            words.setdefault(token, False)
    written = re.findall(r"\w+", event)
    nouns = [noun for noun in (grammar.nouns(event) if grammar else ()) if grammar_of(noun)]
    for noun in nouns:
        words[noun] = noun == nouns[-1] and written[-1].startswith(noun)
    if not words:  # what the grammar takes for a verb
        words = {word: word == written[-1] for word in filter(_says, written)}
    found = []
    for word, is_last in words.items():
        own = frozenset(tokenize(word))
        if not own:
            continue
        as_written = _as_written(word, written)
        says_change, happens = (_pattern(name).fullmatch(as_written) is not None for name in ("changes", "happenings"))
        sort, thing = (_group_of(word, as_written, event, group) for group in ("same_events", "same_things"))
        # What was done is said by a participle, and where nouns stand in a row by the last of them, if nobody says it.
        inflected = _pattern("done").fullmatch(as_written) is not None
        done = inflected and (is_last or not grammar)
        faint = says_change or happens or done or (is_last and not sort and not any(map(lexical.is_held, own)))
        weight = max(lexical.rarity(sorted(own))) * (FAINT_WORD if faint else 1.0)
        synonyms = tuple(tokens for other in others.get(word, ()) if (tokens := frozenset(tokenize(other))))
        found.append(
            _Word(word, own, synonyms, weight, faint, inflected or says_change, says_change, happens, sort, thing)
        )
    return found


def _group_of(word: str, as_written: str, event: str, name: str) -> re.Pattern[str] | None:
    """The group of words that the word is of, by itself or with its neighbours: the go-live, turned down."""
    start = event.lower().find(as_written)
    end = start + len(as_written)
    for group in _groups(name):
        if group.fullmatch(as_written) or group.fullmatch(word):
            return group
        if start >= 0 and any(match.start() < end and start < match.end() for match in group.finditer(event)):
            return group
    return None


def _as_written(token: str, written: Sequence[str]) -> str:
    return next((word.lower() for word in written if token in tokenize(word)), token)


def _only(pattern: re.Pattern[str], phrase: str) -> bool:
    """Whether all that the phrase names is of the pattern."""
    grammar = grammar_of(phrase)
    named = grammar.nouns(phrase) if grammar else [w for w in re.findall(r"\w+", phrase.lower()) if _says(w)]
    return bool(named) and all(pattern.fullmatch(word) for word in named)


def _says(word: str) -> bool:
    return any(token_weight(token) == FULL_WEIGHT for token in tokenize(word))


def _coverage(
    words: Sequence[_Word], memories: Sequence[Memory], translated: Sequence[TranslatedWords | None],
    changed: BoolArray, tells: BoolArray,
) -> tuple[FloatArray, BoolArray, BoolArray]:  # fmt: skip
    """The share of the words that each memory tells by itself, by weight; whether it holds the weightiest; and whether
    it tells of an event of the same sort.
    """
    # What happened may be told in many ways; to what or to whom, is what tells one such event from another.
    solid = [word for word in words if not word.faint]
    needed = [word for word in solid if word.sort is None] or solid or words
    rarest = max(needed, key=lambda word: word.weight)
    total = sum(word.weight for word in words)
    shares, holds, of_sort = np.zeros(len(memories)), *np.zeros((2, len(memories)), dtype=np.bool_)
    for at, memory in enumerate(memories):
        text = without_event_phrases(_read(memory))
        tokens, spoken = frozenset(tokenize(text)), SpokenWords(text)
        beginnings = frozenset(letters(word)[:_STEM_LETTERS] for word in re.findall(r"\w+", text))
        for word in words:
            held = _held(word, tokens, spoken, beginnings, bool(changed[at]))
            if not held and (other := translated[at]) is not None and other.hold(word.text):
                held = ANOTHER_WORD
            if word.happens and tells[at]:
                held = max(held, HAPPENED if tokens.isdisjoint(_words_of_trouble()) else ANOTHER_WORD)
            if word.sort is not None and word.sort.search(text):
                held, of_sort[at] = max(held, ANOTHER_WORD), True
            if word.thing is not None and word.thing.search(text):
                held = max(held, ANOTHER_WORD)
            shares[at] += held * word.weight / total
            holds[at] |= word is rarest and held > 0
    return shares, holds, of_sort


def _read(memory: Memory) -> str:
    return f"{memory.title or ''}\n{memory.content[:READ_CHARACTERS]}"


def _held(word: _Word, tokens: frozenset[str], spoken: SpokenWords, beginnings: frozenset[str], changed: bool) -> float:
    if spoken.holds(word.text) or (word.changes and changed):
        return 1.0
    if word.text.isdigit() and not spoken.says(word.text):  # 9 within 9,100 is another number
        return 0.0
    if word.own <= tokens:  # 심사 within 재심사 is another thing
        return 1.0 if word.text.isascii() or spoken.begins(word.text) else WITHIN_A_WORD
    if word.faint and word.inflected and not word.text.isascii() and letters(word.text)[:_STEM_LETTERS] in beginnings:
        return 1.0
    return ANOTHER_WORD if any(other <= tokens for other in word.others) else 0.0


@cache
def _words_of_trouble() -> frozenset[str]:
    return frozenset(tokenize(" ".join(each(lambda pack: pack.memories.trouble))))


@cache
def _groups(name: str) -> tuple[re.Pattern[str], ...]:
    """Words that stand for one another in telling of events, of all languages together."""
    groups = [getattr(pack.times, name) for pack in PACKS]
    words = ("|".join(group[key] for group in groups if key in group) for key in dict.fromkeys(chain(*groups)))
    return tuple(re.compile(rf"(?<![a-z])(?:{alternative})(?![a-z])", re.IGNORECASE) for alternative in words)


@cache
def _literal(group: re.Pattern[str]) -> tuple[str, ...]:
    """The words of a group that are written out or differ in their endings alone, as they are indexed."""
    words = (re.sub(r"\\w[*+]$|s\?$", "", word) for word in re.split(r"\||\(\?:|\)", group.pattern))
    return tuple(dict.fromkeys(token for word in words if word.isalpha() for token in tokenize(word)))


@cache
def _pattern(name: str) -> re.Pattern[str]:
    if name == "corrections":
        return re.compile(alternatives(lambda pack: pack.work.corrections), re.IGNORECASE)
    return re.compile(alternatives(lambda pack: getattr(pack.times, name)), re.IGNORECASE)


def _window(scene: Scene, phrase: EventPhrase, row: int, query: Query) -> Window:
    """The days that the phrase counts from the event's: the first day that its text names, or that on which it was
    made. What is open goes up to the end of the day of asking.
    """
    columns = scene.columns
    told = int(columns["days_told"][row]) & ((1 << DAY_BITS) - 1)
    by_text = 0 < told < MONTHS_FROM and told * DAY_MS <= scene.at
    at = (told if by_text else int(columns["created"][row]) // DAY_MS) * DAY_MS
    num = int(columns["num"][row])
    memory = scene.bodies.of([num]).memories[num]
    title = title_of(memory) if withheld(memory, query.scopes) is None else None
    event = DatedEvent(memory.id, memory.handle, title, day(at), "its text" if by_text else "when it was made")
    start = 0 if phrase.first is None else at + phrase.first * DAY_MS
    now = (scene.at // DAY_MS + 1) * DAY_MS
    end = max(now, at + DAY_MS) if phrase.end is None else at + phrase.end * DAY_MS
    return Window(phrase.text, start, end, event=event)
