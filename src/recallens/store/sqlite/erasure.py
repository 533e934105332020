"""Erasing for good in SQLite: what goes with memories in one transaction, and then every byte of it in the file."""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import apsw
from msgspec import Struct

from recallens.model.erasure import occurrences
from recallens.store.records import Cleaned
from recallens.store.sqlite.connection import BUSY_WAIT_MS, InOurWords, NamespaceConnection, connect, immediate, packed
from recallens.store.sqlite.pages import PageFile, logged

CHUNK = 1 << 24
MOST_NAMED = 20
# How often the log is emptied again where another has just written to it.
TRIES = 5


class SqliteErasure(Struct, frozen=True):
    """What a memory left in other tables, and taking it out of them."""

    _here: NamespaceConnection

    def sessions(self, nums: Sequence[int]) -> list[str]:
        """The sessions in which these memories were made or used."""
        return self._here.first(
            "SELECT DISTINCT l.session FROM json_each(?2) j CROSS JOIN session_memories l ON l.num = j.value"
            " WHERE +l.ns = ?1 ORDER BY 1",
            packed(nums),
        )

    def holding(self, words: Sequence[str]) -> list[tuple[str, str]]:
        """Tasks, logs and sessions that have one of these words, by name, each with its text."""
        found: list[tuple[str, str]] = []
        for table, columns, name in _HELD[1:4]:
            text = " || ' ' || ".join(f"coalesce(t.{column}, '')" for column in columns)
            found += self._here.all(
                f"SELECT {name}, {text} FROM {table} t WHERE t.ns = ?1 AND EXISTS"
                f" (SELECT 1 FROM json_each(?2) j WHERE instr(lower({text}), j.value)) ORDER BY t.id",
                packed(words),
            )
        return found

    def made_in(self, sessions: Sequence[str]) -> list[int]:
        """What was made of these sessions, and not written in them: recaps, episodes and what they became."""
        return self._here.first(
            "SELECT m.num FROM json_each(?2) j CROSS JOIN session_memories l ON l.ns = ?1 AND l.session = j.value"
            " JOIN memories m ON m.num = l.num WHERE l.usage = 'created' AND m.source IN ('session', 'task', 'rule')",
            packed(sessions),
        )

    def tasks(self, nums: Sequence[int]) -> list[str]:
        """The tasks that these memories were made or used in, or tell of."""
        return self._here.first(
            "SELECT m.task FROM json_each(?2) j CROSS JOIN memories m ON m.num = j.value AND m.ns = ?1"
            " WHERE m.task IS NOT NULL UNION SELECT e.task FROM json_each(?2) j CROSS JOIN events e ON e.num = j.value"
            " WHERE e.ns = ?1 AND e.task IS NOT NULL UNION SELECT t.id FROM json_each(?2) j CROSS JOIN tasks t"
            " ON t.episode = j.value WHERE t.ns = ?1",
            packed(nums),
        )

    def blank_session(self, id: str, *, title: bool, summary: bool) -> None:
        self._here.change(
            "UPDATE sessions SET title = iif(?3, NULL, title), summary = iif(?4, NULL, summary)"
            " WHERE ns = ?1 AND id = ?2",
            id, title, summary,
        )  # fmt: skip

    def blank_task(self, id: str) -> None:
        """Its words go; its reward stays, as a number."""
        self._here.change("UPDATE tasks SET text = '', summary = NULL WHERE ns = ?1 AND id = ?2", id)

    def drop_logs(self, ids: Sequence[str]) -> None:
        self._here.change(
            "DELETE FROM artifacts WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))", packed(ids)
        )

    def blank_documents(self, ids: Sequence[str], titles: Sequence[str]) -> None:
        """Of documents that have one of these titles, or no memory left, what they are called and say of themselves.
        One with no memory left goes, unless it is a note that may be read again."""
        left = "EXISTS (SELECT 1 FROM memories m WHERE m.ns = ?1 AND m.document = documents.id)"
        concerned = self._here.first(
            "SELECT id FROM documents WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))"
            f" AND (title IN (SELECT value FROM json_each(?3)) OR NOT {left})",
            packed(ids), packed(titles),
        )  # fmt: skip
        wanted = packed(concerned)
        here = "ns = ?1 AND id IN (SELECT value FROM json_each(?2))"
        self._here.change(
            "UPDATE vault_files SET life = '{}', warning = NULL WHERE document IN (SELECT value FROM json_each(?2))"
            " AND vault IN (SELECT id FROM vaults WHERE ns = ?1)",
            wanted,
        )
        self._here.change(f"UPDATE documents SET title = NULL WHERE {here}", wanted)
        notes = "(SELECT document FROM vault_files)"
        self._here.change(f"DELETE FROM documents WHERE {here} AND id NOT IN {notes} AND NOT {left}", wanted)

    def drop_recalls(self, holds: Callable[[bytes], bool]) -> tuple[int, int]:
        """Recorded recalls, and answers that are kept, which say part of it; gives how many of each went."""
        ledgers = self._here.all("SELECT number, ledger FROM snapshots WHERE ns = ?1")
        recalls = [number for number, ledger in ledgers if holds(_opened(ledger))]
        mine = "namespace = (SELECT name FROM namespaces WHERE id = ?1)"
        kept = self._here.all(f"SELECT owner, key, body FROM answers WHERE {mine}")
        answers = [[owner, key] for owner, key, body in kept if holds(body.encode())]
        self._here.change(
            "DELETE FROM snapshots WHERE ns = ?1 AND number IN (SELECT value FROM json_each(?2))", packed(recalls)
        )
        self._here.change(
            f"DELETE FROM answers WHERE {mine} AND (owner, key) IN"
            " (SELECT value ->> 0, value ->> 1 FROM json_each(?2))",
            packed(answers),
        )
        return len(recalls), len(answers)


