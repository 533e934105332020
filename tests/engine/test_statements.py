"""A search makes the same number of SQL statements however much it returns: everything is looked up at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw
import pytest

from recallens.engine import Engine
from recallens.ingest.draft import Draft


@contextmanager
def counted(engine: Engine) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(event: dict[str, Any]) -> None:
        # A trigger is part of a statement; the digests of what was written are bound to one statement, row by row.
        if not event["trigger"] and "INTO digests" not in event["sql"]:
            statements.append(event["sql"])

    connection = engine.core.store.connection
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, note)
    try:
        yield statements
    finally:
        connection.trace_v2(0, None)


@pytest.fixture
def full(engine: Engine) -> Engine:
    """300 memories that all match, with sessions, citations, successors and relations to look up."""
    drafts = [
        Draft(
            f"The cache of service {n} is warmed by src/warm_{n}.py", session=f"s{n % 7}", tags=("cache",), project="p"
        )
        for n in range(300)
    ]
    ids = [one.id for batch in engine.memories.remember_many(drafts, dedupe=False) for one in batch]
    engine.encoder.drain()
    for old, new in zip(ids[:40], ids[40:80], strict=True):
        engine.supersede(old, new)
    for source, target in zip(ids[80:120], ids[120:160], strict=True):
        engine.relate(source, target, "BUILDS_ON")
    engine.memories.add_document("The cache has a handbook.", path="handbook.md", project="p")
    return engine


QUESTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "classic": {"preset": "classic"},
    "keyword": {"mode": "keyword"},
    "semantic": {"mode": "semantic"},
    "filtered": {"project": "p", "tags": ("cache",), "in_session": "s1", "min_salience": 0.1},
    "superseded": {"include_superseded": True},
    "as of": {"as_of": 1_780_272_000_000},
}


# Which they are, and the texts, citations and checks of what a relation names and no stage has read.
FOR_SUCCESSORS = {0, 1, 3, 4}
# Relations are followed for two hops; what the first one reached may have been read already.
FOR_A_HOP = {0, 1}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_recall_makes_a_constant_number_of_statements(full: Engine, name: str) -> None:
    full.recall(full.recalls.query("warm"))  # the derived state is current: what is counted is the recall itself
    counts, returned = [], []
    for limit in (1, 10, 100):
        with counted(full) as statements:
            asked = {"limit": limit, "cut": False, **QUESTIONS[name]}
            recall = full.recall(full.recalls.query("cache warmed by service", **asked))
        counts.append(len(statements))
        returned.append(len(recall.results))
    assert returned[0] == 1
    assert returned[2] > returned[1] or name == "filtered"
    # Successors are looked up only where a result has one.
    expected = {more + hop for more in FOR_SUCCESSORS for hop in FOR_A_HOP}
    assert {count - min(counts) for count in counts} <= expected
    # Texts are read twice: of the first rows, to compare what they state, and of all that are described.
    assert max(counts) <= 30


def test_fusion_reads_texts_in_a_few_goes_however_many_they_are(full: Engine) -> None:
    asked: dict[str, Any] = {
        "preset": "fusion", "open_file": "src/warm_1.py", "commands": ("/warm",), "hierarchical": True,
        "folders": ("handbook.md",), "include_raw": False, "medium_term_limit": 3,
    }  # fmt: skip
    full.recall(full.recalls.query("warm"))
    for limit in (1, 10, 100):
        with counted(full) as statements:
            recall = full.recall(full.recalls.query("cache warmed by service", limit=limit, **asked))
        assert len(recall.results) == limit
        assert len(statements) <= 40


def test_recording_is_a_constant_number_too(full: Engine, clock: Any) -> None:
    counts = []
    full.search("cache", limit=1, session="asker")
    for limit in (1, 10, 100):
        clock.advance(days=2)  # so that each of them is reinforced again
        full.recall(full.recalls.query("cache"))
        with counted(full) as statements:
            recall = full.search("cache warmed by service", limit=limit, session="asker")
        assert recall.recorded
        assert len(recall.results) == limit
        counts.append(len(statements))
    assert {count - min(counts) for count in counts} <= {0, 1, 3, 4}


def test_a_timeline_is_constant_as_well(full: Engine) -> None:
    anchor = full.search("cache of service 150", limit=1, record=False).results[0].memory.id
    counts = []
    for depth in (1, 1, 10, 100):
        with counted(full) as statements:
            timeline = full.layers.timeline(anchor, depth, depth)
        assert len(timeline.before) == len(timeline.after) == depth
        counts.append(len(statements))
    # Three more where a memory has successors to be named.
    assert {count - counts[1] for count in counts[1:]} <= {0, 3}
    assert max(counts) <= 40
