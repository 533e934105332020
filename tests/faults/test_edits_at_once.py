"""Two who change one memory at once: one of them is told, and one text holds."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.errors import EditConflict
from recallens.model.memory import Status
from recallens.store.records import Listing

ROUNDS = 10


def active(engine: Engine) -> list[str]:
    page = engine.memories.browse(Listing(statuses=(Status.ACTIVE,)))
    return [memory.content for memory in page.memories]


def test_two_edits_of_one_memory_leave_one_text(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Engine.open(path, encoder="hashing", create=True) as first, Engine.open(path, encoder="hashing") as second:
        for number in range(ROUNDS):
            id = first.remember(f"The limit of line {number} is 10", dedupe=False).id
            start, conflicts = threading.Barrier(2), list[EditConflict]()

            def change(
                engine: Engine, value: int, *, id: str = id, number: int = number,
                start: threading.Barrier = start, conflicts: list[EditConflict] = conflicts,
            ) -> None:  # fmt: skip
                start.wait()
                try:
                    engine.edit(id, f"The limit of line {number} is {value}")
                except EditConflict as conflict:
                    conflicts.append(conflict)

            threads = [threading.Thread(target=change, args=pair) for pair in ((first, 20), (second, 30))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(conflicts) == 1
            assert "was already replaced by" in conflicts[0].message
        assert len(active(first)) == ROUNDS


def test_what_was_replaced_cannot_be_replaced_again(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "s.db", encoder="hashing", create=True) as engine:
        old = engine.remember("The colour is red").id
        new = engine.edit(old, "The colour is blue").id
        other = engine.remember("The colour is a deep green").id
        with pytest.raises(
            EditConflict, match=r"'The colour is red'\) was already replaced by m2 .*'The colour is blue'"
        ):
            engine.edit(old, "The colour is black")
        with pytest.raises(EditConflict):
            engine.supersede(old, other)
        engine.supersede(old, new)  # said twice, it is said once
        assert sorted(active(engine)) == ["The colour is a deep green", "The colour is blue"]


def test_a_conflict_shows_no_text_that_is_withheld(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "s.db", encoder="hashing", create=True) as engine:
        old = engine.remember("The rent is new").id
        new = engine.edit(old, "The rent is 4711").id
        engine.forget(new)
        with pytest.raises(EditConflict) as told:
            engine.edit(old, "The rent is old")
        assert "4711" not in str(told.value)


def test_an_edit_costs_the_same_however_long_its_chain_is(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "s.db", encoder="none", create=True) as engine:
        id, costs = engine.remember("Version 0 of the plan").id, list[float]()
        for number in range(1, 181):
            start = time.thread_time()
            id = engine.edit(id, f"Version {number} of the plan").id
            costs.append(time.thread_time() - start)
        early, late = sorted(costs[:60])[30], sorted(costs[-60:])[30]
        assert late < 2 * early
