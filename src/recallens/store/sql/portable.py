"""Everything of a store as plain rows, and back: for exports, imports, and moves between engines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from recallens.errors import InvalidInput
from recallens.store.nouns import NOUNS, FieldKind, Noun
from recallens.store.records import META_PARTS
from recallens.store.sql.connection import Database, NamespaceConnection
from recallens.store.sql.rows import NO_LIMIT, Row, decoded, packed

# What a memory cannot be written without, until it is derived from its text.
_UNTIL_DERIVED: Final = {"annotations": "'{}'", "gist": "0", "chars": "0", "tokens": "0", "length": "0"}
# Every order is one that an index has, so that no row waits in memory for another. Numbers of memories alone are
# sorted: the limit keeps SQLite from sorting whole rows instead.
_OWN: Final = f"(SELECT num FROM memories WHERE ns = ?1 ORDER BY num LIMIT {NO_LIMIT}) own CROSS JOIN"
_FROM: Final = {
    "memory": f"{_OWN} memories x ON x.num = own.num AND x.ns = ?1 WHERE true",
    "relation": f"{_OWN} relations x ON x.source = own.num AND x.ns = ?1 WHERE true",
    "vault-file": "vaults v CROSS JOIN vault_files x ON x.vault = v.id AND +x.ns = ?1 WHERE v.ns = ?1",
    "namespace": "namespaces x WHERE x.id = ?1",
}
_ORDER: Final = {
    "session": "id", "session-owner": "session", "document": "id", "session-memory": "session, num, usage",
    "task": "id", "log": "task, rowid", "event": "at, rowid", "vault": "name", "audit-entry": "number",
    "ledger": "session, number", "proposal": "id", "setting": "key", "token": "id",  # nosec B105
}  # fmt: skip
# What comes in this order by itself in SQLite.
_PLACE: Final = {
    "memory": "x.num", "citation": "x.num, x.position", "cited-lines": "x.num, x.kind, x.data",
    "citation-check": "x.num, x.root, x.branch", "relation": "x.source, x.target, x.type",
    "lineage": "x.num, x.kind, x.input", "vault-section": "x.num", "audit-mark": "x.num",
    "vector": "x.num, x.encoder, x.part", "vault-file": "v.name, x.path",
}  # fmt: skip
# Of the settings, what makes a store this store and no other one stays with it, what is known of its own vectors, and
# what could be taken back in it.
_CARRIED: Final = f"x.key NOT IN ('store-id', '{META_PARTS}') AND x.key NOT LIKE 'reversals:%'"


# Rows that hold nothing which anybody wrote.
_WITHOUT_TEXT: Final = frozenset(("vector", "audit-mark"))


def _source(noun: Noun) -> str:
    """Where the rows of a noun come from, in the order of an export; ?1 is the namespace, by name in the log."""
    if noun.name in _FROM:
        return _FROM[noun.name]
    if noun.of == "memory":
        return f"{_OWN} {noun.table} x ON x.num = own.num AND +x.ns = ?1 WHERE true"
    if noun.of == "log":
        return f"{noun.table} x WHERE x.namespace = ?1"
    where = _CARRIED if noun.name == "setting" else "true" if noun.of == "store" else "x.ns = ?1"
    return f"{noun.table} x WHERE {where}"


def _readable(noun: Noun) -> str:
    """Only rows that can be read, of memories that can; ?2 is the list of those that cannot."""
    gone = "".join(
        f" AND (x.{name} IS NULL OR x.{name} NOT IN (SELECT value FROM NUMBERS(?2)))" for name in _memories_of(noun)
    )
    return f" AND SOUND(carried {noun.name}, x){gone}"


def _memories_of(noun: Noun) -> list[str]:
    """The columns that name a memory."""
    return [field.column for field in noun.fields if field.kind is FieldKind.MEMORY]


class SqlPortable:
    """The nouns of one namespace; of the store, where there is none."""

    __slots__ = ("_counts", "_db", "_here", "_unreadable")

    def __init__(self, db: Database, here: NamespaceConnection | None = None) -> None:
        self._db = db
        self._here = here
        self._unreadable: str | None = None
        self._counts: dict[str, int] = {}

    def count(self, noun: str) -> int:
        """How many rows can be read."""
        if noun not in self._counts:
            if noun in _WITHOUT_TEXT:
                self._counts[noun] = sum(int(row[0]) for row in self._rows(noun, "count(*)"))
            else:  # a database may not tell whether a text is one
                self._counts[noun] = sum(1 for _ in self.rows(noun))
        return self._counts[noun]

    def unreadable(self, noun: str) -> int:
        """How many rows are there beside them."""
        self._enter()
        table = NOUNS[noun]
        row = self._db.execute(f"SELECT count(*) FROM {_source(table)}", self._values(table)[:1]).fetchone()
        return int(row[0]) - self.count(noun)

    def rows(self, noun: str) -> Iterator[Row]:
        """The carried fields of each row; JSON as it is written."""
        table = NOUNS[noun]
        columns = ", ".join(f'x."{field.column}"' for field in table.carried)
        place = f" SORTED BY {_PLACE[noun]}" if noun in _PLACE else ""
        order = f" ORDER BY {_ORDER[noun]}" if noun in _ORDER else place
        return decoded(self._rows(noun, columns, order))

    def _rows(self, noun: str, columns: str, order: str = "") -> Iterator[Row]:
        self._enter()
        table = NOUNS[noun]
        values = self._values(table)
        return self._db.stream(f"SELECT {columns} FROM {_source(table)}{_readable(table)}{order}", values)

    def _enter(self) -> None:
        if self._here is not None:
            self._db.enter(self._here.name, self._here.key)

    def _values(self, noun: Noun) -> tuple[Any, ...]:
        """The parameters of a statement: the namespace where it is about one, and what is unreadable where it asks."""
        if self._here is None or noun.of == "store":
            return ()
        if self._unreadable is None:  # asked once: it looks at every memory
            self._unreadable = packed(self._db.unsound_memories(self._here.key))
        namespace = self._here.name if noun.of == "log" else self._here.key
        return (namespace, self._unreadable) if _memories_of(noun) else (namespace,)

    def load(self, noun: str, rows: Sequence[Row]) -> None:
        """Write rows as `rows` gives them. A number, an id or a name that is there already is an error."""
        table, fixed = NOUNS[noun], dict(_UNTIL_DERIVED) if noun == "memory" else {}
        columns = [f'"{field.column}"' for field in table.carried]
        own: list[Any] = []  # what every row begins with
        if self._here is not None and table.of != "store":
            columns.insert(0, "namespace" if table.of == "log" else "ns")
            own.append(self._here.name if table.of == "log" else self._here.key)
        if self._here is not None and noun in ("memory", "vector"):
            fixed["seq"] = str(self._here.number())
        values = [f"?{place}" for place in range(1, len(columns) + 1)]
        into = f"INSERT INTO {table.table} ({', '.join([*columns, *fixed])})"
        self._enter()
        try:
            self._db.executemany(
                f"{into} VALUES ({', '.join([*values, *fixed.values()])})",
                [(*own, *row) for row in rows],
            )
            for place, field in enumerate(table.carried):
                if field.kind is FieldKind.ROW and rows:
                    self._db.loaded(table.table, max(int(row[place]) for row in rows))
            self._db.settle()
        except self._db.refused_errors as error:
            raise InvalidInput(
                f"a {noun} is in this store already, or refers to what is not there ({error})"
            ) from error

    def begin(self, namespace: Row) -> None:
        """Make the namespace of a `namespace` row."""
        assert self._here is not None
        created = namespace[1]
        self._here.ensure(created)
        self._here.change("UPDATE namespaces SET created = ?2 WHERE id = ?1", created)

    def numbers(self) -> dict[str, int]:
        """The highest number that was ever given out to a memory, to a vault, and to a row of each other table."""
        numbered = {"memory": "num", "vault": "id"} | {
            noun.name: field.column for noun in NOUNS.values() for field in noun.fields if field.kind is FieldKind.ROW
        }
        return {noun: self._db.last_number(NOUNS[noun].table, column) for noun, column in numbered.items()}

    def keep_numbers(self, highest: Mapping[str, int]) -> None:
        """No memory, vault or proposal is given a number up to these again."""
        for noun, table in (("memory", "memories"), ("vault", "vaults"), ("proposal", "proposals")):
            if number := highest.get(noun, 0):
                self._db.keep_number(table, number)

    def after(self, num: int, limit: int) -> list[int]:
        """The next memories of the namespace by number."""
        assert self._here is not None
        return self._here.first("SELECT num FROM memories WHERE ns = ?1 AND num > ?2 ORDER BY num LIMIT ?3", num, limit)

    def settle(self) -> None:
        """What is counted off other rows, once all of them are there."""
        assert self._here is not None
        self._here.change(
            "UPDATE memories SET cited = 1 WHERE ns = ?1 AND num IN (SELECT num FROM citations WHERE ns = ?1)"
        )
