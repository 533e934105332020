"""`reindex` beside others: they write between its steps, and lose nothing; a killed one is told of and begun again."""

from __future__ import annotations

import pytest

from recallens.engine import Engine
from recallens.engine import encoder as rebuilding
from recallens.errors import NotFound
from recallens.ingest.draft import Draft
from recallens.store.sqlite import connection

QUESTIONS = ("pump number 17", "valve of hall 42", "the gate", "lamp")


@pytest.fixture
def stored(opened, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setattr(rebuilding, "REBUILD_ROWS", 20)
    monkeypatch.setattr(connection, "BUSY_WAIT_MS", 500)
    engine: Engine = opened()
    things = ("pump", "valve", "gate", "lamp")
    drafts = [Draft(f"The {things[n % 4]} number {n} stands in hall {n * 7 % 50}", tags=("x",)) for n in range(100)]
    list(engine.memories.remember_many(drafts, dedupe=False))
    engine.encoder.drain()
    return engine


def answers(engine: Engine) -> list[list[tuple[str, float]]]:
    recalls = [engine.search(question, limit=10, record=False, cut=False) for question in QUESTIONS]
    return [[(result.memory.content, result.score) for result in recall.results] for recall in recalls]


def test_others_write_between_the_steps_of_a_reindex(stored: Engine, opened) -> None:
    """Remembered, edited, tagged, forgotten for good: each beside another step. Nobody waits for the whole run."""
    colleague: Engine = opened()
    before = answers(stored)
    ids = [colleague.search(f"number {n}", mode="keyword", limit=1, record=False).results[0].memory.id for n in (3, 90)]
    told: list[str] = []

    def step(done: int) -> None:
        match len(told):
            case 0:
                told.append(colleague.remember("The hoist was bought while the index was made anew").id)
            case 1:
                told.append(colleague.edit(ids[0], "The lamp number 3 was moved to the zeppelin shed").id)
            case 2:
                told.append(colleague.forget(ids[1], hard=True) and "")
            case 3:
                told.append(colleague.remember("The hoist was bought while the index was made anew", tags=["crane"]).id)

    assert stored.maintenance.reindex(progress=step)["entries"] >= 99
    assert len(told) == 4
    for engine in (stored, colleague, opened()):
        assert list(engine.maintenance.doctor().problems) == []
        assert engine.search("hoist", mode="keyword", limit=1, record=False).results[0].memory.tags == ("crane",)
        assert engine.search("zeppelin", mode="keyword", limit=1, record=False).results[0].memory.id == told[1]
        assert answers(engine) != before
        with pytest.raises(NotFound):
            engine.get(ids[1])
    assert answers(stored) == answers(colleague) == answers(opened())


def test_an_index_made_anew_answers_as_before(stored: Engine, opened) -> None:
    before = answers(stored)
    words = stored.core.store.connection.execute("SELECT term FROM terms ORDER BY term").fetchall()
    stored.core.store.connection.execute("INSERT INTO terms SELECT 1, 'leftover', max(number) + 1 FROM terms")
    stored.core.store.connection.execute("UPDATE namespaces SET next_term = next_term + 1")
    stored.maintenance.reindex()
    assert answers(stored) == answers(opened()) == before
    assert stored.core.store.connection.execute("SELECT term FROM terms ORDER BY term").fetchall() == words


@pytest.mark.parametrize("damage", [
    "UPDATE terms SET number = 5 WHERE number < 9",
    "UPDATE terms SET number = 1000000 WHERE number = 7",
    "UPDATE terms SET term = term || 'q' WHERE number % 3 = 0",
    "DELETE FROM terms WHERE number % 2 = 0",
    "DELETE FROM lexical WHERE num % 2 = 0",
    "UPDATE lexical SET terms = zeroblob(length(terms))",
    "UPDATE labels SET value = 'elsewhere'",
])  # fmt: skip
def test_whatever_is_wrong_with_what_is_derived_is_mended(stored: Engine, opened, damage: str) -> None:
    before = answers(stored)
    stored.core.store.connection.execute(damage)
    stored.maintenance.reindex()
    assert answers(opened()) == before
    assert list(stored.maintenance.doctor().problems) == []


def test_a_reindex_that_did_not_end_is_told_of_and_begun_again(stored: Engine, opened) -> None:
    before = answers(stored)

    class Killed(BaseException):
        pass

    def die(done: int) -> None:
        raise Killed

    with pytest.raises(Killed):
        stored.maintenance.reindex(progress=die)
    assert answers(opened()) == before
    (problem,) = opened().maintenance.doctor().problems
    assert problem == "a reindex is under way, or did not end: `recallens reindex` begins it again"
    stored.maintenance.reindex()
    assert list(opened().maintenance.doctor().problems) == []
    assert answers(opened()) == before
