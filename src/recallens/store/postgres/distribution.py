"""Spreading a store over the workers of a Citus cluster, made of the tables that are there: nothing is listed by hand.

A table whose first key column is the namespace is distributed by it, all of them together, so that everything of a
namespace is on one worker. What is about the whole store is small, and a copy of it is on every worker. The order
follows from the references between the tables.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from psycopg import Connection
from psycopg.rows import TupleRow

from recallens.errors import StoreError
from recallens.store.postgres.walls import SCHEMA

# The columns by which a table is a namespace's: its key, or in the log its name.
BY_KEY, BY_NAME = "ns", "namespace"
SHARDS: Final = 32

_TABLES: Final = """
SELECT c.relname, a.attname, c.relkind = 'p',
    (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = c.oid)
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
    partitions: int


def statements(tables: list[StoredTable], references: set[tuple[str, str]], done: dict[str, str | None]) -> list[str]:
    """What is left to be done; `done` are the tables that Citus knows, with the column that they are distributed by."""
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
    for kind in (None, BY_KEY, BY_NAME):
        first = next((table.name for table in ordered if table.column == kind and table.name in done), None)
        for table in ordered:
            column = table.column if table.column in (BY_KEY, BY_NAME) else None
            if column != kind or table.name in done:
                continue
            if column is None:
                made.append(f"SELECT create_reference_table('{SCHEMA}.{table.name}')")
            else:
                beside = f"'{SCHEMA}.{first}'" if first is not None else "'none'"
                count = "" if first is not None else f", shard_count => {SHARDS}"
                made.append(
                    f"SELECT create_distributed_table('{SCHEMA}.{table.name}', '{column}', colocate_with => {beside}"
                    f"{count})"
                )
                first = first or table.name
    return made


def distribute(owner: Connection[TupleRow], *, dry_run: bool) -> list[str]:
    """Distribute what is not yet; gives the statements that it took."""
    row = owner.execute("SELECT extversion FROM pg_extension WHERE extname = 'citus'").fetchone()
    if row is None:
        raise StoreError(
            "the server has no Citus", hint="Run CREATE EXTENSION citus on the coordinator, and add its workers."
        )
    tables = [StoredTable(*found) for found in owner.execute(_TABLES).fetchall()]
    references = {(str(a).split(".")[-1], str(b).split(".")[-1]) for a, b in owner.execute(_REFERENCES).fetchall()}
    known = owner.execute("SELECT table_name::text, nullif(distribution_column, '<none>') FROM citus_tables").fetchall()
    done = {str(name).split(".")[-1]: column for name, column in known}
    made = statements(tables, references, done)
    if not dry_run:
        for statement in made:
            owner.execute(statement.encode())
    return made
