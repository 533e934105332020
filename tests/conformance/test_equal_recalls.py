"""The same memories give the same recalls on every engine: every decision and every score, to the last bit."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import postgres
from recallens.cli import jsonl
from recallens.cli.given import Given
from recallens.engine import Engine
from recallens.index.encoders.minilm import MiniLMEncoder
from recallens.index.encoders.protocol import Encoder
from recallens.model.memory import IdSource
from recallens.store.records import Listing
from sample import EXAMPLES
from standing import FixedClock

PLACES: dict[str, Callable[[Path], str]] = {
    "sqlite": lambda folder: str(folder / "store.db"),
    "postgres": lambda folder: postgres.fresh_store(),
}


def filled(place: str, encoder: Encoder | str, clock: FixedClock) -> Engine:
    engine = Engine.open(place, encoder=encoder, clock=clock, ids=IdSource(clock, lambda bits: 0))
    lines = jsonl.read(str(EXAMPLES), {})
    jsonl.load(engine, lines, jsonl.LineNames(engine, lines), given=Given(json=True), dedupe=None)
    engine.encoder.drain()
    return engine


# `make soak` asks 500.
QUESTIONS = int(os.environ.get("RECALLENS_QUESTIONS", "110"))


def questions(engine: Engine, count: int = QUESTIONS) -> list[str]:
    """Some words of every memory, from one place in it and then from others: what is asked for is there, beside much
    that is like it."""
    memories = engine.memories.browse(Listing(limit=110)).memories
    texts = [re.findall(r"\w+", memory.content) for memory in memories]
    asked = [" ".join(words[start : start + 7]) for start in (1, 3, 5, 2, 7, 0, 9) for words in texts]
    return [question for question in dict.fromkeys(asked) if question][:count]


@pytest.fixture(params=["hashing", "minilm"])
def engines(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FixedClock, minilm: MiniLMEncoder
) -> Iterator[list[Engine]]:
    encoder = minilm if request.param == "minilm" else request.param
    with ExitStack() as opened:
        yield [opened.enter_context(filled(place(tmp_path), encoder, clock)) for place in PLACES.values()]


@pytest.mark.slow
@pytest.mark.timeout(400 + 4 * QUESTIONS)
def test_recalls_are_equal(engines: list[Engine], clock: FixedClock) -> None:
    asked = questions(engines[0])
    assert len(asked) >= min(QUESTIONS, 500)
    assert questions(engines[1]) == asked
    for number, question in enumerate(asked):
        options = (
            {"project": "harbor-api"} if number % 7 == 3 else {"include_superseded": True} if number % 5 == 2 else {}
        )
        one, two = (engine.search(question, record=number % 3 == 0, session="s", **options) for engine in engines)
        assert [(result.memory.id, result.score, result.parts) for result in two.results] == [
            (result.memory.id, result.score, result.parts) for result in one.results
        ]
        assert two.ledger.digest() == one.ledger.digest()
        clock.advance(ms=1000)


@pytest.mark.slow
def test_what_changes_a_store_changes_both_alike(engines: list[Engine], clock: FixedClock) -> None:
    for engine in engines:
        ids = [memory.id for memory in engine.memories.browse(Listing(limit=40)).memories]
        engine.edit(ids[0], "Tracking lookups are cached for 45 seconds since the last incident")
        engine.forget(ids[1])
        engine.forget(ids[2], hard=True)
        engine.confirm(ids[3])
        engine.relate(ids[4], ids[5], "CAUSED")
        task = engine.tasks.start("Cache the lookups", project="harbor-api")
        engine.tasks.used(ids[6:9], task=task.id)
        engine.tasks.end(task.id, reward=0.7, summary="It was done in one go.")
        engine.maintenance.reindex()
    assert [engine.maintenance.doctor().problems for engine in engines] == [[], []]
    for question in ("how long are tracking lookups cached", "cache the lookups", "incident", "누가 정했나"):
        one, two = (engine.recall(engine.recalls.query(question)) for engine in engines)
        assert two.ledger.digest() == one.ledger.digest()
