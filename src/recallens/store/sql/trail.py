"""What was done with memories: events, the audit chain, and the ledgers of recorded recalls; and tokens, with
the answers of writes that may be sent twice, which belong to no single namespace."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from recallens.model.audit import MARK_BYTES, Act, AuditEntry, ChainHead, KeptAnswer, Token
from recallens.model.memory import Event
from recallens.model.salience import DAY_MS
from recallens.model.times import LATEST_MS
from recallens.store.sql.connection import Database, NamespaceConnection, Rows
from recallens.store.sql.rows import NO_LIMIT, decoded, packed


class SqlTrail(Struct, frozen=True):
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
            "SELECT e.num, e.kind, e.at, e.amount FROM NUMBERS(?2) j CROSS JOIN events e ON e.num = j.value"
            " AND e.ns = ?1 ORDER BY e.num, e.at, e.id",
            packed(nums),
        )

    # ── the audit chain, by the name of the namespace, which need not exist (yet, or any more) ──

    def audit_head(self) -> ChainHead | None:
        """Which chain it is, and the number and digest that its last entry must have; None where none has begun."""
        self._here.db.enter(self._here.name, self._here.key)
        return chain_heads(self._here.db, self._here.name).get(self._here.name)

    def audit(self, after: int = 0, limit: int = -1) -> list[AuditEntry]:
        """An entry that cannot be read is missing, which whoever verifies the chain says."""
        rows = self._of_chain(
            f"SELECT {_ENTRY} FROM audit x WHERE namespace = ?1 AND number > ?2 AND SOUND(audit-entry, x)"
            " ORDER BY number LIMIT ?3",
            after, limit if limit >= 0 else NO_LIMIT,
        )  # fmt: skip
        head = self.audit_head()
        return [_entry(self._here.name, head.chain if head else "", row) for row in decoded(iter(rows))]

    def _of_chain(self, sql: str, *values: Any) -> Rows:
        """A statement about the chain, which is of a name: ?1."""
        self._here.db.enter(self._here.name, self._here.key)
        return self._here.db.execute(sql, (self._here.name, *values))

    def append_audit(self, entry: AuditEntry) -> None:
        """The chain grows, and the store remembers where it ends."""
        act = entry.act
        self._of_chain(
            f"INSERT INTO audit (namespace, {_ENTRY})"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            entry.number, act.at, act.who, act.what, act.outcome, act.session, bytes.fromhex(act.question),
            bytes.fromhex("".join(entry.marks)), entry.total, entry.key, bytes.fromhex(entry.previous),
            bytes.fromhex(entry.digest),
        )  # fmt: skip
        self._of_chain(
            "INSERT INTO audit_heads (namespace, chain, number, digest) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (namespace)"
            " DO UPDATE SET chain = excluded.chain, number = excluded.number, digest = excluded.digest",
            entry.chain, entry.number, bytes.fromhex(entry.digest),
        )  # fmt: skip

    def drop_audit(self, until: int) -> None:
        """What the chain began with; an entry that says so must stand in it by then."""
        self._of_chain("DELETE FROM audit WHERE namespace = ?1 AND number <= ?2", until)

    def marks(self, nums: Sequence[int]) -> dict[int, str]:
        """What stands for each memory in the log, of those that something stands for."""
        rows = self._here.all(
            "SELECT a.num, a.mark FROM NUMBERS(?2) j CROSS JOIN audit_marks a ON a.num = j.value AND +a.ns = ?1"
            " AND SOUND(bytes, a.mark) SORTED BY j.key",
            packed(nums),
        )
        return {num: bytes(mark).hex() for num, mark in rows}

    def put_marks(self, marks: Mapping[int, tuple[bytes, str]]) -> None:
        """For each memory its salt and its mark."""
        self._here.change(
            "INSERT INTO audit_marks (ns, num, salt, mark) SELECT ?1, CAST(j.value ->> 0 AS BIGINT),"
            " UNHEX(j.value ->> 1), UNHEX(j.value ->> 2) FROM RECORDS(?2) j WHERE true"
            " ON CONFLICT KEY(num) DO UPDATE SET salt = excluded.salt, mark = excluded.mark",
            packed([(num, salt.hex(), mark) for num, (salt, mark) in marks.items()]),
        )

    def marked(self) -> list[tuple[str, bytes, str]]:
        """Id, salt and mark of each memory of the namespace that something stands for."""
        rows = self._here.all(
            "SELECT m.id, a.salt, a.mark FROM audit_marks a JOIN memories m ON m.num = a.num AND m.ns = ?1"
            " WHERE a.ns = ?1 SORTED BY a.num"
        )
        return [(id, bytes(salt), bytes(mark).hex()) for id, salt, mark in rows]

    def recalls_by_day(self, since: int) -> dict[int, int]:
        """How many questions of who reads were answered on each day, by the number of the day since 1970."""
        mine = self._here.theirs("who")
        rows = self._of_chain(
            "SELECT a.at / ?2, count(*) FROM (SELECT DISTINCT at, question FROM audit WHERE namespace = ?1"
            " AND at BETWEEN ?3 AND ?4 AND length(question) > 0 AND length(marks) > 0"
            f"{f' AND {mine}' if mine else ''}) a GROUP BY 1",
            DAY_MS, since, LATEST_MS,
        )  # fmt: skip
        return {int(day): int(count) for day, count in rows}

    def ledger(self, id: str) -> tuple[bytes, dict[str, str]] | None:
        return self._ledger("id = ?2", id)

    def last_ledger(self, session: str, owner: str | None = None) -> tuple[bytes, dict[str, str]] | None:
        """The latest of a session, or of those that an owner recorded in it."""
        of_session = "session = ?2 AND (CAST(?3 AS TEXT) IS NULL OR owner = ?3) ORDER BY number DESC LIMIT 1"
        return self._ledger(of_session, session, owner)

    def _ledger(self, where: str, *values: str | None) -> tuple[bytes, dict[str, str]] | None:
        row = self._here.one(f"SELECT ledger, audit FROM snapshots WHERE ns = ?1 AND {where}", *values)
        return (row[0], json.loads(row[1])) if row else None

    def ledgers(self, limit: int, owner: str | None) -> list[tuple[str, int, str, bytes]]:
        """Id, time, session and ledger of the recalls that are still kept, the latest first; an owner's own."""
        return self._here.all(
            "SELECT id, at, session, ledger FROM snapshots WHERE ns = ?1"
            " AND (CAST(?3 AS TEXT) IS NULL OR owner = ?3) ORDER BY number DESC LIMIT ?2",
            limit, owner,
        )  # fmt: skip

    def ledger_owner(self, id: str) -> str | None:
        row = self._here.one("SELECT owner FROM snapshots WHERE ns = ?1 AND id = ?2", id)
        return row[0] if row else None

    def record(self, events: Sequence[Event], nums: Sequence[int | None]) -> None:
        rows = [
            [event.kind, event.at, num, event.session, event.task, event.amount, event.owner]
            for event, num in zip(events, nums, strict=True)
        ]
        self._here.change(
            "INSERT INTO events (ns, kind, at, num, session, task, amount, owner) SELECT ?1, j.value ->> 0,"
            " CAST(j.value ->> 1 AS BIGINT), CAST(j.value ->> 2 AS BIGINT), j.value ->> 3, j.value ->> 4,"
            " CAST(j.value ->> 5 AS DOUBLE PRECISION), j.value ->> 6 FROM RECORDS(?2) j",
            packed(rows),
        )

    def drop_stated(self, nums: Sequence[int]) -> None:
        """How often notes said that they had been confirmed; what they say now takes its place."""
        self._here.change(
            "DELETE FROM events WHERE ns = ?1 AND kind = 'stated' AND num IN (SELECT value FROM NUMBERS(?2))",
            packed(nums),
        )

    def drop_confirmations(self, num: int, owner: str) -> None:
        self._here.change(
            "DELETE FROM events WHERE ns = ?1 AND kind = 'confirmed' AND num = ?2 AND owner = ?3", num, owner
        )

    def put_ledger(
        self, *, id: str, session: str, at: int, ledger: bytes, audit: Mapping[str, str], keep: int,
        owner: str | None = None, since: int = 0,
    ) -> None:  # fmt: skip
        """Store a recall's ledger; of each session only the last few stay, and none from before `since`."""
        self._here.change("DELETE FROM snapshots WHERE ns = ?1 AND id = ?2", id)
        self._here.change(
            "INSERT INTO snapshots (ns, id, session, at, ledger, audit, owner) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            id, session, at, ledger, json.dumps(dict(audit)), owner,
        )  # fmt: skip
        self._here.change(
            "DELETE FROM snapshots WHERE ns = ?1 AND session = ?2 AND number <= (SELECT number FROM snapshots"
            " WHERE ns = ?1 AND session = ?2 ORDER BY number DESC LIMIT 1 OFFSET ?3)",
            session, keep,
        )  # fmt: skip
        # A few at a time: each recall that is recorded makes room for itself.
        self._here.change(
            "DELETE FROM snapshots WHERE +ns = ?1 AND number IN (SELECT number FROM snapshots WHERE ns = ?1 AND at < ?2"
            " LIMIT 20)",
            since,
        )

    # ── retention ──

    def outdated(self, ledgers: int, trails: int) -> dict[str, int]:
        """How many ledgers are older than the one time, and recalls, links and audit entries than the other."""
        counts = {}
        for name, (rows, time) in _OUTDATED.items():
            row = self._here.one(f"SELECT count(*) FROM {rows}", ledgers if time == "ledgers" else trails)
            counts[name] = row[0] if row else 0
        return counts | {"audit": self.audit_until(trails)[1]}

    def audit_until(self, at: int) -> tuple[int, int]:
        """The last entry before the first that was written since a time, and how many would go with it."""
        row = self._of_chain(
            "SELECT coalesce((SELECT min(number) FROM audit WHERE namespace = ?1 AND at >= ?2), max(number) + 1) - 1,"
            " min(number) FROM audit WHERE namespace = ?1",
            at,
        ).fetchone()
        until, first = row if row and row[0] is not None else (0, 1)
        return int(until), max(int(until) - int(first) + 1, 0)

    def drop_outdated(self, ledgers: int, trails: int) -> None:
        for rows, time in _OUTDATED.values():
            self._here.change(f"DELETE FROM {rows}", ledgers if time == "ledgers" else trails)

    def reinforcing(self, before: int) -> list[tuple[int, int, str, int, float]]:
        """The events before a time that reinforced a memory: number, event, kind, time and amount, in order."""
        return self._here.all(
            "SELECT num, id, kind, at, amount FROM events WHERE ns = ?1 AND at < ?2 AND num IS NOT NULL AND amount <> 0"
            " ORDER BY num, at, id",
            before,
        )

    def fold(self, folded: Mapping[int, float], dropped: Sequence[int]) -> None:
        """Events that stand from now on for others as well, with the amount of them all; and those others go."""
        self._here.change_many("UPDATE events SET amount = ?3 WHERE ns = ?1 AND id = ?2", list(folded.items()))
        self._here.change("DELETE FROM events WHERE ns = ?1 AND id IN (SELECT value FROM NUMBERS(?2))", packed(dropped))

    def drop_ledgers(self) -> None:
        """What is deleted for good must not live on in stored ledgers, nor in answers that are kept."""
        self._here.change("DELETE FROM snapshots WHERE ns = ?1")
        self._here.change("DELETE FROM answers WHERE namespace = (SELECT name FROM namespaces WHERE id = ?1)")


