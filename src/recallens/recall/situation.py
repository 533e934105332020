"""Ranking by what the asker is at: the open file, the latest commands, and how abstract the question is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from recallens.model.plan import Level
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import FloatArray, IntArray, Term
from recallens.recall.fusion import followed, head_of, texts_of
from recallens.recall.plan import PLANNED_CHARACTERS
from recallens.recall.question import far_apart, level_of, level_of_memory
from recallens.recall.scene import Scene
from recallens.recall.sources import inner_path

# How well a row is about the open file: it names it or is cut from it; it names one of that name; it lies beside it;
# its words are those of the file's name.
SAME_FILE, SAME_NAME, SAME_FOLDER, SAME_WORDS = 1.0, 0.5, 0.3, 0.5
LATEST_COMMANDS: Final = 5


def actionability(scene: Scene, pool: Pool, query: Query) -> Term | None:
    """score · (file match · its weight + command match · its weight), where something was said of the work at hand."""
    if scene.work is None or not len(pool):
        return None
    situation = query.situation
    file = file_match(scene, pool, situation.open_file) if situation.open_file is not None else np.zeros(len(pool))
    command = command_match(scene, pool)
    share = situation.file_match * file + situation.command_match * command
    computed = share > 0
    stats = {"fileMatch": situation.file_match, "commandMatch": situation.command_match}
    return Term("actionability", np.where(computed, pool.score * share, 0.0), computed, stats)


def file_match(scene: Scene, pool: Pool, file: str) -> FloatArray:
    assert scene.work is not None
    work, rows = scene.work, pool.rows
    match = np.maximum(SAME_FILE * work.named[rows], SAME_NAME * work.alike[rows])
    match = np.maximum(match, _beside(scene, rows, file))
    by_words: FloatArray = np.maximum(match, SAME_WORDS * held_share(scene, work.file_words, rows))
    return by_words


def command_match(scene: Scene, pool: Pool) -> FloatArray:
    """The share of a command's words that the row holds; the best of the commands."""
    assert scene.work is not None
    best = np.zeros(len(pool))
    for words in scene.work.commands:
        best = np.maximum(best, held_share(scene, words, pool.rows))
    return best


def held_share(scene: Scene, numbers: Sequence[int], rows: IntArray) -> FloatArray:
    if scene.words is None or not len(numbers):
        return np.zeros(len(rows))
    held: FloatArray = np.mean([scene.words.holds([number], rows) for number in numbers], axis=0)
    return held


def _beside(scene: Scene, rows: IntArray, file: str) -> FloatArray:
    """What was cut from the open file, or from one in its folder. Where a vault lies is not known: by whole names."""
    documents = scene.columns["document"][rows]
    codes = [code for code in np.unique(documents).tolist() if code >= 0]
    match = np.zeros(len(rows))
    if not codes or scene.paths is None:
        return match
    names = scene.columns.names["document"].texts
    paths = scene.paths([names[code] for code in codes])
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


def level_match(scene: Scene, pool: Pool, query: Query) -> Term | None:
    """A share of the score more for a text as abstract as the question, less for one at the other end."""
    situation = query.situation
    if not situation.levels or not len(pool):
        return None
    wanted = scene.plan.level if scene.plan is not None else level_of(query.text[:PLANNED_CHARACTERS])
    head = np.concatenate([head_of(scene, pool), followed(pool)])
    share = np.zeros(len(pool))
    for position, memory in zip(head.tolist(), texts_of(scene, pool, head), strict=True):
        share[position] = _share(wanted, level_of_memory(memory), situation.same_level, situation.far_level)
    stats = {"sameLevel": float((share > 0).sum()), "farMismatch": float((share < 0).sum())}
    return Term("levelMatch", pool.score * share, share != 0.0, stats)


def _share(wanted: Level, level: Level, same: float, far: float) -> float:
    if level is wanted:
        return same
    return -far if far_apart(wanted, level) else 0.0
