"""A digest of every row, in the transaction that writes the row: what a disk gives back otherwise is found and named.

A change takes what SQLite says was there out of the digest and puts in what is there now. A damaged row therefore
stays one through every later change of it, and nothing is read to write. A digest is a checksum against bad disks and
strange hands, no signature: whoever can write the file can write both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Final
from weakref import WeakKeyDictionary
from zlib import crc32

import apsw
from msgspec import Struct, msgpack

from recallens.store.nouns import NOUNS
from recallens.store.records import COLUMNS

HALF: Final = 32
UNREADABLE: Final = -1
_RIGHTS: Final = ("status", "zone", "scopes", "review")
_TEXT: Final = ("id", "content", "content_hash", "title", "summary", "tags")
_DERIVED: Final = (*(column.name for column in COLUMNS if column.derived), "cited", "tasks_with", "reward_with")
OTHERS: Final = "its other fields"

Row = tuple[Any, ...]


class Area(Struct, frozen=True):
    """The rows of one table under digests. A `part` is what has one digest: the row that the key names, or all rows of
    a memory. `groups` are the fields of each half of a digest, by name; without any, they are all in it."""

    number: int
    table: str
    noun: str
    key: tuple[str, ...]
    many: bool = False  # rows of a memory in one part
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    derived: bool = False

    @property
    def of_memory(self) -> bool:
        return self.key == ("num",)

    @property
    def hashed(self) -> bool:
        """Whether the key is no number."""
        return self.number >= 40

    @property
    def rising(self) -> bool:
        """Whether the rows can be read in the order of their parts."""
        return len(self.key) == 1 and not self.hashed


def _areas() -> Iterator[Area]:
    """The numbers stand in files, and mean the same for ever."""
    num: tuple[str, ...] = ("num",)
    id: tuple[str, ...] = ("id",)
    yield Area(1, "memories", "memory", num, groups=(("its rights", _RIGHTS), ("its text", _TEXT)))
    yield Area(2, "memories", "memory", num, groups=((OTHERS, (*_RIGHTS, *_TEXT, *_DERIVED)),))
    yield Area(7, "memories", "memory", num, groups=(("its counts", _DERIVED),), derived=True)
    yield Area(3, "lexical", "words of memory", num, derived=True)
    yield Area(4, "labels", "labels of memory", num, many=True, derived=True)
    yield Area(5, "vectors", "vectors of memory", num, many=True, derived=True)
    yield Area(6, "terms", "word", ("ns", "number"), derived=True)
    names = {noun.table: noun.name for noun in NOUNS.values()}
    of_memory = ("citations", "cited_lines", "citation_checks", "lineage", "vault_sections", "audit_marks")
    for number, table in enumerate(of_memory, start=10):
        yield Area(number, table, f"{names[table]} of memory", num, many=True)
    numbered = {"namespaces": id, "relations": id, "session_memories": id, "events": id, "vaults": id,
                "proposals": id, "snapshots": ("number",)}  # fmt: skip
    for number, (table, key) in enumerate(numbered.items(), start=20):
        yield Area(number, table, names[table], key)
    named = {"meta": ("key",), "tokens": id, "sessions": ("ns", "id"), "session_owners": ("ns", "session"),
             "documents": ("ns", "id"), "tasks": ("ns", "id"), "artifacts": id, "vault_files": ("vault", "path"),
             "audit": ("namespace", "number"), "audit_heads": ("namespace",), "tombstones": ("ns", "seq", "num"),
             "answers": ("owner", "key")}  # fmt: skip
    for number, (table, key) in enumerate(named.items(), start=40):
        yield Area(number, table, names.get(table, table.removesuffix("s")), key)


AREAS: Final = tuple(_areas())
# What is read off a memory's text again by `reindex`, and what takes longer.
READ_OFF: Final = tuple(area for area in AREAS if area.table in ("lexical", "labels") or area.number == 7)
WORDS: Final = tuple(area for area in AREAS if area.table == "terms")
VECTORS: Final = tuple(area for area in AREAS if area.table == "vectors")


class Measure:
    """How the rows of an area are read: which part a row is of, and its digest."""

    def __init__(self, area: Area, columns: Sequence[str]) -> None:
        self.area, self.columns = area, columns
        self.key: Callable[[Row], Any] = itemgetter(*(columns.index(name) for name in area.key))
        chosen = [
            [at for at, column in enumerate(columns) if (column in fields) != (name == OTHERS)]
            for name, fields in area.groups
        ]
        self._groups = [itemgetter(*places) for places in chosen]

    def part(self, row: Row) -> int:
        key = self.key(row)
        if self.area.rising:
            return int(key)
        if not self.area.hashed:
            return int(key[0]) << 40 | int(key[1])
        return int.from_bytes(blake2b(msgpack.encode(key), digest_size=8).digest()) >> 1

    def digest(self, row: Row) -> int:
        groups = self._groups
        if not groups:
            return crc32(msgpack.encode(row))
        digest = crc32(msgpack.encode(groups[0](row)))
        return digest | _signed(crc32(msgpack.encode(groups[1](row)))) if len(groups) > 1 else digest


def _signed(half: int) -> int:
    """The upper half of a number as SQLite keeps it."""
    return (half - (1 << HALF) if half >> (HALF - 1) else half) << HALF


class Keeper:
    """Gathers what a transaction changes, by area and part: the digest, and whether it takes the place of the old."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._measures = measures(connection)
        self._changes: dict[tuple[int, int], tuple[bool, int]] = {}
        self._buried: set[int] = set()
        connection.preupdate_hook(self.changed)

    def changed(self, change: apsw.PreUpdate) -> None:
        found = self._measures.get(change.table_name)
        if found is None or change.database_name != "main":
            return
        try:
            old = change.old
        except UnicodeDecodeError:
            old = ()  # a damaged row: what it was is not known, and its digest will not fit
        new = change.new
        for measure in found:
            if old and new and (part := measure.part(old)) == measure.part(new):
                self._add(measure, part, measure.digest(old) ^ measure.digest(new))
                continue
            if old:
                self._take_away(measure, old)
            if new:
                self._put(measure, new, known=old == ())
        if change.table_name == "memories":
            if new is None:
                self._buried.add(change.rowid)
            else:
                self._buried.discard(change.rowid)

    def _add(self, measure: Measure, part: int, digest: int) -> None:
        if digest:
            key = measure.area.number, part
            instead, before = self._changes.get(key, (False, 0))
            self._changes[key] = instead, before ^ digest

    def _take_away(self, measure: Measure, row: Row) -> None:
        if measure.area.many:
            self._add(measure, measure.part(row), measure.digest(row))
        else:
            self._changes[measure.area.number, measure.part(row)] = True, 0

    def _put(self, measure: Measure, row: Row, *, known: bool) -> None:
        if measure.area.many or known:
            self._add(measure, measure.part(row), measure.digest(row))
        else:
            self._changes[measure.area.number, measure.part(row)] = True, measure.digest(row)

    def write(self, connection: apsw.Connection) -> None:
        if not self._changes:
            return
        changes, self._changes = self._changes, {}
        buried, self._buried = self._buried, set()
        # Whatever the rows of a memory were, none is left.
        gone = [(area.number, num) for num in buried for area in AREAS if area.of_memory]
        changes |= dict.fromkeys(gone, (True, 0))
        added = [(*key, digest) for key, (instead, digest) in changes.items() if not instead]
        set_anew = [(*key, digest) for key, (instead, digest) in changes.items() if instead and digest]
        dropped = [key for key, (instead, digest) in changes.items() if instead and not digest]
        if added:
            connection.executemany(_ADD, added)
        if set_anew:
            connection.executemany(_SET, set_anew)
        if dropped:
            connection.executemany("DELETE FROM digests WHERE area = ? AND part = ?", dropped)

    def discard(self) -> None:
        self._changes.clear()
        self._buried.clear()


