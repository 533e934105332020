"""Which rows of the index may say what a text corrects: most texts that say "now" or "no longer" correct nothing.

What stands here is what `corrections` asks of a memory, weakened to what the index knows: a row has the words of its
tags and its summary too.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from recallens.index.bm25 import Bm25
from recallens.index.columns import Columns, code_of, table_of
from recallens.index.lexical import LexicalIndex, bind_lexical
from recallens.ingest.corrections import (
    HISTORY,
    LEAST_SHARED,
    LONGEST_STATEMENT,
    NAMES_OLD,
    SAME_FRAME,
    SAME_SUBJECT,
    Correction,
)
from recallens.model.memory import Memory, Status
from recallens.model.verdict import BoolArray, IntArray
from recallens.store.protocols import Reader

# How much of a correcting text is looked for, and among how many memories like it the corrected one is.
LONGEST_QUESTION: Final = 400
CANDIDATES: Final = 12
# So many rows are read word by word; where more may be corrected, reading the texts costs no more.
MOST_READ: Final = 1_000
_HISTORY: Final = table_of(tuple(HISTORY))
# Shares of weights are added up in another order here than there.
EPSILON: Final = 1e-9


def may_be_stored(correction: Correction, memory: Memory, reader: Reader, index: LexicalIndex) -> bool:
    """Whether some older row may say what is corrected; in doubt it may."""
    if correction.old_sizes or not memory.content.isascii():  # amounts and words of other scripts are not indexed so
        return True
    asked = {*correction.words, *correction.tokens, *correction.old, *correction.topic}
    numbers = reader.terms.numbers(sorted(asked))
    rows = _holding(index, numbers, correction.words)
    rows = rows[_are_older_statements(index.columns, memory, rows)]
    asked -= correction.tokens - {*correction.words, *correction.topic, *correction.old}
    held = {word: index.holds(numbers[word], rows) for word in asked if word in numbers}
    shared = _count(held, correction.words, len(rows))
    on_topic = _count(held, correction.topic, len(rows)) > 0 if correction.topic else np.ones(len(rows), dtype=np.bool_)
    if correction.old:
        named = _count(held, correction.old, len(rows)) >= NAMES_OLD * len(correction.old)
        return bool((named & on_topic & (shared >= LEAST_SHARED)).any())
    weights = {word: 1.0 / (1 + place) for place, word in enumerate(correction.words)}
    subject = sum((weights[word] * held[word] for word in weights if word in held), start=np.zeros(len(rows)))
    if (subject >= SAME_SUBJECT * sum(weights.values()) - EPSILON).any():
        return True
    rows, shared = rows[on_topic], shared[on_topic]
    if len(rows) > MOST_READ:
        return True
    tokens, light = {numbers[token] for token in correction.tokens if token in numbers}, index.light_words(reader)
    for row, count in zip(rows.tolist(), shared.tolist(), strict=True):
        terms = set(index.sequence(row).tolist())
        fewer = min(len(correction.words), len(terms - light))
        common = len(terms & tokens)
        every = len(correction.tokens) + len(terms) - common
        same_words = count >= LEAST_SHARED and count >= SAME_SUBJECT * fewer - EPSILON
        if same_words or common >= SAME_FRAME * every - EPSILON:
            return True
    return False


def most_alike(memory: Memory, reader: Reader, index: LexicalIndex) -> list[int]:
    """The numbers of the older statements that say most in the memory's words, by BM25."""
    asked = bind_lexical(reader, index, memory.content[:LONGEST_QUESTION], formula=Bm25(), prefixes="none")
    chosen = asked.best_of(_are_older_statements(index.columns, memory, asked.matching), CANDIDATES)
    numbers: list[int] = index.columns["num"][chosen.rows].tolist()
    return numbers


def _holding(index: LexicalIndex, numbers: dict[str, int], words: Collection[str]) -> IntArray:
    """The rows that hold any of the words."""
    lists = [postings.rows for word in words if word in numbers for postings in index.postings(numbers[word])]
    return np.unique(np.concatenate(lists)).astype(np.int64) if lists else np.empty(0, dtype=np.int64)


def _are_older_statements(columns: Columns, memory: Memory, rows: IntArray) -> BoolArray:
    """Which of the rows a text of this memory's project and age may correct."""
    fits: BoolArray = columns["alive"][rows] & (columns["status"][rows] == code_of(Status.ACTIVE))
    fits &= (columns["chars"][rows] <= LONGEST_STATEMENT) & ~_HISTORY[columns["kind"][rows]]
    created = columns["created"][rows]
    fits &= (created < memory.created) | ((created == memory.created) & (columns["num"][rows] < memory.num))
    if memory.project is not None:
        projects = columns["project"][rows]
        fits &= (projects < 0) | (projects == columns.names["project"].find(memory.project))
    return fits


def _count(held: dict[str, BoolArray], words: Collection[str], size: int) -> IntArray:
    count = np.zeros(size, dtype=np.int64)
    for word in words:
        if word in held:
            count += held[word]
    return count
