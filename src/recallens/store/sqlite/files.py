"""The store as a file: private, made whole or not at all, copied in one step, put back without a loss."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from recallens.errors import InvalidInput, StoreBusy, StoreDamaged, StoreMissing
from recallens.store.sqlite import digests

PRIVATE_FILE = 0o600
BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside the file while it is open, or leaves there when it dies."""

Identity = tuple[int, int]


def identity(path: Path) -> Identity:
    """Which file it is, whatever it is called."""
    status = path.stat()
    return status.st_dev, status.st_ino


def refuse_vanished(path: Path, opened: Identity) -> None:
    """An error where the file that was opened is no longer the one at its path: what is written there is lost."""
    try:
        same = identity(path) == opened
    except OSError:
        same = False
    if not same:
        raise StoreMissing(
            f"{path} was moved, deleted or replaced while it was open",
            hint="Nothing was written. Put it back or open the new one.",
        )


@contextmanager
def made_beside(path: Path) -> Iterator[Path]:
    """A private file beside the path that takes its place, whole, at the end; a file that has come meanwhile stays."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}")
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))
    try:
        yield fresh
        _name(fresh, path)
        sync_folder(path.parent)
    finally:
        for suffix in ("", *BESIDE):
            Path(f"{fresh}{suffix}").unlink(missing_ok=True)


def _name(fresh: Path, path: Path) -> None:
    """Give the file its name unless another has it already."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError(path) from None
        os.rename(fresh, path)


def sync_folder(folder: Path) -> None:
    """A new name is durable once its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def copy(source: apsw.Connection, target: Path) -> None:
    """A sound copy as of now, in one step: other writers go on, and none of them makes it begin again."""
    with made_beside(target) as fresh:
        written = apsw.Connection(str(fresh))
        with written.backup("main", source, "main") as job:
            job.step(-1)
        refuse_unsound(written, target)
        # A copy goes its own way from here: index files of the original must never fit it, even put in its place.
        with digests.kept(written):
            written.execute("UPDATE meta SET value = ? WHERE key = 'store-id'", (str(uuid.uuid4()),))
        written.close()


def refuse_unsound(connection: apsw.Connection, path: Path) -> None:
    problems = [row[0] for row in connection.execute("PRAGMA integrity_check(1)") if row[0] != "ok"]
    if problems:
        raise StoreDamaged(f"{path} would not be sound ({problems[0]})", hint="Run `recallens doctor` on the store.")


def put_back(backup: apsw.Connection, path: Path) -> Path | None:
    """Put a copy of the backup at the path. What was there is kept under another name, which is returned."""
    kept = None
    if path.exists():
        _refuse_in_use(path)
        kept = path.with_name(f"{path.name}.before-{time.strftime('%Y%m%d-%H%M%S')}")
        if kept.exists():
            raise InvalidInput(f"{kept} already exists", hint="Wait a second and try again.")
    incoming = path.with_name(f".{path.name}.incoming-{os.getpid()}")
    copy(backup, incoming)
    if kept is not None:
        # A log that is left beside the file would be taken for the new one's: it goes with the old one.
        for suffix in ("", *BESIDE):
            if Path(f"{path}{suffix}").exists():
                os.rename(f"{path}{suffix}", f"{kept}{suffix}")
    os.rename(incoming, path)
    sync_folder(path.parent)
    return kept


def discard_empty(path: Path) -> bool:
    """Delete a store that holds no namespace and that nobody else has open. Tells whether it is gone."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            empty = connection.execute("SELECT NOT EXISTS (SELECT 1 FROM namespaces)").fetchone() == (1,)
            if empty:
                path.unlink()
            connection.execute("ROLLBACK")
        finally:
            connection.close()
    except (apsw.Error, OSError):
        return False
    for suffix in BESIDE if empty else ():
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    return empty


def _refuse_in_use(path: Path) -> None:
    """An error where another process has the store open. A file that is no database is in nobody's use."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
        finally:
            connection.close()
    except apsw.BusyError as error:
        hint = "Nothing was changed. Stop the servers and agents that use it, and try again."
        raise StoreBusy(f"another process has {path} open", hint=hint) from error
    except apsw.Error:
        return
