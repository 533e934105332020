"""Which rows of the index may say what a text corrects: most texts that say "now" or "no longer" correct nothing.

What stands here is what `corrections` asks of a memory, weakened to what the index knows: a row has the words of its
tags and its summary too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from msgspec import Struct

from recallens.index.bm25 import Bm25
from recallens.index.columns import Columns, table_of
from recallens.index.lexical import LexicalIndex
from recallens.index.maxscore import ScoredAmong
from recallens.ingest.corrections import (
    HISTORY,
    LEAST_SHARED,
    LONGEST_STATEMENT,
    NAMES_OLD,
    SAME_FRAME,
    SAME_SUBJECT,
    Correction,
)
from recallens.model.memory import Memory
from recallens.model.verdict import BoolArray
from recallens.store.protocols import Reader
from recallens.text.stopwords import query_weights
from recallens.text.tokenizer import tokenize

# How much of a correcting text is looked for, and among how many memories like it the corrected one is.
LONGEST_QUESTION: Final = 400
CANDIDATES: Final = 12
_HISTORY: Final = table_of(tuple(HISTORY))
# Shares of weights are added up in another order here than there.
EPSILON: Final = 1e-9


class OlderStatements:
    """The rows of one version that a text may correct; for texts of one project they are gathered once."""

    def __init__(self, reader: Reader, index: LexicalIndex) -> None:
        self._reader, self._index = reader, index
        self._by_project: dict[str | None, ScoredAmong] = {}

    def like(self, memory: Memory, correction: Correction) -> list[int]:
        """The numbers of those that say most in the memory's words, by BM25, without what cannot be corrected."""
        index, columns = self._index, self._index.columns
        asked = tokenize(memory.content[:LONGEST_QUESTION])
        wanted = {*asked, *correction.words, *correction.tokens, *correction.topic, *correction.old}
        numbers = self._reader.terms.numbers(sorted(wanted))
        words = [numbers[word] for word, weight in query_weights(asked).items() if weight > 0 and word in numbers]
        statements = self._of(memory.project)
        created = columns["created"][statements.rows]
        older = (created < memory.created) | (
            (created == memory.created) & (columns["num"][statements.rows] < memory.num)
        )
        alike = statements.best(words, older, CANDIDATES)
        if not correction.old_sizes and memory.content.isascii():  # what is indexed says nothing of amounts and stems
            sought = _Sought.of(correction, numbers)
            alike = alike[[sought.may_be_in(set(index.sequence(row).tolist())) for row in alike.tolist()]]
        found: list[int] = columns["num"][alike].tolist()
        return found

    def _of(self, project: str | None) -> ScoredAmong:
        if project not in self._by_project:
            rows = np.flatnonzero(_are_statements(self._index.columns, project))
            self._by_project[project] = ScoredAmong(self._index, rows, Bm25())
        return self._by_project[project]


class _Sought(Struct, frozen=True):
    """What a correction asks of a memory, by the numbers of words; -1 is one that no memory holds."""

    correction: Correction
    weights: dict[int, float]  # of the words, the first ones above all
    topic: frozenset[int]
    old: frozenset[int]
    tokens: frozenset[int]

    @staticmethod
    def of(correction: Correction, numbers: Mapping[str, int]) -> _Sought:
        topic, old, tokens = (
            frozenset(numbers.get(word, -1) for word in words)
            for words in (correction.topic, correction.old, correction.tokens)
        )
        weights = {numbers.get(word, -1): 1.0 / (1 + place) for place, word in enumerate(correction.words)}
        return _Sought(correction, weights, topic, old, tokens)

    def may_be_in(self, terms: set[int]) -> bool:
        """Whether a row with these words may say what is corrected; in doubt it may."""
        correction, shared = self.correction, len(terms & self.weights.keys())
        on_topic = not self.topic or bool(terms & self.topic)
        if correction.old:
            named = len(terms & self.old) >= NAMES_OLD * len(correction.old)
            return (named or bool(correction.measures)) and on_topic and shared >= LEAST_SHARED
        every = sum(1.0 / (1 + place) for place in range(len(correction.words)))
        if sum(self.weights[number] for number in terms & self.weights.keys()) >= SAME_SUBJECT * every - EPSILON:
            return True
        framed = len(terms & self.tokens) >= SAME_FRAME * len(correction.tokens) - EPSILON
        resized = bool(correction.measures) and shared > 0
        return on_topic and (shared >= LEAST_SHARED or resized or (shared > 0 and framed))


def _are_statements(columns: Columns, project: str | None) -> BoolArray:
    """Which of the rows a text of this project may correct."""
    fits: BoolArray = columns.active & (columns["chars"] <= LONGEST_STATEMENT) & ~_HISTORY[columns["kind"]]
    if project is not None:
        projects = columns["project"]
        fits &= (projects < 0) | (projects == columns.names["project"].find(project))
    return fits
