"""Everything of a store as plain rows, and back: for exports, imports, and moves between engines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import apsw

from recallens.errors import InvalidInput
from recallens.store.nouns import NOUNS, FieldKind, Noun
from recallens.store.records import META_SENTENCES
from recallens.store.sqlite import digests
from recallens.store.sqlite.connection import NamespaceConnection, Row, packed
from recallens.store.sqlite.soundness import decoded, sound, unsound_memories

# What a memory cannot be written without, until it is derived from its text.
_UNTIL_DERIVED: Final = {"annotations": "'{}'", "simhash": "0", "chars": "0", "tokens": "0", "length": "0"}
# Every order is one that an index has, so that no row waits in memory for another. Numbers of memories alone are
# sorted: the limit keeps SQLite from sorting whole rows instead.
_OWN: Final = "(SELECT num FROM memories WHERE ns = :ns ORDER BY num LIMIT -1) own CROSS JOIN"
_FROM: Final = {
    "memory": f"{_OWN} memories x ON x.num = own.num WHERE true",
    "relation": f"{_OWN} relations x ON x.source = own.num AND x.ns = :ns WHERE true",
    "vault-file": "vaults v CROSS JOIN vault_files x ON x.vault = v.id WHERE v.ns = :ns",
    "namespace": "namespaces x WHERE x.id = :ns",
}
_ORDER: Final = {
    "session": "id", "session-owner": "session", "document": "id", "session-memory": "session, num, usage",
    "task": "id", "log": "task, rowid", "event": "at, rowid", "vault": "name", "audit-entry": "number",
    "ledger": "session, number", "proposal": "id", "setting": "key", "token": "id",  # nosec B105
}  # fmt: skip
# What is of a memory and says itself in which namespace.
_WITH_NAMESPACE: Final = frozenset(("relation", "lineage", "vector"))
# Of the settings, what makes a store this store and no other one stays with it, and what is known of its own vectors.
_CARRIED: Final = f"x.key NOT IN ('store-id', '{META_SENTENCES}')"


# Rows that hold nothing which anybody wrote.
_WITHOUT_TEXT: Final = frozenset(("vector", "audit-mark"))


def _source(noun: Noun) -> str:
    """Where the rows of a noun come from, in the order of an export; `:ns` is the namespace."""
    if noun.name in _FROM:
        return _FROM[noun.name]
    if noun.of == "memory":
        return f"{_OWN} {noun.table} x ON x.num = own.num WHERE true"
    if noun.of == "log":
        return f"{noun.table} x WHERE x.namespace = (SELECT name FROM namespaces WHERE id = :ns)"
    where = _CARRIED if noun.name == "setting" else "true" if noun.of == "store" else "x.ns = :ns"
    return f"{noun.table} x WHERE {where}"


def _readable(noun: Noun) -> str:
    """Only rows that can be read, of memories that can; `:unreadable` is the list of those that cannot."""
    refers = [field.column for field in noun.fields if field.kind is FieldKind.MEMORY]
    gone = "".join(
        f" AND (x.{name} IS NULL OR x.{name} NOT IN (SELECT value FROM json_each(:unreadable)))" for name in refers
    )
    return f" AND {sound(noun, 'x', carried=True)}{gone}"


class SqlitePortable:
    """The nouns of one namespace; of the store, where there is none."""

    __slots__ = ("_counts", "_db", "_here", "_unreadable")

    def __init__(self, db: apsw.Connection, here: NamespaceConnection | None = None) -> None:
        self._db = db
        self._here = here
        self._unreadable: str | None = None
        self._counts: dict[str, int] = {}

    def count(self, noun: str) -> int:
        """How many rows can be read."""
        if noun not in self._counts:
            if noun in _WITHOUT_TEXT:
                self._counts[noun] = sum(int(row[0]) for row in self._rows(noun, "count(*)"))
            else:  # SQLite does not tell whether a text is one
                self._counts[noun] = sum(1 for _ in self.rows(noun))
        return self._counts[noun]

    def unreadable(self, noun: str) -> int:
        """How many rows are there beside them."""
        row = self._db.execute(f"SELECT count(*) FROM {_source(NOUNS[noun])}", self._values()).fetchone()
        assert row is not None
        return int(row[0]) - self.count(noun)

    def rows(self, noun: str) -> Iterator[Row]:
        """The carried fields of each row; JSON as it is written."""
        table = NOUNS[noun]
        columns = ", ".join(f'x."{field.column}"' for field in table.carried)
        order = f" ORDER BY {_ORDER[noun]}" if noun in _ORDER else ""
        return decoded(self._rows(noun, columns, order))

    def _rows(self, noun: str, columns: str, order: str = "") -> apsw.Cursor:
        table = NOUNS[noun]
        return self._db.execute(f"SELECT {columns} FROM {_source(table)}{_readable(table)}{order}", self._values())

    def _values(self) -> dict[str, Any]:
        key = self._here.key if self._here is not None else None
        if self._unreadable is None:  # asked once: it looks at every memory
            self._unreadable = packed(unsound_memories(self._db, key) if key is not None else [])
        return {"ns": key, "unreadable": self._unreadable}

    def load(self, noun: str, rows: Sequence[Row]) -> None:
        """Write rows as `rows` gives them. A number, an id or a name that is there already is an error."""
        table, fixed = NOUNS[noun], dict(_UNTIL_DERIVED) if noun == "memory" else {}
        if self._here is not None and (table.of == "namespace" or noun in _WITH_NAMESPACE):
            fixed["ns"] = str(self._here.key)
        if self._here is not None and table.of == "log":
            fixed["namespace"] = apsw.format_sql_value(self._here.name)
        if self._here is not None and noun in ("memory", "vector"):
            fixed["seq"] = str(self._here.number())
        columns = [f'"{field.column}"' for field in table.carried]
        values = [f"?{place}" for place in range(1, len(columns) + 1)]
        into = f"INSERT INTO {table.table} ({', '.join([*columns, *fixed])})"
        try:
            self._db.executemany(f"{into} VALUES ({', '.join([*values, *fixed.values()])})", rows)
            digests.settle(self._db)
        except apsw.ConstraintError as error:
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
        given = dict(self._db.execute("SELECT name, seq FROM sqlite_sequence"))
        highest = {"memory": given.get("memories", 0), "vault": given.get("vaults", 0)}
        for noun in NOUNS.values():
            for field in noun.fields:
                if field.kind is FieldKind.ROW:
                    ((last,),) = self._db.execute(f"SELECT coalesce(max({field.column}), 0) FROM {noun.table}")
                    highest[noun.name] = max(last, given.get(noun.table, 0))
        return highest

    def keep_numbers(self, highest: Mapping[str, int]) -> None:
        """No memory, vault or proposal is given a number up to these again."""
        for noun, table in (("memory", "memories"), ("vault", "vaults"), ("proposal", "proposals")):
            number = highest.get(noun, 0)
            self._db.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (number, table))
            if not self._db.changes() and number:
                self._db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))

    def after(self, num: int, limit: int) -> list[int]:
        """The next memories of the namespace by number."""
        assert self._here is not None
        return self._here.first("SELECT num FROM memories WHERE ns = ?1 AND num > ?2 ORDER BY num LIMIT ?3", num, limit)

    def settle(self) -> None:
        """What is counted off other rows, once all of them are there."""
        assert self._here is not None
        self._here.change("UPDATE memories SET cited = 1 WHERE ns = ?1 AND num IN (SELECT num FROM citations)")
