"""What was done with memories in SQLite: events, the audit chain, and the ledgers of recorded recalls; and tokens, with
the answers of writes that may be sent twice, which belong to no single namespace."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import apsw
from msgspec import Struct, structs

from recallens.model.audit import AuditEntry, KeptAnswer, Token
from recallens.model.memory import Event
from recallens.model.salience import DAY_MS
from recallens.store.sqlite.connection import NamespaceConnection, packed


class SqliteTrail(Struct, frozen=True):
    _here: NamespaceConnection

    def usage_until(self, at: int) -> list[tuple[int, str, int, float | None]]:
        """What happened to each memory up to a time: number, kind, time and amount."""
        return self._here.all(
            "SELECT num, kind, at, amount FROM events WHERE ns = ?1 AND at <= ?2 AND num IS NOT NULL"
            " ORDER BY num, at, id",
            at,
        )

    def usage_of(self, nums: Sequence[int]) -> list[tuple[int, str, int, float | None]]:
        """What has happened to these memories, each in order."""
        return self._here.all(
            "SELECT e.num, e.kind, e.at, e.amount FROM json_each(?2) j CROSS JOIN events e ON e.num = j.value"
            " AND e.ns = ?1 ORDER BY e.num, e.at, e.id",
            packed(nums),
        )

    def audit_head(self) -> tuple[int, str]:
        """The number and digest that the last entry must have."""
        row = self._here.one("SELECT audit_number, audit_digest FROM namespaces WHERE id = ?1")
        return (row[0], row[1]) if row else (0, "")

    def audit(self, after: int = 0, limit: int = -1) -> list[AuditEntry]:
        rows = self._here.all(
            "SELECT id, number, at, session, query_digest, memories, previous, digest FROM audit"
            " WHERE ns = ?1 AND number > ?2 ORDER BY number LIMIT ?3",
            after, limit,
        )  # fmt: skip
        return [
            AuditEntry(id, self._here.name, number, at, session, asked, tuple(json.loads(memories)), previous, digest)
            for id, number, at, session, asked, memories, previous, digest in rows
        ]

    def recalls_by_day(self, since: int) -> dict[int, int]:
        """How many questions were answered on each day, by the number of the day since 1970.

        One recall has an entry for each memory that it returned, all of one time and question.
        """
        return self._here.mapping(
            "SELECT at / ?2, count(DISTINCT at || ' ' || query_digest) FROM audit WHERE ns = ?1 AND at >= ?3"
            " GROUP BY 1",
            DAY_MS, since,
        )  # fmt: skip

    def ledger(self, id: str) -> tuple[bytes, dict[str, str]] | None:
        return self._ledger("id = ?2", id)

    def last_ledger(self, session: str, owner: str | None = None) -> tuple[bytes, dict[str, str]] | None:
        """The latest of a session, or of those that an owner recorded in it."""
        of_session = "session = ?2 AND (?3 IS NULL OR owner = ?3) ORDER BY number DESC LIMIT 1"
        return self._ledger(of_session, session, owner)

    def _ledger(self, where: str, *values: str | None) -> tuple[bytes, dict[str, str]] | None:
        row = self._here.one(f"SELECT ledger, audit FROM snapshots WHERE ns = ?1 AND {where}", *values)
        return (row[0], json.loads(row[1])) if row else None

    def ledgers(self, limit: int, owner: str | None) -> list[tuple[str, int, str, bytes]]:
        """Id, time, session and ledger of the recalls that are still kept, the latest first.

        An owner sees their own and those of nobody, as with a single one.
        """
        return self._here.all(
            "SELECT id, at, session, ledger FROM snapshots WHERE ns = ?1"
            " AND (?3 IS NULL OR owner IS NULL OR owner = ?3) ORDER BY number DESC LIMIT ?2",
            limit, owner,
        )  # fmt: skip

    def ledger_owner(self, id: str) -> str | None:
        row = self._here.one("SELECT owner FROM snapshots WHERE ns = ?1 AND id = ?2", id)
        return row[0] if row else None

    def record(self, events: Sequence[Event], nums: Sequence[int | None]) -> None:
        rows = [
            [event.kind, event.at, num, event.session, event.task, event.amount]
            for event, num in zip(events, nums, strict=True)
        ]
        self._here.change(
            "INSERT INTO events (ns, kind, at, num, session, task, amount) SELECT ?1, j.value ->> 0, j.value ->> 1,"
            " j.value ->> 2, j.value ->> 3, j.value ->> 4, j.value ->> 5 FROM json_each(?2) j",
            packed(rows),
        )

    def drop_stated(self, nums: Sequence[int]) -> None:
        """How often notes said that they had been confirmed; what they say now takes its place."""
        self._here.change(
            "DELETE FROM events WHERE ns = ?1 AND kind = 'stated' AND num IN (SELECT value FROM json_each(?2))",
            packed(nums),
        )

    def append_audit(self, entries: Sequence[AuditEntry]) -> None:
        """The chain grows, and the namespace remembers where it ends."""
        rows = [
            [e.number, e.id, e.at, e.session, e.query_digest, packed(e.memories), e.previous, e.digest] for e in entries
        ]
        self._here.change(
            "INSERT INTO audit (ns, number, id, at, session, query_digest, memories, previous, digest)"
            " SELECT ?1, j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3, j.value ->> 4, j.value ->> 5,"
            " j.value ->> 6, j.value ->> 7 FROM json_each(?2) j",
            packed(rows),
        )
        if entries:
            sql = "UPDATE namespaces SET audit_number = ?2, audit_digest = ?3 WHERE id = ?1"
            self._here.change(sql, entries[-1].number, entries[-1].digest)

    def put_ledger(
        self, *, id: str, session: str, at: int, ledger: bytes, audit: Mapping[str, str], keep: int,
        owner: str | None = None,
    ) -> None:  # fmt: skip
        """Store a recall's ledger; of each session only the last few stay."""
        self._here.change(
            "INSERT OR REPLACE INTO snapshots (ns, id, session, at, ledger, audit, owner)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            id, session, at, ledger, json.dumps(dict(audit)), owner,
        )  # fmt: skip
        self._here.change(
            "DELETE FROM snapshots WHERE ns = ?1 AND session = ?2 AND number <= (SELECT number FROM snapshots"
            " WHERE ns = ?1 AND session = ?2 ORDER BY number DESC LIMIT 1 OFFSET ?3)",
            session, keep,
        )  # fmt: skip

    def drop_ledgers(self) -> None:
        """What is deleted for good must not live on in stored ledgers, nor in answers that are kept."""
        self._here.change("DELETE FROM snapshots WHERE ns = ?1")
        self._here.change("DELETE FROM answers WHERE namespace = (SELECT name FROM namespaces WHERE id = ?1)")


_TOKEN = ", ".join(Token.__struct_fields__)


class SqliteTokens(Struct, frozen=True):
    _db: apsw.Connection

    def all(self) -> list[Token]:
        """The oldest first."""
        rows = self._db.execute(f"SELECT {_TOKEN} FROM tokens ORDER BY created, id")
        known = [dict(zip(Token.__struct_fields__, row, strict=True)) for row in rows]
        lists = ("namespaces", "scopes")
        return [Token(**token | {name: tuple(json.loads(token[name])) for name in lists}) for token in known]

    def answer(self, owner: str, key: str) -> KeptAnswer | None:
        row = self._db.execute(
            "SELECT request, created, status, body FROM answers WHERE owner = ? AND key = ?", (owner, key)
        ).fetchone()
        return KeptAnswer(*row) if row else None

    def put(self, token: Token) -> None:
        values = [packed(value) if isinstance(value, tuple) else value for value in structs.astuple(token)]
        self._db.execute(f"INSERT INTO tokens ({_TOKEN}) VALUES ({', '.join('?' * len(values))})", values)

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
