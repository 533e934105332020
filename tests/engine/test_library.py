"""The library as a program uses it: where a store may be made, and what a closed engine does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recallens
from recallens.errors import StoreClosed


def test_open_makes_a_store_and_no_folders(tmp_path: Path) -> None:
    with pytest.raises(recallens.InvalidInput, match="does not exist") as refused:
        recallens.open(tmp_path / "no" / "such" / "team.db", encoder="none")
    assert refused.value.hint == "Make it first, or name a store elsewhere."
    assert not (tmp_path / "no").exists()
    with recallens.open(tmp_path / "team.db", encoder="none") as memory:
        memory.remember("The ferry leaves at nine")
    assert (tmp_path / "team.db").exists()


@pytest.mark.parametrize(
    "act",
    [
        lambda memory: memory.search("ferry"), lambda memory: memory.remember("The ferry leaves at ten"),
        lambda memory: memory.get("m1"), lambda memory: memory.context("ferry"), lambda memory: memory.forget("m1"),
        lambda memory: memory.sessions.recent(), lambda memory: memory.maintenance.stats(),
    ],
)  # fmt: skip
def test_a_closed_engine_does_nothing_more(tmp_path: Path, act: Callable[[Any], object]) -> None:
    memory = recallens.open(tmp_path / "team.db", encoder="none")
    memory.remember("The ferry leaves at nine")
    memory.close()
    with pytest.raises(StoreClosed):
        act(memory)
