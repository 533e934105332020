"""The disk under a store: the process dies at any write, the power goes, space runs out, a sync fails.

Whatever state is found afterwards is one that was committed, and none older than what was last acknowledged.
`make soak` tries every step of every deed (RECALLENS_CRASHES=0), each commit some of them.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import apsw
import pytest
from deeds import DEEDS, Course, Deed
from disk import Disk, Files, Step, disk_under

from recallens.engine import Engine
from recallens.errors import RecallensError

# Steps that are tried of each deed; 0 is all of them.
CRASHES = int(os.environ.get("RECALLENS_CRASHES", "4"))
FEW_PAGES = 12  # of the log before it is written into the file: so that this happens within the deeds


def digest(path: Path) -> str:
    """Everything that is in a store, of which the file is sound."""
    db = apsw.Connection(str(path), vfs="unix")
    try:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
        rows = [db.execute(f'SELECT * FROM "{table}"').fetchall() for table in tables if table != "leases"]
        return hashlib.sha256(repr(rows).encode()).hexdigest()
    finally:
        db.close()


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    """Folders for states after a crash, each removed when the next is asked for."""

    def fresh() -> Iterator[Path]:
        for number in count():
            folder = tmp_path / f"crash{number}"
            yield folder
            shutil.rmtree(folder, ignore_errors=True)

    return fresh()


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store that has had every deed done to it, and the notes of its vault."""
    folder = tmp_path_factory.mktemp("scene")
    with Engine.open(folder / "store.db", encoder="hashing") as engine:
        course = Course(engine, folder / "notes", random.Random(1), name="before")
        for deed in DEEDS:
            deed(course, *course.two())
    return folder


@pytest.fixture
def store(scene: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(scene / "store.db", tmp_path / "store.db"))


@pytest.fixture
def disk(store: Path) -> Iterator[Disk]:
    with disk_under(store) as disk:
        yield disk


def traced(disk: Disk, store: Path, notes: Path, deed: Deed) -> tuple[Files, list[Step]]:
    """The files before a deed, and every step of it; its states are digested as it goes."""
    with Engine.open(store, encoder="hashing") as engine:
        course = Course(engine, notes, random.Random(deed.__name__))
        engine.core.store.connection.wal_autocheckpoint(FEW_PAGES)
        two = course.two()
        engine.remember(course.text())
        files = Files(store)
        disk.steps.clear()
        deed(course, *two)
        steps = [*disk.steps, Step("ack")]
        for _ in range(3):  # what comes after an acknowledged write must not undo it either
            engine.remember(course.text())
            steps += [*disk.steps[len(steps) - steps.count(Step("ack")) :], Step("ack")]
    return files, steps


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
def test_no_acknowledged_write_is_lost_wherever_it_stops(
    disk: Disk, store: Path, scene: Path, folders: Iterator[Path], deed: Deed
) -> None:
    """A crash at every write point, and a power cut there: sectors that were not synced are kept or not, by chance."""
    files, steps = traced(disk, store, scene / "notes", deed)
    chance = random.Random(f"crash {deed.__name__}")
    tried = set(range(len(steps))) if not CRASHES else set(chance.sample(range(len(steps)), min(CRASHES, len(steps))))
    allowed = [digest(files.after_a_crash(next(folders)))]  # the states since the last acknowledged one
    last: str | None = None
    for number, step in enumerate(steps):
        files.apply(step)
        if step.kind in ("sync", "ack") or number in tried:
            state = digest(files.after_a_crash(next(folders)))
            if state != allowed[-1]:
                assert state not in allowed, "an older state has come back"
                allowed.append(state)
        if number in tried:
            for _ in range(1 if CRASHES else 2):
                assert digest(files.after_a_power_cut(next(folders), chance)) in allowed
        if step.kind == "ack":
            del allowed[:-1]
            last = state
    assert last == digest(store)
    opened = files.after_a_crash(next(folders))
    with Engine.open(opened, encoder="hashing") as engine:
        assert list(engine.maintenance.doctor().problems) == []


@pytest.mark.parametrize(("kind", "failure"), [("write", apsw.FullError), ("sync", apsw.IOError)])
@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
def test_a_disk_that_is_full_or_fails_costs_what_was_not_acknowledged_and_no_more(
    disk: Disk, store: Path, scene: Path, kind: str, failure: type[Exception], deed: Deed
) -> None:
    chance = random.Random(f"{kind} {deed.__name__}")
    failed = 0
    with Engine.open(store, encoder="hashing") as engine:
        course = Course(engine, scene / "notes", chance)
        engine.core.store.connection.wal_autocheckpoint(FEW_PAGES)
        for attempt in range(CRASHES or 25):
            two = course.two()
            kept = engine.remember(course.text()).id
            # The first attempt fails at once, the others anywhere.
            after = chance.randrange(4 if kind == "sync" else 40) if attempt else 0
            disk.failing[kind] = (after, failure)
            try:
                deed(course, *two)
            except RecallensError:
                failed += 1
            finally:
                disk.failing.clear()
            assert engine.get(kept).id == kept
            again = course.text()
            assert engine.remember(again).outcome == "created"
            assert engine.search(again.split()[0], mode="keyword", limit=1, record=False).results
        engine.encoder.drain()
        problems = [problem for problem in engine.maintenance.doctor().problems if "reindex" not in problem]
        assert problems == []
    assert failed or deed.__name__ in ("publish", "drain", "search")
