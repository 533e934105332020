"""The runner times every stage, also the one that decides nothing."""

from __future__ import annotations

import time
from collections.abc import Iterable

from recallens.model.ledger import Ledger
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import Note, Verdict
from recallens.recall.runner import run

PAUSE_NS = 2_000_000


def paused() -> None:
    until = time.perf_counter_ns() + PAUSE_NS
    while time.perf_counter_ns() < until:
        pass


def nothing(pool: Pool, query: Query) -> Iterable[Verdict]:
    paused()
    return ()


def a_note_and_more_work(pool: Pool, query: Query) -> Iterable[Verdict]:
    paused()
    yield Note("said", {})
    paused()


def test_time_without_a_verdict_is_its_stages() -> None:
    ledger, _ = run([("walk", nothing), ("plan", a_note_and_more_work), ("walk", nothing)], Query("q", 0))
    assert [entry.stage for entry in ledger.entries] == ["plan"]
    assert ledger.entries[0].nanos >= PAUSE_NS
    assert ledger.silent["walk"] >= 2 * PAUSE_NS
    assert ledger.silent["plan"] >= PAUSE_NS


def test_it_is_kept_with_the_ledger_and_makes_no_difference_to_it() -> None:
    ledger, _ = run([("walk", nothing)], Query("q", 0))
    again = Ledger.unpacked(ledger.packed())
    assert again.silent == ledger.silent
    assert again.canonical() == Ledger(ledger.query, ledger.entries).canonical()
