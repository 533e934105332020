"""What the asker wants and is at: the kind of answer, the time asked about, the open file and the latest commands, and
how abstract the question is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from recallens.index.columns import code_of, table_of
from recallens.model.memory import Kind, Sector
from recallens.model.plan import Intent, Level, Window
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.salience import DAY_MS
from recallens.model.verdict import BoolArray, FloatArray, IntArray
from recallens.recall.plan import PLANNED_CHARACTERS
from recallens.recall.question import far_apart, level_of, level_of_memory
from recallens.recall.scene import Scene
from recallens.recall.select import head_of, memories_at
from recallens.recall.sources import inner_path
from recallens.recall.terms import Amounts, score_term
from recallens.recall.views import followed
from recallens.text.normalize import normalize
from recallens.text.tokenizer import tokenize

# An intent that was read out of the question is a guess, and weighs half of one that the caller states.
GUESSED: Final = 0.5
# A memory just outside the time that the question speaks of may still be meant: at this many days, or at the length of
# the window if that is longer, it keeps 37 percent.
SLACK_DAYS: Final = 7.0
LEAST_MATCH: Final = 0.01

# How well a row is about the open file: it names it or is cut from it; it names one of that name; it lies beside it;
# its words are those of the file's name.
SAME_FILE, SAME_NAME, SAME_FOLDER, SAME_WORDS = 1.0, 0.5, 0.3, 0.5
LATEST_COMMANDS: Final = 5

_HOW_KINDS: Final = table_of((Kind.SKILL, Kind.PATTERN, Kind.LESSON))
_ISSUE_KINDS: Final = table_of((Kind.GOTCHA, Kind.LESSON))
_EVENT_KINDS: Final = table_of((Kind.EPISODE, Kind.OBSERVATION, Kind.DECISION))


# ── the kind of answer ──


@score_term("intentMatch")
def intent_match(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight · how well the row is the kind of answer that is wanted, from 0 to 1 (the specification's preferences)."""
    plan = scene.question.plan
    if plan is None or plan.intent is None or not len(pool):
        return None
    preference = _PREFERENCES.get(plan.intent)
    if preference is None:
        return None
    value = preference(scene, pool)
    computed = value > 0
    scale = weight if plan.intent_given else weight * GUESSED
    return np.where(computed, scale * value, 0.0), computed, {"weight": scale}


def _of_kind_or_sector(scene: Scene, pool: Pool, kinds: BoolArray, sector: Sector) -> BoolArray:
    columns, rows = scene.columns, pool.rows
    either: BoolArray = kinds[columns["kind"][rows]] | (columns["sector"][rows] == code_of(sector))
    return either


def _confident_guides(scene: Scene, pool: Pool) -> FloatArray:
    """How to do it: skills and patterns, those first that are surest."""
    guides = _of_kind_or_sector(scene, pool, _HOW_KINDS, Sector.PROCEDURAL)
    return np.where(guides, scene.columns["confidence"][pool.rows], 0.0)


def _events(scene: Scene, pool: Pool) -> FloatArray:
    """What happened: episodes. Their order in time is for the surface that lists them."""
    return _of_kind_or_sector(scene, pool, _EVENT_KINDS, Sector.EPISODIC).astype(np.float64)


def _issues(scene: Scene, pool: Pool) -> FloatArray:
    """Known issues: gotchas, and what names the same files and symbols."""
    return 0.5 * _ISSUE_KINDS[scene.columns["kind"][pool.rows]] + 0.5 * _exact_names(scene, pool)


def _exact_names(scene: Scene, pool: Pool) -> FloatArray:
    """The share of the question's files, symbols and other exact names that each row carries."""
    return scene.score("symbolic", pool.rows) if "symbolic" in scene.views else np.zeros(len(pool))


def _newest(scene: Scene, pool: Pool) -> FloatArray:
    """The environment: the latest word on it."""
    created = scene.columns["created"][pool.rows].astype(np.float64)
    live = created[pool.live]
    if len(live) < 2 or live.max() == live.min():
        return np.zeros(len(pool))
    newness: FloatArray = np.clip((created - live.min()) / (live.max() - live.min()), 0.0, 1.0)
    return newness


_PREFERENCES: Final = {
    Intent.HOW_TO_DO: _confident_guides,
    Intent.WHAT_HAPPENED: _events,
    Intent.KNOWN_ISSUES: _issues,
    Intent.ENVIRONMENT: _newest,
    Intent.CODE_STRUCTURE: _exact_names,
}


# ── the time asked about ──


