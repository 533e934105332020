"""Every byte of what was erased, in the file and its log."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import apsw
from msgspec import Struct

from recallens.model.erasure import occurrences
from recallens.store.records import Cleaned
from recallens.store.sql.erasure import HELD, opened
from recallens.store.sql.rows import packed
from recallens.store.sqlite.connection import BUSY_WAIT_MS, InOurWords, connect, immediate
from recallens.store.sqlite.pages import PageFile, logged

CHUNK = 1 << 24
MOST_NAMED = 20
# How often the log is emptied again where another has just written to it.
TRIES = 5


class SqliteFile(Struct, frozen=True):
    """The file and its log as bytes."""

    _path: Path
    _writing: threading.Lock
    _connection: Callable[[], apsw.Connection]

    beyond = None

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


def _holders(connection: apsw.Connection, texts: Sequence[str]) -> list[str]:
    """What holds one of these texts in plain sight."""
    found: dict[str, None] = {}
    wanted = sorted({text.lower() for text in texts})
    for table, columns, name in HELD:
        held = " OR ".join(f"instr(lower(t.{column}), j.value)" for column in columns)
        rows = connection.execute(
            f"SELECT DISTINCT {name} FROM {table} t JOIN json_each(?) j ON {held} LIMIT {MOST_NAMED}", (packed(wanted),)
        )
        found |= dict.fromkeys(str(row[0]) for row in rows)
    octets = [text.encode() for text in wanted]
    for id, ledger in connection.execute("SELECT id, ledger FROM snapshots"):
        if any(each in opened(ledger).lower() for each in octets):
            found[f"recorded recall {id}"] = None
    return list(found)


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
