"""Making the index of a large namespace, while others write to it: it can be stopped at any step, and goes on there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Final
from zlib import crc32

from msgspec import Struct
from psycopg import Connection, RawCursor, errors, sql
from psycopg.rows import TupleRow

from recallens.errors import StoreError
from recallens.store.postgres.candidates import Pgvector, WordIndex, put_vectors
from recallens.store.postgres.database import PostgresDatabase
from recallens.store.postgres.distribution import is_cluster, undivided
from recallens.store.postgres.migrations import EMBEDDINGS, SCHEMA
from recallens.store.postgres.walls import raise_walls
from recallens.store.sql.connection import NamespaceConnection

EXTENSION: Final = "vector"
# Memories that one step takes in, alone in the namespace.
STEP: Final = 4_000
# pgvector's own parameters: how many neighbours each vector has in the graph, and how widely they are looked for.
NEIGHBOURS, EF_CONSTRUCTION = 16, 100
# A graph that does not fit into this while it is made takes many times as long.
BUILD_MEMORY_MB: Final = 2_048


class IndexBuild(Struct, frozen=True):
    """`write` opens a transaction that writes, `connect` a connection as the owner of the tables."""

    _connect: Callable[[], Connection[TupleRow]]
    _write: Callable[[], AbstractContextManager[PostgresDatabase]]

    def run(self, namespace: str, encoders: Sequence[str]) -> Iterator[int]:
        """Take in what is not in the index yet, and make the graphs; gives how many memories each step took in."""
        with self._connect() as owner:
            pgvector = require_pgvector(owner)
        if not self._begun(namespace, encoders):
            return
        while count := self._step(namespace, pgvector, encoders):
            yield count
        with self._connect() as owner:
            for encoder in encoders:
                self._graph(owner, namespace, pgvector, encoder)

    def _begun(self, namespace: str, encoders: Sequence[str]) -> bool:
        """From now on who writes takes in what they write. An index for other encoders is made anew."""
        with self._write() as db:
            here = NamespaceConnection(db, namespace, {})
            if here.state is None:
                return False
            known = here.first("SELECT encoders FROM indexed_namespaces WHERE ns = ?1")
            if known and json.loads(known[0]) != list(encoders):
                db.losing_words(here, None)
                known = []
            if not known:
                here.change(
                    "INSERT INTO indexed_namespaces (ns, encoders, last, memories)"
                    " SELECT ?1, ?2, coalesce(max(num), 0), count(*) FROM memories WHERE ns = ?1",
                    json.dumps(list(encoders)),
                )
        return True

    def _step(self, namespace: str, pgvector: Pgvector, encoders: Sequence[str]) -> int:
        with self._write() as db:
            here = NamespaceConnection(db, namespace, {})
            span = here.all("SELECT done, last FROM indexed_namespaces WHERE ns = ?1")
            if not span:  # the namespace was removed, or its words were written anew, meanwhile
                return 0
            entries = here.all(
                "SELECT num, terms FROM lexical WHERE ns = ?1 AND num > ?2 AND num <= ?3 ORDER BY num LIMIT ?4",
                *span[0], STEP,
            )  # fmt: skip
            if not entries:
                return 0
            cursor = RawCursor(db.connection)
            WordIndex(cursor, {here.key: span[0]}).add(here.key, entries)
            vectors = here.all(
                "SELECT encoder, num, part, vector FROM vectors WHERE ns = ?1 AND num BETWEEN ?2 AND ?3"
                " AND encoder IN (SELECT value FROM TEXTS(?4))",
                entries[0][0], entries[-1][0], json.dumps(list(encoders)),
            )  # fmt: skip
            put_vectors(cursor, pgvector, here.key, vectors)
            here.change("UPDATE indexed_namespaces SET done = ?2 WHERE ns = ?1", entries[-1][0])
        return len(entries)

    def _graph(self, owner: Connection[TupleRow], namespace: str, pgvector: Pgvector, encoder: str) -> None:
        """A graph of this namespace's vectors alone, made while others write."""
        place = "set_config('search_path', %s, false), set_config('recallens.whole', 'on', false)"
        owner.execute(f"SELECT {place}", (SCHEMA,))
        row = owner.execute("SELECT id FROM namespaces WHERE name = %s", (namespace,)).fetchone()
        if row is None:
            return
        owner.execute("SELECT set_config('recallens.ns', %s, false)", (str(row[0]),))
        held = owner.execute(
            "SELECT tableoid::regclass::text FROM embeddings WHERE ns = %s AND encoder = %s LIMIT 1", (row[0], encoder)
        ).fetchone()
        if held is None:
            return
        name = f"embeddings_near_{row[0]}_{crc32(encoder.encode()):08x}"
        valid = owner.execute(
            "SELECT i.indisvalid FROM pg_index i WHERE i.indexrelid = to_regclass(%s)", (name,)
        ).fetchone()
        if valid == (True,):
            return
        if valid is not None:  # somebody was stopped while they made it
            owner.execute(f"DROP INDEX {name}".encode())
        dimension = int(encoder.rsplit("/", 2)[1])
        owner.execute(f"SET maintenance_work_mem TO '{BUILD_MEMORY_MB}MB'".encode())
        owner.execute(
            f"CREATE INDEX CONCURRENTLY {name} ON {held[0]}"
            f" USING hnsw ((embedding::{pgvector.kind(dimension)}) {pgvector.schema}.halfvec_ip_ops)"
            f" WITH (m = {NEIGHBOURS}, ef_construction = {EF_CONSTRUCTION})"
            f" WHERE ns = {row[0]} AND encoder = {sql.quote(encoder)}".encode()
        )
        owner.execute(f"ANALYZE {held[0]}".encode())

    def drop(self, namespace: str) -> None:
        """The processes hold the namespace in memory again."""
        with self._write() as db:
            here = NamespaceConnection(db, namespace, {})
            if here.state is not None:
                db.losing_words(here, None)


def require_pgvector(owner: Connection[TupleRow]) -> Pgvector:
    """The extension, made in this database if it is not, and the table that needs it."""
    try:
        owner.execute(f"CREATE EXTENSION IF NOT EXISTS {EXTENSION}".encode())
    except (errors.FeatureNotSupported, errors.UndefinedFile, errors.InsufficientPrivilege) as error:
        raise StoreError(
            f"the server has no pgvector that this user could use ({str(error).splitlines()[0]})",
            hint="Install it and run CREATE EXTENSION vector as a superuser. Until then processes hold the namespace"
            " in memory, whatever its size.",
        ) from error
    pgvector = Pgvector.installed(owner)
    assert pgvector is not None
    with owner.transaction():
        owner.execute(f"SELECT set_config('search_path', '{SCHEMA}', true)")
        if owner.execute("SELECT to_regclass('embeddings')").fetchone() == (None,):
            script = EMBEDDINGS.format(schema=pgvector.schema)
            owner.execute((undivided(script) if is_cluster(owner) else script).encode())
            raise_walls(owner)
    return pgvector