_SET: Final = "INSERT OR REPLACE INTO digests VALUES (?, ?, ?)"
_ADD: Final = (  # SQLite has no exclusive or
    "INSERT INTO digests VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET"
    " digest = (digest | excluded.digest) - (digest & excluded.digest)"
)
_KEEPERS: WeakKeyDictionary[apsw.Connection, Keeper] = WeakKeyDictionary()


def measures(connection: apsw.Connection) -> dict[str, list[Measure]]:
    """By table, as its columns stand in this file."""
    found: dict[str, list[Measure]] = {}
    for area in AREAS:
        columns = [str(row[1]) for row in connection.execute(f"PRAGMA table_info({area.table})")]
        if set(area.key) <= set(columns):
            found.setdefault(area.table, []).append(Measure(area, columns))
    return found


def has_digests(connection: apsw.Connection) -> bool:
    return bool(connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'digests'").fetchone())


@contextmanager
def kept(connection: apsw.Connection) -> Iterator[None]:
    """Inside a transaction: what is written there is under digests when it ends."""
    keeper = _KEEPERS.get(connection)
    if keeper is None and has_digests(connection):
        keeper = _KEEPERS[connection] = Keeper(connection)
    if keeper is not None:
        keeper.discard()  # of what was written past all transactions
    try:
        yield
        if (keeper := _KEEPERS.get(connection)) is not None:
            keeper.write(connection)
    except BaseException:
        if keeper is not None:
            keeper.discard()
        raise


def settle(connection: apsw.Connection) -> None:
    """Write what has gathered so far in a transaction that changes very many rows."""
    if (keeper := _KEEPERS.get(connection)) is not None:
        keeper.write(connection)


@contextmanager
def anew(connection: apsw.Connection, areas: Collection[Area]) -> Iterator[None]:
    """Inside a transaction: rows of these areas are made anew, whatever they were."""
    settle(connection)
    connection.preupdate_hook(None)
    try:
        yield
        fill(connection, areas)
    finally:
        if (keeper := _KEEPERS.get(connection)) is not None:
            connection.preupdate_hook(keeper.changed)


def stop(connection: apsw.Connection) -> None:
    """Look no further at what is written, until the next transaction: `fill` follows."""
    connection.preupdate_hook(None)
    _KEEPERS.pop(connection, None)


# ── many at once ──


def fill(connection: apsw.Connection, areas: Collection[Area] = AREAS, nums: Sequence[int] | None = None) -> None:
    """Take the rows as they are: all of these areas, or those of some memories."""
    settle(connection)
    where, values = "true", tuple[str, ...]()
    if nums is not None:
        where, values = "num IN (SELECT value FROM json_each(?))", (str(list(nums)),)
    for measure in (each for found in measures(connection).values() for each in found if each.area in areas):
        area = measure.area
        among = where.replace("num", "part")
        connection.execute(f"DELETE FROM digests WHERE area = ? AND {among}", (area.number, *values))
        rows = connection.execute(f"SELECT * FROM {area.table} WHERE {where}", values)
        connection.executemany(_ADD, ((area.number, *each) for each in of_rows(measure, rows)))


def of_rows(measure: Measure, rows: Iterator[Row]) -> Iterator[tuple[int, int]]:
    """Part and digest of each row that can be read: a cursor goes on after one that cannot, which has neither."""
    while True:
        try:
            row = next(rows)
            yield measure.part(row), measure.digest(row)
        except StopIteration:
            return
        except (ValueError, TypeError):
            yield UNREADABLE, UNREADABLE


def mark(connection: apsw.Connection, parts: Iterable[tuple[int, int]]) -> None:
    """Let what was damaged before all digests were made anew be so still."""
    connection.executemany(_ADD, [(*part, 1) for part in parts])
