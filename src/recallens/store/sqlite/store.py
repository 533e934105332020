"""The embedded engine: one file, any number of threads and processes."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

import apsw
from msgspec import Struct

from recallens.errors import InvalidInput
from recallens.model.audit import ChainHead
from recallens.model.state import EVERYTHING, Sight
from recallens.store.protocols import WITNESS, Reader, StoreReader
from recallens.store.records import META_ENCODER_KEY, Health, NamespaceState, Unencoded
from recallens.store.sql.connection import NamespaceConnection
from recallens.store.sql.namespace import COUNTED, SORTS, SqlNamespace
from recallens.store.sql.portable import SqlPortable
from recallens.store.sql.tasks import MISCOUNTED_TRIALS
from recallens.store.sql.terms import TermCache
from recallens.store.sql.trail import SqlTokens, chain_heads
from recallens.store.sqlite import damage, digests, files, soundness
from recallens.store.sqlite.connection import (
    MAPPED_BYTES,
    InOurWords,
    cannot_write,
    closed,
    connect,
    has_died,
    immediate,
    open_store,
)
from recallens.store.sqlite.database import SqliteDatabase
from recallens.store.sqlite.erasure import SqliteFile

# How long a statement of another thread is waited for when the store is closed, in seconds: 1,000 times a pause.
CLOSING_TRIES, CLOSING_PAUSE = 1_000, 0.005
# Who encodes what waits.
_BACKLOG = "backlog"


SqliteNamespace = SqlNamespace["SqliteTransaction"]


class SqliteTransaction(Struct, frozen=True):
    """What belongs to no single namespace, in one transaction, whose numbers and words all its namespaces share."""

    _db: apsw.Connection
    _numbers: dict[int, int]
    _cache: TermCache

    @property
    def tokens(self) -> SqlTokens:
        return SqlTokens(SqliteDatabase(self._db))

    @property
    def portable(self) -> SqlPortable:
        return SqlPortable(SqliteDatabase(self._db))

    def at(self, namespace: str, sight: Sight = EVERYTHING) -> SqliteNamespace:
        here = NamespaceConnection(SqliteDatabase(self._db), namespace, self._numbers, sight)
        return SqliteNamespace(here, self._cache, self)

    def changed(self, limit: int) -> dict[str, tuple[int, list[int]]]:
        """How many memories this transaction has changed in each namespace, and the first `limit` of them."""
        changed: dict[str, tuple[int, list[int]]] = {}
        for key, number in self._numbers.items():
            where, here = "FROM memories m WHERE m.ns = ?1 AND m.seq = ?2", (key, number)
            counted = f"SELECT (SELECT name FROM namespaces WHERE id = ?1), count(*) {where}"
            ((name, count),) = self._db.execute(counted, here).fetchall()
            if name is not None and count:
                rows = self._db.execute(f"SELECT m.num {where} ORDER BY m.num LIMIT ?3", (*here, limit))
                changed[str(name)] = int(count), [int(num) for (num,) in rows]
        return changed

    def lag(self) -> None:
        """A file is no replica."""

    def audit_heads(self) -> dict[str, ChainHead]:
        return chain_heads(SqliteDatabase(self._db))

    def namespaces(self) -> list[tuple[NamespaceState, int]]:
        """Every namespace by name, with the number of its memories."""
        rows = self._db.execute(
            "SELECT n.id, n.name, n.number, n.epoch, n.tasks_ended, n.reward_total,"
            " (SELECT value FROM meta WHERE key = ?), n.second, n.unread,"
            " (SELECT count(*) FROM memories m WHERE m.ns = n.id)"
            " FROM namespaces n ORDER BY n.name",
            (META_ENCODER_KEY,),
        )
        return [(NamespaceState(*state), count) for *state, count in rows]

    def statistics(self) -> dict[str, Any]:
        return _statistics(self._db)

    def backlog(self, encoder: str, limit: int) -> list[Unencoded]:
        """The latest first: what was just written waits for nothing that has waited for long."""
        rows = self._db.execute(
            "SELECT n.name, b.num, m.title, m.author, m.content FROM backlog b"
            " JOIN memories m ON m.num = b.num JOIN namespaces n ON n.id = b.ns"
            " WHERE b.encoder = ? ORDER BY b.num DESC LIMIT ?",
            (encoder, limit),
        )
        return [Unencoded(*row) for row in rows]

    def backlog_size(self, encoder: str) -> int:
        row = self._db.execute("SELECT count(*) FROM backlog WHERE encoder = ?", (encoder,)).fetchone()
        return row[0] if row else 0

    def set_meta(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def drop_meta(self, key: str) -> None:
        self._db.execute("DELETE FROM meta WHERE key = ?", (key,))

    def enqueue_missing(self, encoder: str) -> int:
        """Everything that has no vector of this encoder yet goes to its backlog, once."""
        rows = self._db.execute(
            "INSERT OR IGNORE INTO backlog (encoder, num, ns) SELECT ?1, m.num, m.ns FROM memories m WHERE NOT EXISTS"
            " (SELECT 1 FROM vectors v WHERE v.encoder = ?1 AND v.num = m.num) RETURNING num",
            (encoder,),
        )
        return len(rows.fetchall())

    def drop_other_vectors(self, encoder: str, second: str | None = None) -> None:
        """Once every memory has a vector of this encoder, those of others serve nobody, but for the second's."""
        if not self.backlog_size(encoder):
            kept = (encoder, second or encoder)
            self._db.execute("DELETE FROM vectors WHERE encoder NOT IN (?, ?)", kept)
            self._db.execute("DELETE FROM backlog WHERE encoder NOT IN (?, ?)", kept)
            self._db.execute("UPDATE namespaces SET second = NULL WHERE second NOT IN (?, ?)", kept)

    def drop_vectors(self, encoder: str) -> None:
        with digests.anew(self._db, digests.VECTORS):
            self._db.execute("DELETE FROM vectors WHERE encoder = ?", (encoder,))

    def drop_damaged_vectors(self) -> None:
        """Those that are not as they were written, so that their texts are encoded again."""
        nums = [num for parts in damage.damaged(self._db, digests.VECTORS).values() for num in parts]
        if nums:
            with digests.anew(self._db, digests.VECTORS):
                self._db.execute("DELETE FROM vectors WHERE num IN (SELECT value FROM json_each(?))", (str(nums),))

    def hold_lease(self, name: str, holder: str, now: int, expires: int) -> bool:
        """Take or renew a lease, unless another holds it and it has not run out. Tells whether it is held now."""
        self._db.execute(
            "INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder,"
            " expires = excluded.expires WHERE leases.holder = excluded.holder OR leases.expires < ?",
            (name, holder, expires, now),
        )
        return self.lease_holder(name) == holder

    def lease_holder(self, name: str) -> str | None:
        row = self._db.execute("SELECT holder FROM leases WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def drop_lease(self, name: str, holder: str) -> None:
        self._db.execute("DELETE FROM leases WHERE name = ? AND holder = ?", (name, holder))


View = TypeVar("View")


class ReadTransaction(Struct, Generic[View], frozen=True):
    """Everything inside sees one state of the store. A class, since a generator takes longer to enter and leave."""

    _connection: apsw.Connection
    _path: str
    _view: Callable[[SqliteTransaction], View]

    def __enter__(self) -> View:
        with InOurWords(self._path):
            self._connection.execute("BEGIN")
            try:
                return self._view(SqliteTransaction(self._connection, {}, {}))
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        words = InOurWords(self._path)
        with words:
            wrote = self._connection.txn_state() == apsw.SQLITE_TXN_WRITE
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        words.__exit__(kind, error, trace)
        if wrote:  # the types forbid it; what slips past them must not be lost without a word
            raise RuntimeError("a transaction that reads cannot write")


class SqliteStore:
    """Each thread has its own connection; a forked child opens its own too: SQLite's locks do not survive a fork."""

    def __init__(self, path: str | Path, *, create: bool = False) -> None:
        self.path = self.beside = Path(path).expanduser()
        self.location = str(self.path)
        first, self.read_only = open_store(self.path, create=create)
        self._local = threading.local()
        self._local.connection, self._local.pid = first, os.getpid()
        # Weak: the connection of a thread that has ended goes with it.
        self._open = weakref.WeakSet([first])
        self._lock = threading.Lock()
        self._terms: TermCache = {}
        self._writing = threading.Lock()
        self.file = SqliteFile(self.path, self._writing, lambda: self.connection)
        self.closed = False
        self.after_commit: Callable[[], None] = lambda: None
        self._identity = files.identity(self.path)
        self._signs_at_opening = self._signs()
        id = self.meta("store-id")
        assert id is not None
        self.id = id

    @property
    def connection(self) -> apsw.Connection:
        """This thread's connection. Without a WAL beside it, a store that we may only read is taken to stand still:
        once it has changed, it is opened anew."""
        if self.closed:
            raise closed(self.location)
        files.refuse_vanished(self.path, self._identity)
        if getattr(self._local, "pid", None) != os.getpid() or (self.read_only and self._has_moved_on()):
            self._local.connection = connect(self.path, read_only=self.read_only)
            self._local.pid = os.getpid()
            with self._lock:
                self._open.add(self._local.connection)
        connection: apsw.Connection = self._local.connection
        return connection

    def _signs(self) -> tuple[bool, int, int]:
        """What differs once another process has written to the file."""
        status = self.path.stat()
        return Path(f"{self.path}-wal").exists(), status.st_size, status.st_mtime_ns

    def _has_moved_on(self) -> bool:
        before, now = getattr(self._local, "signs", self._signs_at_opening), self._signs()
        self._local.signs = now
        return bool(before != now)

    def read(self, namespace: str, sight: Sight = EVERYTHING) -> ReadTransaction[Reader]:
        return ReadTransaction(self.connection, self.location, lambda whole: whole.at(namespace, sight))

    recalling = read  # a file has no replica

    def read_all(self) -> ReadTransaction[StoreReader]:
        return ReadTransaction(self.connection, self.location, lambda whole: whole)

    @contextmanager
    def write(self, namespace: str) -> Iterator[SqliteNamespace]:
        with self.write_all() as whole:
            yield whole.at(namespace)

    @contextmanager
    def write_all(self) -> Iterator[SqliteTransaction]:
        if self.read_only:
            raise cannot_write(self.location)
        connection, witness = self.connection, WITNESS.get()
        # One writer a process at a time: threads queue here instead of polling the file's lock.
        with self._writing, InOurWords(self.location):
            try:
                with immediate(connection):
                    whole = SqliteTransaction(connection, {}, self._terms)
                    yield whole
                    if witness is not None:
                        witness.before_commit(whole)
            except BaseException:
                if witness is not None:
                    witness.undone()
                self._terms.clear()  # numbers given out in a transaction that did not happen
                raise
            self.after_commit()

    def meta(self, key: str) -> str | None:
        with InOurWords(self.location):
            row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def size(self) -> int:
        return self.path.stat().st_size

    def check(self, encoder: str | None) -> Health:
        """Integrity of the file, of every row and reference by its digest, and of what is derived."""
        db, size = self.connection, self.path.stat().st_size
        problems: list[str] = []
        try:
            db.execute(f"PRAGMA mmap_size={max(size, MAPPED_BYTES)}")  # every page is read: two thirds of the time
            db.execute("BEGIN")  # rows and their digests are of one moment, whoever writes meanwhile
            problems += soundness.faults(db)
            messages = [row[0] for row in db.execute("PRAGMA integrity_check(20)")]
            problems += [f"file: {message}" for message in messages if message != "ok"]
            broken = len(db.execute("PRAGMA foreign_key_check").fetchall())
            if broken:
                problems.append(f"{broken} rows refer to a memory that is gone")
            problems += damage.schema_faults(db)
            problems += damage.faults(db)
            checks = _DERIVED_CHECKS if encoder is None else _DERIVED_CHECKS | _VECTOR_CHECK
            for problem, sql in checks.items():
                ((count,),) = db.execute(sql, {"encoder": encoder}).fetchall()
                if count:
                    problems.append(f"{count} {problem}")
        except (apsw.CorruptError, apsw.SQLError, UnicodeDecodeError) as error:  # a table or a text is not what it was
            problems.append(f"file: {error}")
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")
            db.execute(f"PRAGMA mmap_size={MAPPED_BYTES}")
        return Health(problems, {"path": self.location, "bytes": size, "sqlite": apsw.sqlite_lib_version()})

    def backup(self, target: str) -> None:
        """A sound copy as of now, while others go on writing."""
        path = Path(target).expanduser()
        if path.exists():
            raise InvalidInput(f"{path} already exists", hint="Name a new file: a backup never overwrites.")
        if not path.parent.is_dir():
            raise InvalidInput(f"the folder {path.parent} does not exist", hint="Make it first.")
        with InOurWords(self.location):
            files.copy(self.connection, path)

    def index(self, namespace: str, encoders: Sequence[str]) -> Iterator[int]:
        raise InvalidInput(
            "a store in a file has no index of its own: the processes that use it hold it in memory",
            hint="A store on PostgreSQL can answer from the database: `recallens migrate`.",
        )

    def drop_index(self, namespace: str) -> None:
        """There is none."""

    def distribute(self, *, dry_run: bool) -> list[str]:
        raise InvalidInput("a store in a file is on one machine", hint="A store on PostgreSQL with Citus can be.")

    def compact(self) -> None:
        """Give the space of deleted rows back, so that no old page of them stays in the file or the log."""
        with self._writing, InOurWords(self.location):
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self.connection.execute("VACUUM")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def lease(self, name: str, holder: str, seconds: int) -> bool:
        now = int(time.time())
        with self.write_all() as whole:
            before = whole.lease_holder(name)
            if before is not None and has_died(before):
                whole.drop_lease(name, before)
            return whole.hold_lease(name, holder, now, now + seconds)

    def release(self, name: str, holder: str) -> None:
        with self.write_all() as whole:
            whole.drop_lease(name, holder)

    def take_backlog(self, encoder: str, limit: int, holder: str, seconds: int) -> list[Unencoded] | None:
        """Texts that wait, for this holder alone to encode within a time; None where another is at it."""
        if not self.lease(_BACKLOG, holder, seconds):
            return None
        with self.read_all() as whole:
            return whole.backlog(encoder, limit)

    def give_back(self, holder: str) -> None:
        """What was taken and not encoded is free for others."""
        self.release(_BACKLOG, holder)

    def close(self) -> None:
        """What other threads are at ends with StoreClosed; a statement that is running is waited for."""
        self.closed = True
        with self._lock:
            for connection in list(self._open):
                self._close(connection)
            self._open.clear()
        self._local = threading.local()

    def _close(self, connection: apsw.Connection) -> None:
        """One that is busy in another thread for longer is left to that thread."""
        for _ in range(CLOSING_TRIES):
            try:
                connection.close()
                return
            except (apsw.ThreadingViolationError, apsw.BusyError):
                time.sleep(CLOSING_PAUSE)


def _statistics(db: apsw.Connection) -> dict[str, Any]:
    """How many rows there are of everything, and how many memories of each sort."""

    def count(table: str, by: str = "''") -> dict[Any, Any]:
        rows = db.execute(f"SELECT {by}, count(*) FROM {table} GROUP BY 1 ORDER BY 2 DESC, 1")
        return {name: number for name, number in rows.fetchall()}  # noqa: C416

    totals = {table: count(table).get("", 0) for table in COUNTED}
    return {"totals": totals, "by": {sort: count("memories", sort) for sort in SORTS}}


_DERIVED_CHECKS = {
    "memories without a lexical entry":
        "SELECT count(*) FROM memories m WHERE NOT EXISTS (SELECT 1 FROM lexical l WHERE l.num = m.num)",
    "lexical entries whose length differs from their memory's":
        "SELECT count(*) FROM memories m JOIN lexical l ON l.num = m.num WHERE length(l.terms) <> 4 * m.length",
    "rows numbered beyond their namespace's counter":
        "SELECT count(*) FROM memories m JOIN namespaces n ON n.id = m.ns WHERE m.seq > n.number",
    "superseded memories without an end":
        "SELECT count(*) FROM memories WHERE status = 'superseded' AND valid_until IS NULL",
    "memories whose source session does not know them":
        "SELECT count(*) FROM memories m WHERE m.session IS NOT NULL AND NOT EXISTS (SELECT 1 FROM session_memories l"
        " WHERE l.num = m.num AND l.session = m.session AND l.usage = 'created')",
    "memories whose tasks are miscounted": MISCOUNTED_TRIALS,
}  # fmt: skip
_VECTOR_CHECK = {
    "memories without a vector and not in the backlog":
        "SELECT count(*) FROM memories m WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.encoder = :encoder"
        " AND v.num = m.num) AND NOT EXISTS (SELECT 1 FROM backlog b WHERE b.encoder = :encoder AND b.num = m.num)",
}  # fmt: skip
