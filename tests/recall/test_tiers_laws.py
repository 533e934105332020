"""The laws of the tiers over random stores without vectors, where relations and recency have something to find."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import taking
from recallens.engine import Engine
from recallens.model.memory import IdSource
from recallens.model.query import GRAPH_FLOOR
from recallens.model.snapshot import Snapshot
from standing import FixedClock
from worlds import WORDS, World, a_folder, populate, questions, worlds

few = taking(30)
ties = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.sampled_from((0.1, 0.2, 0.5, 1.0))), max_size=12)
asked = st.lists(
    st.builds(
        lambda question, more: {**question, **more},
        questions,
        st.fixed_dictionaries(
            {},
            optional={
                "budget": st.integers(1, 900),
                "tokens": st.integers(1, 200),
                "files": st.just(["src/app.py"]),
                "graph_floor": st.sampled_from((0.0, 0.2, 0.6)),
                "text": st.sampled_from((*WORDS, "how to deploy", "배포 방법", "zebra")),
            },
        ),
    ),
    min_size=1,
    max_size=3,
)


def fill(engine: Engine, world: World, tied: list[tuple[int, int, float]]) -> list[str]:
    ids = populate(engine, world)
    for one, other, confidence in tied:
        if one != other and max(one, other) < len(ids):
            engine.relate(ids[one], ids[other], confidence=confidence)
    return ids


def check(snapshot: Snapshot, floor: float) -> None:
    for rung in snapshot.filters:
        assert rung.considered >= rung.admitted >= rung.exempt >= 0
    for before, after in pairwise(snapshot.filters):
        assert before.admitted == after.considered
    budget = snapshot.budget
    assert budget.used is not None
    assert 0 <= budget.used <= budget.chars
    names = [rung.name for rung in snapshot.filters]
    for result in snapshot.results:
        parts = dict(result.scoreDecomposition)
        assert parts.pop("final") == pytest.approx(sum(parts.values()), abs=1e-9)
        assert [name for name in names if name in result.admittedBy] == list(result.admittedBy)
        assert result.provenance is not None
        assert result.provenance.safety != "blocked"
        assert (result.graphPath is not None) is (result.servedBy == "graph")
        if result.graphPath is not None:
            assert result.graphEdgeConfidences is not None
            assert result.graphRelations is not None
            assert len(result.graphEdgeConfidences) == len(result.graphRelations) == len(result.graphPath) - 1
            assert result.graphPath[-1] == result.memoryId
            assert min(result.graphEdgeConfidences) >= floor


@given(worlds(most=12, least=4), ties, asked)
@few
def test_ladder_paths_parts_and_budget_hold_in_any_store(
    world: World, tied: list[tuple[int, int, float]], asked: list[dict[str, Any]]
) -> None:
    clock = FixedClock()
    with (
        a_folder() as folder,
        Engine.open(folder / "s.db", encoder="none", clock=clock, ids=IdSource(clock, lambda bits: 0)) as engine,
    ):
        ids = fill(engine, world, tied)
        for question in asked:
            if question["mode"] == "semantic":
                question = {**question, "mode": "hybrid"}
            plain = engine.xray(**question)
            check(plain, question.get("graph_floor", GRAPH_FLOOR))
            seen = engine.xray(**question, watch=[ids[0], ids[-1]])
            assert (seen.results, seen.filters, seen.nearMisses) == (plain.results, plain.filters, plain.nearMisses)
