"""One write transaction: a memory, its lexical entry, its labels and its vector or place in the backlog, or nothing."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from recallens.engines.sqlite.checks import SqliteCheckWrites
from recallens.engines.sqlite.reads import SqliteReader
from recallens.engines.sqlite.rows import annotations_json
from recallens.engines.sqlite.tasks import SqliteTaskWrites
from recallens.engines.sqlite.tokens import SqliteTokenWrites
from recallens.engines.sqlite.trails import packed
from recallens.engines.sqlite.vault_writes import SqliteVaultWrites
from recallens.model.audit import AuditEntry
from recallens.model.citation import citation_to_json
from recallens.model.memory import Document, Event, Relation, Session, Usage
from recallens.store.protocols import NamespaceState, Prepared

_INSERT_COLUMNS = (
    "id", "ns", "seq", "project", "sector", "kind", "tier", "status", "zone", "content", "summary", "title", "tags",
    "scopes", "annotations", "importance", "confidence", "base_salience", "source", "source_id", "document", "task",
    "worktree", "author", "session", "position", "reward", "created", "updated", "last_used", "valid_from",
    "valid_until", "content_hash", "simhash", "chars", "tokens", "length", "cited", "version", "attributes",
)  # fmt: skip
_PLACES = ", ".join("?" * len(_INSERT_COLUMNS))
_INSERT = f"INSERT INTO memories ({', '.join(_INSERT_COLUMNS)}) VALUES ({_PLACES}) RETURNING num"

UPDATABLE = frozenset(
    ("status", "zone", "importance", "confidence", "base_salience", "valid_until", "updated", "last_used", "uses",
     "confirmed", "version")
)  # fmt: skip

TermCache = dict[int, tuple[int, dict[str, int]]]


class SqliteWriter(SqliteTaskWrites, SqliteCheckWrites, SqliteVaultWrites, SqliteTokenWrites, SqliteReader):
    """Writes on one connection, inside the transaction that its store opened."""

    def __init__(self, connection: apsw.Connection, terms: TermCache) -> None:
        super().__init__(connection)
        self._terms = terms
        self._numbers: dict[int, int] = {}

    def _number(self, ns: int) -> int:
        """This transaction's number in the namespace: taken once, shared by everything the transaction changes."""
        if ns not in self._numbers:
            row = self._one("UPDATE namespaces SET number = number + 1 WHERE id = ? RETURNING number", ns)
            assert row is not None
            self._numbers[ns] = row[0]
        return self._numbers[ns]

    def ensure_namespace(self, name: str, at: int) -> NamespaceState:
        self._all("INSERT OR IGNORE INTO namespaces (name, created) VALUES (?, ?)", name, at)
        state = self.namespace(name)
        assert state is not None
        return state

    # ── memories ──

    def insert(self, ns: int, rows: Sequence[Prepared]) -> list[int]:
        seq = self._number(ns)
        nums: list[int] = []
        citations, links = [], []
        for row in rows:
            memory = row.memory
            values = (
                memory.id, ns, seq, memory.project, memory.sector, memory.kind, memory.tier, memory.status,
                memory.zone, memory.content, memory.summary, memory.title, packed(memory.tags), packed(memory.scopes),
                annotations_json(memory.annotations), memory.importance, memory.confidence, memory.base_salience,
                memory.source, memory.source_id, memory.document, memory.task, memory.worktree, memory.author,
                row.session, memory.position, memory.reward, memory.created, memory.updated, memory.last_used,
                memory.valid_from, memory.valid_until, memory.content_hash, _signed(row.simhash), len(memory.content),
                row.tokens, len(row.head) + len(row.body), int(bool(memory.citations)), memory.version,
                json.dumps(dict(memory.attributes), ensure_ascii=False),
            )  # fmt: skip
            num: int = self._all(_INSERT, *values)[0][0]
            nums.append(num)
            for position, citation in enumerate(memory.citations):
                record = citation_to_json(citation)
                kind = record.pop("kind")
                citations.append((num, position, kind, json.dumps(record, ensure_ascii=False)))
            if row.session is not None:
                links.append((ns, row.session, num, memory.created))
        self._db.executemany("INSERT INTO citations VALUES (?, ?, ?, ?)", citations)
        self._db.executemany(
            "INSERT OR IGNORE INTO session_memories (ns, session, num, usage, at) VALUES (?, ?, ?, 'created', ?)",
            links,
        )
        self.put_entries(ns, nums, rows)
        return nums

    def put_entries(self, ns: int, nums: Sequence[int], rows: Sequence[Prepared]) -> None:
        """What is derived from the text: the lexical entry and the labels."""
        numbers = self._term_numbers(ns, rows)
        lexical, labels = [], []
        for num, row in zip(nums, rows, strict=True):
            sequence = array("I", [numbers[term] for term in (*row.head, *row.body)])
            lexical.append((num, len(row.head), sequence.tobytes()))
            labels += [(ns, value, kind, num) for value, kind in row.labels]
        self._db.executemany("INSERT OR REPLACE INTO lexical VALUES (?, ?, ?)", lexical)
        self._db.executemany("INSERT OR IGNORE INTO labels VALUES (?, ?, ?, ?)", labels)

    def rederive(self, ns: int, nums: Sequence[int], rows: Sequence[Prepared]) -> None:
        """Write anew whatever a memory's row and entries hold that was read off its text."""
        self._db.executemany(
            "UPDATE memories SET annotations = ?, simhash = ?, chars = ?, tokens = ?, length = ? WHERE num = ?",
            [
                (annotations_json(row.memory.annotations), _signed(row.simhash), len(row.memory.content), row.tokens,
                 len(row.head) + len(row.body), num)
                for num, row in zip(nums, rows, strict=True)
            ],
        )  # fmt: skip
        self.put_entries(ns, nums, rows)

    def clear_entries(self, ns: int) -> None:
        """Drop the lexical view of a namespace, to be written anew; every row counts as changed."""
        self._all("DELETE FROM lexical WHERE num IN (SELECT num FROM memories WHERE ns = ?)", ns)
        self._all("DELETE FROM labels WHERE ns = ?", ns)
        self._all("DELETE FROM terms WHERE ns = ?", ns)
        self._all("UPDATE namespaces SET epoch = epoch + 1, next_term = 0 WHERE id = ?", ns)
        self._all("UPDATE memories SET seq = ? WHERE ns = ?", self._number(ns), ns)
        self._terms.pop(ns, None)

    def _term_numbers(self, ns: int, rows: Sequence[Prepared]) -> dict[str, int]:
        row = self._one("SELECT next_term, epoch + dropped_terms FROM namespaces WHERE id = ?", ns)
        assert row is not None
        following, epoch = row
        cached_epoch, cached = self._terms.get(ns, (epoch, {}))
        known: dict[str, int] = cached if cached_epoch == epoch else {}
        wanted = {term for prepared in rows for term in (*prepared.head, *prepared.body)}
        missing = sorted(wanted - known.keys())
        if missing:
            known |= self.terms(ns, missing)
        fresh = [term for term in missing if term not in known]
        if fresh:
            added = {term: following + i for i, term in enumerate(fresh)}
            self._db.executemany("INSERT INTO terms VALUES (?, ?, ?)", [(ns, term, n) for term, n in added.items()])
            self._all("UPDATE namespaces SET next_term = ? WHERE id = ?", following + len(fresh), ns)
            known |= added
        self._terms[ns] = (epoch, known)
        return known

    def update(self, ns: int, num: int, changes: Mapping[str, Any]) -> None:
        unknown = changes.keys() - UPDATABLE
        if unknown:
            raise ValueError(f"content is immutable: {sorted(unknown)} cannot be updated")
        sets = ", ".join(f"{column} = ?" for column in changes)
        self._all(f"UPDATE memories SET {sets}, seq = ? WHERE num = ?", *changes.values(), self._number(ns), num)

    def supersede(self, ns: int, old: int, new: int, at: int) -> None:
        """The old memory stays, closed at `at`; an end that had come earlier is kept."""
        self._all(
            "UPDATE memories SET status = 'superseded', updated = ?, seq = ?,"
            " valid_until = min(coalesce(valid_until, ?), ?) WHERE num = ?",
            at, self._number(ns), at, at, old,
        )  # fmt: skip
        self._put_relation(ns, new, old, "SUPERSEDES", 1.0, "user", at, None)

    def relate(self, ns: int, source: int, target: int, relation: Relation) -> None:
        self._put_relation(
            ns,
            source,
            target,
            relation.type,
            relation.confidence,
            relation.origin,
            relation.created,
            relation.valid_until,
        )
        self._all(
            "UPDATE memories SET seq = ? WHERE num IN (SELECT value FROM json_each(?))",
            self._number(ns), packed([source, target]),
        )  # fmt: skip

    def _put_relation(self, ns: int, *values: Any) -> None:
        self._all(
            "INSERT INTO relations (ns, source, target, type, confidence, origin, created, valid_until)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source, target, type) DO UPDATE SET"
            " confidence = excluded.confidence, origin = excluded.origin, valid_until = excluded.valid_until",
            ns, *values,
        )  # fmt: skip

    def merge_into(self, ns: int, num: int, row: Prepared) -> None:
        """A duplicate keeps the text that was there, and adds the tags and citations it did not have."""
        found = self._one("SELECT tags FROM memories WHERE num = ?", num)
        assert found is not None
        tags = list(dict.fromkeys([*json.loads(found[0]), *row.memory.tags]))
        self._db.executemany(
            "INSERT OR IGNORE INTO labels VALUES (?, ?, ?, ?)",
            [(ns, value, kind, num) for value, kind in row.labels if kind == "tag"],
        )
        have = {(kind, data) for kind, data in self._all("SELECT kind, data FROM citations WHERE num = ?", num)}
        position = len(have)
        for citation in row.memory.citations:
            record = citation_to_json(citation)
            kind = record.pop("kind")
            data = json.dumps(record, ensure_ascii=False)
            if (kind, data) not in have:
                self._all("INSERT INTO citations VALUES (?, ?, ?, ?)", num, position, kind, data)
                have.add((kind, data))
                position += 1
        self._all(
            "UPDATE memories SET tags = ?, cited = ?, seq = ? WHERE num = ?",
            packed(tags), int(bool(have)), self._number(ns), num,
        )  # fmt: skip

    def delete(self, ns: int, nums: Sequence[int]) -> None:
        seq, wanted = self._number(ns), packed(nums)
        self._all("INSERT OR IGNORE INTO tombstones SELECT ?, ?, value FROM json_each(?)", ns, seq, wanted)
        self.forget_task_words(ns, nums)
        self._all("DELETE FROM memories WHERE ns = ? AND num IN (SELECT value FROM json_each(?))", ns, wanted)
        self.drop_ledgers(ns)
        self._drop_unused_terms(ns)

    def _drop_unused_terms(self, ns: int) -> None:
        """A word that only a deleted memory held must not stay behind in the dictionary."""
        used: set[int] = set()
        for (blob,) in self._db.execute(
            "SELECT l.terms FROM memories m JOIN lexical l ON l.num = m.num WHERE m.ns = ?", (ns,)
        ):
            used.update(array("I", blob))
        unused = [row[0] for row in self._all("SELECT number FROM terms WHERE ns = ?", ns) if row[0] not in used]
        self._all("DELETE FROM terms WHERE ns = ? AND number IN (SELECT value FROM json_each(?))", ns, packed(unused))
        self._all("UPDATE namespaces SET epoch = epoch + 1 WHERE id = ?", ns)
        self._terms.pop(ns, None)

    def remove_namespace(self, ns: int) -> None:
        for table in (
            "memories", "tombstones", "relations", "sessions", "session_memories", "documents", "artifacts", "tasks",
            "events", "audit", "terms", "labels", "vectors", "backlog", "vaults", "session_owners",
        ):  # fmt: skip
            self._all(f"DELETE FROM {table} WHERE ns = ?", ns)
        self.drop_ledgers(ns)
        self._all("DELETE FROM namespaces WHERE id = ?", ns)
        self._terms.pop(ns, None)

    # ── vectors ──

    def put_vectors(self, ns: int, encoder: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        seq = self._number(ns)
        # A memory may have been deleted while its text was being encoded: then there is nothing to keep.
        self._db.executemany(
            "INSERT OR REPLACE INTO vectors (num, encoder, ns, seq, vector)"
            " SELECT num, ?, ?, ?, ? FROM memories WHERE num = ?",
            [(encoder, ns, seq, vector, num) for num, vector in vectors],
        )
        self._all(
            "DELETE FROM backlog WHERE encoder = ? AND num IN (SELECT value FROM json_each(?))",
            encoder, packed([num for num, _ in vectors]),
        )  # fmt: skip

    def enqueue(self, ns: int, encoder: str, nums: Sequence[int]) -> None:
        self._all("INSERT OR IGNORE INTO backlog SELECT ?, value, ? FROM json_each(?)", encoder, ns, packed(nums))

    def enqueue_missing(self, encoder: str) -> int:
        """Everything that has no vector of this encoder yet goes to its backlog, once."""
        rows = self._all(
            "INSERT OR IGNORE INTO backlog SELECT ?, m.num, m.ns FROM memories m WHERE NOT EXISTS"
            " (SELECT 1 FROM vectors v WHERE v.encoder = ? AND v.num = m.num) RETURNING num",
            encoder, encoder,
        )  # fmt: skip
        return len(rows)

    # ── sessions, events, documents ──

    def put_session(self, ns: int, session: Session) -> None:
        self._all(
            "INSERT INTO sessions (ns, id, started, ended, project, title, summary) VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (ns, id) DO UPDATE SET ended = coalesce(excluded.ended, ended),"
            " project = coalesce(excluded.project, project), title = coalesce(excluded.title, title),"
            " summary = coalesce(excluded.summary, summary)",
            ns, session.id, session.started, session.ended, session.project, session.title, session.summary,
        )  # fmt: skip

    def link(self, ns: int, session: str, nums: Sequence[int], usage: Usage, at: int) -> None:
        self._all(
            "INSERT INTO session_memories (ns, session, num, usage, at) SELECT ?, ?, value, ?, ? FROM json_each(?)"
            " WHERE true ON CONFLICT (ns, session, num, usage) DO UPDATE SET at = excluded.at",
            ns, session, usage, at, packed(nums),
        )  # fmt: skip

    def reinforce(self, ns: int, values: Sequence[tuple[int, float]], at: int) -> None:
        """Store each memory's new reinforcement; the caller has computed it from the old one."""
        if values:
            self._all(
                "UPDATE memories SET reinforcement = j.value ->> 1, reinforced_at = ?, seq = ?"
                " FROM json_each(?) j WHERE memories.num = j.value ->> 0",
                at, self._number(ns), packed([list(pair) for pair in values]),
            )  # fmt: skip

    def record(self, ns: int, events: Sequence[Event], nums: Sequence[int | None]) -> None:
        rows = [
            [event.kind, event.at, num, event.session, event.task, event.amount]
            for event, num in zip(events, nums, strict=True)
        ]
        self._all(
            "INSERT INTO events (ns, kind, at, num, session, task, amount) SELECT ?, j.value ->> 0, j.value ->> 1,"
            " j.value ->> 2, j.value ->> 3, j.value ->> 4, j.value ->> 5 FROM json_each(?) j",
            ns, packed(rows),
        )  # fmt: skip

    def append_audit(self, ns: int, entries: Sequence[AuditEntry]) -> None:
        """The chain grows, and the namespace remembers where it ends."""
        rows = [
            [e.number, e.id, e.at, e.session, e.query_digest, packed(e.memories), e.previous, e.digest] for e in entries
        ]
        self._all(
            "INSERT INTO audit (ns, number, id, at, session, query_digest, memories, previous, digest)"
            " SELECT ?, j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3, j.value ->> 4, j.value ->> 5,"
            " j.value ->> 6, j.value ->> 7 FROM json_each(?) j",
            ns, packed(rows),
        )  # fmt: skip
        if entries:
            last = entries[-1]
            self._all(
                "UPDATE namespaces SET audit_number = ?, audit_digest = ? WHERE id = ?", last.number, last.digest, ns
            )

    def put_ledger(
        self, ns: int, *, id: str, session: str, at: int, ledger: bytes, audit: Mapping[str, str], keep: int,
        owner: str | None = None,
    ) -> None:  # fmt: skip
        """Store a recall's ledger; of each session only the last few stay."""
        self._all(
            "INSERT OR REPLACE INTO snapshots (ns, id, session, at, ledger, audit, owner)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            ns, id, session, at, ledger, json.dumps(dict(audit)), owner,
        )  # fmt: skip
        self._all(
            "DELETE FROM snapshots WHERE ns = ?1 AND session = ?2 AND number <= (SELECT number FROM snapshots"
            " WHERE ns = ?1 AND session = ?2 ORDER BY number DESC LIMIT 1 OFFSET ?3)",
            ns, session, keep,
        )  # fmt: skip

    def drop_ledgers(self, ns: int) -> None:
        """Stored ledgers name memories and titles: what is deleted for good must not live on in them.

        Nor in the answers that are kept to be given again.
        """
        self._all("DELETE FROM snapshots WHERE ns = ?", ns)
        self._all("DELETE FROM answers WHERE namespace = (SELECT name FROM namespaces WHERE id = ?)", ns)

    def put_document(self, ns: int, document: Document) -> None:
        self._all(
            "INSERT OR REPLACE INTO documents (ns, id, path, title, hash, mtime, project) VALUES (?, ?, ?, ?, ?, ?, ?)",
            ns, document.id, document.path, document.title, document.hash, document.mtime, document.project,
        )  # fmt: skip

    def set_lease(self, name: str, holder: str, now: int, expires: int) -> None:
        """Take or renew a lease, unless another holds it and it has not run out."""
        self._all(
            "INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder,"
            " expires = excluded.expires WHERE leases.holder = excluded.holder OR leases.expires < ?",
            name, holder, expires, now,
        )  # fmt: skip

    def lease_holder(self, name: str) -> str | None:
        row = self._one("SELECT holder FROM leases WHERE name = ?", name)
        return row[0] if row else None

    def drop_lease(self, name: str, holder: str) -> None:
        self._all("DELETE FROM leases WHERE name = ? AND holder = ?", name, holder)

    def drop_vectors(self, encoder: str) -> None:
        self._all("DELETE FROM vectors WHERE encoder = ?", encoder)

    def drop_meta(self, key: str) -> None:
        self._all("DELETE FROM meta WHERE key = ?", key)

    def set_meta(self, key: str, value: str) -> None:
        self._all("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)


def _signed(value: int) -> int:
    """SQLite's integers are signed: the upper half of 64 bits becomes negative and comes back as it was."""
    return value - (1 << 64) if value >= 1 << 63 else value
