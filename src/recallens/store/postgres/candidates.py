"""The index that the database keeps of a large namespace: postings of words in blocks, and halves for pgvector's HNSW.

Both are written in the transaction that writes the memory. What is there already when the index is begun is taken in
by steps (`index_build.py`): up to the number `done`; what came after `last` was taken in by its own writer.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from psycopg import Connection, RawCursor, RawServerCursor, sql
from psycopg.rows import TupleRow
from psycopg.types.string import BytesBinaryDumper

from recallens.store.candidates import BLOCK_BITS, Block, IndexStanding, beginning
from recallens.store.records import LexicalEntry
from recallens.store.sql.rows import packed

if TYPE_CHECKING:
    from recallens.store.sql.connection import NamespaceConnection

ENTRY = np.dtype([("low", "<u2"), ("count", "<u2")])
LOW_BITS = (1 << BLOCK_BITS) - 1
MOST_COUNTED = np.iinfo(np.uint16).max
# How widely HNSW looks, and how many vectors it may pass over while a filter rejects what it finds: beyond that a
# filter is so narrow that the few that pass it are compared one by one.
EF_SEARCH = 1_000
MOST_SCANNED = 200_000
FETCHED = 1_000
STANDING = "SELECT memories, encoders, ready, recall, sampled, measured FROM indexed_namespaces WHERE ns = ?1"
_TAKEN = "SELECT done, last FROM indexed_namespaces WHERE ns = $1"


# ── words ──


def blocks_of(entries: Sequence[LexicalEntry]) -> list[Block]:
    """The postings of some memories, as blocks to be added to those that are there."""
    texts = [np.frombuffer(terms, dtype="<u4") for _, terms in entries]
    sizes = [len(text) for text in texts]
    nums = np.repeat(np.array([num for num, _ in entries], dtype=np.int64), sizes)
    words = np.concatenate([np.empty(0, dtype=np.int64), *texts]).astype(np.int64)
    begun = [(beginning(int(text[0]), int(text[1])), num)
             for text, (num, _) in zip(texts, entries, strict=True) if len(text) > 1]  # fmt: skip
    words = np.concatenate([words, np.array([word for word, _ in begun], dtype=np.int64)])
    nums = np.concatenate([nums, np.array([num for _, num in begun], dtype=np.int64)])
    order = np.lexsort((nums, words))
    words, nums = words[order], nums[order]
    first = _starts(words, nums)
    counts = np.minimum(np.diff(first, append=len(words)), MOST_COUNTED)
    words, nums = words[first], nums[first]
    packed_entries = np.empty(len(words), dtype=ENTRY)
    packed_entries["low"], packed_entries["count"] = nums & LOW_BITS, counts
    blocks = nums >> BLOCK_BITS
    starts = _starts(words, blocks)
    ends = np.append(starts, len(words))[1:]
    whole = packed_entries.tobytes()
    return [
        (word, block, whole[start * ENTRY.itemsize : end * ENTRY.itemsize])
        for word, block, start, end in zip(
            words[starts].tolist(), blocks[starts].tolist(), starts.tolist(), ends.tolist(), strict=True
        )
    ]


def _starts(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where one of the columns differs from the row before."""
    if not len(columns[0]):
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.r_[True, np.any([column[1:] != column[:-1] for column in columns], axis=0)])


