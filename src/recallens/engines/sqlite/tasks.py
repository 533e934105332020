"""Tasks in SQLite: their logs, what was used in them, and the counts that uplift is made of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recallens.engines.sqlite.trails import SqliteTrails, packed
from recallens.model.memory import Artifact
from recallens.model.task import Task

_TASK = (
    "SELECT t.id, n.name, t.text, t.started, t.wording, t.session, t.project, t.worktree, t.ended, t.reward, t.summary,"
    " m.id FROM tasks t JOIN namespaces n ON n.id = t.ns LEFT JOIN memories m ON m.num = t.episode"
)

# A memory was with a task if it was used in it, or, where nothing was marked as used, if it was recalled in it.
_TRIALS = (
    "SELECT DISTINCT e.num, e.task, t.reward FROM events e JOIN tasks t ON t.ns = e.ns AND t.id = e.task"
    " WHERE e.ns = ?1 AND e.num IS NOT NULL AND t.ended IS NOT NULL"
    " AND (e.kind = 'used' OR (e.kind = 'recalled' AND NOT t.marked))"
)

MISCOUNTED_TRIALS = (
    "SELECT count(*) FROM memories m LEFT JOIN (SELECT num, count(*) AS tasks FROM ("
    + _TRIALS.replace("e.ns = ?1 AND ", "")
    + ") GROUP BY num) x ON x.num = m.num WHERE m.tasks_with <> coalesce(x.tasks, 0)"
)


class SqliteTasks(SqliteTrails):
    def task(self, ns: int, id: str) -> Task | None:
        row = self._one(f"{_TASK} WHERE t.ns = ? AND t.id = ?", ns, id)
        return Task(*row) if row else None

    def tasks(
        self, ns: int, *, running: bool | None, project: str | None, session: str | None, limit: int, offset: int
    ) -> list[Task]:
        """The latest first."""
        where: list[str] = ["t.ns = ?"]
        values: list[Any] = [ns]
        if running is not None:
            where.append("t.ended IS NULL" if running else "t.ended IS NOT NULL")
        for column, value in (("project", project), ("session", session)):
            if value is not None:
                where.append(f"t.{column} = ?")
                values.append(value)
        rows = self._all(
            f"{_TASK} WHERE {' AND '.join(where)} ORDER BY t.started DESC, t.id DESC LIMIT ? OFFSET ?",
            *values, limit, offset,
        )  # fmt: skip
        return [Task(*row) for row in rows]

    def wordings(self, ns: int, project: str | None, limit: int) -> list[tuple[str, str]]:
        """The first task of each wording in a project, by id and text, the latest first."""
        rows = self._all(
            "SELECT id, text FROM tasks WHERE ns = ? AND project IS ? AND wording = id ORDER BY started DESC, id DESC"
            " LIMIT ?",
            ns, project, limit,
        )  # fmt: skip
        return [(id, text) for id, text in rows]

    def attempts(self, ns: int, wording: str) -> list[Task]:
        """The ended tasks of one wording, in the order in which they ended."""
        rows = self._all(
            f"{_TASK} WHERE t.ns = ? AND t.wording = ? AND t.ended IS NOT NULL ORDER BY t.ended, t.id", ns, wording
        )
        return [Task(*row) for row in rows]

    def artifacts(self, ns: int, tasks: Sequence[str], *, chars: int, limit: int) -> list[Artifact]:
        """What these tasks logged, in the order of time, each up to so many characters; -1 is no limit."""
        rows = self._all(
            "SELECT a.id, n.name, a.task, a.kind, iif(?1 < 0, a.content, substr(a.content, 1, ?1)), a.created"
            " FROM json_each(?2) j CROSS JOIN artifacts a ON a.ns = ?3 AND a.task = j.value"
            " JOIN namespaces n ON n.id = a.ns ORDER BY a.created, a.id LIMIT ?4",
            chars, packed(tasks), ns, limit,
        )  # fmt: skip
        return [Artifact(*row) for row in rows]

    def artifact_kinds(self, ns: int, task: str) -> list[tuple[str, str]]:
        rows = self._all("SELECT id, kind FROM artifacts WHERE ns = ? AND task = ? ORDER BY created, id", ns, task)
        return [(id, kind) for id, kind in rows]

    def task_memories(self, ns: int, tasks: Sequence[str]) -> list[int]:
        """The memories that belong to these tasks, in the order of time."""
        rows = self._all(
            "SELECT m.num FROM json_each(?) j CROSS JOIN memories m ON m.ns = ? AND m.task = j.value"
            " WHERE m.status IN ('active', 'pending_review', 'superseded') ORDER BY m.created, m.id",
            packed(tasks), ns,
        )  # fmt: skip
        return [row[0] for row in rows]

    def task_uses(self, ns: int, task: str) -> list[int]:
        """The memories that were with a task, by the rule that uplift counts by."""
        rows = self._all(
            "SELECT DISTINCT e.num FROM events e JOIN tasks t ON t.ns = e.ns AND t.id = e.task JOIN memories m"
            " ON m.num = e.num WHERE e.ns = ? AND e.task = ? AND m.status IN ('active', 'superseded')"
            " AND (e.kind = 'used' OR (e.kind = 'recalled' AND NOT t.marked)) ORDER BY e.num",
            ns, task,
        )  # fmt: skip
        return [row[0] for row in rows]

    def trials_until(self, ns: int, at: int) -> tuple[list[tuple[int, int, float]], int, float]:
        """Each memory's tasks and their rewards as they stood at a time, and those of the whole namespace."""
        rows = self._all(
            f"SELECT num, count(*), total(reward) FROM ({_TRIALS} AND e.at <= ?2 AND t.ended <= ?2) GROUP BY num",
            ns, at,
        )  # fmt: skip
        ended = self._one("SELECT count(*), total(reward) FROM tasks WHERE ns = ? AND ended <= ?", ns, at)
        assert ended is not None
        return [(num, tasks, rewards) for num, tasks, rewards in rows], ended[0], ended[1]

    def trials_of(self, nums: Sequence[int]) -> dict[int, tuple[int, float]]:
        rows = self._all(
            "SELECT m.num, m.tasks_with, m.reward_with FROM json_each(?) j CROSS JOIN memories m ON m.num = j.value",
            packed(nums),
        )
        return {num: (tasks, rewards) for num, tasks, rewards in rows}

    def paths_of(self, ns: int, nums: Sequence[int]) -> list[tuple[int, str]]:
        """Every file that each of these memories names."""
        rows = self._all(
            "SELECT l.num, l.value FROM json_each(?) j CROSS JOIN labels l ON l.num = j.value"
            " WHERE l.ns = ? AND l.kind = 'path' ORDER BY l.num, l.value",
            packed(nums), ns,
        )  # fmt: skip
        return [(num, value) for num, value in rows]

    def crafts_named(self, ns: int, kind: str, project: str | None) -> list[tuple[int, str]]:
        """The skills, patterns or gotchas in use of a project, by number and title, the newest first."""
        rows = self._all(
            "SELECT num, title FROM memories INDEXED BY memories_by_craft WHERE ns = ? AND kind = ? AND project IS ?"
            " AND title IS NOT NULL AND kind IN ('skill', 'pattern', 'gotcha')"
            " AND status IN ('active', 'pending_review') ORDER BY num DESC",
            ns, kind, project,
        )  # fmt: skip
        return [(num, title) for num, title in rows]


