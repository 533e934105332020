"""The laws of the ledger over real recalls: random stores, random questions, both presets."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from laws import taking
from recallens.engine import Engine
from recallens.index import resident
from recallens.model.ledger import Ledger
from recallens.model.recall import Recall
from recallens.model.verdict import Gate
from recallens.recall import gates, pipeline
from recallens.recall.gates import FilterRule
from worlds import World, a_folder, open_world, populate, populated, questions, worlds

few = taking(25)
fewer = taking(15)
Question = dict[str, Any]
asked = st.lists(questions, min_size=1, max_size=4)


def ask(engine: Engine, question: Question) -> Recall:
    return engine.recall(engine.recalls.query(**question))


def answer(recall: Recall) -> list[tuple[str, float]]:
    return [(result.memory.id, result.score) for result in recall.results]


@given(worlds(), asked)
@few
def test_every_score_is_the_sum_of_its_terms(world: World, asked: list[Question]) -> None:
    with populated(world) as engine:
        for question in asked:
            recall = ask(engine, question)
            pool = recall.ledger.replay()
            parts = recall.ledger.parts_of(np.arange(len(pool)))
            for position in range(len(pool)):  # rejected rows keep their score too
                assert pool.score[position] == pytest.approx(sum(parts[position].values()), abs=1e-9)
            for result in recall.results:
                assert result.score == pytest.approx(sum(result.parts.values()), abs=1e-9)


@given(worlds(), asked)
@few
def test_replay_gives_the_same_ids_order_and_scores(world: World, asked: list[Question]) -> None:
    with populated(world) as engine:
        for question in asked:
            recall = ask(engine, question)
            stored = json.loads(json.dumps(recall.ledger.to_json(), ensure_ascii=False))
            pool = Ledger.from_json(stored).replay()
            order = pool.ranked()
            replayed = [(pool.ids[at].decode(), float(pool.score[at])) for at in order]
            assert replayed == [(result.memory.id, result.score) for result in recall.results]


@given(worlds(), asked, st.randoms(use_true_random=False))
@few
def test_recorded_gates_commute(world: World, asked: list[Question], chance: random.Random) -> None:
    with populated(world) as engine:
        for question in asked:
            ledger = ask(engine, question).ledger
            entries = list(ledger.entries)
            for _, run in itertools.groupby(range(len(entries)), key=lambda at: isinstance(entries[at].verdict, Gate)):
                places = list(run)
                if isinstance(entries[places[0]].verdict, Gate):
                    shuffled = [entries[at] for at in places]
                    chance.shuffle(shuffled)
                    entries[places[0] : places[-1] + 1] = shuffled
            again, before = Ledger(ledger.query, tuple(entries)).replay(), ledger.replay()
            assert np.array_equal(again.live, before.live)
            assert np.array_equal(again.ranked(), before.ranked())


@given(worlds(), asked, st.randoms(use_true_random=False))
@fewer
def test_any_order_of_the_ladder_gives_the_same_answer(
    world: World, asked: list[Question], chance: random.Random
) -> None:
    def shuffled(*given: Any) -> tuple[FilterRule, ...]:
        rules = list(gates.filter_rules(*given))
        chance.shuffle(rules)
        return tuple(rules)

    with populated(world) as engine:
        for question in asked:
            expected = answer(ask(engine, question))
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(pipeline, "filter_rules", shuffled)
                assert answer(ask(engine, question)) == expected


@given(worlds(), asked)
@few
def test_each_filter_considers_what_the_one_before_admitted(world: World, asked: list[Question]) -> None:
    with populated(world) as engine:
        for question in asked:
            ledger = ask(engine, question).ledger
            runs = [
                [entry for _, entry in run]
                for is_gate, run in itertools.groupby(
                    ((isinstance(e.verdict, Gate), e) for e in ledger.entries), key=lambda pair: pair[0]
                )
                if is_gate
            ]
            for run in runs:
                for before, after in itertools.pairwise(run):
                    assert before.admitted == after.considered
                pushed = [entry.verdict.pushed for entry in run if entry.verdict.pushed]
                for (_, admitted), (considered, _) in itertools.pairwise(pushed):
                    assert admitted == considered


def contents(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    db = engine.core.store.connection
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in tables}


@given(worlds(), asked)
@fewer
def test_recall_writes_nothing(world: World, asked: list[Question]) -> None:
    with a_folder() as folder, open_world(folder / "store.db") as engine:
        populate(engine, world)
        engine.core.store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        def files() -> dict[str, str]:
            return {
                str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted(folder.rglob("*"))
                if path.is_file() and not path.name.endswith("-shm")
            }

        before = (contents(engine), engine.core.store.connection.total_changes(), files())
        for question in asked:
            ask(engine, question)
            engine.search(**question, record=False)
        assert (contents(engine), engine.core.store.connection.total_changes(), files()) == before


def compacting(patch: pytest.MonkeyPatch) -> None:
    """Thresholds at which even a store of a dozen rows is folded and written to a file."""
    patch.setattr(resident, "SMALLEST_IMAGE", 1)
    patch.setattr(resident, "LONGEST_TAIL", 2)
    patch.setattr(resident, "TAIL_SHARE", 0.1)


@given(worlds(), asked)
@fewer
def test_the_same_query_store_and_clock_give_the_same_bytes(world: World, asked: list[Question]) -> None:
    """However the derived state came to be: a row at a time, at once, folded, or mapped from a file."""
    with a_folder() as folder, open_world(folder / "store.db") as grown:
        populate(grown, world, ask_between=True)
        expected = [ask(grown, question).ledger.canonical() for question in asked]
        assert [ask(grown, question).ledger.canonical() for question in asked] == expected
        with open_world(folder / "store.db") as loaded:
            assert [ask(loaded, question).ledger.canonical() for question in asked] == expected
        with pytest.MonkeyPatch.context() as patch:
            compacting(patch)
            with open_world(folder / "store.db") as folded:
                assert [ask(folded, question).ledger.canonical() for question in asked] == expected
                assert folded.maintenance.publish() is True
                assert [ask(folded, question).ledger.canonical() for question in asked] == expected
            assert list(Path(f"{folder}/store.db.index").rglob("*.image"))
            with open_world(folder / "store.db") as mapped:
                assert [ask(mapped, question).ledger.canonical() for question in asked] == expected


@given(worlds(), worlds(most=6), asked)
@fewer
def test_growing_past_a_published_file_gives_the_same_bytes(world: World, later: World, asked: list[Question]) -> None:
    with a_folder() as folder, pytest.MonkeyPatch.context() as patch:
        compacting(patch)
        with open_world(folder / "store.db") as first:
            populate(first, world)
            first.maintenance.publish()
            first.core.clock.advance(days=1)
            populate(first, later, ask_between=True)
            expected = [ask(first, question).ledger.canonical() for question in asked]
            with open_world(folder / "store.db") as second:
                second.core.clock.advance(days=1)
                assert [ask(second, question).ledger.canonical() for question in asked] == expected


# Few results of many rows, and always a filter: what a view proposes first is rejected more often than not.
narrow = st.builds(
    lambda question, project, limit: {**question, "project": project, "limit": limit},
    questions, st.sampled_from(("p", "q")), st.integers(1, 2),
)  # fmt: skip


@given(worlds(most=40, least=20), st.lists(narrow, min_size=2, max_size=6))
@fewer
def test_filtering_late_equals_filtering_first(world: World, asked: list[Question]) -> None:
    """A filter pushed into the views at once, and one that refills after rejecting, give the same results."""
    with populated(world) as engine:
        for question in asked:
            late, first = [], []
            for share, answers in ((0.0, late), (1.1, first)):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(pipeline, "PUSH_SHARE", share)
                    answers.extend(answer(ask(engine, question)))
            assert [id for id, _ in late] == [id for id, _ in first]
            assert [score for _, score in late] == pytest.approx([score for _, score in first], abs=1e-9)


@given(worlds(most=30), st.sampled_from(("default", "classic")), st.sampled_from(("p", "q")))
@fewer
def test_a_result_passes_every_filter_that_was_asked_for(world: World, preset: str, project: str) -> None:
    with populated(world) as engine:
        recall = ask(engine, {"text": "cache deploy 인증", "preset": preset, "project": project, "limit": 30})
        at = engine.core.clock()
        for result in recall.results:
            memory = result.memory
            assert memory.project == project
            assert memory.zone != "quarantine"
            assert memory.status == "active" or (memory.status == "superseded" and memory.valid_until > at)
            assert memory.valid_from is None or memory.valid_from <= at
            assert memory.valid_until is None or at < memory.valid_until
        keys = [(-result.score, -result.memory.created, result.memory.id) for result in recall.results]
        assert keys == sorted(keys)


@given(worlds(most=12), st.integers(1, 5))
@example(World((), (), (), (), ()), 1)
@fewer
def test_a_longer_limit_only_adds_results_in_classic_keyword_mode(world: World, limit: int) -> None:
    """There no statistic is taken from the pool, so the first results do not depend on how many are asked for."""
    with populated(world) as engine:
        question = {"text": "cache token", "mode": "keyword", "preset": "classic"}
        short = answer(ask(engine, {**question, "limit": limit}))
        long = answer(ask(engine, {**question, "limit": 50}))
        if len(long) <= 2 * limit:
            assert short == long[:limit]
