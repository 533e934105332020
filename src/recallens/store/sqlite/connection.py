"""Opening the file: WAL, durability, waiting for other writers, and errors that say what to do next."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import apsw
from msgspec import Struct

from recallens import deadline
from recallens.config import make_private
from recallens.errors import (
    InvalidInput,
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreMissing,
    StoreReadOnly,
    StoreTooNew,
)  # fmt: skip
from recallens.store.sqlite import damage, digests, files, soundness
from recallens.store.sqlite.migrations import APPLICATION_ID, MIGRATIONS

# Another process may hold the write lock for a whole ingest batch; a minute is longer than any of ours takes.
BUSY_WAIT_MS = 60_000
# After so many steps of a statement, some tenths of a millisecond, it is asked whether its time is over.
STEPS_BETWEEN_LOOKS = 20_000
MAPPED_BYTES = 268_435_456
_ELSEWHERE = "Name another place with --store PATH."

_PRAGMAS = (
    "PRAGMA foreign_keys=ON",
    "PRAGMA secure_delete=ON",  # what is forgotten for good leaves no byte in a free page
    "PRAGMA synchronous=FULL",  # an acknowledged write survives a power cut, not only a crash
    "PRAGMA cache_size=-65536",
    "PRAGMA temp_store=MEMORY",
    f"PRAGMA mmap_size={MAPPED_BYTES}",
)


class InOurWords(Struct, frozen=True):
    """SQLite's errors in Recallens's words. A class, since a generator takes five times as long to enter and leave."""

    _path: str

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        path = self._path
        match error:
            case apsw.BusyError():
                deadline.check()
                raise StoreBusy(
                    f"another process has been writing to {path} for over {BUSY_WAIT_MS // 1000} seconds",
                    hint="Nothing was changed; try again when it has finished.",
                ) from error
            case apsw.InterruptError():
                deadline.check()
            case apsw.ReadOnlyError() | apsw.PermissionsError():
                raise cannot_write(path) from error
            case apsw.NotADBError() | apsw.CorruptError():
                hint = "Nothing was changed. Run `recallens doctor`, or restore a copy made by `recallens backup`."
                raise StoreDamaged(f"{path} is not a sound Recallens store ({error})", hint=hint) from error
            case UnicodeDecodeError():
                hint = "Run `recallens doctor`, or restore a copy made by `recallens backup`."
                raise StoreDamaged(f"a text in {path} is no text ({error})", hint=hint) from error
            case apsw.SQLError():  # a statement of ours does not fit the file: a value is no JSON, a column is gone
                hint = "Run `recallens doctor`, or restore a copy made by `recallens backup`."
                raise StoreDamaged(f"{path} holds what cannot be read ({error})", hint=hint) from error
            case UnicodeEncodeError():
                raise InvalidInput("a text holds half a character, which cannot be kept") from error
            case apsw.ConstraintError() if soundness.REFUSED in str(error):
                raise InvalidInput(f"{error}; {path} was not changed") from error
            case apsw.ConnectionClosedError() | apsw.CursorClosedError() | apsw.ThreadingViolationError():
                raise closed(path) from error
            case apsw.FullError():
                hint = "Nothing was changed; free some space and try again."
                raise StoreError(f"no space left for {path}", hint=hint) from error
            case apsw.CantOpenError():
                raise StoreError(f"cannot open {path}", hint="Check that it is a file you may read.") from error
            case apsw.IOError():
                hint = "Check the disk; nothing was half written."
                raise StoreError(f"reading or writing {path} failed ({error})", hint=hint) from error


def closed(path: str) -> StoreClosed:
    return StoreClosed(f"{path} was closed", hint="Open it again, or close it when all is done.")


def cannot_write(path: str) -> StoreReadOnly:
    hint = "Check the permissions of the file and its folder, or use --store PATH."
    return StoreReadOnly(f"{path} cannot be written to", hint=hint)


def connect(path: Path, *, read_only: bool) -> apsw.Connection:
    with InOurWords(str(path)):
        if read_only:
            # Without a WAL beside it nobody is writing, and a folder we may not write to cannot hold the shared memory.
            immutable = "" if Path(f"{path}-wal").exists() else "&immutable=1"
            uri = f"{path.absolute().as_uri()}?mode=ro{immutable}"
            connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        else:
            connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(BUSY_WAIT_MS)
        connection.set_progress_handler(deadline.passed, STEPS_BETWEEN_LOOKS)
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        return connection


def may_write(path: Path) -> bool:
    """Whether the file, and the folder that holds its WAL, can be written to."""
    return os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))


def open_store(path: Path, *, create: bool) -> tuple[apsw.Connection, bool]:
    """A migrated connection and whether it is read-only."""
    if path.is_dir():
        raise StoreMissing(f"{path} is a folder, not a store", hint=f"Use --store {path / 'store.db'}.")
    if not path.exists():
        if not create:
            hint = "Run `recallens init` to make one, or name another with --store PATH."
            raise StoreMissing(f"no store at {path}", hint=hint)
        _make(path)
    read_only = not may_write(path)
    connection = connect(path, read_only=read_only)
    with InOurWords(str(path)):
        _prepare(connection, path, read_only=read_only)
    return connection, read_only


def restore(path: Path, backup: Path) -> Path | None:
    """Put a copy of a backup in the store's place; gives the name under which what was there is kept, if any."""
    if not backup.is_file():
        raise StoreMissing(f"no backup at {backup}", hint="Name a file made by `recallens backup`.")
    if path.exists() and path.samefile(backup):
        raise InvalidInput(f"{backup} is the store itself", hint="Name a file made by `recallens backup`.")
    with InOurWords(str(backup)):
        source = connect(backup, read_only=True)
        _prepare(source, backup, read_only=True, current=False)
        make_private(path.parent)
        kept = files.put_back(source, path)
        source.close()
    return kept


