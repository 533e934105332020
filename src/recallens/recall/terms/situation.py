"""What the asker is at: the open file, the latest commands, how abstract the question is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from recallens.model.plan import Level
from recallens.model.pool import Pool
from recallens.model.query import Query
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

# How well a row is about the open file: it names it or is cut from it; it names one of that name; it lies beside it;
# its words are those of the file's name.
SAME_FILE, SAME_NAME, SAME_FOLDER, SAME_WORDS = 1.0, 0.5, 0.3, 0.5
LATEST_COMMANDS: Final = 5


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
