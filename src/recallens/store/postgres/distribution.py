"""Spreading a store over the workers of a Citus cluster, made of the tables that are there: nothing is listed by hand.

A table whose first key column is the namespace is distributed by it, all of them together, so that everything of a
namespace is on one worker. What is about the whole store is small and stays on the coordinator. The order follows from
the references between the tables. A store that is made on a cluster has no partitions: there the shards are what a
namespace is divided by.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct
from psycopg import Connection
from psycopg.rows import TupleRow

from recallens.errors import StoreError
from recallens.store.postgres.migrations import SCHEMA

# The columns by which a table is a namespace's: its key, or in the log its name.
BY_KEY, BY_NAME = "ns", "namespace"
SHARDS: Final = 32

_TABLES: Final = """
SELECT c.relname, a.attname, c.relkind = 'p'
FROM pg_class c JOIN pg_index x ON x.indrelid = c.oid AND x.indisprimary
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0]
WHERE c.relnamespace = 'recallens'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
ORDER BY 1
"""
_REFERENCES: Final = """
SELECT DISTINCT f.conrelid::regclass::text, f.confrelid::regclass::text FROM pg_constraint f
WHERE f.contype = 'f' AND f.connamespace = 'recallens'::regnamespace AND f.conparentid = 0
"""


class StoredTable(Struct, frozen=True):
    name: str
    column: str  # the first of its key
    partitioned: bool


def statements(tables: list[StoredTable], references: set[tuple[str, str]], done: set[str]) -> list[str]:
    """What is left to be done; `done` are the tables that Citus knows."""
    ordered, by_name = list[StoredTable](), {table.name: table for table in tables}

    def visit(table: StoredTable) -> None:
        if table not in ordered:
            for source, target in sorted(references):
                if source == table.name and target in by_name and target != source:
                    visit(by_name[target])
            ordered.append(table)

    for table in tables:
        visit(table)
    made = []
    for kind in (BY_KEY, BY_NAME):
        first = next((table.name for table in ordered if table.column == kind and table.name in done), None)
        for table in ordered:
            if table.column != kind or table.name in done:
                continue
            beside = f"'{SCHEMA}.{first}'" if first is not None else "'none'"
            count = "" if first is not None else f", shard_count => {SHARDS}"
            made.append(
                f"SELECT create_distributed_table('{SCHEMA}.{table.name}', '{kind}', colocate_with => {beside}{count})"
            )
            first = first or table.name
    return made


def is_cluster(connection: Connection[TupleRow]) -> bool:
    row = connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone()
    return row is not None


def undivided(script: str) -> str:
    """A step of the schema for a cluster."""
    return _DIVIDED.sub("", script).replace(" DEFERRABLE", " DEFERRABLE INITIALLY DEFERRED")


# Shards take the place of partitions. That references are checked at the end must be said in the tables, since a worker
# is not told of it. No cluster takes a reference that is emptied when what it points to goes: who
# deletes a memory empties it (`SqlMemories.bury`).
_DIVIDED: Final = re.compile(r" PARTITION BY HASH \(\w+\)|,\s*FOREIGN KEY [^\n]* ON DELETE SET NULL[^\n]*")


def distribute(owner: Connection[TupleRow], *, dry_run: bool) -> list[str]:
    """Distribute what is not yet; gives the statements that it took."""
    if not is_cluster(owner):
        raise StoreError(
            "the server has no Citus", hint="Run CREATE EXTENSION citus on the coordinator, and add its workers."
        )
    tables = [StoredTable(*found) for found in owner.execute(_TABLES).fetchall()]
    if any(table.partitioned for table in tables):
        raise StoreError(
            "this store was made where there was no Citus, and is divided into partitions",
            hint="Move it into a new database on the cluster (`recallens migrate`), and distribute that one.",
        )
    references = {(str(a).split(".")[-1], str(b).split(".")[-1]) for a, b in owner.execute(_REFERENCES).fetchall()}
    known = owner.execute("SELECT c.relname FROM pg_dist_partition d JOIN pg_class c ON c.oid = d.logicalrelid")
    done = {str(name) for (name,) in known.fetchall()}
    made = statements(tables, references, done)
    if not dry_run:
        for statement in made:
            owner.execute(statement.encode())
    return made
