"""Documents that others mention by their titles, as words side by side: a question often asks of one what only the
other says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from recallens.index.segments import Terms
from recallens.model.verdict import BoolArray, IntArray
from recallens.recall.scene import Scene
from recallens.text.tokenizer import tokenize

# Rows whose first words stand in a text are read to see whether that is their title: so many, and none of a beginning
# that more rows share, which is no name.
MOST_BEGINNINGS, MOST_ALIKE = 40, 8
# Tokens from which on a text that nobody spoke is a document, and no note of a sentence.
DOCUMENT: Final = 40
_IN_BRACKETS: Final = re.compile(r"\s*\([^()]*\)\s*$")


def documents(scene: Scene, rows: IntArray) -> BoolArray:
    """Which of the rows are documents: neither turns of a talk nor notes of a sentence."""
    columns = scene.columns
    turns = (columns["author"][rows] >= 0) & (columns["position"][rows] >= 0)
    long: BoolArray = columns["tokens"][rows] >= DOCUMENT
    return long & ~turns


def titles_of(scene: Scene, rows: IntArray) -> dict[int, Terms]:
    """The words of the title of each row that has one, without what stands behind it in brackets: Nude (band)."""
    nums = scene.columns["num"][rows].tolist()
    memories = scene.bodies.of(nums).memories
    titles = {}
    for row, num in zip(rows.tolist(), nums, strict=True):
        # A row's words begin with those of its title.
        if title := memories[num].title:
            titles[row] = scene.index.lexical.sequence(row)[: len(tokenize(_IN_BRACKETS.sub("", title)))]
    return titles


def text_of(scene: Scene, row: int) -> Terms:
    """Its words without the title."""
    num = int(scene.columns["num"][row])
    return scene.index.lexical.sequence(row)[len(tokenize(scene.bodies.of([num]).memories[num].title or "")) :]


def mentioned_in(text: Terms, titles: Mapping[int, Terms]) -> set[int]:
    """The rows whose titles stand in the text."""
    whole = text.tobytes()
    return {row for row, title in titles.items() if len(title) and _holds(whole, title.tobytes(), text.itemsize)}


def _holds(whole: bytes, part: bytes, size: int) -> bool:
    at = whole.find(part)
    while at >= 0 and at % size:
        at = whole.find(part, at + 1)
    return at >= 0


def mentions(scene: Scene, nums: Sequence[int]) -> list[tuple[int, int]]:
    """Each of these memories with every other whose title, of two words or more, stands in its text."""
    columns, lexical, ties = scene.columns, scene.index.lexical, list[tuple[int, int]]()
    rows = columns.locate(nums)
    rows = rows[rows >= 0]
    own = titles_of(scene, rows[documents(scene, rows)])
    for row, title in own.items():
        text = text_of(scene, row)
        begun = lexical.beginning_in(text, MOST_ALIKE)
        begun = begun[columns["alive"][begun] & (begun != row)][:MOST_BEGINNINGS]
        others = {other: named for other, named in titles_of(scene, begun).items() if len(named) > 1}
        same = title.tobytes()
        named = sorted(other for other in mentioned_in(text, others) if others[other].tobytes() != same)
        ties += [(int(columns["num"][row]), int(columns["num"][other])) for other in named]
    return ties
