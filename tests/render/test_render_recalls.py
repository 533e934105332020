"""Real recalls, written: valid by the published schema, and the same bytes from a ledger that was stored."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from xray_schema import problems

from laws import taking
from recallens import Draft, Engine
from recallens.model.ledger import Ledger
from recallens.render import render, writers
from recallens.render.records import recall_record
from recallens.xray.explain import explain
from worlds import World, populated, questions, worlds

few = taking(15)
asked = st.lists(questions, min_size=1, max_size=3)


@given(worlds(), asked)
@few
def test_every_recall_is_valid_by_the_published_schema(world: World, asked: list[dict[str, Any]]) -> None:
    with populated(world) as engine:
        for question in asked:
            recall = engine.recall(engine.recalls.query(**question))
            if recall.ledger.notes("plan"):
                assert problems(json.loads(render(explain(recall.ledger), "json"))) == []


@given(worlds(), asked)
@few
def test_a_stored_ledger_gives_the_same_snapshot_in_every_format(world: World, asked: list[dict[str, Any]]) -> None:
    with populated(world) as engine:
        for question in asked:
            ledger = engine.recall(engine.recalls.query(**question)).ledger
            if not ledger.notes("plan"):
                continue
            stored = Ledger.from_json(json.loads(json.dumps(ledger.to_json(), ensure_ascii=False)))
            for format in writers():
                assert render(explain(stored), format) == render(explain(ledger), format)


def filters_of(ledger: Ledger) -> list[dict[str, Any]]:
    filters: list[dict[str, Any]] = json.loads(render(explain(ledger), "json"))["snapshot"]["filters"]
    return filters


@given(worlds(), asked)
@few
def test_the_ladder_of_an_answer_is_that_of_its_xray(world: World, asked: list[dict[str, Any]]) -> None:
    with populated(world) as engine:
        for question in asked:
            recall = engine.recall(engine.recalls.query(**question))
            if recall.ledger.notes("plan"):
                assert recall_record(recall)["filters"] == filters_of(recall.ledger)


def test_with_a_pushed_filter_the_answer_shows_what_the_views_proposed_as_the_xray_does(engine: Engine) -> None:
    for number in range(200):
        project = "atlas" if number % 40 == 0 else "harbor"
        engine.remember(Draft(f"Lookup {number} is cached for {number} seconds.", project=project))
    recall = engine.search("how long are lookups cached", project="atlas", record=False)
    filters = recall_record(recall)["filters"]
    assert filters == filters_of(recall.ledger)
    at = [row["name"] for row in filters].index("project")
    assert filters[at : at + 2] == [
        {"name": "project", "considered": 200, "admitted": 5, "pushed": True},
        {"name": "proposed", "considered": 5, "admitted": 5},
    ]
