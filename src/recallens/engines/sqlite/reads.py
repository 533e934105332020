"""One snapshot of a SQLite store. Lists of numbers go in as one JSON parameter, so no query is made per row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from recallens.engines.sqlite.checks import SqliteChecks
from recallens.engines.sqlite.layers import SqliteLayers
from recallens.engines.sqlite.rows import MEMORY_SELECT, SESSION_SELECT, citation_of, memory_of, session_of
from recallens.engines.sqlite.surveys import SqliteSurveys
from recallens.engines.sqlite.tasks import SqliteTasks
from recallens.engines.sqlite.tokens import SqliteTokens
from recallens.engines.sqlite.trails import packed
from recallens.engines.sqlite.vaults import SqliteVaultReads
from recallens.model.citation import Citation
from recallens.model.memory import Document, Memory, Origin, Relation, RelationType, Session, Usage
from recallens.model.recall import SessionContext, Successor
from recallens.store.protocols import (
    COLUMN_FIELDS,
    META_ENCODER_KEY,
    Changes,
    Entry,
    Listing,
    NamespaceState,
    Page,
    Provenance,
    Waiting,
)

SUCCESSOR_EXCERPT = 200
# The highest code point: no term that starts with a prefix sorts above prefix + this.
_AFTER_EVERY_TERM = "\U0010ffff"


class SqliteReader(SqliteTasks, SqliteChecks, SqliteLayers, SqliteSurveys, SqliteVaultReads, SqliteTokens):
    """One snapshot: memories, and everything that is looked up with them."""

    # ── namespaces and derived state ──

    def namespace(self, name: str) -> NamespaceState | None:
        row = self._one(
            "SELECT id, name, number, epoch, tasks_ended, reward_total, (SELECT value FROM meta WHERE key = ?)"
            " FROM namespaces WHERE name = ?",
            META_ENCODER_KEY, name,
        )  # fmt: skip
        return NamespaceState(*row) if row else None

    def namespaces(self) -> list[tuple[NamespaceState, int]]:
        rows = self._all(
            "SELECT n.id, n.name, n.number, n.epoch, n.tasks_ended, n.reward_total,"
            " (SELECT value FROM meta WHERE key = ?), (SELECT count(*) FROM memories m WHERE m.ns = n.id)"
            " FROM namespaces n ORDER BY n.name",
            META_ENCODER_KEY,
        )
        return [(NamespaceState(*row[:-1]), row[-1]) for row in rows]

    def changes(self, ns: int, since: int) -> Changes:
        rows = self._all(
            f"SELECT {', '.join(COLUMN_FIELDS)} FROM memories WHERE ns = ? AND seq > ? ORDER BY num",
            ns,
            since,
        )
        # A reader that starts from nothing has nothing to bury.
        removed = self._all("SELECT num FROM tombstones WHERE ns = ? AND seq > ?", ns, since) if since else []
        return Changes(rows, [row[0] for row in removed])

    def entries(self, ns: int, since: int, after: int) -> Iterable[Entry]:
        rows = self._db.execute(
            "SELECT l.num, l.head, l.terms FROM memories m JOIN lexical l ON l.num = m.num"
            " WHERE m.ns = ? AND m.seq > ? AND m.num > ? ORDER BY l.num",
            (ns, since, after),
        )
        return (Entry(*row) for row in rows)

    def vectors(self, ns: int, encoder: str, since: int) -> Iterable[tuple[int, bytes]]:
        return self._db.execute(
            "SELECT num, vector FROM vectors WHERE ns = ? AND encoder = ? AND seq > ? ORDER BY num",
            (ns, encoder, since),
        )

    def terms(self, ns: int, exact: Sequence[str]) -> dict[str, int]:
        rows = self._all(
            "SELECT t.term, t.number FROM json_each(?) j CROSS JOIN terms t ON t.ns = ? AND t.term = j.value",
            packed(exact),
            ns,
        )
        return dict(rows)

    def terms_with_prefix(self, ns: int, prefixes: Sequence[str], cap: int) -> dict[str, list[int]]:
        rows = self._all(
            "SELECT j.value, t.number FROM json_each(?) j CROSS JOIN terms t"
            " ON t.ns = ? AND t.term >= j.value AND t.term < j.value || ? ORDER BY j.value, length(t.term), t.term",
            packed(prefixes),
            ns,
            _AFTER_EVERY_TERM,
        )
        found: dict[str, list[int]] = {}
        for prefix, number in rows:
            numbers = found.setdefault(prefix, [])
            if len(numbers) < cap:
                numbers.append(number)
        return found

    def labelled(self, ns: int, labels: Sequence[tuple[str, str]]) -> list[tuple[str, str, int]]:
        """Memories that carry any of these (value, kind) labels; an empty kind means any kind."""
        rows = self._all(
            "SELECT l.value, l.kind, l.num FROM json_each(?) j CROSS JOIN labels l"
            " ON l.ns = ? AND l.value = j.value ->> 0 AND (j.value ->> 1 = '' OR l.kind = j.value ->> 1)"
            " ORDER BY l.num",
            packed([list(label) for label in labels]),
            ns,
        )
        return [(value, kind, num) for value, kind, num in rows]

    def in_session(self, ns: int, session: str) -> list[int]:
        rows = self._all("SELECT DISTINCT num FROM session_memories WHERE ns = ? AND session = ?", ns, session)
        return [row[0] for row in rows]

    def usage_until(self, ns: int, at: int) -> list[tuple[int, str, int, float | None]]:
        rows = self._all(
            "SELECT num, kind, at, amount FROM events WHERE ns = ? AND at <= ? AND num IS NOT NULL"
            " ORDER BY num, at, id",
            ns,
            at,
        )
        return [(num, kind, when, amount) for num, kind, when, amount in rows]

    # ── memories ──

    def memories(self, nums: Sequence[int]) -> dict[int, Memory]:
        rows = self._all(
            f"SELECT {MEMORY_SELECT} FROM json_each(?) j CROSS JOIN memories m ON m.num = j.value"
            " JOIN namespaces n ON n.id = m.ns",
            packed(nums),
        )
        cited = self._citations([row[-1] for row in rows if row[-2]])
        return {row[-1]: memory_of(row, cited.get(row[-1], ())) for row in rows}

    def _citations(self, nums: Sequence[int]) -> dict[int, tuple[Citation, ...]]:
        if not nums:
            return {}
        rows = self._all(
            "SELECT c.num, c.kind, c.data FROM json_each(?) j CROSS JOIN citations c ON c.num = j.value"
            " ORDER BY c.num, c.position",
            packed(nums),
        )
        return {
            num: tuple(citation_of(kind, data) for _, kind, data in found)
            for num, found in groupby(rows, key=itemgetter(0))
        }

    def numbers(self, ns: int) -> list[int]:
        return [row[0] for row in self._all("SELECT num FROM memories WHERE ns = ? ORDER BY num", ns)]

    def with_status(self, ns: int, statuses: Sequence[str]) -> list[int]:
        rows = self._all(
            "SELECT num FROM memories WHERE ns = ? AND status IN (SELECT value FROM json_each(?)) ORDER BY num",
            ns, packed(statuses),
        )  # fmt: skip
        return [row[0] for row in rows]

    def awaiting_review(self, ns: int) -> list[int]:
        rows = self._all(
            "SELECT num FROM memories WHERE ns = ? AND (status IN ('pending_review', 'quarantined')"
            " OR (status = 'active' AND zone = 'quarantine')) ORDER BY created, id",
            ns,
        )
        return [row[0] for row in rows]

    def ids(self, nums: Sequence[int]) -> dict[int, str]:
        rows = self._all(
            "SELECT m.num, m.id FROM json_each(?) j CROSS JOIN memories m ON m.num = j.value", packed(nums)
        )
        return dict(rows)

    def document_memories(self, ns: int, path: str) -> list[int]:
        rows = self._all(
            "SELECT m.num FROM documents d JOIN memories m ON m.ns = d.ns AND m.document = d.id"
            " WHERE d.ns = ? AND d.path = ?",
            ns, path,
        )  # fmt: skip
        return [row[0] for row in rows]

    def find(self, ns: int, ids: Sequence[str]) -> dict[str, int]:
        rows = self._all(
            "SELECT m.id, m.num FROM json_each(?) j CROSS JOIN memories m ON m.id = j.value WHERE m.ns = ?",
            packed(ids),
            ns,
        )
        return dict(rows)

    def find_prefix(self, ns: int, prefix: str) -> list[int]:
        rows = self._all(
            "SELECT num FROM memories WHERE id >= ? AND id < ? || ? AND ns = ? LIMIT 10",
            prefix,
            prefix,
            _AFTER_EVERY_TERM,
            ns,
        )
        return [row[0] for row in rows]

    def by_hash(self, ns: int, hashes: Sequence[str]) -> dict[tuple[str, str | None], int]:
        """The oldest memory in use with each text in each project. What is part of a document is not one of these."""
        rows = self._all(
            "SELECT m.content_hash, m.project, min(m.num) FROM json_each(?) j CROSS JOIN memories m"
            " ON m.ns = ? AND m.content_hash = j.value WHERE m.status IN ('active', 'pending_review')"
            " AND m.document IS NULL GROUP BY m.content_hash, m.project",
            packed(hashes),
            ns,
        )
        return {(digest, project): num for digest, project, num in rows}

    def by_origin(self, ns: int, origins: Sequence[Provenance]) -> dict[Provenance, int]:
        """The first memory with each text from each origin, whatever has become of it since."""
        rows = self._all(
            "SELECT m.source, m.source_id, m.project, m.content_hash, min(m.num) FROM json_each(?) j"
            " CROSS JOIN memories m ON m.ns = ? AND m.content_hash = j.value ->> 3 WHERE m.source = j.value ->> 0"
            " AND m.source_id = j.value ->> 1 AND m.project IS j.value ->> 2 GROUP BY 1, 2, 3, 4",
            packed([list(origin) for origin in origins]),
            ns,
        )
        return {(source, id, project, text): num for source, id, project, text, num in rows}

    def by_source_id(self, ns: int, source_ids: Sequence[str]) -> dict[str, int]:
        """The newest memory that had each id where it came from."""
        rows = self._all(
            "SELECT source_id, max(num) FROM memories WHERE ns = ? AND source_id IN (SELECT value FROM json_each(?))"
            " GROUP BY source_id",
            ns, packed(source_ids),
        )  # fmt: skip
        return dict(rows)

    def around(self, ns: int, num: int, before: int, after: int) -> tuple[list[int], list[int]]:
        """The neighbours of a memory in its project by (created, id), each side in the order of time."""
        same = (
            "m.ns = ? AND m.project IS (SELECT project FROM memories WHERE num = ?) AND m.status <> 'forgotten'"
            " AND m.status <> 'rejected' AND m.status <> 'quarantined' AND m.zone <> 'quarantine'"
        )
        key = "(SELECT created, id FROM memories WHERE num = ?)"
        earlier = self._all(
            f"SELECT m.num FROM memories m WHERE {same} AND (m.created, m.id) < {key}"
            " ORDER BY m.created DESC, m.id DESC LIMIT ?",
            ns, num, num, before,
        )  # fmt: skip
        later = self._all(
            f"SELECT m.num FROM memories m WHERE {same} AND (m.created, m.id) > {key} ORDER BY m.created, m.id LIMIT ?",
            ns, num, num, after,
        )  # fmt: skip
        return [row[0] for row in reversed(earlier)], [row[0] for row in later]

    def relations(self, num: int) -> list[Relation]:
        rows = self._all(
            "SELECT a.id, b.id, r.type, r.confidence, r.origin, r.created, r.valid_until FROM relations r"
            " JOIN memories a ON a.num = r.source JOIN memories b ON b.num = r.target"
            " WHERE r.source = ? OR r.target = ? ORDER BY r.id",
            num, num,
        )  # fmt: skip
        return [Relation(row[0], row[1], RelationType(row[2]), row[3], Origin(row[4]), row[5], row[6]) for row in rows]

    def successors(self, nums: Sequence[int], at: int) -> dict[int, Successor]:
        rows = self._all(
            "SELECT r.target, m.id, substr(m.content, 1, ?), m.created FROM json_each(?) j CROSS JOIN relations r"
            " ON r.target = j.value AND r.type = 'SUPERSEDES' JOIN memories m ON m.num = r.source"
            " WHERE r.created <= ? ORDER BY r.id",
            SUCCESSOR_EXCERPT, packed(nums), at,
        )  # fmt: skip
        return {target: Successor(id, content, created) for target, id, content, created in rows}

    def listing(self, ns: int, listing: Listing) -> Page:
        where: list[str] = ["m.ns = ?"]
        values: list[Any] = [ns]
        for column in ("project", "sector", "kind", "tier"):
            if (value := getattr(listing, column)) is not None:
                where.append(f"m.{column} = ?")
                values.append(value)
        if listing.statuses:
            where.append("m.status IN (SELECT value FROM json_each(?))")
            values.append(packed(listing.statuses))
        if listing.tag is not None:
            where.append("m.num IN (SELECT num FROM labels WHERE ns = ? AND kind = 'tag' AND value = ?)")
            values += [ns, listing.tag]
        if listing.session is not None:
            where.append("m.num IN (SELECT num FROM session_memories WHERE ns = ? AND session = ?)")
            values += [ns, listing.session]
        condition = " AND ".join(where)
        counted = self._one(f"SELECT count(*) FROM memories m WHERE {condition}", *values)
        if listing.after is not None:
            condition += " AND (m.created < ? OR (m.created = ? AND m.id > ?))"
            values += [listing.after[0], *listing.after]
        rows = self._all(
            f"SELECT m.num FROM memories m WHERE {condition} ORDER BY m.created DESC, m.id LIMIT ? OFFSET ?",
            *values, listing.limit, listing.offset,
        )  # fmt: skip
        nums = [row[0] for row in rows]
        found = self.memories(nums)
        return Page([found[num] for num in nums], counted[0] if counted else 0)

    # ── sessions, documents ──

    def source_sessions(self, nums: Sequence[int]) -> dict[int, Session]:
        rows = self._all(
            f"SELECT l.num, n.name, {SESSION_SELECT} FROM json_each(?) j CROSS JOIN session_memories l"
            " ON l.num = j.value AND l.usage = 'created' JOIN sessions s ON s.ns = l.ns AND s.id = l.session"
            " JOIN namespaces n ON n.id = l.ns ORDER BY l.id DESC",
            packed(nums),
        )
        return {row[0]: session_of(row[2:], row[1]) for row in rows}

    def latest_contexts(self, nums: Sequence[int]) -> dict[int, SessionContext]:
        rows = self._all(
            f"SELECT l.num, n.name, l.usage, (SELECT count(DISTINCT x.num) FROM session_memories x"
            f" WHERE x.ns = l.ns AND x.session = l.session), {SESSION_SELECT}"
            " FROM json_each(?) j CROSS JOIN session_memories l ON l.num = j.value"
            " JOIN sessions s ON s.ns = l.ns AND s.id = l.session JOIN namespaces n ON n.id = l.ns ORDER BY l.at, l.id",
            packed(nums),
        )
        return {row[0]: SessionContext(session_of(row[4:], row[1]), row[3], Usage(row[2])) for row in rows}

    def session(self, ns: int, session: str) -> Session | None:
        row = self._one(
            f"SELECT n.name, {SESSION_SELECT} FROM sessions s JOIN namespaces n ON n.id = s.ns"
            " WHERE s.ns = ? AND s.id = ?",
            ns, session,
        )  # fmt: skip
        return session_of(row[1:], row[0]) if row else None

    def sessions(self, ns: int, limit: int, offset: int) -> list[tuple[Session, int]]:
        rows = self._all(
            "SELECT n.name, (SELECT count(DISTINCT l.num) FROM session_memories l"
            " WHERE l.ns = s.ns AND l.session = s.id),"
            f" {SESSION_SELECT} FROM sessions s JOIN namespaces n ON n.id = s.ns WHERE s.ns = ?"
            " ORDER BY s.started DESC, s.id LIMIT ? OFFSET ?",
            ns, limit, offset,
        )  # fmt: skip
        return [(session_of(row[2:], row[0]), row[1]) for row in rows]

    def session_links(self, ns: int, session: str) -> list[tuple[int, Usage, int]]:
        rows = self._all(
            "SELECT num, usage, at FROM session_memories WHERE ns = ? AND session = ? ORDER BY at, id",
            ns,
            session,
        )
        return [(num, Usage(usage), at) for num, usage, at in rows]

    def documents(self, ns: int) -> list[Document]:
        rows = self._all(
            "SELECT d.id, n.name, d.path, d.title, d.hash, d.mtime, d.project FROM documents d"
            " JOIN namespaces n ON n.id = d.ns WHERE d.ns = ? ORDER BY d.path",
            ns,
        )
        return [Document(*row) for row in rows]

    # ── housekeeping ──

    def statistics(self, ns: int | None) -> dict[str, Any]:
        where, values = ("WHERE ns = ?", (ns,)) if ns is not None else ("", ())
        counts: dict[str, Any] = {}
        for column in ("status", "sector", "kind", "tier", "zone"):
            rows = self._all(f"SELECT {column}, count(*) FROM memories {where} GROUP BY 1 ORDER BY 2 DESC, 1", *values)
            counts[column] = dict(rows)
        totals = {}
        for table in (
            "memories",
            "relations",
            "sessions",
            "documents",
            "artifacts",
            "tasks",
            "events",
            "vectors",
            "backlog",
            "terms",
        ):
            row = self._one(f"SELECT count(*) FROM {table} {where}", *values)
            totals[table] = row[0] if row else 0
        return {"totals": totals, "by": counts}

    def backlog(self, encoder: str, limit: int) -> list[Waiting]:
        rows = self._all(
            "SELECT b.ns, b.num, m.title, m.author, m.content FROM backlog b JOIN memories m ON m.num = b.num"
            " WHERE b.encoder = ? ORDER BY b.num LIMIT ?",
            encoder, limit,
        )  # fmt: skip
        return [Waiting(*row) for row in rows]

    def backlog_size(self, encoder: str) -> int:
        row = self._one("SELECT count(*) FROM backlog WHERE encoder = ?", encoder)
        return row[0] if row else 0