# What retention drops, and which of the two times it goes by. A recall that reinforced something is folded apart.
_OUTDATED = {
    "ledgers": ("snapshots WHERE ns = ?1 AND at < ?2", "ledgers"),
    "recalls": ("events WHERE ns = ?1 AND kind = 'recalled' AND at < ?2 AND coalesce(amount, 0) = 0", "trails"),
    "sessionLinks": ("session_memories WHERE ns = ?1 AND usage = 'recalled' AND at < ?2", "trails"),
}
_ENTRY = "number, at, who, what, outcome, session, question, marks, total, key, previous, digest"


def chain_heads(db: Database, namespace: str | None = None) -> dict[str, ChainHead]:
    """Where the chain of each namespace ends, or that of one. One that cannot be read fits no chain, and ends none."""
    rows = db.execute(
        "SELECT namespace, BYTES(chain), CASE WHEN SOUND(whole, number) THEN number ELSE (SELECT max(a.number)"
        " FROM audit a WHERE a.namespace = h.namespace) END, BYTES(digest) FROM audit_heads h"
        + (" WHERE namespace = ?1" if namespace is not None else ""),
        () if namespace is None else (namespace,),
    )
    return {
        str(name): ChainHead(bytes(chain).decode("utf-8", "replace"), int(number or 0), bytes(digest).hex())
        for name, chain, number, digest in decoded(iter(rows))
    }


