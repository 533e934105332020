"""Relations between memories in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, structs

from recallens.model.memory import Origin, Relation, RelationType
from recallens.model.recall import Successor
from recallens.store.sqlite.connection import NamespaceConnection, packed

SUCCESSOR_EXCERPT = 200
_HOLDING = "r.ns = ?1 AND r.created <= ?2 AND (r.valid_until IS NULL OR r.valid_until > ?2)"


class SqliteRelations(Struct, frozen=True):
    _here: NamespaceConnection

    def of(self, num: int) -> list[Relation]:
        return self.find([num]).get(num, [])

    def find(self, nums: Sequence[int]) -> dict[int, list[Relation]]:
        """Every relation that touches each of these memories, the oldest first."""
        rows = self._here.all(
            "SELECT j.value, a.id, b.id, r.type, r.confidence, r.origin, r.created, r.valid_until"
            " FROM json_each(?2) j CROSS JOIN relations r ON (r.source = j.value OR r.target = j.value) AND r.ns = ?1"
            " JOIN memories a ON a.num = r.source JOIN memories b ON b.num = r.target ORDER BY j.value, r.id",
            packed(nums),
        )
        relations: dict[int, list[Relation]] = {}
        for num, source, target, kind, confidence, origin, created, until in rows:
            relation = Relation(source, target, RelationType(kind), confidence, Origin(origin), created, until)
            relations.setdefault(num, []).append(relation)
        return relations

    def neighbours(self, nums: Sequence[int], at: int) -> list[tuple[int, int, str, float]]:
        """Relations that touch these memories and hold at that time."""
        columns = "SELECT r.source, r.target, r.type, r.confidence FROM relations r"
        return self._here.all(
            f"{columns} WHERE {_HOLDING} AND r.source IN (SELECT value FROM json_each(?3))"
            f" UNION {columns} WHERE {_HOLDING} AND r.target IN (SELECT value FROM json_each(?3)) ORDER BY 1, 2, 3",
            at, packed(nums),
        )  # fmt: skip

    def successors(self, nums: Sequence[int], at: int) -> dict[int, Successor]:
        """What each memory had been replaced by at a time, with the beginning of its text."""
        rows = self._here.all(
            "SELECT r.target, m.id, substr(m.content, 1, ?3), m.created FROM json_each(?2) j CROSS JOIN relations r"
            " ON r.target = j.value AND r.type = 'SUPERSEDES' AND r.ns = ?1 JOIN memories m ON m.num = r.source"
            " WHERE r.created <= ?4 ORDER BY r.id",
            packed(nums), SUCCESSOR_EXCERPT, at,
        )  # fmt: skip
        return {target: Successor(id, content, created) for target, id, content, created in rows}

    def put(self, source: int, target: int, relation: Relation) -> None:
        self._put(source, target, *structs.astuple(relation)[2:])
        self._here.change(
            "UPDATE memories SET seq = ?2 WHERE +ns = ?1 AND num IN (SELECT value FROM json_each(?3))",
            self._here.number(), packed([source, target]),
        )  # fmt: skip

    def supersede(self, old: int, new: int, at: int) -> None:
        """The old memory stays, closed at `at`; an end that had come earlier is kept."""
        self._here.change(
            "UPDATE memories SET status = 'superseded', updated = ?2, seq = ?3,"
            " valid_until = min(coalesce(valid_until, ?2), ?2) WHERE num = ?4 AND ns = ?1",
            at, self._here.number(), old,
        )  # fmt: skip
        self._put(new, old, RelationType.SUPERSEDES, 1.0, Origin.USER, at, None)

    def _put(self, *values: Any) -> None:
        self._here.change(
            "INSERT INTO relations (ns, source, target, type, confidence, origin, created, valid_until)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source, target, type) DO UPDATE SET"
            " confidence = excluded.confidence, origin = excluded.origin, valid_until = excluded.valid_until",
            *values,
        )
