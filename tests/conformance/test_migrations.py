"""A SQLite store of an earlier schema opens, and keeps what it holds."""

from __future__ import annotations

from pathlib import Path

import apsw
import psycopg
import pytest
from test_store_contract import ENCODER, row

import postgres
from recallens.model.memory import encode_id, recorded_unsaid
from recallens.store.postgres.migrations import MIGRATIONS as POSTGRES
from recallens.store.sqlite import connection
from recallens.store.sqlite.migrations import MIGRATIONS
from recallens.store.sqlite.store import SqliteStore
from standing import START_MS

LATER = ("review TEXT", "days_told INTEGER NOT NULL DEFAULT 0", "kind_stated INTEGER NOT NULL DEFAULT 0",
         "recorded INTEGER")  # fmt: skip


OF_A_NAMESPACE = ("second TEXT", "unread INTEGER NOT NULL DEFAULT 0")
WITH_NAMESPACE = ("citations", "lexical")


def test_vectors_from_before_there_were_parts_are_the_first_part(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "MIGRATIONS", MIGRATIONS[:6])
        old = SqliteStore(tmp_path / "old.db", create=True)
        for column in OF_A_NAMESPACE:  # which every transaction reads
            old.connection.execute(f"ALTER TABLE namespaces ADD COLUMN {column}")
        with old.write("n") as tx:
            tx.ensure(START_MS)
            for column in LATER:  # which a new memory is written with
                old.connection.execute(f"ALTER TABLE memories ADD COLUMN {column}")
            for table in WITH_NAMESPACE:
                old.connection.execute(f"ALTER TABLE {table} ADD COLUMN ns INTEGER NOT NULL DEFAULT 0")
            old.connection.execute("ALTER TABLE memories RENAME COLUMN simhash TO gist")
            nums = tx.memories.insert([row(0, "a"), row(1, "b")])
            old.connection.execute("ALTER TABLE memories RENAME COLUMN gist TO simhash")
            for column in LATER:
                old.connection.execute(f"ALTER TABLE memories DROP COLUMN {column.split()[0]}")
            for table in WITH_NAMESPACE:
                old.connection.execute(f"ALTER TABLE {table} DROP COLUMN ns")
        for column in OF_A_NAMESPACE:
            old.connection.execute(f"ALTER TABLE namespaces DROP COLUMN {column.split()[0]}")
        old.connection.executemany(
            "INSERT INTO vectors (num, encoder, ns, seq, vector) VALUES (?, ?, 1, 1, ?)",
            [(num, ENCODER, str(num).encode()) for num in nums],
        )
        old.close()
    store = SqliteStore(tmp_path / "old.db")
    with store.write("n") as tx:
        assert list(tx.vectors.changes(ENCODER, 0)) == [(num, 0, str(num).encode()) for num in nums]
        tx.vectors.put(ENCODER, [(nums[0], 1, b"more")])
        tx.memories.delete([nums[1]])
        assert list(tx.vectors.changes(ENCODER, 0)) == [(nums[0], 0, b"1"), (nums[0], 1, b"more")]
    assert store.check(None).problems == []
    store.close()


def test_what_an_agent_dated_before_there_were_recorded_times_has_that_of_its_id() -> None:
    kept = START_MS + 123
    id = encode_id(kept, 12345)
    rows = [(id, "working", "agent", 5), (id, "working", "mcp:x", kept), (id, "trusted", "agent", 5),
            (id, "working", "claude-code", 5), (id, "quarantine", "mcp", 5)]  # fmt: skip
    old = apsw.Connection(":memory:")
    old.execute("CREATE TABLE memories (id TEXT, zone TEXT, source TEXT, created INTEGER)")
    old.executemany("INSERT INTO memories VALUES (?, ?, ?, ?)", rows)
    old.execute(dict(MIGRATIONS)["0023-recorded"])
    assert [recorded for (recorded,) in old.execute("SELECT recorded FROM memories")] == [kept, None, None, None, kept]
    assert [recorded_unsaid(*row) for row in rows] == [kept, None, None, None, kept]  # and of an older export's line
    with psycopg.connect(postgres.empty_database(), autocommit=True) as server:
        server.execute("CREATE TABLE memories (id text, zone text, source text, created bigint)")
        server.cursor().executemany("INSERT INTO memories VALUES (%s, %s, %s, %s)", rows)
        server.execute(dict(POSTGRES)["0006-recorded"].encode())
        found = server.execute("SELECT recorded FROM memories ORDER BY zone, source, created").fetchall()
    assert [recorded for (recorded,) in found] == [kept, None, kept, None, None]
