"""The server engine: one database, any number of processes on any number of machines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from psycopg import Connection, OperationalError
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from recallens.config import data_home
from recallens.errors import InvalidInput
from recallens.model.state import EVERYTHING, Sight
from recallens.store.postgres.connection import (
    WordedErrors,
    closed,
    connect,
    location_of,
    open_pool,
    prepare,
    transaction,
)
from recallens.store.postgres.database import PostgresDatabase
from recallens.store.postgres.distribution import distribute
from recallens.store.postgres.index_build import IndexBuild
from recallens.store.postgres.space import PostgresSpace, health
from recallens.store.postgres.whole import PostgresNamespace, PostgresTransaction
from recallens.store.protocols import WITNESS, Reader, StoreReader
from recallens.store.records import Health, Unencoded
from recallens.store.sql.terms import TermCache


class PostgresStore:
    """A transaction takes a connection of the pool; who writes in a namespace is alone in it, whatever the process."""

    path = None
    read_only = False

    def __init__(self, url: str, *, create: bool = False, read_url: str | None = None) -> None:
        """`read_url` is the address of a replica, of which recalls are answered."""
        self.location = location_of(url)
        self._role, self._clustered = prepare(url, create=create)
        self._pool: ConnectionPool[Connection[TupleRow]] = open_pool(url)
        self._replica = open_pool(read_url) if read_url is not None else None
        self._local = threading.local()
        self.closed = False
        self.after_commit: Callable[[], None] = lambda: None
        self.file = PostgresSpace(lambda: connect(url), lambda: self._transaction(writes=True))
        self._index = IndexBuild(lambda: connect(url), lambda: self._transaction(writes=True))
        id = self.meta("store-id")
        assert id is not None
        self.id = id
        self.beside = data_home() / "recallens" / "servers" / id

    def __repr__(self) -> str:
        return f"PostgresStore({self.location!r})"

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[PostgresDatabase]:
        if self.closed:
            raise closed(self.location)
        with (
            WordedErrors(self.location),
            transaction(self._pool, self._role, writes=writes, clustered=self._clustered) as db,
        ):
            before = getattr(self._local, "db", None)
            self._local.db = db
            try:
                yield db
            finally:
                self._local.db = before

    @contextmanager
    def read(self, namespace: str, sight: Sight = EVERYTHING) -> Iterator[Reader]:
        with self._transaction(writes=False) as db:
            yield PostgresTransaction(db, {}, {}).at(namespace, sight)

    @contextmanager
    def recalling(self, namespace: str, sight: Sight = EVERYTHING) -> Iterator[Reader]:
        """A snapshot of the replica, where there is one and it answers."""
        if self._replica is None:
            with self.read(namespace, sight) as reader:
                yield reader
            return
        with WordedErrors(self.location), ExitStack() as opened:
            try:
                replica = transaction(self._replica, self._role, writes=False, clustered=self._clustered)
                reader = PostgresTransaction(opened.enter_context(replica), {}, {}).at(namespace, sight)
            except (PoolTimeout, OperationalError):
                reader = opened.enter_context(self.read(namespace, sight))
            yield reader

    @contextmanager
    def read_all(self) -> Iterator[StoreReader]:
        with self._transaction(writes=False) as db:
            yield PostgresTransaction(db, {}, {})

    @contextmanager
    def write(self, namespace: str) -> Iterator[PostgresNamespace]:
        with self.write_all() as whole:
            yield whole.at(namespace)

    @contextmanager
    def write_all(self) -> Iterator[PostgresTransaction]:
        witness = WITNESS.get()
        terms: TermCache = {}  # another process may give out numbers between two transactions of this one
        try:
            with self._transaction(writes=True) as db:
                whole = PostgresTransaction(db, {}, terms)
                yield whole
                if witness is not None:
                    witness.before_commit(whole)
                whole.index_vectors()
        except BaseException:
            if witness is not None:
                witness.undone()
            raise
        self.after_commit()

    def meta(self, key: str) -> str | None:
        """As the transaction of this thread has made it, if it is in one."""
        db: PostgresDatabase | None = getattr(self._local, "db", None)
        if db is not None:
            return _meta(db, key)
        with self._transaction(writes=False) as db:
            return _meta(db, key)

    def size(self) -> int:
        with self._transaction(writes=False) as db:
            return int(db.execute("SELECT pg_database_size(current_database())").fetchone()[0])

    def check(self, encoder: str | None) -> Health:
        """What is derived, and what the server says of itself."""
        with self._transaction(writes=False) as db:
            return health(db, PostgresTransaction(db, {}, {}), self.location, encoder)

    def backup(self, target: str) -> None:
        raise InvalidInput(
            "a store on PostgreSQL is copied by the server's own tools",
            hint=f"Run pg_dump --schema=recallens --format=custom --file={target} on {self.location}.",
        )

    def index(self, namespace: str, encoders: Sequence[str]) -> Iterator[int]:
        with WordedErrors(self.location):
            yield from self._index.run(namespace, encoders)

    def drop_index(self, namespace: str) -> None:
        self._index.drop(namespace)

    def distribute(self, *, dry_run: bool) -> list[str]:
        with WordedErrors(self.location), self.file.connect() as owner:
            return distribute(owner, dry_run=dry_run)

    def compact(self) -> None:
        """Let the server take the space of deleted rows back."""
        self.file.clean(None, wait_ms=0)

    def lease(self, name: str, holder: str, seconds: int) -> bool:
        """Whether its holder lives nobody knows from another machine: a lease ends by its time."""
        now = int(time.time())
        with self.write_all() as whole:
            return whole.hold_lease(name, holder, now, now + seconds)

    def release(self, name: str, holder: str) -> None:
        with self.write_all() as whole:
            whole.drop_lease(name, holder)

    def take_backlog(self, encoder: str, limit: int, holder: str, seconds: int) -> list[Unencoded] | None:
        """Texts that wait, for this holder alone to encode within a time: what others have taken is passed over."""
        now = int(time.time())
        with self.write_all() as whole:
            return whole.take_backlog(encoder, limit, holder, now, now + seconds)

    def give_back(self, holder: str) -> None:
        """What was taken and not encoded is free for others."""
        with self.write_all() as whole:
            whole.give_back(holder)

    def close(self) -> None:
        """What other threads are at ends with StoreClosed once their transaction has ended."""
        self.closed = True
        self._pool.close()
        if self._replica is not None:
            self._replica.close()


def _meta(db: PostgresDatabase, key: str) -> str | None:
    db.enter_somewhere()
    row = db.execute("SELECT value FROM meta WHERE key = ?1", (key,)).fetchone()
    return str(row[0]) if row else None