def _opened(ledger: bytes) -> bytes:
    try:
        return zlib.decompress(ledger)
    except zlib.error:
        return ledger


# ── the file ──


class SqliteFile(Struct, frozen=True):
    """The file and its log as bytes."""

    _path: Path
    _writing: threading.Lock
    _connection: Callable[[], apsw.Connection]

    def touched(self) -> list[int]:
        """The pages that were written since the log was last emptied."""
        return sorted(logged(Path(f"{self._path}-wal")))

    def clean(self, pages: Collection[int] | None, *, wait_ms: int) -> Cleaned | None:
        """Leave no byte of what is deleted in these pages, in those beside them and in the log; None asks for all.

        It gives None where somebody still reads an older state.
        """
        with self._writing, InOurWords(str(self._path)):
            return _cleaned(self._connection(), self._path, pages, wait_ms)

    def settle(self, key: str, value: str) -> None:
        """Strike out the note of what was to be done, unless it says more by now.

        Another connection does it, so that ours too, like every process, reads the pages anew instead of writing back
        what it remembers of them.
        """
        with self._writing, InOurWords(str(self._path)):
            connection = connect(self._path, read_only=False)
            try:
                with immediate(connection):
                    connection.execute("DELETE FROM meta WHERE key = ? AND value = ?", (key, value))
            finally:
                connection.close()

    def find(self, needles: Sequence[bytes]) -> tuple[int, int]:
        """How often any of these stands in the file or its log, and how many bytes that are."""
        with InOurWords(str(self._path)):
            return _found(self._path, needles)

    def holders(self, texts: Sequence[str]) -> list[str]:
        """What holds one of these texts in plain sight."""
        with InOurWords(str(self._path)):
            return _holders(self._connection(), texts)


