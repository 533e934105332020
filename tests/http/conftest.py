from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from http_scene import Scene, furnish
from recallens.engine import Engine
from recallens.model.memory import IdSource
from standing import FixedClock
from worlds import a_folder


def open_in(folder: Path, clock: FixedClock, first: int) -> Engine:
    """`first` keeps the ids apart that two engines give on one store."""
    ids = IdSource(clock, lambda bits: first)
    return Engine.open(folder / "store.db", encoder="hashing:64", clock=clock, ids=ids)


@pytest.fixture(scope="session")
def original() -> Iterator[tuple[Path, Scene]]:
    """Furnished once for all tests, which are given copies of it; nobody writes into its notes."""
    with a_folder() as folder:
        with open_in(folder, FixedClock(), 0) as engine:
            scene = furnish(engine, folder)
        yield folder, scene


@contextmanager
def copied(original: tuple[Path, Scene], clock: FixedClock) -> Iterator[Scene]:
    with a_folder() as folder:
        shutil.copytree(original[0], folder, dirs_exist_ok=True)
        with open_in(folder, clock, 1 << 40) as engine:
            yield replace(original[1], engine=engine)


@pytest.fixture
def scene(original: tuple[Path, Scene], clock: FixedClock) -> Iterator[Scene]:
    with copied(original, clock) as scene:
        yield scene


@pytest.fixture(scope="module")
def furnished(original: tuple[Path, Scene]) -> Iterator[Scene]:
    """One for all tests of a file, which therefore leave it as they like."""
    with copied(original, FixedClock()) as scene:
        yield scene
