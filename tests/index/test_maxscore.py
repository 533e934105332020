"""The best of some rows are those that adding up every posting gives, in the same order."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from recallens import Draft, Engine
from recallens.index.bm25 import Bm25
from recallens.index.lexical import bind_lexical
from recallens.index.maxscore import ScoredAmong

NAMES = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("anu", "elo", "iri", "oba", "umi")]


@pytest.fixture
def stored(engine: Engine) -> Engine:
    """Words as unlike in how common they are as those of a language, in several segments, some memories forgotten."""
    chance = Random(7)
    weights = [1.0 / (1 + place) for place in range(len(NAMES))]
    for _ in range(4):
        texts = [" ".join(chance.choices(NAMES, weights, k=chance.randint(3, 20))) for _ in range(90)]
        batches = engine.memories.remember_many([Draft(text) for text in texts], dedupe=False)
        gone = [remembered.id for batch in batches for remembered in batch][::9]
        for id in gone:
            engine.forget(id)
        engine.search(texts[0], record=False)
    return engine


@pytest.mark.parametrize("k", [1, 12, 400])
def test_the_best_are_those_of_the_whole_sum(stored: Engine, k: int) -> None:
    chance = Random(k)
    with stored.core.snapshot("default") as snapshot:
        assert snapshot is not None
        reader, _, version = snapshot
        index = version.lexical
        rows = np.flatnonzero(index.columns["alive"] & (index.columns["num"] % 3 > 0))
        among = ScoredAmong(index, rows, Bm25())
        for _ in range(40):
            words = chance.sample(NAMES, chance.randint(1, 24))
            allowed = rows % 5 != chance.randint(0, 4)
            chosen = np.zeros(index.columns.size, dtype=np.bool_)
            chosen[rows[allowed]] = True
            whole = bind_lexical(reader, index, " ".join(words), formula=Bm25(), prefixes="none")
            expected = whole.best_of(chosen[whole.matching], k).rows
            numbers = list(reader.terms.numbers(words).values())
            assert among.best(numbers, allowed, k).tolist() == expected.tolist()
