"""Sums kept by row say what sums over the whole namespace would say, to the last bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recallens.engine import Engine
from recallens.index.lexical import bind_lexical
from recallens.index.views import ScoredRows, added_up, distinct, largest
from recallens.ingest.draft import Draft
from recallens.recall.presets import DEFAULT

SIZE = 40


@given(st.lists(st.tuples(st.integers(0, SIZE - 1), st.floats(0.0, 9.0)), max_size=60))
def test_rows_are_added_up_as_a_dense_array_would(given: list[tuple[int, float]]) -> None:
    rows = np.array([row for row, _ in given], dtype=np.int32)
    values = np.array([value for _, value in given])
    dense = np.zeros(SIZE)
    for row, value in given:
        dense[row] += value
    known, (total,) = added_up(SIZE, rows, values)
    assert known.tolist() == sorted(set(rows.tolist())) == distinct(rows).tolist()
    assert total.tolist() == dense[known].tolist()
    scored = ScoredRows(known, total, total / 2.0)
    everywhere, some = np.arange(SIZE), np.array([3, 0, 3, SIZE - 1])
    assert scored.score_of(everywhere).tolist() == dense.tolist()
    assert scored.coverage_of(everywhere).tolist() == (dense / 2.0).tolist()
    assert scored.score_of(some).tolist() == dense[some].tolist()


@given(st.integers(1, 5), st.integers(6, 900), st.integers(0, 8), st.integers(1, 400), st.integers(0))
def test_the_kth_largest_is_that_of_all(k: int, size: int, missing: int, kinds: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    values = chance.integers(0, kinds, size).astype(np.float64)
    values[chance.integers(0, size, missing)] = np.nan
    assert np.array_equal(largest(values, k), np.sort(values)[-k], equal_nan=True)


def test_which_rows_hold_every_word(engine: Engine) -> None:
    texts = ("the ladder of gates", "gates alone", "a ladder alone", "neither")
    for text in texts:
        engine.remember(Draft(text), dedupe=False)
    with engine.core.snapshot("default") as snapshot:
        assert snapshot is not None
        reader, _, version = snapshot
        bound = bind_lexical(reader, version.lexical, "x", formula=DEFAULT.formula, prefixes="short")
        numbers = reader.terms.numbers(["ladder", "gate"])
        every = np.arange(4)
        assert bound.holds(list(numbers.values()), every).tolist() == [True, False, False, False]
        assert bound.holds([numbers["gate"]], every).tolist() == [True, True, False, False]
        assert bound.holds([-1], every).tolist() == [False] * 4


def test_a_memory_for_one_context_is_held_back_as_soon_as_it_is_written(engine: Engine) -> None:
    engine.remember(Draft("gates are open"), dedupe=False)
    before = engine.search("gates", record=False)
    engine.remember(Draft("gates are shut", scopes=("do-not-use-outside-this-context",)), dedupe=False)
    after = engine.search("gates", record=False)
    assert [one.memory.content for one in before.results] == [one.memory.content for one in after.results]


def test_a_section_that_nearly_made_it_is_called_by_its_file(engine: Engine) -> None:
    engine.memories.add_document("The gates have a handbook.", path="handbook.md")
    engine.remember(Draft("when do the gates open"), dedupe=False)
    recall = engine.search("when do the gates open", limit=1, record=False)
    assert [one.memory.document for one in recall.results] == [None]
    (told,) = recall.ledger.notes("identity")
    section = next(row for row in told["rows"].values() if row["path"] == "handbook.md")
    assert section["title"] == "The gates have a handbook."
