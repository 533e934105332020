"""Reaching the server: a pool of connections, transactions that begin in one step, errors that say what to do next."""

from __future__ import annotations

import math
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from zlib import crc32

import psycopg
from msgspec import Struct
from psycopg import Connection, conninfo, errors
from psycopg.rows import TupleRow
from psycopg.types.numeric import FloatBinaryDumper, Int8BinaryDumper
from psycopg.types.string import BytesBinaryDumper, StrBinaryDumper
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from recallens import deadline
from recallens.errors import (
    InvalidInput,
    StoreBusy,
    StoreClosed,
    StoreError,
    StoreMissing,
    StoreReadOnly,
    StoreTooNew,
    StoreUnreachable,
)
from recallens.store.postgres.database import PostgresDatabase
from recallens.store.postgres.distribution import is_cluster, undivided
from recallens.store.postgres.migrations import MIGRATIONS, SCHEMA
from recallens.store.postgres.walls import ROLE, fingerprint, passes_walls, raise_walls

OLDEST_SERVER = 160_000
# Another process may hold a namespace for a whole ingest batch; a minute is longer than any of ours takes.
BUSY_WAIT_MS = 60_000
CONNECT_SECONDS = 10
MOST_CONNECTIONS = 16
# Whoever makes or changes the schema of a database does it alone.
_MIGRATING = crc32(b"recallens migrations")
_AGAIN = "Nothing was changed; try again in a moment."


def location_of(url: str) -> str:
    """A store's address as it may be shown: without the password."""
    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise _no_address() from error
    user = f"{parts['user']}@" if parts.get("user") else ""
    port = f":{parts['port']}" if parts.get("port") else ""
    host = parts.get("host") or parts.get("hostaddr") or "localhost"
    return f"postgresql://{user}{host}{port}/{parts.get('dbname') or parts.get('user') or ''}"


def _no_address() -> InvalidInput:
    return InvalidInput(
        "the address of the store cannot be read", hint="Write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
    )


class WordedErrors(Struct, frozen=True):
    """PostgreSQL's errors in Recallens's words. None of them holds a password."""

    _place: str

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, psycopg.Error | PoolTimeout | PoolClosed | UnicodeEncodeError | OverflowError):
            raise self.worded(error) from error

    def worded(self, error: Exception) -> Exception:
        place = self._place
        match error:
            case errors.LockNotAvailable() | errors.DeadlockDetected() | errors.SerializationFailure():
                deadline.check()
                return StoreBusy(f"others have been writing to {place} for too long", hint=_AGAIN)
            case errors.QueryCanceled():
                deadline.check()
                return StoreBusy(f"{place} has stopped a statement", hint=_AGAIN)
            case errors.ReadOnlySqlTransaction():
                return RuntimeError("a transaction that reads cannot write")
            case errors.InsufficientPrivilege():
                hint = "Connect as a user that owns the schema, or is a member of its role."
                return StoreReadOnly(f"{place} does not let this user do that", hint=hint)
            case errors.CheckViolation() | errors.NotNullViolation() | errors.ProgramLimitExceeded():
                return InvalidInput(f"a row holds what it may not ({_first_line(error)}); {place} was not changed")
            case UnicodeEncodeError():
                return InvalidInput("a text holds half a character, which cannot be kept")
            case psycopg.DataError() | OverflowError():
                return InvalidInput(f"{place} cannot keep this ({_first_line(error)})")
            case PoolClosed():
                return closed(place)
            case PoolTimeout() | psycopg.OperationalError() | psycopg.InterfaceError():
                deadline.check()
                return StoreUnreachable(f"{place} cannot be reached ({_first_line(error)})", hint=_AGAIN)
            case _:
                hint = "Nothing was changed. Run `recallens doctor`."
                return StoreError(f"{place} has refused a statement ({_first_line(error)})", hint=hint)


def _first_line(error: Exception) -> str:
    """What PostgreSQL says, without what it was about: a statement or a row is no part of a message."""
    text = str(getattr(getattr(error, "diag", None), "message_primary", None) or error)
    return _SECRET.sub("", text.strip().splitlines()[0] if text.strip() else type(error).__name__)


_SECRET = re.compile(r"password=\S+|(?<=://)[^@/\s]*@")


def closed(place: str) -> StoreClosed:
    return StoreClosed(f"{place} was closed", hint="Open it again, or close it when all is done.")


# ── opening ──


def connect(url: str) -> Connection[TupleRow]:
    """A connection of its own, as the user of the address."""
    place = location_of(url)
    with WordedErrors(place):
        connection = psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_SECONDS)
        _configure(connection)
    return connection


def _configure(connection: Connection[Any]) -> None:
    """Values are sent as what they are in the tables, and statements need not guess."""
    connection.autocommit = True
    for kind, dumper in (
        (int, Int8BinaryDumper), (bool, Int8BinaryDumper), (float, FloatBinaryDumper), (str, StrBinaryDumper),
        (bytes, BytesBinaryDumper),
    ):  # fmt: skip
        connection.adapters.register_dumper(kind, dumper)


