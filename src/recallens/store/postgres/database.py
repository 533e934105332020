"""PostgreSQL as the nouns use it: its spelling of the shared SQL, and what it has no SQL in common for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from psycopg import Connection, RawCursor, RawServerCursor
from psycopg.errors import CheckViolation, DataError, ForeignKeyViolation, UniqueViolation
from psycopg.rows import TupleRow
from psycopg.sql import quote

from recallens.store.candidates import IndexStanding
from recallens.store.postgres.candidates import STANDING, Pgvector, PostgresCandidates, WordIndex, put_vectors
from recallens.store.postgres.walls import KEY_SETTING, NAME_SETTING, WHOLE_SETTING
from recallens.store.records import LexicalEntry
from recallens.store.sql.connection import NOWHERE, Derived, NamespaceConnection, Rows
from recallens.store.sql.dialect import Dialect

DIALECT = Dialect({
    # A list's items are columns of the function that gives them: so a condition on them goes along an index.
    r"\bCAST\(j\.value ->> ([01]) AS BIGINT\)": r"j.number\1",
    r"(?<![A-Z])\(j\.value ->> (\d)\)": r"j.text\1",
    r"\?(\d+)": r"$\1",
    r"\bCROSS JOIN\b": "JOIN",
    r"(?<=[ (])\+(?=\w+\b)": "",
    r"\bINDEXED BY \w+": "",
    r"\bSCOPES\(([\w.]+)\)": r"\1",
    # The types of the columns and the rules on the tables leave nothing to ask.
    r"\bSOUND\([\w -]+, [\w.]+\)": "true",
    r"\bBYTES\(chain\)": "convert_to(chain, 'UTF8')",
    r"\bBYTES\((\w+)\)": r"\1",
    r"\bUNHEX\(([^()]+)\)": r"decode(\1, 'hex')",
    r"\bKEY\(": "(ns, ",
    r"\bSORTED BY\b": "ORDER BY",
    r"\bjson_array\(": "json_build_array(",
    r"\binstr\(": "strpos(",
    r"\bLIKE\b": "ILIKE",  # SQLite's tells no cases apart
    r"\browid\b": "id",
})  # fmt: skip
# How many rows of a stream are on their way at once.
STREAMED_ROWS = 2_000
_ENCODED = (
    "SELECT v.encoder, v.num, v.part, v.vector FROM vectors v JOIN indexed_namespaces i ON i.ns = $1"
    " AND v.encoder IN (SELECT value FROM texts(i.encoders)) WHERE v.ns = $1 AND v.seq = $2"
)


class PostgresDatabase:
    """A connection in a transaction. What it stands in is set on the server, and is known here."""

    unreadable_errors: tuple[type[Exception], ...] = ()
    refused_errors: tuple[type[Exception], ...] = (UniqueViolation, ForeignKeyViolation, CheckViolation, DataError)

    def __init__(self, connection: Connection[TupleRow], *, writes: bool, clustered: bool = False) -> None:
        self.connection = connection
        self.clustered = clustered
        self._writes = writes
        self._cursor = RawCursor(connection)
        self._place: tuple[str, str, str] | None = None
        self._locked: set[str] = set()
        self._streams = 0
        self._words = WordIndex(self._cursor, {})

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Rows:
        cursor = RawCursor(self.connection)
        split = _INSERT_OF_ROWS.match(sql) if self.clustered else None
        if split is not None:
            return self._inserted(split, values)
        cursor.execute(DIALECT.render(sql), values, binary=True)
        return _Rows(cursor)

    def _inserted(self, split: re.Match[str], values: Sequence[Any]) -> Rows:
        """Rows that a statement would insert as it selects them, inserted one by one: a cluster copies them to its
        workers otherwise, which row-level security forbids."""
        given = {f"?{place}": value for place, value in enumerate(values, start=1)}
        used = sorted({int(place) for place in re.findall(r"\?(\d+)", split["rows"])})
        selected = split["rows"]
        for number, place in enumerate(used, start=1):
            selected = re.sub(rf"\?{place}\b", f"?<{number}>", selected)
        selected = re.sub(r"\?<(\d+)>", r"?\1", selected)
        rows = self.execute(selected, [given[f"?{place}"] for place in used]).fetchall()
        gathered: list[Any] = []
        for row in rows:
            places = ", ".join(f"?{place}" for place in range(1, len(row) + 1))
            one = self.execute(f"{split['head']} VALUES ({places}){split['tail'] or ''}", row)
            gathered += one.fetchall()
        return _Gathered(gathered)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        if self.clustered:  # which takes no statement inside the values of another
            sql = _VAULT_OF_HERE.sub("?2", sql)
        self._cursor.executemany(DIALECT.render(sql), rows)

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        self._streams += 1
        cursor = RawServerCursor(self.connection, f"stream_{self._streams}")
        cursor.itersize = STREAMED_ROWS
        cursor.execute(DIALECT.render(sql), values, binary=True)
        with cursor:
            yield from cursor

    def enter(self, name: str, key: int) -> None:
        self._stand((name, str(key) if key != NOWHERE else "", ""))

    def enter_whole(self) -> None:
        """What follows is about the store."""
        self._stand(("", "", "on"))

    def enter_somewhere(self) -> None:
        """What follows is about what any transaction may see."""
        if self._place is None:
            self.enter_whole()

    def _stand(self, place: tuple[str, str, str]) -> None:
        if self._place != place:
            settings = zip((NAME_SETTING, KEY_SETTING, WHOLE_SETTING), place, strict=True)
            # As statements and not by a function: only those does a cluster pass on to its workers.
            told = "; ".join(f"SET LOCAL {setting} TO {quote(value)}" for setting, value in settings)
            self.connection.execute(told.encode(), prepare=False)
            self._place = place

    def lock(self, name: str) -> None:
        if self._writes and name not in self._locked:
            self._cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", (name,))
            self._locked.add(name)

    def take_numbers(self, table: str, count: int) -> list[int]:
        sql = f"SELECT nextval('{table}_numbers') FROM generate_series(1, $1)"
        return [int(number) for (number,) in self._cursor.execute(sql, (count,)).fetchall()]

    def last_number(self, table: str, column: str) -> int:
        row = self._cursor.execute(f"SELECT last_value, is_called FROM {table}_numbers").fetchone()
        return int(row[0]) if row and row[1] else 0

    def keep_number(self, table: str, number: int) -> None:
        self._cursor.execute(
            f"SELECT setval('{table}_numbers', greatest(last_value, $1)) FROM {table}_numbers"
            " WHERE last_value < $1 OR NOT is_called",
            (number,),
        )

    def loaded(self, table: str, highest: int) -> None:
        self.keep_number(table, highest)

    def defer_references(self) -> None:
        self._cursor.execute("SET CONSTRAINTS ALL DEFERRED")

    def mended(self, key: int, nums: Sequence[int]) -> list[dict[str, Any]]:
        """No row of these tables can hold what it may not."""
        raise AssertionError("a row of PostgreSQL needs no mending")

    def unsound_memories(self, key: int) -> list[int]:
        return []

    def made_anew(self, what: Derived, nums: Sequence[int] | None = None) -> None:
        """There are no digests beside the server's own checksums."""

    def settle(self) -> None:
        """Nothing gathers."""

    # ── the index that the database keeps of large namespaces ──

    def taking_words(self, here: NamespaceConnection, entries: Sequence[LexicalEntry]) -> None:
        self.enter(here.name, here.key)
        self._words.put(here.key, entries)

    def losing_words(self, here: NamespaceConnection, nums: Sequence[int] | None) -> None:
        self.enter(here.name, here.key)
        if not self._words.is_kept(here.key):
            return
        if nums is None:
            self._cursor.execute("DELETE FROM embeddings WHERE ns = $1", (here.key,))
            self._words.clear(here.key)
        else:
            self._words.drop(here.key, nums)
            sql = "DELETE FROM embeddings WHERE ns = $1 AND num = ANY($2::bigint[])"
            self._cursor.execute(sql, (here.key, list(nums)))

    def index_vectors(self, key: int, number: int) -> None:
        """What this transaction has encoded of a namespace goes into its index."""
        if not self._words.is_known(key):
            self.enter("", key)
        pgvector = Pgvector.installed(self.connection) if self._words.is_kept(key) else None
        if pgvector is not None:
            self.enter("", key)
            rows = self._cursor.execute(_ENCODED, (key, number), binary=True).fetchall()
            put_vectors(self._cursor, pgvector, key, rows)

    def candidates(self, here: NamespaceConnection) -> PostgresCandidates | None:
        row = here.one(STANDING)
        pgvector = Pgvector.installed(self.connection) if row else None
        if row is None or pgvector is None:
            return None
        memories, encoders, *rest = row
        standing = IndexStanding(memories, tuple(json.loads(encoders)), *rest)
        return PostgresCandidates(here, self.connection, pgvector, standing)


# The number of a vault, if it is this namespace's.
_VAULT_OF_HERE = re.compile(r"\(SELECT id FROM vaults WHERE id = \?2 AND ns = \?1\)")
# An INSERT whose rows are selected, and what stands behind them.
_INSERT_OF_ROWS = re.compile(
    r"(?P<head>INSERT INTO \w+ \([^)]*\)) (?P<rows>SELECT .*?)(?P<tail> ON CONFLICT .*| RETURNING .*)?$", re.DOTALL
)


class _Gathered(list[Any]):
    """The rows of several statements."""

    def fetchone(self) -> Any:
        return self[0] if self else None

    def fetchall(self) -> list[Any]:
        return self


class _Rows:
    """What a statement gave; one that gives no rows has none to fetch."""

    __slots__ = ("_cursor",)

    def __init__(self, cursor: RawCursor[TupleRow]) -> None:
        self._cursor = cursor

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())

    def fetchone(self) -> Any:
        return self._cursor.fetchone() if self._cursor.description is not None else None

    def fetchall(self) -> list[Any]:
        return self._cursor.fetchall() if self._cursor.description is not None else []
