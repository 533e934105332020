"""A namespace whose candidates the database proposes is answered as one that is held in memory, and stays so whatever
is written to it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from test_equal_recalls import filled, questions

import postgres
from recallens import Engine
from recallens.errors import InvalidInput, StoreError
from recallens.index.encoders.minilm import MiniLMEncoder
from recallens.model.memory import IdSource
from recallens.model.recall import Recall
from recallens.render import brief
from recallens.store.postgres.candidates import ENTRY
from recallens.store.records import Listing
from recallens.xray.explain import explain
from standing import FixedClock, Open

LARGE = {"resident_memories": 1}  # everything is answered by the database that has an index


@pytest.fixture
def held(clock: FixedClock, minilm: MiniLMEncoder) -> Iterator[Engine]:
    """The sample on a server, answered from memory."""
    with filled(postgres.fresh_store(), minilm, clock) as engine:
        yield engine


def large(held: Engine, clock: FixedClock, encoder: Any, **options: Any) -> Engine:
    """Another process on the same store that lets the database propose."""
    given: dict[str, Any] = {"clock": clock, "ids": IdSource(clock, lambda bits: 1 << 40), **LARGE, **options}
    return Engine.open(held.core.settings.store, encoder=encoder, **given)


def answer(recall: Recall) -> list[tuple[str, float, dict[str, float]]]:
    return [(result.memory.id, result.score, dict(result.parts)) for result in recall.results]


def from_the_database(recall: Recall) -> bool:
    return "index" in recall.ledger.notes("plan")[0]


def indexed(engine: Engine) -> None:
    standing = engine.maintenance.large.index("default")
    assert standing.ready
    assert standing.recall == 1.0


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_answers_are_those_of_memory(held: Engine, clock: FixedClock, minilm: MiniLMEncoder) -> None:
    indexed(held)
    asked = questions(held)
    with large(held, clock, minilm) as other:
        for number, question in enumerate(asked):
            options: dict[str, Any] = (
                {"project": "harbor-api"} if number % 7 == 3 else {"kind": "decision"} if number % 5 == 2 else {}
            )
            one, two = (engine.search(question, record=False, **options) for engine in (held, other))
            assert not from_the_database(one)
            assert from_the_database(two)
            assert answer(two) == answer(one), question
        assert "of the database's index, which finds 100.0% of the ten nearest" in brief.write(explain(two.ledger))
        assert "database's index" not in brief.write(explain(one.ledger))


@pytest.mark.slow
def test_every_write_is_in_the_index(held: Engine, clock: FixedClock, minilm: MiniLMEncoder, tmp_path: Path) -> None:
    """Written while the index is there, by who holds the namespace in memory and by who does not."""
    indexed(held)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "rota.md").write_text("# Rota\n\nThe night shift is on call for the harbor gateway.\n", encoding="utf-8")
    with large(held, clock, minilm) as other:
        ids = [memory.id for memory in held.memories.browse(Listing(limit=40)).memories]
        for engine, own in ((held, ids[:9]), (other, ids[9:18])):
            engine.remember(f"The pelican lamp of {own[0]} hangs above the harbor gate", dedupe=False)
            engine.edit(own[0], f"Tracking lookups are cached for 45 seconds since incident {own[1]}")
            engine.forget(own[1])
            engine.forget(own[2], hard=True)
            engine.supersede(own[3], own[4])
            engine.confirm(own[5])
        held.vaults.add(str(notes), "notes")
        held.vaults.sync("notes")
        (notes / "rota.md").write_text("# Rota\n\nThe day shift is on call for the pelican lamp.\n", encoding="utf-8")
        other.vaults.sync("notes")
        for engine in (held, other):
            engine.encoder.drain()
        consistent(held)
        for question in ("who is on call for the pelican lamp", "how long are tracking lookups cached", "incident"):
            one, two = (engine.search(question, record=False) for engine in (held, other))
            assert from_the_database(two)
            assert answer(two) == answer(one)
        assert held.maintenance.doctor().problems == []
        other.maintenance.reindex()
        consistent(held)


def consistent(engine: Engine) -> None:
    """The postings and the halves hold what the entries and the vectors hold, and nothing else."""
    with psycopg.connect(engine.core.settings.store) as connection:
        connection.execute("SET search_path TO recallens, public")
        expected: dict[tuple[int, int], int] = {}
        for num, terms in connection.execute("SELECT num, terms FROM lexical").fetchall():
            words = [int.from_bytes(terms[at : at + 4], "little") for at in range(0, len(terms), 4)]
            for word in words:
                expected[num, word] = expected.get((num, word), 0) + 1
            if len(words) > 1:
                expected[num, -1 - ((words[0] << 32) | words[1])] = 1
        import numpy as np

        kept: dict[tuple[int, int], int] = {}
        for term, block, entries in connection.execute("SELECT term, block, entries FROM postings").fetchall():
            for low, count in np.frombuffer(entries, dtype=ENTRY).tolist():
                assert ((block << 13) + low, term) not in kept
                kept[(block << 13) + low, term] = count
        assert kept == expected
        vectors = "SELECT encoder, num, part FROM {} WHERE encoder IN (SELECT value FROM indexed_namespaces,"
        vectors += " texts(encoders)) ORDER BY 1, 2, 3"
        assert (
            connection.execute(vectors.format("embeddings")).fetchall()
            == connection.execute(vectors.format("vectors")).fetchall()
        )


@pytest.mark.slow
def test_a_filter_does_not_starve(clock: FixedClock) -> None:
    """Of thousands of memories some few are of a project: the database finds as many of them as memory does."""
    address, chance = postgres.fresh_store(), random.Random(3)
    words = [
        "valve",
        "pump",
        "gauge",
        "pipe",
        "tank",
        "relay",
        "fuse",
        "motor",
        "lever",
        "crane",
        "rope",
        "hook",
        "bolt",
        "gear",
        "shaft",
        "lamp",
    ]
    with Engine.open(address, encoder="hashing", clock=clock) as one:
        for number in range(1_500):
            text = f"Order {number}: {' '.join(chance.choices(words, k=7))}"
            project = "dock" if number % 50 == 7 else "yard"
            one.remember(text, project=project, dedupe=False)
        one.maintenance.large.index("default")
        with large(one, clock, "hashing") as two:
            for number in range(20):
                asked = " ".join(chance.choices(words, k=3))
                found = [
                    [
                        r.memory.id
                        for r in engine.search(asked, project="dock", cut=False, record=False, limit=10).results
                    ]
                    for engine in (one, two)
                ]
                assert found[0] == found[1]
                assert len(found[1]) == 10, number


def test_a_file_has_no_index(opened: Open) -> None:
    engine = opened()
    engine.remember("One drawer")
    with pytest.raises(InvalidInput, match="no index of its own"):
        engine.maintenance.large.index("default")


def test_a_server_without_pgvector_is_told_of(clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extension is asked for under a name that this server does not have."""
    from recallens.store.postgres import index_build

    monkeypatch.setattr(index_build, "EXTENSION", "vector_that_is_not_there")
    with Engine.open(postgres.fresh_store(), encoder="hashing", clock=clock, **LARGE) as engine:
        for number in range(3):
            engine.remember(f"Drawer {number} holds the spare keys", dedupe=False)
        with pytest.raises(StoreError, match="no pgvector"):
            engine.maintenance.large.index("default")
        recall = engine.search("spare keys", record=False)
        assert len(recall.results) == 3
        assert not from_the_database(recall)
