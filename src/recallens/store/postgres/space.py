"""The space of a store on a server: rows that are deleted, what still holds a text, and what is derived.

Which bytes a server keeps of a deleted row is its own affair: its write-ahead log, its replicas and its backups have
them until they are recycled. What can be done from here is that no table holds the row, and that its place is free.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager

from msgspec import Struct
from psycopg import Connection
from psycopg.rows import TupleRow

from recallens.store.postgres.database import PostgresDatabase
from recallens.store.postgres.distribution import is_cluster
from recallens.store.postgres.migrations import SCHEMA
from recallens.store.postgres.whole import PostgresTransaction
from recallens.store.records import Cleaned, Health
from recallens.store.sql.connection import NamespaceConnection
from recallens.store.sql.erasure import HELD, opened
from recallens.store.sql.rows import packed
from recallens.store.sql.tasks import MISCOUNTED_HERE

MOST_NAMED = 20
# Where what is erased for good has rows.
_EMPTIED = (
    *dict.fromkeys(table for table, _, _ in HELD), "lexical", "vectors", "snapshots", "lineage", "cited_lines",
    "citation_checks", "audit_marks", "meta",
)  # fmt: skip
_PAGES = (
    "SELECT coalesce(sum(pg_relation_size(t.relid)), 0) / current_setting('block_size')::bigint"
    " FROM unnest(%s::text[]) name, pg_partition_tree(name::regclass) t"
)


_PAGES_OF_A_CLUSTER = (
    "SELECT coalesce(sum(citus_relation_size(name::regclass)), 0) / current_setting('block_size')::bigint"
    " FROM unnest(%s::text[]) name JOIN pg_dist_partition d ON d.logicalrelid = name::regclass"
)


class PostgresSpace(Struct, frozen=True):
    connect: Callable[[], Connection[TupleRow]]
    _transaction: Callable[[], AbstractContextManager[PostgresDatabase]]

    beyond = (
        "the server's write-ahead log, its replicas and its backups, until they are recycled; and the free room of its"
        " pages, until it is written to again"
    )

    def touched(self) -> list[int]:
        """Pages are the server's."""
        return []

    def clean(self, pages: Collection[int] | None, *, wait_ms: int) -> Cleaned | None:
        """No dead row is left in the tables, unless somebody still reads an older state: then the server's own
        vacuum takes it out later."""
        with self.connect() as connection:
            connection.execute(f"SET search_path TO {SCHEMA}")
            counted = _PAGES_OF_A_CLUSTER if is_cluster(connection) else _PAGES
            row = connection.execute(counted.encode(), (list(_EMPTIED),)).fetchone()
            connection.execute(f"VACUUM {', '.join(_EMPTIED)}".encode())
        return Cleaned(int(row[0]) if row else 0, 0)

    def settle(self, key: str, value: str) -> None:
        with self._transaction() as db:
            db.enter_whole()
            db.execute("DELETE FROM meta WHERE key = ?1 AND value = ?2", (key, value))

    def holders(self, texts: Sequence[str]) -> list[str]:
        """What holds one of these texts in plain sight."""
        with self._transaction() as db:
            whole = PostgresTransaction(db, {}, {})
            wanted = sorted({text.lower() for text in texts})
            found = dict.fromkeys(name for here in whole.each() for name in _holders(here, wanted))
        return list(found)

    def find(self, needles: Sequence[bytes]) -> tuple[int, int]:
        """The files of a server are not looked into."""
        return 0, 0


def _holders(here: NamespaceConnection, wanted: Sequence[str]) -> Iterator[str]:
    for table, columns, name in HELD:
        mine = "t.namespace = (SELECT n.name FROM namespaces n WHERE n.id = ?1)" if table == "answers" else "t.ns = ?1"
        held = " OR ".join(f"instr(lower(t.{column}), j.value) > 0" for column in columns)
        yield from here.first(
            f"SELECT DISTINCT {name} FROM {table} t JOIN TEXTS(?2) j ON {held} WHERE {mine} LIMIT {MOST_NAMED}",
            packed(wanted),
        )
    octets = [text.encode() for text in wanted]
    for id, ledger in here.all("SELECT id, ledger FROM snapshots WHERE ns = ?1"):
        if any(each in opened(ledger).lower() for each in octets):
            yield f"recorded recall {id}"


# ── soundness ──


def health(db: PostgresDatabase, whole: PostgresTransaction, location: str, encoder: str | None) -> Health:
    """What is derived, in every namespace. Rows hold what they may by the rules on the tables, and refer to what is
    there by the keys between them."""
    counts: dict[str, int] = {}
    checks = _CHECKS if encoder is None else _CHECKS | _VECTOR_CHECK
    for here in whole.each():
        for problem, sql in checks.items():
            values = [encoder] if sql is _VECTOR_CHECK.get(problem) else []
            counts[problem] = counts.get(problem, 0) + here.first(sql, *values)[0]
    problems = [f"{count} {problem}" for problem, count in counts.items() if count]
    size, version = db.execute(
        "SELECT pg_database_size(current_database()), current_setting('server_version')"
    ).fetchone()
    return Health(problems, {"path": location, "bytes": int(size), "postgres": str(version)})


_CHECKS = {
    "memories without a lexical entry":
        "SELECT count(*) FROM memories m WHERE m.ns = ?1"
        " AND NOT EXISTS (SELECT 1 FROM lexical l WHERE l.ns = ?1 AND l.num = m.num)",
    "lexical entries whose length differs from their memory's":
        "SELECT count(*) FROM memories m JOIN lexical l ON l.num = m.num AND l.ns = ?1 WHERE m.ns = ?1"
        " AND length(l.terms) <> 4 * m.length",
    "rows numbered beyond their namespace's counter":
        "SELECT count(*) FROM memories WHERE ns = ?1 AND seq > (SELECT number FROM namespaces WHERE id = ?1)",
    "superseded memories without an end":
        "SELECT count(*) FROM memories WHERE ns = ?1 AND status = 'superseded' AND valid_until IS NULL",
    "memories whose source session does not know them":
        "SELECT count(*) FROM memories m WHERE m.ns = ?1 AND m.session IS NOT NULL AND NOT EXISTS (SELECT 1"
        " FROM session_memories l WHERE l.ns = ?1 AND l.num = m.num AND l.session = m.session AND l.usage = 'created')",
    "memories whose tasks are miscounted": MISCOUNTED_HERE,
}  # fmt: skip
_VECTOR_CHECK = {
    "memories without a vector and not in the backlog":
        "SELECT count(*) FROM memories m WHERE m.ns = ?1 AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.ns = ?1"
        " AND v.encoder = ?2 AND v.num = m.num) AND NOT EXISTS (SELECT 1 FROM backlog b WHERE b.ns = ?1"
        " AND b.encoder = ?2 AND b.num = m.num)",
}  # fmt: skip