class SqliteTaskWrites(SqliteTrails):
    if TYPE_CHECKING:  # the writer's own

        def _number(self, ns: int) -> int: ...

    def put_task(self, ns: int, task: Task) -> None:
        self._all(
            "INSERT INTO tasks (ns, id, text, started, wording, session, project, worktree)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ns, task.id, task.text, task.started, task.wording, task.session, task.project, task.worktree,
        )  # fmt: skip

    def put_artifact(self, ns: int, artifact: Artifact) -> None:
        self._all(
            "INSERT INTO artifacts (id, ns, task, kind, content, created) VALUES (?, ?, ?, ?, ?, ?)",
            artifact.id, ns, artifact.task, artifact.kind, artifact.content, artifact.created,
        )  # fmt: skip

    def mark_used(self, ns: int, task: str) -> None:
        self._all("UPDATE tasks SET marked = 1 WHERE ns = ? AND id = ?", ns, task)

    def end_task(self, ns: int, task: Task, episode: int) -> None:
        self._all(
            "UPDATE tasks SET ended = ?, reward = ?, summary = ?, episode = ? WHERE ns = ? AND id = ?",
            task.ended, task.reward, task.summary, episode, ns, task.id,
        )  # fmt: skip

    def recount_trials(self, ns: int, task: str | None = None) -> None:
        """Count anew for the memories of one task, or, without one, for the whole namespace."""
        if task is None:
            self._all(
                "UPDATE memories SET tasks_with = 0, reward_with = 0, seq = ? WHERE ns = ? AND tasks_with <> 0",
                self._number(ns), ns,
            )  # fmt: skip
        only = "" if task is None else " AND e.num IN (SELECT num FROM events WHERE ns = ?1 AND task = ?3)"
        self._all(
            "UPDATE memories SET tasks_with = x.tasks, reward_with = x.rewards, seq = ?2 FROM (SELECT num,"
            f" count(*) AS tasks, total(reward) AS rewards FROM ({_TRIALS}{only}) GROUP BY num) x"
            " WHERE memories.num = x.num",
            ns, self._number(ns), *(() if task is None else (task,)),
        )  # fmt: skip
        self._all(
            "UPDATE namespaces SET (tasks_ended, reward_total) = (SELECT count(*), total(reward) FROM tasks"
            " WHERE ns = ?1 AND ended IS NOT NULL) WHERE id = ?1",
            ns,
        )

    def put_attributes(self, ns: int, num: int, attributes: Mapping[str, Any], at: int) -> None:
        """Counts and the like beside an unchanged text."""
        self._all(
            "UPDATE memories SET attributes = ?, updated = ?, version = version + 1, seq = ? WHERE num = ?",
            json.dumps(dict(attributes), ensure_ascii=False), at, self._number(ns), num,
        )  # fmt: skip

    def forget_task_words(self, ns: int, episodes: Sequence[int]) -> None:
        """Deleting a task's episode for good takes its words and logs along; its reward stays, as a number."""
        wanted = packed(episodes)
        ended = "SELECT id FROM tasks WHERE ns = ?1 AND episode IN (SELECT value FROM json_each(?2))"
        self._all(f"DELETE FROM artifacts WHERE ns = ?1 AND task IN ({ended})", ns, wanted)
        self._all(f"UPDATE tasks SET text = '', summary = NULL WHERE ns = ?1 AND id IN ({ended})", ns, wanted)