class WordIndex(Struct, frozen=True):
    """The postings of namespaces, in a transaction that writes."""

    _cursor: RawCursor[TupleRow]
    _taken: dict[int, tuple[int, int] | None]

    def is_known(self, key: int) -> bool:
        """Whether this transaction has asked already."""
        return key in self._taken

    def is_kept(self, key: int) -> bool:
        """Whether there is an index of the namespace, in which the transaction stands."""
        return self._span(key) is not None

    def _span(self, key: int) -> tuple[int, int] | None:
        if key not in self._taken:
            row = self._cursor.execute(_TAKEN, (key,)).fetchone()
            self._taken[key] = (int(row[0]), int(row[1])) if row else None
        return self._taken[key]

    def put(self, key: int, entries: Sequence[LexicalEntry]) -> None:
        """Entries are about to be written, in place of others where their memories have any."""
        span = self._span(key)
        if span is None:
            return
        done, last = span
        own = [entry for entry in entries if entry[0] <= done or entry[0] > last]
        self.drop(key, [num for num, _ in own])
        self.add(key, own)

    def add(self, key: int, entries: Sequence[LexicalEntry]) -> None:
        blocks = blocks_of(entries)
        if blocks:
            words, numbers, rows = (list(column) for column in zip(*blocks, strict=True))
            self._cursor.execute(
                "INSERT INTO postings (ns, term, block, entries) SELECT $1, x.term, x.block, x.entries"
                " FROM unnest($2::bigint[], $3::bigint[], $4::bytea[]) AS x(term, block, entries)"
                " ON CONFLICT (ns, term, block) DO UPDATE SET entries = postings.entries || excluded.entries",
                (key, words, numbers, rows),
            )

    def drop(self, key: int, nums: Sequence[int]) -> None:
        """What these memories hold is about to be deleted, or written anew."""
        if not nums or self._span(key) is None:
            return
        held = self._cursor.execute(
            "SELECT num, terms FROM lexical WHERE ns = $1 AND num = ANY($2::bigint[])", (key, list(nums)), binary=True
        ).fetchall()
        going = blocks_of([(int(num), bytes(terms)) for num, terms in held])
        if not going:
            return
        words, numbers, _ = (list(column) for column in zip(*going, strict=True))
        rows = self._cursor.execute(
            "SELECT p.term, p.block, p.entries FROM unnest($2::bigint[], $3::bigint[]) AS x(term, block)"
            " JOIN postings p ON p.ns = $1 AND p.term = x.term AND p.block = x.block",
            (key, words, numbers), binary=True,
        ).fetchall()  # fmt: skip
        gone = np.array(sorted(nums), dtype=np.int64)
        left = []
        for term, block, entries in rows:
            listed = np.frombuffer(entries, dtype=ENTRY)
            kept = listed[~np.isin((block << BLOCK_BITS) + listed["low"].astype(np.int64), gone)]
            left.append((int(term), int(block), kept.tobytes()))
        terms, numbers, rows = (list(column) for column in zip(*left, strict=True)) if left else ([], [], [])
        self._cursor.execute(
            "UPDATE postings SET entries = x.entries FROM unnest($2::bigint[], $3::bigint[], $4::bytea[])"
            " AS x(term, block, entries) WHERE postings.ns = $1 AND postings.term = x.term"
            " AND postings.block = x.block",
            (key, terms, numbers, rows),
        )
        self._cursor.execute(
            "DELETE FROM postings USING unnest($2::bigint[], $3::bigint[]) AS x(term, block)"
            " WHERE postings.ns = $1 AND postings.term = x.term AND postings.block = x.block AND postings.entries = ''",
            (key, terms, numbers),
        )

    def clear(self, key: int) -> None:
        """The namespace has no index any more."""
        if self._span(key) is not None:
            for table in ("postings", "indexed_namespaces"):
                self._cursor.execute(f"DELETE FROM {table} WHERE ns = $1".encode(), (key,))
            self._taken[key] = None


# ── vectors ──


class Pgvector(Struct, frozen=True):
    """Where the extension is: its types and operators are named in full, since no transaction looks into its schema."""

    schema: str
    type: int
    array: int

    @staticmethod
    def installed(connection: Connection[TupleRow]) -> Pgvector | None:
        row = connection.execute(
            "SELECT quote_ident(n.nspname), t.oid::bigint, t.typarray::bigint FROM pg_extension e"
            " JOIN pg_namespace n ON n.oid = e.extnamespace JOIN pg_type t ON t.typnamespace = n.oid"
            " WHERE e.extname = 'vector' AND t.typname = 'halfvec'"
        ).fetchone()
        return Pgvector(str(row[0]), int(row[1]), int(row[2])) if row else None

    def kind(self, dimension: int) -> str:
        return f"{self.schema}.halfvec({dimension})"

    def distance(self, dimension: int, query: str) -> str:
        """The negative product, which orders unit vectors as their cosines do."""
        kind = self.kind(dimension)
        return f"embedding::{kind} OPERATOR({self.schema}.<#>) {query}::{kind}"

    def list_of(self, blobs: Sequence[bytes]) -> _Halves:
        """Vectors in half precision as a list that the server reads without parsing a number."""
        dimension = len(blobs[0]) // 2
        layout = [("size", ">i4"), ("dimension", ">i2"), ("unused", ">i2"), ("values", ">u2", (dimension,))]
        items = np.zeros(len(blobs), dtype=layout)
        items["size"], items["dimension"] = 4 + 2 * dimension, dimension
        items["values"] = np.frombuffer(b"".join(blobs), dtype="<u2").reshape(len(blobs), dimension)
        head = np.array([1, 0, self.type, len(blobs), 1], dtype=">i4").tobytes()
        return _Halves(head + items.tobytes())


class _Halves(bytes):
    """A list of vectors, as the server reads it."""


class _HalvesDumper(BytesBinaryDumper):
    oid = 0  # what the statement says it is


