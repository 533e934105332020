"""What stands around a memory in time: its window, the turns beside it in its session, how its task ended."""

from __future__ import annotations

from collections.abc import Sequence

from recallens.engines.sqlite.trails import SqliteTrails, packed

# Recorded outcomes are few among the events, and a timeline asks for them by task.
OUTCOMES_BY_TASK = "CREATE INDEX outcomes_by_task ON events(ns, task, at) WHERE kind = 'outcome';"

# What may be shown: not blocked by its status or zone, and not bound to a context that nobody has said they hold.
_SHOWN = (
    "m.status NOT IN ('forgotten', 'rejected', 'quarantined') AND m.zone <> 'quarantine'"
    " AND (m.scopes = '[]' OR NOT EXISTS (SELECT 1 FROM json_each(m.scopes) WHERE value = ?))"
)


class SqliteLayers(SqliteTrails):
    def window(self, ns: int, num: int, span: int, limit: int, withheld: str) -> tuple[list[int], list[int]]:
        """The nearest neighbours of a memory in its project within `span` ms, each side in the order of time."""
        anchor = self._one("SELECT created, id, project FROM memories WHERE num = ?", num)
        assert anchor is not None
        created, id, project = anchor
        same = f"m.ns = ? AND m.project IS ? AND {_SHOWN}"
        earlier = self._all(
            f"SELECT m.num FROM memories m WHERE {same} AND m.created >= ? AND (m.created, m.id) < (?, ?)"
            " ORDER BY m.created DESC, m.id DESC LIMIT ?",
            ns, project, withheld, created - span, created, id, limit,
        )  # fmt: skip
        later = self._all(
            f"SELECT m.num FROM memories m WHERE {same} AND m.created <= ? AND (m.created, m.id) > (?, ?)"
            " ORDER BY m.created, m.id LIMIT ?",
            ns, project, withheld, created + span, created, id, limit,
        )  # fmt: skip
        return [row[0] for row in reversed(earlier)], [row[0] for row in later]

    def session_turns(
        self, ns: int, nums: Sequence[int], withheld: str
    ) -> dict[int, tuple[str, int | None, int | None]]:
        """The session in which each memory was made, and what was said there right before and after it."""
        rows = self._all(
            "WITH wanted AS (SELECT l.num, l.session FROM json_each(?1) j CROSS JOIN session_memories l"
            "  ON l.num = j.value AND l.usage = 'created' WHERE l.ns = ?2),"
            " turns AS (SELECT l.session, m.num,"
            "  lag(m.num) OVER course AS previous, lead(m.num) OVER course AS following"
            "  FROM (SELECT DISTINCT session FROM wanted) s CROSS JOIN session_memories l"
            "  ON l.ns = ?2 AND l.session = s.session AND l.usage = 'created' JOIN memories m ON m.num = l.num"
            f" WHERE {_SHOWN.replace('?', '?3')}"
            "  WINDOW course AS (PARTITION BY l.session ORDER BY m.created, m.position, m.id))"
            " SELECT w.num, w.session, t.previous, t.following FROM wanted w"
            " JOIN turns t ON t.session = w.session AND t.num = w.num ORDER BY w.num",
            packed(nums), ns, withheld,
        )  # fmt: skip
        return {num: (session, previous, following) for num, session, previous, following in rows}

    def course(self, ns: int, num: int, reach: int, withheld: str) -> list[int]:
        """What was said in the session in which a memory was made, so many turns before it and after it, in order."""
        rows = self._all(
            "WITH turns AS (SELECT m.num, row_number() OVER (ORDER BY m.created, m.position, m.id) AS place"
            "  FROM session_memories l JOIN memories m ON m.num = l.num"
            "  WHERE l.ns = ?1 AND l.usage = 'created' AND l.session ="
            "   (SELECT session FROM session_memories WHERE ns = ?1 AND num = ?2 AND usage = 'created' LIMIT 1)"
            f"  AND ({_SHOWN.replace('?', '?4')} OR m.num = ?2))"
            " SELECT t.num FROM turns t JOIN turns h ON h.num = ?2 AND abs(t.place - h.place) <= ?3 ORDER BY t.place",
            ns, num, reach, withheld,
        )  # fmt: skip
        return [row[0] for row in rows]

    def outcomes(self, ns: int, tasks: Sequence[str]) -> dict[str, float]:
        """The last reward that was recorded for each task."""
        rows = self._all(
            "SELECT e.task, e.amount FROM json_each(?) j CROSS JOIN events e ON e.ns = ? AND e.task = j.value"
            " AND e.kind = 'outcome' WHERE e.amount IS NOT NULL ORDER BY e.at, e.id",
            packed(tasks), ns,
        )  # fmt: skip
        return dict(rows)
