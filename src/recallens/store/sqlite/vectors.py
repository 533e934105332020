"""Vectors in SQLite, and the backlog of memories that have none yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from recallens.store.sqlite.connection import NamespaceConnection, packed


class SqliteVectors(Struct, frozen=True):
    _here: NamespaceConnection

    def changes(self, encoder: str, since: int) -> Iterable[tuple[int, int, bytes]]:
        """Number, part and vector of what was written after a number."""
        return self._here.db.execute(
            "SELECT num, part, vector FROM vectors WHERE ns = ? AND encoder = ? AND seq > ? ORDER BY num, part",
            (self._here.key, encoder, since),
        )

    def put(self, encoder: str, vectors: Sequence[tuple[int, int, bytes]]) -> None:
        seq = self._here.number()
        # A memory may have been deleted while its text was being encoded: then there is nothing to keep.
        self._here.change_many(
            "INSERT OR REPLACE INTO vectors (ns, num, encoder, part, seq, vector)"
            " SELECT ?1, num, ?2, ?3, ?4, ?5 FROM memories WHERE num = ?6 AND ns = ?1",
            [(encoder, part, seq, vector, num) for num, part, vector in vectors],
        )
        self._here.change(
            "DELETE FROM backlog WHERE +ns = ?1 AND encoder = ?2 AND num IN (SELECT value FROM json_each(?3))",
            encoder, packed([num for num, _, _ in vectors]),
        )  # fmt: skip

    def enqueue(self, encoder: str, nums: Sequence[int]) -> None:
        self._here.change(
            "INSERT OR IGNORE INTO backlog (ns, encoder, num) SELECT ?1, ?2, value FROM json_each(?3)",
            encoder, packed(nums),
        )  # fmt: skip

    def enqueue_missing(self, encoder: str, nums: Sequence[int]) -> None:
        """One that was still waiting when its number changed waits under the new one."""
        self._here.change(
            "INSERT OR IGNORE INTO backlog (ns, encoder, num) SELECT ?1, ?2, value FROM json_each(?3)"
            " WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.encoder = ?2 AND v.num = value)",
            encoder, packed(nums),
        )  # fmt: skip