def _entry(namespace: str, chain: str, row: tuple[Any, ...]) -> AuditEntry:
    number, at, who, what, outcome, session, question, marks, total, key, previous, digest = row
    act = Act(namespace, what, at, who, session, bytes(question).hex(), outcome)
    each = tuple(marks[start : start + MARK_BYTES].hex() for start in range(0, len(marks), MARK_BYTES))
    return AuditEntry(chain, number, act, each, total, key, bytes(previous).hex(), bytes(digest).hex())


_TOKEN = ", ".join(f'"{name}"' for name in Token.__struct_fields__)


class SqlTokens(Struct, frozen=True):
    _db: Database

    def all(self) -> list[Token]:
        """The oldest first."""
        rows = self._db.execute(f"SELECT {_TOKEN} FROM tokens ORDER BY created, id")
        known = [dict(zip(Token.__struct_fields__, row, strict=True)) for row in rows]
        lists = ("namespaces", "scopes")
        return [Token(**token | {name: tuple(json.loads(token[name])) for name in lists}) for token in known]

    def answer(self, owner: str, key: str) -> KeptAnswer | None:
        self._db.lock(f"answer {key} to {owner}")
        row = self._db.execute(
            "SELECT request, created, status, body FROM answers WHERE owner = ?1 AND key = ?2", (owner, key)
        ).fetchone()
        return KeptAnswer(*row) if row else None

    def put(self, token: Token) -> None:
        values = [packed(value) if isinstance(value, tuple) else value for value in structs.astuple(token)]
        places = ", ".join(f"?{place}" for place in range(1, len(values) + 1))
        self._db.execute(f"INSERT INTO tokens ({_TOKEN}) VALUES ({places})", values)

    def revoke(self, id: str, at: int) -> None:
        self._db.execute("UPDATE tokens SET revoked = ?1 WHERE id = ?2 AND revoked IS NULL", (at, id))

    def put_answer(self, owner: str, key: str, namespace: str | None, answer: KeptAnswer) -> None:
        self._db.execute(
            "INSERT INTO answers (owner, key, namespace, request, created, status, body)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (owner, key) DO UPDATE SET"
            " namespace = excluded.namespace,"
            " request = excluded.request, created = excluded.created, status = excluded.status, body = excluded.body",
            (owner, key, namespace, *structs.astuple(answer)),
        )

    def drop_answer(self, owner: str, key: str) -> None:
        self._db.execute("DELETE FROM answers WHERE owner = ?1 AND key = ?2", (owner, key))

    def drop_answers_before(self, created: int) -> None:
        self._db.execute("DELETE FROM answers WHERE created < ?1", (created,))
