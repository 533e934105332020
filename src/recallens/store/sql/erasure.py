"""Erasing for good: what goes with memories in one transaction, and where texts are kept."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

from msgspec import Struct

from recallens.store.sql.connection import NamespaceConnection
from recallens.store.sql.rows import packed

# Where texts are kept, and how each of them is called.
HELD = (
    ("memories", ("content", "title", "summary", "tags", "author", "attributes", "annotations", "project", "task",
                  "worktree", "session", "scopes", "source", "source_id"), "'memory ' || t.id"),
    ("sessions", ("title", "summary", "project", "id"), "'session ' || t.id"),
    ("tasks", ("text", "summary", "project", "worktree", "session", "id"), "'task ' || t.id"),
    ("artifacts", ("content",), "'log ' || t.id"),
    ("documents", ("title", "path"), "'document ' || t.path"),
    ("vault_files", ("life", "warning", "error"), "'note ' || t.path"),
    ("vault_sections", ("body", "headings"), "'a section of a vault, m' || t.num"),
    ("citations", ("data",), "'a citation of m' || t.num"),
    ("answers", ("body",), "'a kept answer'"),
    ("proposals", ("details",), "'a proposal'"),
    ("terms", ("term",), "'the dictionary'"),
    ("labels", ("value",), "'a label of m' || t.num"),
)  # fmt: skip
# What somebody has written beside memories.
_WRITTEN = (
    ("sessions", ("title", "summary"), "'session ' || t.id"),
    ("tasks", ("text", "summary"), "'task ' || t.id"),
    ("artifacts", ("content",), "'log ' || t.id"),
)


class SqlErasure(Struct, frozen=True):
    """What a memory left in other tables, and taking it out of them."""

    _here: NamespaceConnection

    def sessions(self, nums: Sequence[int]) -> list[str]:
        """The sessions in which these memories were made or used."""
        return self._here.first(
            "SELECT DISTINCT l.session FROM NUMBERS(?2) j CROSS JOIN session_memories l ON l.num = j.value"
            " WHERE +l.ns = ?1 ORDER BY 1",
            packed(nums),
        )

    def holding(self, words: Sequence[str]) -> list[tuple[str, str]]:
        """Tasks, logs and sessions that have one of these words, by name, each with its text."""
        texts: list[tuple[str, str]] = []
        for table, columns, name in _WRITTEN:
            text = " || ' ' || ".join(f"coalesce(t.{column}, '')" for column in columns)
            texts += self._here.all(
                f"SELECT {name}, {text} FROM {table} t WHERE t.ns = ?1 AND EXISTS"
                f" (SELECT 1 FROM TEXTS(?2) j WHERE instr(lower({text}), j.value) > 0) ORDER BY t.id",
                packed(words),
            )
        return texts

    def made_in(self, sessions: Sequence[str]) -> list[int]:
        """What was made of these sessions, and not written in them: recaps, episodes and what they became."""
        return self._here.first(
            "SELECT m.num FROM TEXTS(?2) j CROSS JOIN session_memories l ON l.ns = ?1 AND l.session = j.value"
            " JOIN memories m ON m.num = l.num AND m.ns = ?1 WHERE l.usage = 'created'"
            " AND m.source IN ('session', 'task', 'rule') SORTED BY j.key, m.num",
            packed(sessions),
        )

    def tasks(self, nums: Sequence[int]) -> list[str]:
        """The tasks that these memories were made or used in, or tell of."""
        return self._here.first(
            "SELECT m.task FROM NUMBERS(?2) j CROSS JOIN memories m ON m.num = j.value AND m.ns = ?1"
            " WHERE m.task IS NOT NULL UNION SELECT e.task FROM NUMBERS(?2) j CROSS JOIN events e ON e.num = j.value"
            " WHERE e.ns = ?1 AND e.task IS NOT NULL UNION SELECT t.id FROM NUMBERS(?2) j CROSS JOIN tasks t"
            " ON t.episode = j.value WHERE t.ns = ?1 ORDER BY 1",
            packed(nums),
        )

    def summaries(self, sessions: Sequence[str]) -> dict[str, str]:
        """What these sessions say of themselves, also where it may not be read."""
        rows = self._here.all(
            "SELECT id, summary FROM sessions WHERE ns = ?1 AND summary IS NOT NULL"
            " AND id IN (SELECT value FROM TEXTS(?2))",
            packed(sessions),
        )
        return dict(rows)

    def blank_session(self, id: str, *, title: bool = False, summary: bool = False, project: bool = False) -> None:
        self._here.change(
            "UPDATE sessions SET title = CASE WHEN ?3 = 1 THEN NULL ELSE title END,"
            " summary = CASE WHEN ?4 = 1 THEN NULL ELSE summary END,"
            " project = CASE WHEN ?5 = 1 THEN NULL ELSE project END WHERE ns = ?1 AND id = ?2",
            id, int(title), int(summary), int(project),
        )  # fmt: skip

    def projects(self, session: str, without: Sequence[int]) -> set[str]:
        """The projects of a session's tasks, and of its memories without some."""
        return set(self._here.first(
            "SELECT m.project FROM session_memories l JOIN memories m ON m.ns = ?1 AND m.num = l.num"
            " WHERE l.ns = ?1 AND l.session = ?2 AND m.project IS NOT NULL"
            " AND m.num NOT IN (SELECT value FROM NUMBERS(?3))"
            " UNION SELECT project FROM tasks WHERE ns = ?1 AND session = ?2 AND project IS NOT NULL",
            session, packed(without),
        ))  # fmt: skip

    def drop_sessions(self, ids: Sequence[str]) -> list[str]:
        """Of these, those go to which no memory, task, event or recorded recall belongs; gives which."""
        referring = " AND ".join(
            f"NOT EXISTS (SELECT 1 FROM {table} r WHERE r.ns = ?1 AND r.session = sessions.id)"
            for table in ("session_memories", "tasks", "events", "snapshots")
        )
        gone = self._here.first(
            f"SELECT id FROM sessions WHERE ns = ?1 AND id IN (SELECT value FROM TEXTS(?2)) AND {referring}"
            " ORDER BY id",
            packed(ids),
        )
        for table, column in (("sessions", "id"), ("session_owners", "session")):
            self._here.change(
                f"DELETE FROM {table} WHERE ns = ?1 AND {column} IN (SELECT value FROM TEXTS(?2))", packed(gone)
            )
        return gone

    def logged(self, sessions: Sequence[str]) -> list[str]:
        """Of these sessions, those that the log names, in which nothing is ever changed."""
        self._here.db.enter(self._here.name, self._here.key)
        rows = self._here.db.execute(
            "SELECT DISTINCT session FROM audit WHERE namespace = ?1 AND session IN (SELECT value FROM TEXTS(?2))"
            " ORDER BY 1",
            (self._here.name, packed(sessions)),
        )
        return [session for (session,) in rows]

    def blank_task(self, id: str) -> None:
        """Its words go; its reward stays, as a number."""
        self._here.change("UPDATE tasks SET text = '', summary = NULL WHERE ns = ?1 AND id = ?2", id)

    def drop_logs(self, ids: Sequence[str]) -> None:
        self._here.change("DELETE FROM artifacts WHERE ns = ?1 AND id IN (SELECT value FROM TEXTS(?2))", packed(ids))

    def blank_documents(self, ids: Sequence[str], titles: Sequence[str]) -> None:
        """Of documents that have one of these titles, or no memory left, what they are called and say of themselves.
        One with no memory left goes, unless it is a note that may be read again."""
        left = "EXISTS (SELECT 1 FROM memories m WHERE m.ns = ?1 AND m.document = documents.id)"
        concerned = self._here.first(
            "SELECT id FROM documents WHERE ns = ?1 AND id IN (SELECT value FROM TEXTS(?2))"
            f" AND (title IN (SELECT value FROM TEXTS(?3)) OR NOT {left})",
            packed(ids), packed(titles),
        )  # fmt: skip
        wanted = packed(concerned)
        here = "ns = ?1 AND id IN (SELECT value FROM TEXTS(?2))"
        self._here.change(
            "UPDATE vault_files SET life = '{}', warning = NULL WHERE +ns = ?1"
            " AND document IN (SELECT value FROM TEXTS(?2))",
            wanted,
        )
        self._here.change(f"UPDATE documents SET title = NULL WHERE {here}", wanted)
        notes = "(SELECT document FROM vault_files WHERE ns = ?1)"
        self._here.change(f"DELETE FROM documents WHERE {here} AND id NOT IN {notes} AND NOT {left}", wanted)

    def drop_recalls(self, holds: Callable[[bytes], bool]) -> tuple[int, int]:
        """Recorded recalls, and answers that are kept, which say part of it; gives how many of each went."""
        ledgers = self._here.all("SELECT number, ledger FROM snapshots WHERE ns = ?1")
        recalls = [number for number, ledger in ledgers if holds(opened(ledger))]
        mine = "namespace = (SELECT name FROM namespaces WHERE id = ?1)"
        kept = self._here.all(f"SELECT owner, key, body FROM answers WHERE {mine}")
        answers = [[owner, key] for owner, key, body in kept if holds(body.encode())]
        self._here.change(
            "DELETE FROM snapshots WHERE ns = ?1 AND number IN (SELECT value FROM NUMBERS(?2))", packed(recalls)
        )
        self._here.change(
            f"DELETE FROM answers WHERE {mine} AND (owner, key) IN (SELECT value ->> 0, value ->> 1 FROM RECORDS(?2))",
            packed(answers),
        )
        return len(recalls), len(answers)


def opened(ledger: bytes) -> bytes:
    try:
        return zlib.decompress(ledger)
    except zlib.error:
        return ledger
