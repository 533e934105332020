"""SQLite as the nouns use it: its spelling of the shared SQL, and what it has no SQL in common for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw
from msgspec import Struct

from recallens.store.nouns import NOUNS
from recallens.store.records import LexicalEntry
from recallens.store.sql.connection import Derived, NamespaceConnection, Rows
from recallens.store.sql.dialect import Dialect
from recallens.store.sqlite import digests, soundness

# Scopes that cannot be read are one that nobody holds.
_SCOPES = r"""iif(json_valid(\1) AND json_type(\1) = 'array', \1, '["\\u0001"]')"""
_TYPES = {"bytes": "blob", "whole": "integer"}


def _sound(word: re.Match[str]) -> str:
    noun, row = word[1], word[2]
    if noun in _TYPES:
        return f"typeof({row}) = '{_TYPES[noun]}'"
    carried, name = noun.startswith("carried "), noun.removeprefix("carried ")
    return soundness.sound(NOUNS[name], row, carried=carried)


DIALECT = Dialect({
    r"\b(?:NUMBERS|TEXTS|RECORDS)\(": "json_each(",
    r"\bSCOPES\(([\w.]+)\)": _SCOPES,
    r"\bSOUND\(([\w -]+), ([\w.]+)\)": _sound,
    r"\bBYTES\((\w+)\)": r"CAST(\1 AS BLOB)",
    r"\bKEY\(": "(",
    r" SORTED BY .*$": "",
})  # fmt: skip
_READ_OFF = {"words": digests.WORDS, "read off": digests.READ_OFF}


class SqliteDatabase(Struct, frozen=True):
    """A connection in a transaction."""

    connection: apsw.Connection
    unreadable_errors = (apsw.SQLError, UnicodeDecodeError)  # bytes that are no text
    refused_errors = (apsw.ConstraintError,)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Rows:
        return self.connection.execute(DIALECT.render(sql), values)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> object:
        return self.connection.executemany(DIALECT.render(sql), rows)

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        return self.connection.execute(DIALECT.render(sql), values)

    def enter(self, name: str, key: int) -> None:
        """Every statement says itself which namespace it is about."""

    def lock(self, name: str) -> None:
        """Who writes is alone."""

    def take_numbers(self, table: str, count: int) -> list[int]:
        """Numbers as AUTOINCREMENT would give them out; a row was given one before."""
        following = "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ? RETURNING seq"
        rows: list[Any] = self.connection.execute(following, (count, table)).fetchall()
        last = int(rows[0][0])
        return list(range(last - count + 1, last + 1))

    def last_number(self, table: str, column: str) -> int:
        rows: list[Any] = self.connection.execute(
            f"SELECT max(coalesce((SELECT max({column}) FROM {table}), 0),"
            " coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0))",
            (table,),
        ).fetchall()
        return int(rows[0][0])

    def keep_number(self, table: str, number: int) -> None:
        self.connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (number, table))
        if not self.connection.changes():
            self.connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))

    def loaded(self, table: str, highest: int) -> None:
        """SQLite goes on behind the highest number by itself."""

    def defer_references(self) -> None:
        self.connection.execute("PRAGMA defer_foreign_keys = ON")

    def mended(self, key: int, nums: Sequence[int]) -> list[dict[str, Any]]:
        return soundness.mended(self.connection, key, nums)

    def unsound_memories(self, key: int) -> list[int]:
        return soundness.unsound_memories(self.connection, key)

    def made_anew(self, what: Derived, nums: Sequence[int] | None = None) -> None:
        digests.fill(self.connection, _READ_OFF[what], nums)

    def settle(self) -> None:
        digests.settle(self.connection)

    def taking_words(self, here: NamespaceConnection, entries: Sequence[LexicalEntry]) -> None:
        """What is derived is indexed by the processes that read it."""

    def losing_words(self, here: NamespaceConnection, nums: Sequence[int] | None) -> None:
        """So nothing else holds them."""

    def candidates(self, here: NamespaceConnection) -> None:
        """A file proposes nothing."""