def _make(path: Path) -> None:
    """A new store appears at its path whole, so that no other process ever sees, or leaves, half of one."""
    try:
        make_private(path.parent)
    except OSError as error:
        why = f"cannot make the folder {path.parent} ({error.strerror})"
        raise StoreReadOnly(why, hint=_ELSEWHERE) from error
    if not may_write(path):
        raise StoreReadOnly(f"cannot write to the folder {path.parent}", hint=_ELSEWHERE)
    try:
        with files.made_beside(path) as fresh, InOurWords(str(path)):
            connection = connect(fresh, read_only=False)
            connection.execute("PRAGMA journal_mode=WAL")
            _migrate(connection, path)
            connection.close()
    except FileExistsError:
        pass  # another process has made it meanwhile, and that one is used


def _prepare(connection: apsw.Connection, path: Path, *, read_only: bool, current: bool = True) -> None:
    """Bring the schema up to date, unless it need not be `current`; an error where this is no store of ours."""
    known = [name for name, _ in MIGRATIONS]
    applied = _applied(connection, path)
    newer = [name for name in applied if name not in known]
    if newer:
        raise StoreTooNew(
            f"{path} was written by a newer Recallens (it has the schema step {newer[0]!r})",
            hint="Nothing was changed. Upgrade with `pip install -U recallens`.",
        )
    if applied == known and current and not read_only and not soundness.is_guarded(connection):
        with immediate(connection):
            soundness.guard(connection)
    if applied == known or (applied and not current):
        return
    if read_only and applied:
        why = f"{path} needs a schema upgrade, but cannot be written to"
        raise StoreReadOnly(why, hint="Open it once where it can be.")
    if not applied:
        hint = "Nothing was changed. Move it away, or restore a backup with `recallens restore --from BACKUP`."
        raise StoreDamaged(f"{path} holds no store: it is empty or was left half made", hint=hint)
    _migrate(connection, path)


def _migrate(connection: apsw.Connection, path: Path) -> None:
    with immediate(connection):
        applied = _applied(connection, path)  # another process may have migrated while this one waited for the lock
        if not applied:
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied INTEGER NOT NULL)")
        soundness.unguard(connection)  # a step may change what a column holds, or its name
        bad = damage.damaged(connection) if digests.has_digests(connection) else {}
        digests.stop(connection)
        for name, script in MIGRATIONS:
            if name not in applied:
                connection.execute(script)
                connection.execute("INSERT INTO migrations VALUES (?, ?)", (name, int(time.time() * 1000)))
        soundness.guard(connection)
        connection.execute("INSERT OR IGNORE INTO meta VALUES ('store-id', ?)", (str(uuid.uuid4()),))
        if digests.has_digests(connection):
            digests.fill(connection)
            digests.mark(connection, [(area.number, part) for area, parts in bad.items() for part in parts])


def _applied(connection: apsw.Connection, path: Path) -> list[str]:
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")}
    if "migrations" in tables:
        application = connection.execute("PRAGMA application_id").fetchone()
        if application and application[0] == APPLICATION_ID:
            return [str(row[0]) for row in connection.execute("SELECT name FROM migrations ORDER BY name")]
    if tables:
        raise StoreDamaged(f"{path} is a database of something else, not a Recallens store", hint=_ELSEWHERE)
    return []


@contextmanager
def immediate(connection: apsw.Connection) -> Iterator[None]:
    """A write transaction: the lock is taken first, so it can never fail half way for want of it."""
    wait = deadline.left() * 1000
    if wait < BUSY_WAIT_MS:
        connection.set_busy_timeout(max(int(wait), 1))
    try:
        connection.execute("BEGIN IMMEDIATE")
    finally:
        if wait < BUSY_WAIT_MS:
            connection.set_busy_timeout(BUSY_WAIT_MS)
    try:
        with digests.kept(connection):
            yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def has_died(holder: str) -> bool:
    """A holder begins with its process id. Where that tells nothing, the lease simply runs out."""
    pid = holder.partition("-")[0]
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (ValueError, OverflowError, OSError):
        pass
    return False
