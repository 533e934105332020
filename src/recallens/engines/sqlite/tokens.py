"""Tokens, the owners of sessions, and the answers of writes that may be sent twice."""

from __future__ import annotations

import json

from recallens.engines.sqlite.trails import SqliteTrails, packed
from recallens.model.audit import KeptAnswer, Token

TOKENS = """
CREATE TABLE tokens (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, namespaces TEXT NOT NULL,
    right TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER, revoked INTEGER
) WITHOUT ROWID;

-- Which token's caller used a session first; a session without a row here is the local person's.
CREATE TABLE session_owners (
    ns INTEGER NOT NULL, session TEXT NOT NULL, owner TEXT NOT NULL, PRIMARY KEY (ns, session)
) WITHOUT ROWID;
ALTER TABLE snapshots ADD COLUMN owner TEXT;

-- A write that is sent again with the same key is answered again, and not done again.
CREATE TABLE answers (
    owner TEXT NOT NULL, key TEXT NOT NULL, namespace TEXT, request TEXT NOT NULL, created INTEGER NOT NULL,
    status INTEGER, body TEXT NOT NULL, PRIMARY KEY (owner, key)
) WITHOUT ROWID;
CREATE INDEX answers_by_time ON answers(created);
"""

_COLUMNS = "id, name, digest, namespaces, right, created, expires, revoked"


class SqliteTokens(SqliteTrails):
    def tokens(self) -> list[Token]:
        """The oldest first."""
        rows = self._all(f"SELECT {_COLUMNS} FROM tokens ORDER BY created, id")
        return [
            Token(id, name, digest, tuple(json.loads(namespaces)), right, created, expires, revoked)
            for id, name, digest, namespaces, right, created, expires, revoked in rows
        ]

    def session_owner(self, ns: int, session: str) -> tuple[bool, str | None]:
        """Whether the session has been used, and by which token's caller; None is the local person."""
        row = self._one(
            "SELECT (SELECT owner FROM session_owners WHERE ns = ?1 AND session = ?2),"
            " EXISTS (SELECT 1 FROM sessions WHERE ns = ?1 AND id = ?2)"
            " OR EXISTS (SELECT 1 FROM snapshots WHERE ns = ?1 AND session = ?2)",
            ns, session,
        )  # fmt: skip
        assert row is not None
        return row[0] is not None or bool(row[1]), row[0]

    def ledger_owner(self, ns: int, id: str) -> str | None:
        row = self._one("SELECT owner FROM snapshots WHERE ns = ? AND id = ?", ns, id)
        return row[0] if row else None

    def own_last_ledger(self, ns: int, session: str, owner: str) -> tuple[bytes, dict[str, str]] | None:
        row = self._one(
            "SELECT ledger, audit FROM snapshots WHERE ns = ? AND session = ? AND owner = ?"
            " ORDER BY number DESC LIMIT 1",
            ns, session, owner,
        )  # fmt: skip
        return (row[0], json.loads(row[1])) if row else None


class SqliteTokenWrites(SqliteTrails):
    def put_token(self, token: Token) -> None:
        self._all(
            f"INSERT INTO tokens ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            token.id, token.name, token.digest, packed(token.namespaces), token.right, token.created, token.expires,
            token.revoked,
        )  # fmt: skip

    def revoke_token(self, id: str, at: int) -> None:
        self._all("UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL", at, id)

    def own_session(self, ns: int, session: str, owner: str) -> None:
        self._all("INSERT OR IGNORE INTO session_owners VALUES (?, ?, ?)", ns, session, owner)

    # ── answers that are given again ──

    def kept_answer(self, owner: str, key: str) -> KeptAnswer | None:
        row = self._one("SELECT request, created, status, body FROM answers WHERE owner = ? AND key = ?", owner, key)
        return KeptAnswer(*row) if row else None

    def put_answer(self, owner: str, key: str, namespace: str | None, answer: KeptAnswer) -> None:
        self._all(
            "INSERT OR REPLACE INTO answers (owner, key, namespace, request, created, status, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            owner, key, namespace, answer.request, answer.created, answer.status, answer.body,
        )  # fmt: skip

    def drop_answer(self, owner: str, key: str) -> None:
        self._all("DELETE FROM answers WHERE owner = ? AND key = ?", owner, key)

    def drop_answers_before(self, created: int) -> None:
        self._all("DELETE FROM answers WHERE created < ?", created)
