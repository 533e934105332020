from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from http_scene import Scene, furnish

from recallens.engine import Engine
from recallens.model.memory import IdSource
from standing import FixedClock
from worlds import SHARED_MEMORY


@contextmanager
def furnished_with(clock: FixedClock) -> Iterator[Scene]:
    """In memory where that is possible: these tests are not about the disk."""
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None) as folder:
        store, ids = Path(folder) / "store.db", IdSource(clock, lambda bits: 0)
        with Engine.open(store, encoder="hashing:64", clock=clock, ids=ids) as engine:
            yield furnish(engine, Path(folder))


@pytest.fixture
def scene(clock: FixedClock) -> Iterator[Scene]:
    with furnished_with(clock) as scene:
        yield scene


@pytest.fixture(scope="module")
def furnished() -> Iterator[Scene]:
    """One for all tests of a file, which therefore leave it as they like."""
    with furnished_with(FixedClock()) as scene:
        yield scene
