"""Vaults as a snapshot shows them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recallens.engines.sqlite.trails import SqliteTrails, packed

# `vault_rows` makes these; the methods load it, for a store without a vault needs neither.
if TYPE_CHECKING:
    from recallens.model.vault import KnownSection, Link, Vault, VaultFile

_PLACED = "s.position, s.headings, s.anchors, s.digest, s.body, s.links"
# Only what the rule made between sections of this vault: what a person related stays theirs.
_OWN_MENTIONS = (
    "FROM relations r JOIN vault_sections a ON a.num = r.source JOIN vault_sections b ON b.num = r.target"
    " WHERE a.vault = ?1 AND b.vault = ?1 AND r.type = 'MENTIONS' AND r.origin = 'rule'"
)


class SqliteVaultReads(SqliteTrails):
    def vaults(self, ns: int) -> list[Vault]:
        from recallens.engines.sqlite.vault_rows import vault_of

        rows = self._all(
            "SELECT v.id, n.name, v.name, v.root, v.options, v.created, v.synced FROM vaults v"
            " JOIN namespaces n ON n.id = v.ns WHERE v.ns = ? ORDER BY v.name",
            ns,
        )
        return [vault_of(row) for row in rows]

    def vault_files(self, vault: int) -> list[VaultFile]:
        from recallens.engines.sqlite.vault_rows import file_of

        rows = self._all(
            "SELECT path, document, hash, mtime, ctime, size, error FROM vault_files WHERE vault = ? ORDER BY path",
            vault,
        )
        return [file_of(row) for row in rows]

    def vault_sections(self, vault: int, documents: Sequence[str]) -> dict[str, list[KnownSection]]:
        """The sections of these documents, each list in the order of the file."""
        from recallens.engines.sqlite.vault_rows import section_of

        rows = self._all(
            f"SELECT s.num, m.id, s.document, m.content_hash, m.title, m.created, {_PLACED} FROM json_each(?) j"
            " CROSS JOIN vault_sections s ON s.vault = ? AND s.document = j.value JOIN memories m ON m.num = s.num"
            " ORDER BY s.document, s.position",
            packed(documents), vault,
        )  # fmt: skip
        found: dict[str, list[KnownSection]] = {}
        for row in rows:
            known = section_of(row)
            found.setdefault(known.document, []).append(known)
        return found

    def vault_page(
        self, vault: int, limit: int, offset: int
    ) -> list[tuple[str, str, int, tuple[str, ...], str | None, int]]:
        from recallens.engines.sqlite.vault_rows import names_of

        rows = self._all(
            "SELECT m.id, f.path, s.position, s.headings, m.title, m.chars FROM vault_files f JOIN vault_sections s"
            " ON s.vault = f.vault AND s.document = f.document JOIN memories m ON m.num = s.num WHERE f.vault = ?"
            " ORDER BY f.path, s.position LIMIT ? OFFSET ?",
            vault, limit, offset,
        )  # fmt: skip
        return [(id, path, place, names_of(headings), title, chars) for id, path, place, headings, title, chars in rows]

    def is_vault_document(self, ns: int, path: str) -> bool:
        row = self._one(
            "SELECT EXISTS (SELECT 1 FROM documents d JOIN vault_files f ON f.document = d.id"
            " WHERE d.ns = ? AND d.path = ?)",
            ns, path,
        )  # fmt: skip
        return bool(row and row[0])

    def vault_texts(self, documents: Sequence[str]) -> dict[str, list[str]]:
        rows = self._all(
            "SELECT s.document, m.content FROM vault_sections s JOIN memories m ON m.num = s.num"
            " WHERE s.document IN (SELECT value FROM json_each(?)) ORDER BY s.document, s.position",
            packed(documents),
        )
        found: dict[str, list[str]] = {}
        for document, content in rows:
            found.setdefault(document, []).append(content)
        return found

    def vault_links(self, vault: int) -> dict[str, list[tuple[int, tuple[str, ...], tuple[Link, ...]]]]:
        """By path, each section's number, the names of its headings, and its links."""
        from recallens.engines.sqlite.vault_rows import links_of, names_of

        rows = self._all(
            "SELECT f.path, s.num, s.anchors, s.links FROM vault_files f LEFT JOIN vault_sections s"
            " ON s.vault = f.vault AND s.document = f.document WHERE f.vault = ? ORDER BY f.path, s.position",
            vault,
        )
        found: dict[str, list[tuple[int, tuple[str, ...], tuple[Link, ...]]]] = {}
        for path, num, anchors, links in rows:
            own = found.setdefault(path, [])
            if num is not None:
                own.append((num, names_of(anchors), links_of(links)))
        return found

    def vault_mentions(self, vault: int) -> set[tuple[int, int]]:
        return {(source, target) for source, target in self._all(f"SELECT r.source, r.target {_OWN_MENTIONS}", vault)}

    def vault_counts(self, ns: int) -> dict[int, tuple[int, int]]:
        """How many files and sections each vault has."""
        rows = self._all(
            "SELECT v.id, (SELECT count(*) FROM vault_files f WHERE f.vault = v.id AND f.error IS NULL),"
            " (SELECT count(*) FROM vault_sections s WHERE s.vault = v.id) FROM vaults v WHERE v.ns = ?",
            ns,
        )
        return {id: (files, sections) for id, files, sections in rows}

    def entry_terms(self, nums: Sequence[int]) -> set[int]:
        """The numbers of all words that these memories hold."""
        held: set[int] = set()
        for (blob,) in self._all(
            "SELECT terms FROM lexical WHERE num IN (SELECT value FROM json_each(?))", packed(nums)
        ):
            held.update(array("I", blob))
        return held
