"""Real recalls, written: valid by the published schema, and the same bytes from a ledger that was stored."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xray_schema import problems

from recallens.model.ledger import Ledger
from recallens.render import render, writers
from recallens.xray.explain import explain
from worlds import World, populated, questions, worlds

few = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
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
