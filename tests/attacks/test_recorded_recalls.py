"""What a recorded recall tells of texts to whom they are withheld: nothing, whoever asked it and whenever."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.errors import RecallensError
from recallens.operations import OPERATIONS, perform
from recallens.operations.operation import Caller

AGENT = Caller(home="default")
PERSON = Caller(home="default", sees_withheld=True)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "s.db", encoder="hashing:64") as engine:
        engine.remember("The salary band of the heron team is amber", scopes=("hr",))
        engine.remember("The heron team meets on Mondays")
        yield engine


def looks(engine: Engine, caller: Caller, id: str) -> dict[str, str]:
    """What each operation on a recorded recall answers: its text, or its error."""
    told = {}
    for name, asked in (
        ("get_snapshot", {"id": id}),
        ("recall_explain", {"session": "s"}),
        ("replay", {"id": id}),
        ("diff", {"before": id, "after": id}),
    ):
        try:
            told[name] = perform(OPERATIONS[name], engine, caller, asked).text
        except RecallensError as error:
            told[name] = f"error: {error.message}"
    return told


def test_a_recall_of_a_context_is_not_there_for_who_does_not_hold_it(engine: Engine) -> None:
    engine.search("salary band of the heron team", session="s", scopes=("hr",))
    id = engine.recalls.recent()[0].id
    assert "amber" in looks(engine, PERSON, id)["get_snapshot"]
    told = looks(engine, AGENT, id)
    assert not any("amber" in text for text in told.values())
    missing = [name for name, text in told.items() if text.startswith("error: ")]
    assert missing == ["get_snapshot", "replay", "diff"]
    assert '"snapshotFound": false' in told["recall_explain"]


def test_nor_is_one_of_what_was_withheld_later(engine: Engine) -> None:
    recall = engine.search("when does the heron team meet", session="s")
    id = engine.recalls.recent()[0].id
    assert "Mondays" in looks(engine, AGENT, id)["get_snapshot"]
    engine.forget(recall.results[0].memory.id)
    assert not any("Mondays" in text for text in looks(engine, AGENT, id).values())
