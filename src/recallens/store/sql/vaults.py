"""Vaults: their files, sections and links; and documents, the texts that memories were cut from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, convert, structs
from msgspec.json import Decoder as JsonDecoder
from msgspec.json import encode as json_encode

from recallens.model.memory import Document
from recallens.store.sql.connection import NamespaceConnection
from recallens.store.sql.memories import REPLACED, SqlMemories
from recallens.store.sql.relations import SqlCitations, citation_columns
from recallens.store.sql.rows import UNREADABLE_ERRORS, packed, packed_record, readable
from recallens.store.sql.terms import SqlTerms

# The methods that make these load them: a store without a vault needs none.
if TYPE_CHECKING:
    from recallens.model.vault import KnownSection, Link, NoteLife, Placed, Vault, VaultFile, VaultOptions
    from recallens.store.records import MovedSection, NewSection, ReplacedSection, SectionState

# The vault with the number ?2, if it is one of this namespace; and the rows of a table that are of it.
_VAULT = "(SELECT id FROM vaults WHERE id = ?2 AND ns = ?1)"
_OF_VAULT = f"vault = {_VAULT} AND ns = ?1"
# What happened to a memory, and what it is related to, goes on with its new number.
_FOLLOWING = (
    ("events", "num"), ("session_memories", "num"), ("relations", "source"), ("relations", "target"),
    ("vault_sections", "num"), ("audit_marks", "num"),
)  # fmt: skip


class SqlDocuments(Struct, frozen=True):
    _here: NamespaceConnection

    def all(self) -> list[Document]:
        rows = self._here.all("SELECT id, path, title, hash, mtime, project FROM documents WHERE ns = ?1 ORDER BY path")
        return [Document(id, self._here.name, *rest) for id, *rest in rows]

    def paths(self, ids: Sequence[str]) -> dict[str, str]:
        return self._here.mapping(
            "SELECT d.id, d.path FROM TEXTS(?2) j CROSS JOIN documents d ON d.ns = ?1"
            " AND d.id = j.value SORTED BY j.key",
            packed(ids),
        )

    def withheld(self) -> set[str]:
        """The documents of which who reads may see no section: not their names either."""
        if not (seen := self._here.seen("x.num")):
            return set()
        sections = "SELECT 1 FROM memories x WHERE x.ns = ?1 AND x.document = d.id"
        return set(self._here.first(
            f"SELECT d.id FROM documents d WHERE d.ns = ?1 AND EXISTS ({sections}) AND NOT EXISTS ({sections}{seen})"
        ))  # fmt: skip

    def memories(self, path: str) -> list[int]:
        return self._here.first(
            "SELECT m.num FROM documents d JOIN memories m ON m.ns = d.ns AND m.document = d.id"
            " WHERE d.ns = ?1 AND d.path = ?2 SORTED BY m.num",
            path,
        )

    def put(self, document: Document) -> None:
        """It takes the place of the one that has its id, and of the one that has its path."""
        self._here.change("DELETE FROM documents WHERE ns = ?1 AND (id = ?2 OR path = ?3)", document.id, document.path)
        self._here.change(
            "INSERT INTO documents (ns, id, path, title, hash, mtime, project) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            document.id, document.path, document.title, document.hash, document.mtime, document.project,
        )  # fmt: skip

    def drop(self, ids: Sequence[str]) -> None:
        self._here.change("DELETE FROM documents WHERE ns = ?1 AND id IN (SELECT value FROM TEXTS(?2))", packed(ids))


class SqlVaults(Struct, frozen=True):
    _here: NamespaceConnection
    _memories: SqlMemories
    _terms: SqlTerms
    _citations: SqlCitations

    def all(self) -> list[Vault]:
        from recallens.model.vault import Vault, VaultOptions

        rows = self._here.all("SELECT id, name, root, options, created, synced FROM vaults WHERE ns = ?1 ORDER BY name")

        def vault(id: int, name: str, root: str, options: str, created: int, synced: int | None) -> Vault:
            return Vault(id, self._here.name, name, root, convert(json.loads(options), VaultOptions), created, synced)

        return list(readable(rows, vault))

    def counts(self) -> dict[int, tuple[int, int]]:
        rows = self._here.all(
            "SELECT v.id, (SELECT count(*) FROM vault_files f WHERE f.vault = v.id AND f.ns = ?1 AND f.error IS NULL),"
            " (SELECT count(*) FROM vault_sections s WHERE s.vault = v.id AND s.ns = ?1) FROM vaults v WHERE v.ns = ?1"
        )
        return {id: (files, sections) for id, files, sections in rows}

    def files(self, vault: int) -> list[VaultFile]:
        from recallens.model.vault import Seen, VaultFile

        rows = self._here.all(
            "SELECT path, document, hash, mtime, ctime, size, error, warning FROM vault_files"
            f" WHERE {_OF_VAULT} ORDER BY path",
            vault,
        )
        return [
            VaultFile(path, document, digest, Seen(mtime, ctime, size), error, warning)
            for path, document, digest, mtime, ctime, size, error, warning in rows
        ]

    def sections(self, vault: int, documents: Sequence[str]) -> dict[str, list[KnownSection]]:
        """The sections of these documents, each list in the order of the file."""
        from recallens.model.vault import KnownSection, Placed

        rows = self._here.all(
            "SELECT s.num, m.id, s.document, m.content_hash, m.title, m.created, s.position, s.headings, s.anchors,"
            " s.digest, s.body, s.links FROM TEXTS(?3) j"
            f" CROSS JOIN vault_sections s ON s.vault = {_VAULT} AND s.document = j.value AND s.ns = ?1"
            " JOIN memories m ON m.num = s.num AND m.ns = ?1 ORDER BY s.document, s.position",
            vault, packed(documents),
        )  # fmt: skip
        sections: dict[str, list[KnownSection]] = {}
        for num, id, document, content_hash, title, created, position, headings, anchors, digest, body, links in rows:
            placed = Placed(position, _names_of(headings), _names_of(anchors), digest, body, _links_of(links))
            section = KnownSection(num, id, document, placed, content_hash, title, created)
            sections.setdefault(document, []).append(section)
        return sections

    def page(self, vault: int, limit: int, offset: int) -> list[tuple[str, str, int, tuple[str, ...], str | None, int]]:
        """Id, path, position, headings, title and length of each section, in the order of the files."""
        rows = self._here.all(
            "SELECT m.id, f.path, s.position, s.headings, m.title, m.chars FROM vault_files f JOIN vault_sections s"
            " ON s.vault = f.vault AND s.document = f.document AND s.ns = ?1 JOIN memories m ON m.num = s.num"
            " AND m.ns = ?1"
            f" WHERE f.vault = {_VAULT} AND f.ns = ?1 ORDER BY f.path, s.position LIMIT ?3 OFFSET ?4",
            vault, limit, offset,
        )  # fmt: skip
        return [(id, path, place, _names_of(names), title, chars) for id, path, place, names, title, chars in rows]

    def texts(self, documents: Sequence[str]) -> dict[str, list[str]]:
        """The texts of each document's sections, in the order of the file."""
        rows = self._here.all(
            "SELECT s.document, m.content FROM vault_sections s JOIN memories m ON m.num = s.num AND m.ns = ?1"
            " WHERE s.ns = ?1 AND s.document IN (SELECT value FROM TEXTS(?2)) ORDER BY s.document, s.position",
            packed(documents),
        )
        texts: dict[str, list[str]] = {}
        for document, content in rows:
            texts.setdefault(document, []).append(content)
        return texts

    def links(self, vault: int) -> dict[str, list[tuple[int, tuple[str, ...], tuple[Link, ...]]]]:
        """By path, each section's number, the names of its headings, and its links."""
        rows = self._here.all(
            "SELECT f.path, s.num, s.anchors, s.links FROM vault_files f LEFT JOIN vault_sections s"
            " ON s.vault = f.vault AND s.document = f.document AND s.ns = ?1"
            f" WHERE f.vault = {_VAULT} AND f.ns = ?1 ORDER BY f.path, s.position NULLS FIRST",
            vault,
        )
        links: dict[str, list[tuple[int, tuple[str, ...], tuple[Link, ...]]]] = {}
        for path, num, anchors, written in rows:
            own = links.setdefault(path, [])
            if num is not None:
                own.append((num, _names_of(anchors), _links_of(written)))
        return links

    def ties(self, vault: int) -> dict[tuple[int, int, str], int]:
        """The relations that the rule made between sections of this vault, and since when each holds: what a person
        related stays theirs."""
        rows = self._here.all(
            "SELECT r.source, r.target, r.type, r.created FROM relations r JOIN vault_sections a ON a.num = r.source"
            f" AND a.ns = ?1 JOIN vault_sections b ON b.num = r.target AND b.ns = ?1 WHERE a.vault = {_VAULT}"
            " AND b.vault = a.vault AND r.origin = 'rule' AND +r.ns = ?1 SORTED BY r.id",
            vault,
        )
        return {(source, target, type): created for source, target, type, created in rows}

    def holds(self, path: str) -> bool:
        """Whether a document is a file of a vault."""
        sql = (
            "SELECT 1 FROM documents d JOIN vault_files f ON f.document = d.id AND +f.ns = ?1"
            " WHERE d.ns = ?1 AND d.path = ?2 LIMIT 1"
        )
        return self._here.one(sql, path) is not None

    def put(self, name: str, root: str, options: VaultOptions, at: int) -> None:
        self._here.change(
            "INSERT INTO vaults (ns, name, root, options, created) VALUES (?1, ?2, ?3, ?4, ?5)"
            " ON CONFLICT (ns, name) DO UPDATE SET options = excluded.options",
            name, root, packed_record(structs.asdict(options)), at,
        )  # fmt: skip

    def read_again(self, vault: int) -> None:
        """Every file as if it had changed: what a sync of it makes is no longer the same."""
        self._here.change(f"UPDATE vault_files SET hash = '', mtime = 0 WHERE error IS NULL AND {_OF_VAULT}", vault)

    def mark_synced(self, vault: int, at: int) -> None:
        self._here.change("UPDATE vaults SET synced = ?3 WHERE id = ?2 AND ns = ?1", vault, at)

    def drop(self, vault: int) -> list[int]:
        """The vault, its files and their documents; gives the sections that are to be deleted."""
        nums = self._here.first(f"SELECT num FROM vault_sections WHERE {_OF_VAULT} ORDER BY num", vault)
        self._here.change(
            "DELETE FROM documents WHERE ns = ?1 AND id IN"
            " (SELECT document FROM vault_files WHERE vault = ?2 AND ns = ?1)",
            vault,
        )
        self._here.change("DELETE FROM vaults WHERE ns = ?1 AND id = ?2", vault)
        return nums

    def put_files(self, vault: int, files: Sequence[VaultFile]) -> None:
        self._here.change_many(
            "INSERT INTO vault_files (ns, vault, path, document, hash, mtime, ctime, size, error, warning, life)"
            f" VALUES (?1, {_VAULT}, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, coalesce(?11, '{{}}'))"
            " ON CONFLICT KEY(vault, path)"
            " DO UPDATE SET document = excluded.document, hash = excluded.hash, mtime = excluded.mtime,"
            " ctime = excluded.ctime, size = excluded.size, error = excluded.error, warning = excluded.warning,"
            " life = coalesce(?11, vault_files.life)",
            [
                (
                    vault,
                    f.path,
                    f.document,
                    f.hash,
                    f.seen.mtime,
                    f.seen.ctime,
                    f.seen.size,
                    f.error,
                    f.warning,
                    None if f.life is None else json_encode(f.life).decode(),
                )
                for f in files
            ],
        )

    def lives(self, vault: int) -> dict[str, NoteLife]:
        """What each note says of itself, by path; those that say nothing beside their names are among them."""
        from recallens.model.vault import NoteLife

        read = JsonDecoder(NoteLife).decode
        rows = self._here.all(f"SELECT path, life FROM vault_files WHERE {_OF_VAULT} ORDER BY path", vault)
        return dict(readable(rows, lambda path, life: (path, read(life))))

    def states(self, vault: int) -> dict[int, SectionState]:
        """How each section stands. What a person superseded, or took out of use, is settled."""
        from recallens.store.records import SectionState

        rows = self._here.all(
            "SELECT m.num, m.created, m.updated, m.status, m.valid_until, e.amount, e.at,"
            " m.status NOT IN ('active', 'superseded') OR EXISTS (SELECT 1 FROM relations r"
            " WHERE r.target = m.num AND r.ns = ?1 AND r.type = 'SUPERSEDES' AND r.origin <> 'rule')"
            " FROM vault_sections s JOIN memories m ON m.num = s.num AND m.ns = ?1"
            " LEFT JOIN events e ON e.num = s.num AND +e.ns = ?1 AND e.kind = 'stated'"
            f" WHERE s.vault = {_VAULT} AND s.ns = ?1 SORTED BY m.num",
            vault,
        )
        return {
            num: SectionState(created, updated, status, until, None if amount is None else (amount, at), bool(settled))
            for num, created, updated, status, until, amount, at, settled in rows
        }

    def settle(self, ends: Mapping[int, tuple[str, int | None]]) -> None:
        """The status of each section and until when it holds."""
        if ends:
            seq = self._here.number()
            self._here.change_many(
                "UPDATE memories SET seq = ?3, status = ?4, valid_until = ?5 WHERE num = ?2 AND ns = ?1",
                [(num, seq, status, until) for num, (status, until) in ends.items()],
            )

    def drop_files(self, vault: int, paths: Sequence[str]) -> None:
        self._here.change(
            f"DELETE FROM vault_files WHERE {_OF_VAULT} AND path IN (SELECT value FROM TEXTS(?3))",
            vault, packed(paths),
        )  # fmt: skip

    def insert_sections(self, vault: int, sections: Sequence[NewSection]) -> list[int]:
        nums = self._memories.insert([section.row for section in sections])
        rows = [
            (vault, num, section.row.memory.document, *_values(section.placed))
            for num, section in zip(nums, sections, strict=True)
        ]
        self._here.change_many(
            "INSERT INTO vault_sections (ns, num, vault, document, position, headings, anchors, digest, body, links)"
            f" VALUES (?1, ?3, {_VAULT}, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            rows,
        )
        return nums

    def replace_sections(self, sections: Sequence[ReplacedSection]) -> list[int]:
        """Write sections anew in place.

        A row of the index never changes its words, so the memory takes a new number: its old row is buried, a new one
        is added, and the id, the history and the usage go on. Gives the new numbers.
        """
        if not sections:
            return []
        here, seq = self._here, self._here.number()
        fresh = here.db.take_numbers("memories", len(sections))
        numbered = list(zip(sections, fresh, strict=True))
        pairs = packed([[section.num, num] for section, num in numbered])
        old = packed([section.num for section in sections])
        here.db.defer_references()
        here.db.losing_words(here, [section.num for section in sections])
        sets = "".join(f", {name} = ?{place}" for place, name in enumerate(REPLACED.names, start=5))
        here.change_many(
            f"UPDATE memories SET num = ?3, seq = ?4{sets}, version = version + 1 WHERE num = ?2 AND ns = ?1",
            [(section.num, num, seq, *REPLACED.values(section.row)) for section, num in numbered],
        )
        for table in ("citations", "lexical", "labels", "backlog"):
            here.change(f"DELETE FROM {table} WHERE +ns = ?1 AND num IN (SELECT value FROM NUMBERS(?2))", old)
        stale = packed([section.num for section in sections if not section.same_text])
        here.change("DELETE FROM vectors WHERE +ns = ?1 AND num IN (SELECT value FROM NUMBERS(?2))", stale)
        for table, column in _FOLLOWING:
            here.change(
                f"UPDATE {table} SET {column} = CAST(j.value ->> 1 AS BIGINT) FROM RECORDS(?2) j"
                f" WHERE {table}.{column} = CAST(j.value ->> 0 AS BIGINT) AND +{table}.ns = ?1",
                pairs,
            )
        here.change(
            "UPDATE vectors SET num = CAST(j.value ->> 1 AS BIGINT), seq = ?2 FROM RECORDS(?3) j"
            " WHERE vectors.num = CAST(j.value ->> 0 AS BIGINT) AND +vectors.ns = ?1",
            seq, pairs,
        )  # fmt: skip
        here.change(
            "INSERT INTO tombstones (ns, seq, num) SELECT ?1, ?2, value FROM NUMBERS(?3) WHERE true"
            " ON CONFLICT DO NOTHING",
            seq, old,
        )  # fmt: skip
        rows = [section.row for section in sections]
        self._citations.put(fresh, [row.memory for row in rows])
        self._terms.put(fresh, rows)
        self._place([(section.placed, num) for section, num in numbered])
        return fresh

    def move_sections(self, sections: Sequence[MovedSection]) -> None:
        if not sections:
            return
        seq = self._here.number()
        self._here.change_many(
            "UPDATE memories SET seq = ?3, position = ?4, created = coalesce(?5, created), updated = ?6,"
            " attributes = ?7, importance = ?8, confidence = ?9, valid_from = ?10, scopes = ?12,"
            " review = CASE WHEN ?11 = 'proposed' AND review IS NULL THEN NULL ELSE ?11 END,"
            " source_id = ?13 WHERE num = ?2 AND ns = ?1",
            [
                (
                    s.num,
                    seq,
                    s.placed.position,
                    s.created,
                    s.updated,
                    packed_record(dict(s.attributes)),
                    s.facts.importance,
                    s.facts.confidence,
                    s.facts.valid_from,
                    s.facts.review,
                    packed(s.facts.scopes),
                    s.facts.source_id,
                )
                for s in sections
            ],
        )
        # The file's own citation is the first: what the text cites comes after it.
        self._here.change_many(
            "UPDATE citations SET data = ?3 WHERE num = ?2 AND +ns = ?1 AND position = 0 AND kind = 'file'",
            [(section.num, citation_columns(section.citation)[1]) for section in sections],
        )
        self._place([(section.placed, section.num) for section in sections])

    def _place(self, placed: Sequence[tuple[Placed, int]]) -> None:
        self._here.change_many(
            "UPDATE vault_sections SET position = ?3, headings = ?4, anchors = ?5, digest = ?6, body = ?7,"
            " links = ?8 WHERE num = ?2 AND +ns = ?1",
            [(num, *_values(where)) for where, num in placed],
        )

    def drop_sections(self, nums: Sequence[int]) -> None:
        """They leave the store and the index. Words that nothing else holds are dropped apart."""
        if nums:
            self._memories.bury(nums)

    def retie(self, dropped: Sequence[tuple[int, int, str]], made: Mapping[tuple[int, int, str], int]) -> None:
        """Relations of the rule that hold no longer, and those that do since a time."""
        self._here.change_many(
            "DELETE FROM relations WHERE ns = ?1 AND source = ?2 AND target = ?3 AND type = ?4 AND origin = 'rule'",
            dropped,
        )
        self._here.change_many(
            "INSERT INTO relations (ns, source, target, type, confidence, origin, created)"
            " VALUES (?1, ?2, ?3, ?4, 1.0, 'rule', ?5) ON CONFLICT DO NOTHING",
            [(*tie, since) for tie, since in made.items()],
        )


def _names_of(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(_listed(text))


def _links_of(text: str) -> tuple[Link, ...]:
    from recallens.model.vault import Link

    return () if text == "[]" else tuple(readable(_listed(text), Link))


def _listed(text: Any) -> list[Any]:
    """A list that cannot be read is empty; `doctor` names its row."""
    try:
        listed = json.loads(text)
    except UNREADABLE_ERRORS:
        return []
    return listed if isinstance(listed, list) else []


def _values(placed: Placed) -> tuple[int, str, str, str, str, str]:
    links = packed([[link.kind, link.target, link.fragment] for link in placed.links])
    return placed.position, packed(placed.headings), packed(placed.anchors), placed.digest, placed.body, links
