"""The embedded engine: one file, any number of threads and processes."""

from __future__ import annotations

import os
import threading
import time
import uuid
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import apsw

from recallens.engines.sqlite.connection import InOurWords, connect, immediate, in_our_words, open_store
from recallens.engines.sqlite.reads import SqliteReader
from recallens.engines.sqlite.tasks import MISCOUNTED_TRIALS
from recallens.engines.sqlite.writes import SqliteWriter, TermCache
from recallens.errors import InvalidInput, StoreReadOnly
from recallens.store.protocols import Health


class Snapshot:
    """A read transaction: everything inside sees one state of the store."""

    __slots__ = ("_connection", "_path")

    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self._connection = connection
        self._path = path

    def __enter__(self) -> SqliteReader:
        with InOurWords(self._path):
            self._connection.execute("BEGIN")
        return SqliteReader(self._connection)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with InOurWords(self._path):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        if error is not None and (told := in_our_words(error, self._path)) is not None:
            raise told from error


class SqliteStore:
    """Each thread has its own connection; a forked child opens its own too: SQLite's locks do not survive a fork."""

    def __init__(self, path: str | Path, *, create: bool = False) -> None:
        self.path = Path(path).expanduser()
        self.location = str(self.path)
        first, self.read_only = open_store(self.path, create=create)
        self._local = threading.local()
        self._local.connection, self._local.pid = first, os.getpid()
        # Weak: the connection of a thread that has ended goes with it.
        self._open = weakref.WeakSet([first])
        self._lock = threading.Lock()
        self._terms: TermCache = {}
        self._writing = threading.Lock()
        found = self.meta("store-id")
        assert found is not None
        self.id = found

    @property
    def connection(self) -> apsw.Connection:
        if getattr(self._local, "pid", None) != os.getpid():
            self._local.connection = connect(self.path, read_only=self.read_only)
            self._local.pid = os.getpid()
            with self._lock:
                self._open.add(self._local.connection)
        connection: apsw.Connection = self._local.connection
        return connection

    def read(self) -> Snapshot:
        return Snapshot(self.connection, self.location)

    @contextmanager
    def write(self) -> Iterator[SqliteWriter]:
        if self.read_only:
            raise StoreReadOnly(
                f"{self.location} cannot be written to",
                hint="Check the permissions of the file and its folder, or use --store PATH.",
            )
        connection = self.connection
        # One writer a process at a time: threads queue here instead of polling the file's lock.
        with self._writing, InOurWords(self.location):
            try:
                with immediate(connection):
                    yield SqliteWriter(connection, self._terms)
            except BaseException:
                self._terms.clear()  # numbers given out in a transaction that did not happen
                raise

    def meta(self, key: str) -> str | None:
        with InOurWords(self.location):
            row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def check(self, encoder: str | None) -> Health:
        """Integrity of the file, of every reference, and of what is derived from the memories."""
        db = self.connection
        problems: list[str] = []
        try:
            found = [row[0] for row in db.execute("PRAGMA integrity_check(20)")]
            problems += [f"file: {message}" for message in found if message != "ok"]
            broken = len(db.execute("PRAGMA foreign_key_check").fetchall())
            if broken:
                problems.append(f"{broken} rows refer to a memory that is gone")
            for question, sql in _DERIVED_CHECKS:
                ((count,),) = db.execute(sql).fetchall()
                if count:
                    problems.append(f"{count} {question}")
            if encoder is not None:
                ((count,),) = db.execute(_WITHOUT_VECTOR, (encoder, encoder)).fetchall()
                if count:
                    problems.append(f"{count} memories without a vector and not in the backlog")
        except apsw.CorruptError as error:
            problems.append(f"file: {error}")
        size = self.path.stat().st_size
        return Health(problems, {"path": self.location, "bytes": size, "sqlite": apsw.sqlite_lib_version()})

    def backup(self, target: str) -> None:
        """A consistent copy while others go on writing."""
        path = Path(target).expanduser()
        if path.exists():
            raise InvalidInput(f"{path} already exists", hint="Name a new file: a backup never overwrites.")
        if not path.parent.is_dir():
            raise InvalidInput(f"the folder {path.parent} does not exist", hint="Make it first.")
        with InOurWords(str(path)):
            copy = apsw.Connection(str(path))
            with InOurWords(self.location), copy.backup("main", self.connection, "main") as job:
                while not job.done:
                    job.step(1024)
            # A copy goes its own way from here: index files of the original must never fit it, even put in its place.
            copy.execute("UPDATE meta SET value = ? WHERE key = 'store-id'", (str(uuid.uuid4()),))
            copy.close()

    def compact(self) -> None:
        """Give the space of deleted rows back, so that no old page of them stays in the file or the log."""
        with self._writing, InOurWords(self.location):
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self.connection.execute("VACUUM")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def lease(self, name: str, holder: str, seconds: int) -> bool:
        now = int(time.time())
        with self.write() as tx:
            before = tx.lease_holder(name)
            if before is not None and _has_died(before):
                tx.drop_lease(name, before)
            tx.set_lease(name, holder, now, now + seconds)
            return tx.lease_holder(name) == holder

    def release(self, name: str, holder: str) -> None:
        with self.write() as tx:
            tx.drop_lease(name, holder)

    def close(self) -> None:
        with self._lock:
            for connection in list(self._open):
                connection.close()
            self._open.clear()
        self._local = threading.local()


def _has_died(holder: str) -> bool:
    """A holder begins with its process id. Where that tells nothing, the lease simply runs out."""
    pid = holder.partition("-")[0]
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (ValueError, OverflowError, OSError):
        return False
    return False


_DERIVED_CHECKS = (
    (
        "memories without a lexical entry",
        "SELECT count(*) FROM memories m WHERE NOT EXISTS (SELECT 1 FROM lexical l WHERE l.num = m.num)",
    ),
    (
        "lexical entries whose length differs from their memory's",
        "SELECT count(*) FROM memories m JOIN lexical l ON l.num = m.num WHERE length(l.terms) <> 4 * m.length",
    ),
    (
        "rows numbered beyond their namespace's counter",
        "SELECT count(*) FROM memories m JOIN namespaces n ON n.id = m.ns WHERE m.seq > n.number",
    ),
    (
        "superseded memories without an end",
        "SELECT count(*) FROM memories WHERE status = 'superseded' AND valid_until IS NULL",
    ),
    (
        "memories whose source session does not know them",
        "SELECT count(*) FROM memories m WHERE m.session IS NOT NULL AND NOT EXISTS (SELECT 1 FROM session_memories l"
        " WHERE l.num = m.num AND l.session = m.session AND l.usage = 'created')",
    ),
    ("memories whose tasks are miscounted", MISCOUNTED_TRIALS),
)
_WITHOUT_VECTOR = (
    "SELECT count(*) FROM memories m WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.encoder = ? AND v.num = m.num)"
    " AND NOT EXISTS (SELECT 1 FROM backlog b WHERE b.encoder = ? AND b.num = m.num)"
)
