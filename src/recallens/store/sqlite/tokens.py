"""Tokens in SQLite, and the answers of writes that may be sent twice. They belong to no single namespace."""

from __future__ import annotations

import json

import apsw
from msgspec import Struct, structs

from recallens.model.audit import KeptAnswer, Token
from recallens.store.sqlite.connection import packed

_COLUMNS = ", ".join(Token.__struct_fields__)


class SqliteTokens(Struct, frozen=True):
    _db: apsw.Connection

    def all(self) -> list[Token]:
        """The oldest first."""
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM tokens ORDER BY created, id")
        return [
            Token(id, name, digest, tuple(json.loads(namespaces)), *rest)
            for id, name, digest, namespaces, *rest in rows
        ]

    def answer(self, owner: str, key: str) -> KeptAnswer | None:
        row = self._db.execute(
            "SELECT request, created, status, body FROM answers WHERE owner = ? AND key = ?", (owner, key)
        ).fetchone()
        return KeptAnswer(*row) if row else None

    def put(self, token: Token) -> None:
        values = [packed(value) if isinstance(value, tuple) else value for value in structs.astuple(token)]
        self._db.execute(f"INSERT INTO tokens ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)

    def revoke(self, id: str, at: int) -> None:
        self._db.execute("UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL", (at, id))

    def put_answer(self, owner: str, key: str, namespace: str | None, answer: KeptAnswer) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO answers (owner, key, namespace, request, created, status, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (owner, key, namespace, *structs.astuple(answer)),
        )

    def drop_answer(self, owner: str, key: str) -> None:
        self._db.execute("DELETE FROM answers WHERE owner = ? AND key = ?", (owner, key))

    def drop_answers_before(self, created: int) -> None:
        self._db.execute("DELETE FROM answers WHERE created < ?", (created,))
