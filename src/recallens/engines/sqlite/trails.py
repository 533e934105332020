"""What a recall leaves behind, and what it follows: relations, the audit chain, stored ledgers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from recallens.model.audit import AuditEntry
from recallens.model.memory import Origin, Relation, RelationType

# A name that very many memories share ties none of them to another.
MOST_SHARED = 64


class SqliteTrails:
    """Reads on one connection, inside the transaction that its store opened."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def _all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    def _one(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        return self._db.execute(sql, values).fetchone()

    def neighbours(self, nums: Sequence[int], at: int) -> list[tuple[int, int, str, float]]:
        """Relations that touch these memories and hold at that time."""
        rows = self._all(
            "SELECT source, target, type, confidence FROM relations WHERE created <= ?1 AND"
            " (valid_until IS NULL OR valid_until > ?1) AND source IN (SELECT value FROM json_each(?2))"
            " UNION SELECT source, target, type, confidence FROM relations WHERE created <= ?1 AND"
            " (valid_until IS NULL OR valid_until > ?1) AND target IN (SELECT value FROM json_each(?2))"
            " ORDER BY 1, 2, 3",
            at, packed(nums),
        )  # fmt: skip
        return [(source, target, kind, confidence) for source, target, kind, confidence in rows]

    def sharing_names(self, ns: int, nums: Sequence[int], cap: int) -> list[tuple[int, int]]:
        """Pairs of memories that name the same entity, one of these first; names that everybody has are left out."""
        rows = self._all(
            "SELECT DISTINCT a.num, b.num FROM labels a JOIN labels b ON b.ns = a.ns AND b.value = a.value"
            " AND b.kind = 'entity' AND b.num <> a.num WHERE a.ns = ?1 AND a.kind = 'entity'"
            " AND a.num IN (SELECT value FROM json_each(?2))"
            " AND (SELECT count(*) FROM (SELECT 1 FROM labels c WHERE c.ns = a.ns AND c.value = a.value"
            " AND c.kind = 'entity' LIMIT ?3 + 1)) <= ?3"
            " ORDER BY a.num, b.num LIMIT ?4",
            ns, packed(nums), MOST_SHARED, cap,
        )  # fmt: skip
        return [(a, b) for a, b in rows]

    def relations_of(self, nums: Sequence[int]) -> dict[int, list[Relation]]:
        """Every relation that touches each of these memories."""
        rows = self._all(
            "SELECT j.value, a.id, b.id, r.type, r.confidence, r.origin, r.created, r.valid_until"
            " FROM json_each(?) j CROSS JOIN relations r ON r.source = j.value OR r.target = j.value"
            " JOIN memories a ON a.num = r.source JOIN memories b ON b.num = r.target ORDER BY j.value, r.id",
            packed(nums),
        )
        found: dict[int, list[Relation]] = {}
        for num, source, target, kind, confidence, origin, created, until in rows:
            relation = Relation(source, target, RelationType(kind), confidence, Origin(origin), created, until)
            found.setdefault(num, []).append(relation)
        return found

    def document_paths(self, ids: Sequence[str]) -> dict[str, str]:
        rows = self._all(
            "SELECT d.id, d.path FROM json_each(?) j CROSS JOIN documents d ON d.id = j.value", packed(ids)
        )
        return dict(rows)

    def scoped(self, ns: int, scope: str) -> list[int]:
        """Memories that carry a context scope."""
        rows = self._all(
            "SELECT num FROM memories WHERE ns = ? AND scopes <> '[]' AND EXISTS"
            " (SELECT 1 FROM json_each(scopes) WHERE value = ?)",
            ns, scope,
        )  # fmt: skip
        return [row[0] for row in rows]

    # ── the audit chain ──

    def audit_head(self, ns: int) -> tuple[int, str]:
        """The number and digest that the last entry must have."""
        row = self._one("SELECT audit_number, audit_digest FROM namespaces WHERE id = ?", ns)
        return (row[0], row[1]) if row else (0, "")

    def audit_entries(self, ns: int, after: int = 0, limit: int = -1) -> list[AuditEntry]:
        rows = self._all(
            "SELECT a.id, n.name, a.number, a.at, a.session, a.query_digest, a.memories, a.previous, a.digest"
            " FROM audit a JOIN namespaces n ON n.id = a.ns WHERE a.ns = ? AND a.number > ? ORDER BY a.number LIMIT ?",
            ns, after, limit,
        )  # fmt: skip
        return [
            AuditEntry(id, name, number, at, session, asked, tuple(json.loads(memories)), previous, digest)
            for id, name, number, at, session, asked, memories, previous, digest in rows
        ]

    # ── stored ledgers ──

    def stored_ledger(self, ns: int, id: str) -> tuple[bytes, dict[str, str]] | None:
        row = self._one("SELECT ledger, audit FROM snapshots WHERE ns = ? AND id = ?", ns, id)
        return (row[0], json.loads(row[1])) if row else None

    def last_ledger(self, ns: int, session: str) -> tuple[bytes, dict[str, str]] | None:
        row = self._one(
            "SELECT ledger, audit FROM snapshots WHERE ns = ? AND session = ? ORDER BY number DESC LIMIT 1", ns, session
        )
        return (row[0], json.loads(row[1])) if row else None


def packed(values: Sequence[Any]) -> str:
    """A list as one parameter, so that no query is made per row. It is all of one kind, most often numbers."""
    one_by_one = list(values)
    return str(one_by_one) if one_by_one and type(one_by_one[0]) is int else _TO_JSON(one_by_one)


_TO_JSON = json.JSONEncoder(ensure_ascii=False).encode
