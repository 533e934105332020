"""Every statement about a namespace names it: proven from the statements of the whole contract on PostgreSQL.

Each is planned again by a user whom no policy stops. Only the statement itself can then say where it looks, and it must
look into one partition of each table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import psycopg
import pytest
from psycopg import RawCursor
from test_every_method import contract
from test_store_contract import STORES

import postgres
from recallens.store.postgres import connection
from recallens.store.postgres.database import DIALECT, PostgresDatabase
from recallens.store.postgres.migrations import PARTITIONS

# What belongs to no namespace, or says which there are. `backlog` is asked for the whole store by who encodes.
OF_THE_STORE = ("meta", "tokens", "answers", "leases", "namespaces", "backlog", "audit_heads")
_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z_]+)\b(?!\()")


class Recorded(PostgresDatabase):
    statements: ClassVar[dict[str, Sequence[Any]]] = {}

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        self.statements.setdefault(sql, values)
        return super().execute(sql, values)

    def executemany(self, sql: str, rows: Any) -> None:
        listed = list(rows)
        if listed:
            self.statements.setdefault(sql, listed[0])
        super().executemany(sql, listed)

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        self.statements.setdefault(sql, values)
        return super().stream(sql, values)


@pytest.fixture(scope="module")
def statements(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sequence[Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "PostgresDatabase", Recorded)
        for test in contract():
            store = STORES["postgres"](Path())
            test(store)
            store.close()
    return Recorded.statements


def is_about_one(sql: str) -> bool:
    """Where the chain of every namespace ends is asked of the store."""
    return bool(tables_of(sql) - set(OF_THE_STORE)) and ("FROM audit_heads" not in sql or "?1" in sql)


def tables_of(sql: str) -> set[str]:
    named = set(re.findall(r"(\w+)(?:\(\w+(?:, \w+)*\))? AS \(", sql))  # what the statement itself defines
    return set(_TABLE.findall(sql)) - named - {"lateral", "select"}


def test_each_looks_into_one_partition(statements: dict[str, Sequence[Any]]) -> None:
    about = {sql: values for sql, values in statements.items() if is_about_one(sql)}
    assert len(about) > 150
    wide = []
    with connection.connect(postgres.fresh_store()) as planner:
        planner.execute("SET search_path TO recallens")
        cursor = RawCursor(planner)
        for sql, values in about.items():
            cursor.execute(f"EXPLAIN (FORMAT TEXT, COSTS OFF) {DIALECT.render(sql)}", values)
            plan = "\n".join(line for (line,) in cursor.fetchall())
            scanned: dict[str, set[str]] = {}
            for table, part in re.findall(rf" on (\w+?)_([0-{PARTITIONS - 1}])\b", plan):
                scanned.setdefault(table, set()).add(part)
            if any(len(parts) > 1 for table, parts in scanned.items() if table not in OF_THE_STORE):
                wide.append(f"{sql}\n{plan}")
    assert wide == [], "\n\n".join(wide)


def test_each_names_it_first(statements: dict[str, Sequence[Any]]) -> None:
    """The first parameter is the namespace: its key, or in the log its name."""
    for sql in statements:
        if is_about_one(sql):
            assert re.search(r"\b(?:ns|id|namespace)\b[^?]*= \?1|\(ns,|\(namespace,", sql), sql
            assert "?1" in sql, sql


def test_a_look_up_goes_along_an_index(statements: dict[str, Sequence[Any]]) -> None:
    """With many rows, what is asked for by number, id or time is found by its key."""
    address = postgres.fresh_store()
    with connection.connect(address) as planner:
        planner.execute("SET search_path TO recallens")
        planner.execute("INSERT INTO namespaces (name, created) SELECT 'n' || i, 0 FROM generate_series(1, 4) i")
        planner.execute(
            "INSERT INTO memories (ns, num, id, seq, sector, kind, tier, status, zone, content, tags, scopes,"
            " annotations, importance, confidence, base_salience, source, created, updated, content_hash, gist,"
            " chars, tokens, length) SELECT 1, i, 'id' || i, i, 'semantic', 'fact', 'project', 'active',"
            " 'trusted', 'text', '[]', '[]', '{}', 0.5, 0.5, 0.5, 'user', i, i, 'hash' || i, 0, 4, 1, 1"
            " FROM generate_series(1, 40000) i"
        )
        planner.execute("ANALYZE memories")
        for wanted in ("m.num = j.value AND m.ns", "m.id = j.value WHERE", "m.content_hash = j.value", "seq > ?2"):
            sql = next(sql for sql in statements if wanted in sql and "FROM" in sql and "memories" in sql)
            values = list(statements[sql])
            values[0] = 1
            if wanted == "seq > ?2":
                values[1] = 39990
            plan = planner.execute(f"EXPLAIN {_inlined(DIALECT.render(sql), values)}".encode()).fetchall()
            text = "\n".join(str(line[0]) for line in plan)
            assert "Index" in text, f"{sql}\n{text}"
            assert "Seq Scan on memories" not in text, f"{sql}\n{text}"


def _inlined(sql: str, values: Sequence[Any]) -> str:
    for place in range(len(values), 0, -1):
        sql = sql.replace(f"${place}", psycopg.sql.Literal(values[place - 1]).as_string())
    return sql
