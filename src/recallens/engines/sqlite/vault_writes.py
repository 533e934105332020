"""Changes to vaults, inside one write transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from recallens.engines.sqlite.rows import annotations_json
from recallens.engines.sqlite.trails import SqliteTrails, packed
from recallens.model.citation import citation_to_json

if TYPE_CHECKING:
    from recallens.model.vault import Placed, VaultFile, VaultOptions
    from recallens.store.protocols import Prepared
    from recallens.store.vaults import MovedSection, NewSection, ReplacedSection

_REPLACED = (
    "num", "seq", "project", "sector", "kind", "content", "title", "tags", "annotations", "position", "created",
    "updated", "content_hash", "simhash", "chars", "tokens", "length", "cited", "attributes",
)  # fmt: skip
# What happened to a memory, and what it is related to, goes on with its new number.
_FOLLOWING = (
    ("events", "num"), ("session_memories", "num"), ("relations", "source"), ("relations", "target"),
    ("vault_sections", "num"),
)  # fmt: skip


class SqliteVaultWrites(SqliteTrails):
    if TYPE_CHECKING:

        def _number(self, ns: int) -> int: ...
        def insert(self, ns: int, rows: Sequence[Prepared]) -> list[int]: ...
        def put_entries(self, ns: int, nums: Sequence[int], rows: Sequence[Prepared]) -> None: ...
        def set_lease(self, name: str, holder: str, now: int, expires: int) -> None: ...
        def lease_holder(self, name: str) -> str | None: ...

    def hold_lease(self, name: str, holder: str, now: int, expires: int) -> bool:
        """Renew a lease within the transaction that relies on it."""
        self.set_lease(name, holder, now, expires)
        return self.lease_holder(name) == holder

    # ── vaults and files ──

    def put_vault(self, ns: int, name: str, root: str, options: VaultOptions, at: int) -> None:
        self._all(
            "INSERT INTO vaults (ns, name, root, options, created) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (ns, name) DO UPDATE SET options = excluded.options",
            ns, name, root, json.dumps(asdict(options), ensure_ascii=False), at,
        )  # fmt: skip

    def mark_synced(self, vault: int, at: int) -> None:
        self._all("UPDATE vaults SET synced = ? WHERE id = ?", at, vault)

    def drop_vault(self, ns: int, vault: int) -> list[int]:
        """The vault, its files and their documents; gives the sections that are to be deleted."""
        nums = [row[0] for row in self._all("SELECT num FROM vault_sections WHERE vault = ?", vault)]
        self._all(
            "DELETE FROM documents WHERE ns = ? AND id IN (SELECT document FROM vault_files WHERE vault = ?)", ns, vault
        )
        self._all("DELETE FROM vaults WHERE ns = ? AND id = ?", ns, vault)
        return nums

    def put_vault_files(self, vault: int, files: Sequence[VaultFile]) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO vault_files VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(vault, f.path, f.document, f.hash, f.seen.mtime, f.seen.ctime, f.seen.size, f.error) for f in files],
        )

    def drop_vault_files(self, vault: int, paths: Sequence[str]) -> None:
        self._all(
            "DELETE FROM vault_files WHERE vault = ? AND path IN (SELECT value FROM json_each(?))", vault, packed(paths)
        )

    def drop_documents(self, ns: int, documents: Sequence[str]) -> None:
        self._all(
            "DELETE FROM documents WHERE ns = ? AND id IN (SELECT value FROM json_each(?))", ns, packed(documents)
        )

    # ── sections ──

    def insert_sections(self, ns: int, vault: int, sections: Sequence[NewSection]) -> list[int]:
        nums = self.insert(ns, [section.row for section in sections])
        self._db.executemany(
            "INSERT INTO vault_sections VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (num, vault, section.row.memory.document, *_values(section.placed))
                for num, section in zip(nums, sections, strict=True)
            ],
        )
        return nums

    def replace_sections(self, ns: int, sections: Sequence[ReplacedSection]) -> list[int]:
        """Write sections anew in place.

        A row of the index never changes its words, so the memory takes a new number: its old row is buried, a new one
        is added, and the id, the history and the usage go on. Gives the new numbers.
        """
        if not sections:
            return []
        seq = self._number(ns)
        fresh = self._fresh_numbers(len(sections))
        pairs = packed([[section.num, num] for section, num in zip(sections, fresh, strict=True)])
        old = packed([section.num for section in sections])
        self._all("PRAGMA defer_foreign_keys = ON")
        sets = ", ".join(f"{column} = ?" for column in _REPLACED)
        self._db.executemany(
            f"UPDATE memories SET {sets}, version = version + 1 WHERE num = ?",
            [
                (num, seq, *_row(section.row), section.num) for section, num in zip(sections, fresh, strict=True)
            ],
        )  # fmt: skip
        for table in ("citations", "lexical", "labels", "backlog"):
            self._all(f"DELETE FROM {table} WHERE num IN (SELECT value FROM json_each(?))", old)
        stale = packed([section.num for section in sections if not section.same_text])
        self._all("DELETE FROM vectors WHERE num IN (SELECT value FROM json_each(?))", stale)
        for table, column in _FOLLOWING:
            self._all(
                f"UPDATE {table} SET {column} = j.value ->> 1 FROM json_each(?) j"
                f" WHERE {table}.{column} = j.value ->> 0",
                pairs,
            )
        self._all(
            "UPDATE vectors SET num = j.value ->> 1, seq = ? FROM json_each(?) j WHERE vectors.num = j.value ->> 0",
            seq, pairs,
        )  # fmt: skip
        self._all("INSERT OR IGNORE INTO tombstones SELECT ?, ?, value FROM json_each(?)", ns, seq, old)
        self._db.executemany(
            "INSERT INTO citations VALUES (?, ?, ?, ?)",
            [
                (num, position, *_citation(citation_to_json(citation)))
                for section, num in zip(sections, fresh, strict=True)
                for position, citation in enumerate(section.row.memory.citations)
            ],
        )
        self.put_entries(ns, fresh, [section.row for section in sections])
        self._place([(section.placed, num) for section, num in zip(sections, fresh, strict=True)])
        return fresh

    def _fresh_numbers(self, count: int) -> list[int]:
        """Numbers as AUTOINCREMENT would give them out, and never again."""
        row = self._one("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'memories' RETURNING seq", count)
        assert row is not None  # there is a section to replace, so there was an insert
        return list(range(row[0] - count + 1, row[0] + 1))

    def move_sections(self, ns: int, sections: Sequence[MovedSection]) -> None:
        if not sections:
            return
        seq = self._number(ns)
        self._db.executemany(
            "UPDATE memories SET seq = ?, position = ?, created = coalesce(?, created), updated = ?, attributes = ?"
            " WHERE num = ?",
            [
                (
                    seq,
                    s.placed.position,
                    s.created,
                    s.updated,
                    json.dumps(dict(s.attributes), ensure_ascii=False),
                    s.num,
                )
                for s in sections
            ],
        )
        # The file's own citation is the first: what the text cites comes after it.
        self._db.executemany(
            "UPDATE citations SET data = ? WHERE num = ? AND position = 0 AND kind = 'file'",
            [(_citation(section.citation)[1], section.num) for section in sections],
        )
        self._place([(section.placed, section.num) for section in sections])

    def _place(self, placed: Sequence[tuple[Placed, int]]) -> None:
        self._db.executemany(
            "UPDATE vault_sections SET position = ?, headings = ?, anchors = ?, digest = ?, body = ?,"
            " links = ? WHERE num = ?",
            [(*_values(where), num) for where, num in placed],
        )

    def drop_sections(self, ns: int, nums: Sequence[int]) -> None:
        """They leave the store and the index. Words that nothing else holds are dropped apart."""
        if nums:
            seq, wanted = self._number(ns), packed(nums)
            self._all("INSERT OR IGNORE INTO tombstones SELECT ?, ?, value FROM json_each(?)", ns, seq, wanted)
            self._all("DELETE FROM memories WHERE ns = ? AND num IN (SELECT value FROM json_each(?))", ns, wanted)

    # ── links ──

    def put_mentions(self, ns: int, pairs: Sequence[tuple[int, int]], at: int) -> None:
        self._db.executemany(
            "INSERT OR IGNORE INTO relations (ns, source, target, type, confidence, origin, created)"
            " VALUES (?, ?, ?, 'MENTIONS', 1.0, 'rule', ?)",
            [(ns, source, target, at) for source, target in pairs],
        )

    def drop_mentions(self, pairs: Sequence[tuple[int, int]]) -> None:
        self._db.executemany(
            "DELETE FROM relations WHERE source = ? AND target = ? AND type = 'MENTIONS' AND origin = 'rule'", pairs
        )

    # ── vectors and words ──

    def enqueue_without_vector(self, ns: int, encoder: str, nums: Sequence[int]) -> None:
        """One that was still waiting when its number changed waits under the new one."""
        self._all(
            "INSERT OR IGNORE INTO backlog SELECT ?1, value, ?2 FROM json_each(?3) WHERE NOT EXISTS"
            " (SELECT 1 FROM vectors v WHERE v.encoder = ?1 AND v.num = value)",
            encoder, ns, packed(nums),
        )  # fmt: skip

    def drop_terms(self, ns: int, numbers: Sequence[int]) -> None:
        self._all("DELETE FROM terms WHERE ns = ? AND number IN (SELECT value FROM json_each(?))", ns, packed(numbers))
        self._all("UPDATE namespaces SET dropped_terms = dropped_terms + 1 WHERE id = ?", ns)


def _values(placed: Placed) -> tuple[int, str, str, str, str, str]:
    links = packed([[link.kind, link.target, link.fragment] for link in placed.links])
    return placed.position, packed(placed.headings), packed(placed.anchors), placed.digest, placed.body, links


def _row(row: Prepared) -> tuple[Any, ...]:
    memory = row.memory
    simhash = row.simhash - (1 << 64) if row.simhash >= 1 << 63 else row.simhash
    return (
        memory.project, memory.sector, memory.kind, memory.content, memory.title, packed(memory.tags),
        annotations_json(memory.annotations), memory.position, memory.created, memory.updated, memory.content_hash,
        simhash, len(memory.content), row.tokens, len(row.head) + len(row.body), int(bool(memory.citations)),
        json.dumps(dict(memory.attributes), ensure_ascii=False),
    )  # fmt: skip


def _citation(record: Mapping[str, Any]) -> tuple[str, str]:
    data = {name: value for name, value in record.items() if name != "kind"}
    return str(record["kind"]), json.dumps(data, ensure_ascii=False)