def open_pool(url: str) -> ConnectionPool[Connection[TupleRow]]:
    return ConnectionPool(
        url,
        kwargs={"connect_timeout": CONNECT_SECONDS},
        min_size=1,
        max_size=MOST_CONNECTIONS,
        timeout=CONNECT_SECONDS,
        configure=_configure,
        check=ConnectionPool.check_connection,  # one that was lost is replaced before anybody is given it
        open=True,
        name="recallens",
    )


def prepare(url: str, *, create: bool) -> tuple[str | None, bool]:
    """Bring the schema up to date, alone; gives the role that transactions take, where who connects has need of one,
    and whether the server is a cluster."""
    place = location_of(url)
    with connect(url) as connection, WordedErrors(place), connection.transaction():
        if connection.info.server_version < OLDEST_SERVER:
            why = f"{place} is PostgreSQL {connection.info.server_version // 10_000}"
            raise StoreError(why, hint="Recallens needs version 16 or newer.")
        connection.execute(
            f"SELECT pg_advisory_xact_lock({_MIGRATING}), set_config('search_path', '{SCHEMA}', true),"
            " set_config('recallens.whole', 'on', true)"
        )
        applied = _applied(connection)
        if not applied and not create:
            raise StoreMissing(
                f"no store at {place}", hint="Run `recallens init` to make one, or name another database."
            )
        newer = [name for name in applied if name not in dict(MIGRATIONS)]
        if newer:
            raise StoreTooNew(
                f"{place} was written by a newer Recallens (it has the schema step {newer[0]!r})",
                hint="Nothing was changed. Upgrade with `pip install -U recallens`.",
            )
        _migrate(connection, applied)
        return ROLE if passes_walls(connection) else None, is_cluster(connection)


def _applied(connection: Connection[TupleRow]) -> list[str]:
    if connection.execute("SELECT to_regclass('migrations')").fetchone() == (None,):
        return []
    return [str(name) for (name,) in connection.execute("SELECT name FROM migrations ORDER BY name")]


def _migrate(connection: Connection[TupleRow], applied: list[str]) -> None:
    if not applied:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        connection.execute("CREATE TABLE migrations (name text PRIMARY KEY, applied bigint NOT NULL)")
    clustered = is_cluster(connection)
    for name, script in MIGRATIONS:
        if name not in applied:
            connection.execute((undivided(script) if clustered else script).encode())
            connection.execute("INSERT INTO migrations VALUES (%s, %s)", (name, int(time.time() * 1000)))
    walls = f"walls {fingerprint()}"
    if connection.execute(f"SELECT obj_description('{SCHEMA}'::regnamespace)").fetchone() != (walls,):
        raise_walls(connection)
        connection.execute(f"COMMENT ON SCHEMA {SCHEMA} IS '{walls}'")
        put = "INSERT INTO meta VALUES ('store-id', %s) ON CONFLICT DO NOTHING"
        connection.execute(put, (str(uuid.uuid4()),))


# ── transactions ──


def beginning(role: str | None, *, writes: bool, clustered: bool = False) -> str:
    """The statements that a transaction begins with, sent as one. Nothing of it outlives the transaction, so that it
    also goes through a pooler that gives each transaction another connection."""
    mode = "READ COMMITTED" if writes else "REPEATABLE READ READ ONLY"
    begin = [f"BEGIN ISOLATION LEVEL {mode}", f"SET LOCAL search_path TO {SCHEMA}"]
    if clustered:  # what the transaction stands in is known on the worker that has the rows
        begin.append("SET LOCAL citus.propagate_set_commands TO local")
    if role is not None:
        begin.append(f"SET LOCAL ROLE {role}")
    seconds = deadline.left()
    if seconds < math.inf:
        begin.append(f"SET LOCAL statement_timeout TO {max(int(seconds * 1000), 1)}")
    if writes:
        begin.append(f"SET LOCAL lock_timeout TO {max(min(BUSY_WAIT_MS, int(min(seconds, 1e6) * 1000)), 1)}")
    return "; ".join(begin)


@contextmanager
def transaction(
    pool: ConnectionPool[Connection[TupleRow]], role: str | None, *, writes: bool, clustered: bool = False
) -> Iterator[PostgresDatabase]:
    """What is written inside is durable when it ends without an error, and never was otherwise."""
    with pool.connection() as connection:
        connection.execute(beginning(role, writes=writes, clustered=clustered).encode(), prepare=False)
        try:
            yield PostgresDatabase(connection, writes=writes, clustered=clustered)
        except BaseException:
            if not connection.closed:
                connection.rollback()
            raise
        if writes:
            connection.execute("COMMIT")
        else:
            connection.execute("ROLLBACK")