@score_term("timeMatch")
def time_match(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight · 1 inside a window of the question, and exp(−days outside / slack) beyond it; the best of its windows."""
    plan = scene.question.plan
    if plan is None or not plan.windows or not len(pool):
        return None
    match = _closeness(scene.columns["created"][pool.rows].astype(np.float64), plan.windows)
    computed = match >= LEAST_MATCH
    return np.where(computed, weight * match, 0.0), computed, {"weight": weight}


def _closeness(created: FloatArray, windows: Sequence[Window]) -> FloatArray:
    best = np.zeros(len(created))
    for window in windows:
        outside = np.maximum(np.maximum(window.start - created, created - (window.end - 1)), 0.0) / DAY_MS
        slack = max(SLACK_DAYS, (window.end - window.start) / DAY_MS)
        best = np.maximum(best, np.exp(-outside / slack))
    return best


# ── the work at hand ──


class WorkAtHand(Struct, frozen=True, eq=False):
    """The open file and the latest commands, as the index knows them. Words are by number; a word that nobody wrote
    has a number that no row has.
    """

    names_file: BoolArray  # rows that name the open file in full
    names_last_part: BoolArray  # rows that name it, in full or by its last part
    file_words: Sequence[int]
    commands: Sequence[Sequence[int]]


@score_term("actionability")
def actionability(scene: Scene, pool: Pool, query: Query) -> Amounts | None:
    """score · (file match · its weight + command match · its weight), where something was said of the work at hand."""
    situation = query.situation
    if not situation.working or not len(pool):
        return None
    work = _work_at_hand(scene, query)
    file = np.zeros(len(pool))
    if situation.open_file is not None:
        file = _file_match(scene, work, pool.rows, situation.open_file)
    command = np.zeros(len(pool))
    for words in work.commands:  # the share of a command's words that the row holds; the best of the commands
        command = np.maximum(command, _held_share(scene, words, pool.rows))
    share = situation.file_match * file + situation.command_match * command
    computed = share > 0
    stats = {"fileMatch": situation.file_match, "commandMatch": situation.command_match}
    return np.where(computed, pool.score * share, 0.0), computed, stats


def _work_at_hand(scene: Scene, query: Query) -> WorkAtHand:
    reader, _ns, columns = scene.reader, scene.state.key, scene.columns
    file = normalize(query.situation.open_file or "").replace("\\", "/")
    name = file.rsplit("/", 1)[-1]
    stem = tokenize(name.rpartition(".")[0] or name)
    commands = [tokenize(command) for command in query.situation.commands[:LATEST_COMMANDS]]
    words = sorted({word for text in (stem, *commands) for word in text})
    numbers = reader.terms.numbers(words) if words else {}
    hits = reader.terms.labelled([(value, "path") for value in sorted({file, name})]) if file else []
    return WorkAtHand(
        names_file=columns.mask_of([num for value, _, num in hits if value == file]),
        names_last_part=columns.mask_of([num for _, _, num in hits]),
        file_words=[numbers.get(word, -1) for word in stem],
        commands=[[numbers.get(word, -1) for word in command] for command in commands if command],
    )


def _file_match(scene: Scene, work: WorkAtHand, rows: IntArray, file: str) -> FloatArray:
    match = np.maximum(SAME_FILE * work.names_file[rows], SAME_NAME * work.names_last_part[rows])
    match = np.maximum(match, _beside(scene, rows, file))
    by_words: FloatArray = np.maximum(match, SAME_WORDS * _held_share(scene, work.file_words, rows))
    return by_words


def _held_share(scene: Scene, numbers: Sequence[int], rows: IntArray) -> FloatArray:
    words = scene.words
    if words is None or not len(numbers):
        return np.zeros(len(rows))
    held: FloatArray = np.mean([words.holds([number], rows) for number in numbers], axis=0)
    return held


def _beside(scene: Scene, rows: IntArray, file: str) -> FloatArray:
    """What was cut from the open file, or from one in its folder. Where a vault lies is not known: by whole names."""
    documents = scene.columns["document"][rows]
    codes = [code for code in np.unique(documents).tolist() if code >= 0]
    match = np.zeros(len(rows))
    if not codes:
        return match
    names = scene.columns.names["document"].texts
    paths = scene.bodies.paths_of([names[code] for code in codes])
    folder = file.rpartition("/")[0]
    for code in codes:
        path = inner_path(paths.get(names[code], ""))
        inside = path.rpartition("/")[0]
        if path and _ends_with(file, path):
            match[documents == code] = SAME_FILE
        elif inside and folder and _ends_with(folder, inside):
            match[documents == code] = SAME_FOLDER
    return match


def _ends_with(longer: str, shorter: str) -> bool:
    return longer == shorter or longer.endswith(f"/{shorter}") or shorter.endswith(f"/{longer}")


# ── how abstract the question is ──


@score_term("levelMatch")
def level_match(scene: Scene, pool: Pool, query: Query) -> Amounts | None:
    """A share of the score more for a text as abstract as the question, less for one at the other end."""
    situation, plan = query.situation, scene.question.plan
    if not situation.levels or not len(pool):
        return None
    wanted = plan.level if plan is not None else level_of(query.text[:PLANNED_CHARACTERS])
    head = np.concatenate([head_of(scene, pool), followed(pool)])
    share = np.zeros(len(pool))
    for position, memory in zip(head.tolist(), memories_at(scene, pool, head), strict=True):
        share[position] = _share(wanted, level_of_memory(memory), situation.same_level, situation.far_level)
    stats = {"sameLevel": float((share > 0).sum()), "farMismatch": float((share < 0).sum())}
    return pool.score * share, share != 0.0, stats


def _share(wanted: Level, level: Level, same: float, far: float) -> float:
    if level is wanted:
        return same
    return -far if far_apart(wanted, level) else 0.0
