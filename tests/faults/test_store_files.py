"""The store as a file among others: who may read it, halves and copies of it, and what happens behind its back."""

from __future__ import annotations

import os
import shutil
import stat
import threading
import time
from pathlib import Path

import apsw
import pytest

from recallens.config import load
from recallens.engine import Engine
from recallens.errors import StoreBusy, StoreDamaged, StoreMissing
from recallens.index import resident
from recallens.store.records import Listing
from recallens.store.sqlite import files
from recallens.store.sqlite.connection import open_store, restore
from recallens.store.sqlite.store import SqliteStore


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def engine(path: Path, *, create: bool = True) -> Engine:
    return Engine.open(path, encoder="hashing", create=create)


def held(path: Path) -> list[str]:
    with engine(path, create=False) as opened:
        return sorted(memory.content for memory in opened.memories.browse(Listing()).memories)


def test_only_the_owner_may_read_a_store_its_copies_and_its_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resident, "SMALLEST_IMAGE", 1)
    before = os.umask(0o022)
    try:
        path = tmp_path / "new" / "folder" / "s.db"
        # As the command opens it, which makes the folders of a store.
        with Engine.open(settings=load({"store": str(path), "encoder": "hashing"})) as opened:
            opened.remember("The gate code is kept in the safe")
            opened.maintenance.publish()
            opened.maintenance.backup(str(tmp_path / "copy.db"))
            beside = [entry for entry in path.parent.rglob("*") if entry.name != "lock"]
            assert len(beside) >= 4  # the store, its log and shared memory, the index
            assert {entry.name: mode(entry) for entry in beside if entry.is_file() and mode(entry) != 0o600} == {}
            assert {mode(entry) for entry in (path.parent.parent, path.parent, *beside) if entry.is_dir()} == {0o700}
        assert mode(tmp_path / "copy.db") == 0o600
    finally:
        os.umask(before)


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"SQLite format 3\0", b"SQLite format 3\0" + b"\0" * 8176])
@pytest.mark.parametrize("create", [False, True])
def test_a_file_that_is_no_store_stays_what_it_is(tmp_path: Path, content: bytes, create: bool) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(content)
    with pytest.raises(StoreDamaged, match=r"holds no store|not a sound Recallens store"):
        open_store(path, create=create)
    assert path.read_bytes() == content


def test_a_copy_without_its_log_is_the_store_as_it_was_before(tmp_path: Path) -> None:
    """The schema is in the file from the first moment, so that no copy of it is half a store."""
    with engine(tmp_path / "s.db") as opened:
        opened.remember("Still in the log")
        shutil.copy(tmp_path / "s.db", tmp_path / "cut.db")
    assert held(tmp_path / "cut.db") == []
    assert held(tmp_path / "s.db") == ["Still in the log"]


def test_a_store_is_made_whole_by_many_at_once(tmp_path: Path) -> None:
    path, failures = tmp_path / "s.db", list[BaseException]()

    def make() -> None:
        try:
            SqliteStore(path, create=True).close()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_a_backup_ends_while_another_writes(tmp_path: Path) -> None:
    """Each foreign commit made it begin again, so that beside a steady writer it never came to an end."""
    with engine(tmp_path / "s.db") as opened:
        opened.remember("x" * 50_000)
        stop, wrote = threading.Event(), list[int]()

        def write() -> None:
            other = apsw.Connection(str(tmp_path / "s.db"))
            other.set_busy_timeout(10_000)
            while not stop.is_set():
                other.execute("INSERT OR REPLACE INTO meta VALUES ('tick', ?)", (str(time.monotonic_ns()),))
                wrote.append(1)
            other.close()

        writer = threading.Thread(target=write)
        writer.start()
        try:
            while len(wrote) < 5:
                time.sleep(0.01)
            for number in range(5):
                opened.maintenance.backup(str(tmp_path / f"copy-{number}.db"))
        finally:
            stop.set()
            writer.join()
    assert held(tmp_path / "copy-4.db") == ["x" * 50_000]
    assert [entry.name for entry in tmp_path.iterdir() if "copy" in entry.name and entry.suffix != ".db"] == []


def test_a_backup_is_restored_over_a_store_with_a_log_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with engine(path) as opened:
        opened.remember("Kept in the backup")
        opened.maintenance.backup(str(tmp_path / "copy.db"))
        opened.remember("Written after the backup")
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", tmp_path / f"dead{suffix}")
    for suffix in ("", "-wal"):  # as a crash leaves it
        shutil.copy(tmp_path / f"dead{suffix}", f"{path}{suffix}")
    kept = restore(path, tmp_path / "copy.db")
    assert kept is not None
    assert held(path) == ["Kept in the backup"]
    assert held(kept) == ["Kept in the backup", "Written after the backup"]


def test_a_store_in_use_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with engine(path) as opened:
        opened.remember("In use")
        opened.maintenance.backup(str(tmp_path / "copy.db"))
        with pytest.raises(StoreBusy, match="another process has"):
            restore(path, tmp_path / "copy.db")
        assert opened.memories.browse(Listing()).total == 1


def test_what_is_no_backup_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with engine(path) as opened:
        opened.remember("Stays")
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("not a database " * 1000)
    for name in ("empty", "text"):
        with pytest.raises(StoreDamaged):
            restore(path, tmp_path / name)
    with pytest.raises(StoreMissing):
        restore(path, tmp_path / "absent")
    assert held(path) == ["Stays"]


def test_a_store_that_is_gone_takes_no_writes(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with engine(path) as opened:
        opened.remember("Before")
        path.rename(tmp_path / "moved.db")
        with pytest.raises(StoreMissing, match="moved, deleted or replaced"):
            opened.remember("Into nothing")
        with pytest.raises(StoreMissing, match="moved, deleted or replaced"):
            opened.search("before")
        (tmp_path / "moved.db").rename(path)
        opened.remember("After")
    assert held(path) == ["After", "Before"]


def test_a_reader_that_may_not_write_sees_what_the_owner_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.db"
    with engine(path) as opened:
        opened.remember("The first one")
    with monkeypatch.context() as patch:
        patch.setattr("recallens.store.sqlite.connection.may_write", lambda path: False)
        reader = engine(path, create=False)
    assert reader.core.store.read_only
    assert reader.memories.browse(Listing()).total == 1
    for number in range(3):
        with engine(path) as owner:
            owner.remember(f"Another, number {number}")
            assert reader.memories.browse(Listing()).total == 2 + number
        assert reader.memories.browse(Listing()).total == 2 + number
    reader.close()


def test_a_name_that_is_taken_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    beside = files.made_beside(tmp_path / "s.db")
    beside.__enter__().write_bytes(b"ours")
    (tmp_path / "s.db").write_bytes(b"theirs")
    with pytest.raises(FileExistsError):
        beside.__exit__(None, None, None)
    assert (tmp_path / "s.db").read_bytes() == b"theirs"
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.db"]
