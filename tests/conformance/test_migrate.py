"""A store moved to the other engine and back holds the same rows, and recalls the same."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import pytest

import postgres
from lived import QUESTIONS, lived_in
from recallens import Engine
from recallens.engine.migration import digests, migrate
from recallens.engine.transfer import Carried, Transfer
from recallens.errors import InvalidInput
from standing import FixedClock


def test_there_and_back(tmp_path: Path, clock: FixedClock) -> None:
    places = str(tmp_path / "full.db"), postgres.fresh_store(), str(tmp_path / "back.db")
    engines = [Engine.open(place, encoder="hashing", clock=clock) for place in places]
    try:
        one = lived_in(engines[0], clock, tmp_path)
        one.encoder.drain()
        for old, new in pairwise(engines):
            moved = migrate(old.core, new.core)
            assert moved.carried.memories > 10
            assert moved.carried.first == 1
            assert digests(new.core) == digests(one.core)
            assert new.maintenance.doctor().problems == []
        for question in QUESTIONS:
            ledgers = {engine.recall(engine.recalls.query(question)).ledger.digest() for engine in engines}
            assert len(ledgers) == 1
        with pytest.raises(InvalidInput, match="already; a store is moved into an empty one"):
            migrate(engines[0].core, engines[1].core)
        with pytest.raises(InvalidInput, match="the same store"):
            migrate(engines[0].core, engines[0].core)
    finally:
        for engine in engines:
            engine.close()


class Stopped(Exception):
    pass


def test_a_move_that_was_stopped_goes_on(tmp_path: Path, clock: FixedClock) -> None:
    with (
        Engine.open(tmp_path / "full.db", encoder="hashing", clock=clock) as one,
        Engine.open(postgres.fresh_store(), encoder="hashing", clock=clock) as two,
    ):
        for number in range(6):  # numbers of one namespace lie between those of others
            one.remember(f"Crate {number} stands on the quay", namespace=f"team-{number % 3}", dedupe=False)
        one.tokens.create(["team-1"])
        begun = list[int]()

        original = Transfer.write

        def twice(self: Transfer, stream: BinaryIO, **options: Any) -> Carried:
            begun.append(1)
            if len(begun) == 3:
                raise Stopped
            return original(self, stream, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Transfer, "write", twice)
            with pytest.raises(Stopped):
                migrate(one.core, two.core)
        assert [name for name, _ in two.maintenance.namespaces()] == ["team-0", "team-1"]
        moved = migrate(one.core, two.core)
        assert moved.carried.memories == 6
        assert digests(two.core) == digests(one.core)
        assert two.maintenance.doctor().problems == []
        assert two.remember("The next crate", namespace="team-0").handle == one.remember("The next crate").handle


def test_the_command(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "small.db", encoder="hashing") as engine:
        engine.remember("Lookups are cached for 60 seconds")
    target = postgres.fresh_store()
    words = ["migrate", "--from", str(tmp_path / "small.db"), "--to", target, "--json"]
    done = subprocess.run([sys.executable, "-m", "recallens", *words], capture_output=True, text=True, check=True)
    record = json.loads(done.stdout)
    assert (record["memories"], record["namespaces"], record["equal"]) == (1, ["default"], True)
    with Engine.open(target, create=False) as moved:
        (result,) = moved.search("how long are lookups cached", record=False).results
        assert result.memory.content == "Lookups are cached for 60 seconds"
    again = subprocess.run([sys.executable, "-m", "recallens", *words], capture_output=True, text=True, check=False)
    assert (again.returncode, "into an empty one" in again.stderr) == (2, True)
