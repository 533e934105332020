"""PostgreSQL alone: who makes the schema, what a transaction may see, and what is said when the server is gone."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import errors
from test_store_contract import number, row, written

import postgres
from recallens.engine import Engine
from recallens.errors import InvalidInput, StoreBusy, StoreError, StoreMissing, StoreTooNew, StoreUnreachable
from recallens.model.memory import Event, EventKind, Session
from recallens.store.postgres.store import PostgresStore
from recallens.store.postgres.walls import ROLE
from standing import START_MS

SECRET = "h0rse-battery"


@pytest.fixture
def address() -> str:
    return postgres.fresh_store()


@pytest.fixture
def store(address: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(address)
    yield opened
    opened.close()


def connected(address: str) -> psycopg.Connection[tuple[object, ...]]:
    connection = psycopg.connect(address, autocommit=True)
    connection.execute("SET search_path TO recallens")
    return connection


# ── the schema ──


def test_processes_that_start_at_once_make_one_store() -> None:
    address = postgres.empty_database()
    with pytest.raises(StoreMissing, match="no store at postgresql://"):
        PostgresStore(address)
    script = (
        "import sys; from recallens.store.postgres.store import PostgresStore;"
        " s = PostgresStore(sys.argv[1], create=True); print(s.id); s.close()"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, address], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    ids = {process.communicate(timeout=100)[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(ids) == 1


def test_a_store_of_a_newer_version_is_left_alone() -> None:
    address = postgres.fresh_store()
    with connected(address) as connection:
        connection.execute("INSERT INTO migrations VALUES ('9999-later', 0)")
        with pytest.raises(StoreTooNew, match="9999-later"):
            PostgresStore(address)
        connection.execute("DELETE FROM migrations WHERE name = '9999-later'")


# ── the second wall ──


def test_the_role_of_the_program_may_pass_nothing(store: PostgresStore, address: str) -> None:
    with connected(address) as connection:
        attributes = "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcanlogin FROM pg_roles WHERE rolname = %s"
        assert connection.execute(attributes, (ROLE,)).fetchall() == [(False, False, False, False)]
        unforced = (
            "SELECT relname FROM pg_class WHERE relnamespace = 'recallens'::regnamespace AND relkind IN ('r', 'p')"
            " AND NOT (relrowsecurity AND relforcerowsecurity) AND relname <> 'migrations'"
        )
        assert connection.execute(unforced).fetchall() == []


def test_a_transaction_without_a_namespace_reads_nothing(store: PostgresStore, address: str) -> None:
    written(store, "a secret of n")
    written(store, "a secret of m", namespace="m", first=9)
    with store.write("n") as tx:
        tx.trail.record([Event("n", EventKind.USED, START_MS)], [None])
    with connected(address) as connection:
        listed = (
            "SELECT relname FROM pg_class WHERE relnamespace = 'recallens'::regnamespace AND relkind IN ('r', 'p')"
            " AND relname <> 'migrations' ORDER BY 1"
        )
        tables = [str(name) for (name,) in connection.execute(listed)]
        assert len(tables) > 200
        connection.execute(f"SET ROLE {ROLE}")
        full = [table for table in tables if connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchall()]
        assert full == []
        with connection.transaction():
            connection.execute("SELECT set_config('recallens.ns', '1', true)")
            assert connection.execute("SELECT content FROM memories").fetchall() == [("a secret of n",)]
            assert connection.execute("SELECT count(*) FROM memories WHERE ns <> 1").fetchall() == [(0,)]
            with pytest.raises(errors.InsufficientPrivilege), connection.transaction():
                connection.execute("UPDATE tombstones SET ns = 2; INSERT INTO tombstones VALUES (2, 1, 1)")
        assert connection.execute("SELECT content FROM memories").fetchall() == []
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute("ALTER TABLE memories DISABLE ROW LEVEL SECURITY")


def test_a_row_holds_only_what_it_may(store: PostgresStore) -> None:
    (num,) = written(store, "a")
    for changes in ({"importance": 1.5}, {"status": "lost"}, {"updated": -(1 << 60)}):
        with pytest.raises(InvalidInput, match="holds what it may not"), store.write("n") as tx:
            tx.memories.update(num, changes)
    with pytest.raises(InvalidInput), store.write("n") as tx:
        tx.sessions.put(Session("s", "n", START_MS, title="half \x00 a text"))
    assert number(store) == 1


# ── a server that is gone ──


def test_a_lost_connection_is_an_error_that_may_be_tried_again(store: PostgresStore, address: str) -> None:
    written(store, "before")

    def lost() -> None:
        with store.write("n") as tx:
            tx.memories.insert([row(1, "never there")])
            with connected(address) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                    " AND datname = current_database()"
                )
            tx.memories.numbers()

    with pytest.raises(StoreUnreachable, match="try again") as told:
        lost()
    assert isinstance(told.value, StoreBusy)
    assert written(store, "after", first=2)
    with store.read("n") as reader:
        assert [memory.content for memory in reader.memories.get(reader.memories.numbers()).values()] == [
            "before",
            "after",
        ]


def test_who_waits_for_a_namespace_is_not_kept_from_another(store: PostgresStore) -> None:
    written(store, "a")
    with store.write("n") as tx:
        tx.memories.insert([row(1, "b")])
        other = threading.Thread(target=lambda: written(store, "c", namespace="m", first=5))
        other.start()
        other.join(timeout=30)
        assert not other.is_alive()
    with store.read("m") as reader:
        assert len(reader.memories.numbers()) == 1


def test_no_message_holds_the_password() -> None:
    wrong = f"postgresql://me:{SECRET}@127.0.0.1:1/db"
    with pytest.raises(StoreUnreachable) as told:
        Engine.open(wrong)
    seen = [str(told.value), repr(told.value), repr(told.value.__cause__), str(told.value.__cause__)]
    assert not any(SECRET in text for text in seen)
    assert "postgresql://me@127.0.0.1:1/db" in seen[0]
    with pytest.raises(InvalidInput, match="postgresql://USER:PASSWORD@HOST") as unread:
        Engine.open(f"postgresql://me:{SECRET}@[::1/db?port=x")
    assert SECRET not in str(unread.value)


def test_a_missing_driver_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "recallens.store.postgres.store", None)
    with pytest.raises(StoreError, match=r"pip install 'recallens\[postgres\]'"):
        Engine.open("postgresql://localhost/db")


def test_a_copy_is_made_by_the_servers_own_tools(store: PostgresStore) -> None:
    with pytest.raises(InvalidInput, match="pg_dump"):
        store.backup("copy.db")


def test_a_receipt_says_what_the_server_keeps(address: str) -> None:
    with Engine.open(address, encoder="hashing") as engine:
        kept, gone = (engine.remember(text).id for text in ("The drawer is blue", "The quetzal lives in the attic"))
        receipt = engine.maintenance.erasure.erase([gone])
        assert receipt.pending is None
        assert "write-ahead log" in str(receipt.beyond)
        proof = engine.maintenance.erasure.verify(["quetzal"])
        assert (proof.finished, proof.traces, proof.holders) == (True, (), ())
        assert engine.maintenance.erasure.verify(["drawer"]).holders
        assert engine.get(kept).content == "The drawer is blue"
    shown = subprocess.run(
        [sys.executable, "-m", "recallens", "doctor", "--store", address], capture_output=True, text=True, check=True
    )
    assert "PostgreSQL 1" in shown.stdout
    assert "no problems" in shown.stdout