def put_vectors(cursor: RawCursor[TupleRow], pgvector: Pgvector, key: int, rows: Sequence[tuple[Any, ...]]) -> None:
    """Rows are encoder, number, part and vector."""
    cursor.adapters.register_dumper(_Halves, _HalvesDumper)
    for encoder, own in groupby(sorted(rows, key=itemgetter(0, 1, 2)), key=itemgetter(0)):
        _, nums, parts, blobs = (list(column) for column in zip(*own, strict=True))
        cursor.execute(
            "INSERT INTO embeddings (ns, encoder, num, part, embedding) SELECT $1, $2, x.num, x.part, x.embedding"
            f" FROM unnest($3::bigint[], $4::bigint[], $5::{pgvector.schema}.halfvec[]) AS x(num, part, embedding)"
            " ON CONFLICT (ns, encoder, num, part) DO UPDATE SET embedding = excluded.embedding",
            (key, encoder, nums, parts, pgvector.list_of(blobs)),
        )


def as_text(blob: bytes) -> str:
    """A vector in half precision as pgvector reads it in a question."""
    values: NDArray[Any] = np.frombuffer(blob, dtype="<f2")
    return f"[{','.join(map(str, values.astype(np.float64).tolist()))}]"


class PostgresCandidates(Struct, frozen=True):
    """What the index proposes, in one transaction that stands in the namespace."""

    _here: NamespaceConnection
    _connection: Connection[TupleRow]
    _pgvector: Pgvector
    standing: IndexStanding

    def postings(self, words: Sequence[int]) -> list[Block]:
        return self._here.every(
            "SELECT p.term, p.block, p.entries FROM NUMBERS(?2) j JOIN postings p ON p.ns = ?1 AND p.term = j.value"
            " ORDER BY p.term, p.block",
            packed(list(words)),
        )

    def nearest(self, encoder: str, query: bytes, *, exactly: bool = False) -> Generator[tuple[int, float]]:
        self._here.db.enter(self._here.name, self._here.key)
        settings = _EXACTLY if exactly else _ALONG_THE_GRAPH
        self._connection.execute("; ".join(f"SET LOCAL {name} TO {value}" for name, value in settings.items()).encode())
        with RawServerCursor(self._connection, "nearest") as cursor:
            cursor.itersize = FETCHED
            # The namespace and the encoder stand here as the index names them, which is of these alone.
            cursor.execute(
                f"SELECT num, {self._to(query, '$1')} FROM embeddings WHERE ns = {self._here.key}"
                f" AND encoder = {sql.quote(encoder)} ORDER BY {self._to(query, '$1')}",
                (as_text(query),),
            )
            usual = "; ".join(f"SET LOCAL {name} TO DEFAULT" for name in settings)
            self._connection.execute(usual.encode() if exactly else _USUAL_PLANS)
            yield from ((int(num), float(distance)) for num, distance in cursor)

    def nearest_among(self, encoder: str, query: bytes, nums: Sequence[int], limit: int) -> list[int]:
        return self._here.first(
            "WITH few AS MATERIALIZED (SELECT e.num, e.embedding FROM NUMBERS(?3) j JOIN embeddings e ON e.ns = ?1"
            f" AND e.encoder = ?2 AND e.num = j.value) SELECT num FROM few ORDER BY {self._to(query, '?5')} LIMIT ?4",
            encoder, packed(list(nums)), limit, as_text(query),
        )  # fmt: skip

    def nearer(self, encoder: str, query: bytes, score: float) -> int:
        return int(self._here.first(
            "SELECT count(DISTINCT num) FROM embeddings WHERE ns = ?1 AND encoder = ?2"
            f" AND {self._to(query, '?4')} < ?3",
            encoder, -score, as_text(query),
        )[0])  # fmt: skip

    def waiting(self, encoder: str) -> int:
        return int(self._here.first("SELECT count(*) FROM backlog WHERE ns = ?1 AND encoder = ?2", encoder)[0])

    def put_measure(self, memories: int, recall: float | None, sampled: int, at: int) -> None:
        """What the index was found to leave out; from now on it answers."""
        self._here.change(
            "UPDATE indexed_namespaces SET ready = true, memories = ?2, recall = ?3, sampled = ?4, measured = ?5"
            " WHERE ns = ?1",
            memories, recall, sampled, at,
        )  # fmt: skip

    def _to(self, query: bytes, place: str) -> str:
        return self._pgvector.distance(len(query) // 2, place)


# The planner is told to go along the graph; what it estimates of one namespace in a partition of many misleads it.
_ALONG_THE_GRAPH: Final = {
    "hnsw.iterative_scan": "relaxed_order", "hnsw.ef_search": str(EF_SEARCH),
    "hnsw.max_scan_tuples": str(MOST_SCANNED), "enable_seqscan": "off", "enable_sort": "off",
}  # fmt: skip
_USUAL_PLANS: Final = b"SET LOCAL enable_seqscan TO DEFAULT; SET LOCAL enable_sort TO DEFAULT"
_EXACTLY: Final = {"enable_indexscan": "off"}