def _cleaned(connection: apsw.Connection, path: Path, pages: Collection[int] | None, wait_ms: int) -> Cleaned | None:
    """Bring everything from the log to the file, empty the log, and fill what belongs to nothing with zeros: in these
    pages and those beside them, or in all. None where somebody still reads an older state, or another wrote each time.
    """
    for _ in range(TRIES):
        if not _emptied(connection, wait_ms):
            return None
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Nobody writes now, and with an empty log nobody moves a page from it to the file either.
            if not _size(Path(f"{path}-wal")):
                return _scrubbed(connection, path, pages)
        finally:
            connection.execute("ROLLBACK")
    return None


def _emptied(connection: apsw.Connection, wait_ms: int) -> bool:
    connection.set_busy_timeout(wait_ms)
    try:
        ((busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_timeout(BUSY_WAIT_MS)
    return not busy


def _scrubbed(connection: apsw.Connection, path: Path, pages: Collection[int] | None) -> Cleaned:
    with PageFile.open(path, write=True) as file:
        count = file.length // file.size
        if pages is None:
            wanted: Collection[int] = range(1, count + 1)
            changed = file.scrub_free()
        else:
            # Of the indexes only these hold what is told by a text; the others order numbers, ids and times.
            roots = connection.execute(
                "SELECT 1 UNION SELECT rootpage FROM sqlite_schema WHERE rootpage > 0"
                " AND (type = 'table' OR name IN ('memories_by_hash', 'memories_by_craft'))"
            )
            near = file.beside([row[0] for row in roots], pages)
            wanted = sorted({page for page in pages if page <= count} | near)
            changed = 0
        changed += file.scrub(wanted)
        left = file.soiled(wanted)
    assert not left, f"pages {left[:5]} do not keep what is written"
    return Cleaned(len(wanted), changed)


def _found(path: Path, needles: Sequence[bytes]) -> tuple[int, int]:
    found = size = 0
    reach = max(map(len, needles), default=1) - 1
    with PageFile.open(path) as file:
        for at, piece in file.chunks(CHUNK, reach):
            size = at + len(piece)
            found += occurrences(piece, needles)
    log = Path(f"{path}-wal")
    if log.exists():
        data = log.read_bytes()
        found, size = found + occurrences(data, needles), size + len(data)
    return found, size


# Where texts are kept, and how each of them is called.
_HELD = (
    ("memories", ("content", "title", "summary", "tags", "author", "attributes", "annotations"), "'memory ' || t.id"),
    ("sessions", ("title", "summary"), "'session ' || t.id"),
    ("tasks", ("text", "summary"), "'task ' || t.id"),
    ("artifacts", ("content",), "'log ' || t.id"),
    ("documents", ("title", "path"), "'document ' || t.path"),
    ("vault_files", ("life", "warning", "error"), "'note ' || t.path"),
    ("vault_sections", ("body", "headings"), "'a section of a vault, m' || t.num"),
    ("citations", ("data",), "'a citation of m' || t.num"),
    ("answers", ("body",), "'a kept answer'"),
    ("proposals", ("details",), "'a proposal'"),
    ("terms", ("term",), "'the dictionary'"),
    ("labels", ("value",), "'a label of m' || t.num"),
)


def _holders(connection: apsw.Connection, texts: Sequence[str]) -> list[str]:
    """What holds one of these texts in plain sight."""
    found: dict[str, None] = {}
    wanted = sorted({text.lower() for text in texts})
    for table, columns, name in _HELD:
        held = " OR ".join(f"instr(lower(t.{column}), j.value)" for column in columns)
        rows = connection.execute(
            f"SELECT DISTINCT {name} FROM {table} t JOIN json_each(?) j ON {held} LIMIT {MOST_NAMED}", (packed(wanted),)
        )
        found |= dict.fromkeys(str(row[0]) for row in rows)
    octets = [text.encode() for text in wanted]
    for id, ledger in connection.execute("SELECT id, ledger FROM snapshots"):
        if any(each in _opened(ledger).lower() for each in octets):
            found[f"recorded recall {id}"] = None
    return list(found)


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
