"""Sessions: what was made and used in them, what was said before and after, and whose they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from msgspec import Struct

from recallens.model.memory import Session, Usage, Zone
from recallens.model.recall import SessionContext
from recallens.store.sql.connection import NamespaceConnection, shown
from recallens.store.sql.rows import packed

# A summary is as restricted as the recap that was made of it: where that may not be read, neither may this.
_RECAP_IS_WITHHELD = (
    "EXISTS (SELECT 1 FROM lineage w JOIN memories v ON v.num = w.num AND v.ns = ?1 WHERE w.ns = ?1"
    " AND w.kind = 'session'"
    " AND w.input = s.id AND v.source = 'session'"
    " AND (v.status IN ('forgotten', 'rejected', 'quarantined', 'pending_review')"
    " OR v.zone = 'quarantine' OR v.scopes <> '[]'))"
)
_COLUMNS = {
    "s.started": "created", "s.ended": "", "s.project": "project", "s.title": "",
    f"CASE WHEN {_RECAP_IS_WITHHELD} THEN NULL ELSE s.summary END": "", "s.zone": "zone",
}  # fmt: skip
# A row that cannot be read counts as absent.
_SOUND, _SOUND_LINK = "SOUND(session, s)", "SOUND(session-memory, l)"


class SqlSessions(Struct, frozen=True):
    """Of another's session who reads sees what the first memory says that was made there, of those that they may see:
    its time, project and zone. Where they may see none of it, the session is not there."""

    _here: NamespaceConnection

    def _first(self, column: str) -> str:
        """What the first memory that was made in the session `s` says, of those that who reads may see."""
        return (
            f"(SELECT m.{column} FROM session_memories c CROSS JOIN memories m ON m.num = c.num AND m.ns = ?1"
            f" WHERE c.ns = ?1 AND c.session = s.id AND c.usage = 'created' AND {self._here.open}"
            " ORDER BY c.num LIMIT 1)"
        )

    def _columns(self) -> list[str]:
        """Those of the session `s` as who reads sees it, beginning with its time."""
        own = self._here.own_session("s.id")
        if not own:
            return list(_COLUMNS)
        told = {column: self._first(made) if made else "NULL" for column, made in _COLUMNS.items()}
        return [f"CASE WHEN {own} THEN {column} ELSE {else_told} END" for column, else_told in told.items()]

    @property
    def _select(self) -> str:
        return ", ".join(("s.id", *self._columns()))

    @property
    def there(self) -> str:
        """The condition under which who reads may know of the session `s`."""
        own = self._here.own_session("s.id")
        return f"{_SOUND} AND ({own} OR {self._first('num')} IS NOT NULL)" if own else _SOUND

    def _session(self, id: str, *rest: Any) -> Session:
        known: list[Any] = [*rest[:-1], Zone(rest[-1])]
        return Session(id, self._here.name, *known)

    def get(self, id: str) -> Session | None:
        row = self._here.one(
            f"SELECT {self._select} FROM sessions s WHERE s.ns = ?1 AND {self.there} AND s.id = ?2", id
        )
        return self._session(*row) if row else None

    def latest(self, limit: int, offset: int) -> list[tuple[Session, int]]:
        """The latest first, each with the number of its memories that who reads may see."""
        rows = self._here.all(
            "SELECT (SELECT count(DISTINCT l.num) FROM session_memories l WHERE l.ns = ?1 AND l.session = s.id"
            f"{self._here.seen('l.num')}{self._here.linked('l')}), {self._select} FROM sessions s"
            f" WHERE s.ns = ?1 AND {self.there} ORDER BY {self._columns()[0]} DESC, s.id LIMIT ?2 OFFSET ?3",
            limit, offset,
        )  # fmt: skip
        return [(self._session(*row[1:]), row[0]) for row in rows]

    def numbers(self, id: str) -> list[int]:
        return self._here.first(
            "SELECT DISTINCT l.num FROM session_memories l WHERE l.ns = ?1 AND l.session = ?2"
            f"{self._here.linked('l')} ORDER BY l.num",
            id,
        )

    def links(self, id: str) -> list[tuple[int, Usage, int]]:
        rows = self._here.all(
            "SELECT num, usage, at FROM session_memories l WHERE ns = ?1 AND session = ?2"
            f" AND {_SOUND_LINK}{self._here.linked('l')} ORDER BY at, id",
            id,
        )
        return [(num, Usage(usage), at) for num, usage, at in rows]

    def sources(self, nums: Sequence[int]) -> dict[int, Session]:
        """The session in which each memory was made."""
        rows = self._here.all(
            f"SELECT l.num, {self._select} FROM NUMBERS(?2) j CROSS JOIN session_memories l"
            " ON l.num = j.value AND l.usage = 'created' JOIN sessions s ON s.ns = ?1 AND s.id = l.session"
            f" AND {self.there} WHERE +l.ns = ?1 ORDER BY l.id DESC",
            packed(nums),
        )
        return {row[0]: self._session(*row[1:]) for row in rows}

    def contexts(self, nums: Sequence[int]) -> dict[int, SessionContext]:
        """The session in which each memory was last used, and how."""
        rows = self._here.all(
            "SELECT l.num, l.usage, (SELECT count(DISTINCT x.num) FROM session_memories x"
            f" WHERE x.ns = ?1 AND x.session = l.session{self._here.seen('x.num')}"
            f"{self._here.linked('x')}), {self._select}"
            " FROM NUMBERS(?2) j CROSS JOIN session_memories l ON l.num = j.value"
            f" JOIN sessions s ON s.ns = ?1 AND s.id = l.session AND {self.there} WHERE +l.ns = ?1 AND {_SOUND_LINK}"
            f"{self._here.linked('l')} ORDER BY l.at, l.id",
            packed(nums),
        )
        return {row[0]: SessionContext(self._session(*row[3:]), row[2], Usage(row[1])) for row in rows}

    def turns(self, nums: Sequence[int], held: Collection[str]) -> dict[int, tuple[str, int | None, int | None]]:
        """The session in which each memory was made, and what was said there right before and after it."""
        rows = self._here.all(
            "WITH wanted AS (SELECT l.num, l.session FROM NUMBERS(?2) j CROSS JOIN session_memories l"
            "  ON l.num = j.value AND l.usage = 'created' WHERE +l.ns = ?1),"
            " turns AS (SELECT l.session, m.num,"
            "  lag(m.num) OVER course AS previous, lead(m.num) OVER course AS following"
            "  FROM (SELECT DISTINCT session FROM wanted) s CROSS JOIN session_memories l"
            "  ON l.ns = ?1 AND l.session = s.session AND l.usage = 'created' JOIN memories m ON m.num = l.num"
            " AND m.ns = ?1"
            f" WHERE {shown('?3')}"
            "  WINDOW course AS (PARTITION BY l.session ORDER BY m.created, m.position NULLS FIRST, m.id))"
            " SELECT w.num, w.session, t.previous, t.following FROM wanted w"
            " JOIN turns t ON t.session = w.session AND t.num = w.num ORDER BY w.num",
            packed(nums), packed(held),
        )  # fmt: skip
        return {num: (session, previous, following) for num, session, previous, following in rows}

    def course(self, num: int, reach: int, held: Collection[str]) -> list[int]:
        """What was said in the session in which a memory was made, so many turns before it and after it, in order."""
        return self._here.first(
            "WITH turns AS (SELECT m.num, row_number() OVER (ORDER BY m.created, m.position NULLS FIRST, m.id)"
            "  AS place FROM session_memories l JOIN memories m ON m.num = l.num AND m.ns = ?1"
            "  WHERE l.ns = ?1 AND l.usage = 'created' AND l.session ="
            "   (SELECT session FROM session_memories WHERE ns = ?1 AND num = ?2 AND usage = 'created' LIMIT 1)"
            f"  AND ({shown('?4')} OR m.num = ?2))"
            " SELECT t.num FROM turns t JOIN turns h ON h.num = ?2 AND abs(t.place - h.place) <= ?3 ORDER BY t.place",
            num, reach, packed(held),
        )  # fmt: skip

    def owner(self, id: str) -> tuple[bool, str | None]:
        """Whether the session has been used, and by which token's caller; None is the local person."""
        row = self._here.one(
            "SELECT (SELECT owner FROM session_owners WHERE ns = ?1 AND session = ?2),"
            " EXISTS (SELECT 1 FROM sessions WHERE ns = ?1 AND id = ?2)"
            " OR EXISTS (SELECT 1 FROM snapshots WHERE ns = ?1 AND session = ?2)",
            id,
        )
        assert row is not None
        return row[0] is not None or bool(row[1]), row[0]

    def put(self, session: Session) -> None:
        """A session that is there takes what it did not have; one that cannot be read makes room."""
        self._here.change(f"DELETE FROM sessions AS s WHERE ns = ?1 AND id = ?2 AND NOT {_SOUND}", session.id)
        self._here.change(
            "INSERT INTO sessions (ns, id, started, ended, project, title, summary, zone)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
            " ON CONFLICT (ns, id) DO UPDATE SET ended = coalesce(excluded.ended, sessions.ended),"
            " project = coalesce(excluded.project, sessions.project), title = coalesce(excluded.title, sessions.title),"
            " summary = coalesce(excluded.summary, sessions.summary),"
            " zone = CASE WHEN excluded.zone = 'quarantine' OR sessions.zone = 'trusted' THEN excluded.zone"
            " ELSE sessions.zone END",
            session.id, session.started, session.ended, session.project, session.title, session.summary, session.zone,
        )  # fmt: skip

    def link(self, id: str, nums: Sequence[int], usage: Usage, at: int) -> None:
        self._here.change(
            "INSERT INTO session_memories (ns, session, num, usage, at) SELECT DISTINCT ?1, ?2, value, ?3, ?4"
            " FROM NUMBERS(?5)"
            " WHERE true ON CONFLICT (ns, session, num, usage) DO UPDATE SET at = excluded.at",
            id, usage, at, packed(nums),
        )  # fmt: skip

    def own(self, id: str, owner: str | None) -> None:
        """A token has what nobody has; None is the local person, who has it whoever named it first."""
        if owner is None:
            self._here.change("DELETE FROM session_owners WHERE ns = ?1 AND session = ?2", id)
            return
        self._here.change(
            "INSERT INTO session_owners (ns, session, owner) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING", id, owner
        )
