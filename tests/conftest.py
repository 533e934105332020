"""A clock that stands still, ids that repeat, and stores opened with them: with the test encoder and the real one."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from laws import EXAMPLES
from recallens.config import ABOUT
from recallens.engine import Engine
from recallens.index.encoders.minilm import MiniLMEncoder
from recallens.model.memory import IdSource
from standing import FixedClock, Open

# The same examples on every run, and no clock: a busy machine is not a counterexample.
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=EXAMPLES)
settings.load_profile("fixed")


def pytest_collection_finish() -> None:
    """What is loaded by now stays to the end: the collector need not look through all of it after every test."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 3)  # an engine that was closed goes with its encoder, 100 MB, when it looks


@pytest.fixture(autouse=True, scope="session")
def _no_settings_from_outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whoever runs the suite may have settings of their own."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            patch.setenv(name, str(home))
        for name in ABOUT:
            patch.delenv(f"RECALLENS_{name.upper()}", raising=False)
        yield


@pytest.fixture
def in_background() -> Iterator[None]:
    """Processes of this test start with Ctrl-C ignored, as a shell starts the background jobs of a script."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def opened(tmp_path: Path, clock: FixedClock) -> Iterator[Open]:
    """Opens engines on files in this test's folder; all of them are closed after it."""
    engines: list[Engine] = []

    def opening(name: str = "store.db", **options: Any) -> Engine:
        own = len(engines) << 40  # two engines on one file must not mint the same id
        given = {"encoder": "hashing", "clock": clock, "ids": IdSource(clock, lambda bits: own), **options}
        engine = Engine.open(tmp_path / name, **given)
        engines.append(engine)
        return engine

    yield opening
    for engine in engines:
        engine.close()


@pytest.fixture
def engine(opened: Open) -> Engine:
    return opened()


@pytest.fixture(scope="session")
def minilm() -> MiniLMEncoder:
    return MiniLMEncoder()


@pytest.fixture
def real(opened: Open, minilm: MiniLMEncoder) -> Engine:
    """A store with the packaged encoder, loaded once for the whole run."""
    return opened("real.db", encoder=minilm)
