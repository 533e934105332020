"""The laws of the snapshot over real recalls: random stores, random questions, both presets."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from laws import taking
from recallens.xray.explain import explain
from worlds import World, populated, questions, worlds

few = taking(25)
asked = st.lists(questions, min_size=1, max_size=3)


@given(worlds(), asked)
@few
def test_a_snapshot_of_any_recall_says_what_the_recall_did(world: World, asked: list[dict[str, Any]]) -> None:
    with populated(world) as engine:
        for question in asked:
            recall = engine.recall(engine.recalls.query(**question))
            if not recall.ledger.notes("plan"):
                continue
            snapshot = explain(recall.ledger)
            assert [result.memoryId for result in snapshot.results] == [result.memory.id for result in recall.results]
            for result in snapshot.results:
                parts = dict(result.scoreDecomposition)
                assert parts.pop("final") == pytest.approx(sum(parts.values()), abs=1e-9)
                assert set(result.admittedBy) <= {rung.name for rung in snapshot.filters}
            for rung in snapshot.filters:
                assert rung.considered >= rung.admitted >= rung.exempt >= 0
            for before, after in pairwise(snapshot.filters):
                assert before.admitted == after.considered
            if snapshot.filters:
                assert snapshot.filters[-1].admitted == len(snapshot.results)
            returned = {result.memoryId for result in snapshot.results}
            assert returned.isdisjoint(miss.memoryId for miss in snapshot.nearMisses)


@given(worlds(), asked)
@few
def test_only_measured_times_differ_between_two_recalls(world: World, asked: list[dict[str, Any]]) -> None:
    with populated(world) as engine:
        for question in asked:
            query = engine.recalls.query(**question)
            ledgers = [engine.recall(query).ledger for _ in range(2)]
            if not ledgers[0].notes("plan"):
                continue
            first, again = (explain(ledger) for ledger in ledgers)
            if first.tierExplain is not None and again.tierExplain is not None:
                tier = replace(again.tierExplain, latencyMs=first.tierExplain.latencyMs)
                again = replace(again, tierExplain=tier)
            assert replace(again, stages=first.stages) == first
