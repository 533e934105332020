"""Tasks: their logs, what was used in them, and the counts that uplift is made of."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any

from msgspec import Struct

from recallens.model.memory import Artifact, Zone
from recallens.model.task import Task
from recallens.store.sql.connection import NamespaceConnection
from recallens.store.sql.rows import NO_LIMIT, packed

_SELECT = (
    "SELECT t.id, t.text, t.started, t.wording, t.session, t.project, t.worktree, t.ended, t.reward, t.summary, m.id,"
    " t.zone, t.owner FROM tasks t LEFT JOIN memories m ON m.num = t.episode AND m.ns = ?1"
    " WHERE t.ns = ?1 AND SOUND(task, t)"
)

# A task counts for a memory that was used in it, if whoever ended it may say so. What is trusted is judged by the
# person alone, also where an agent judged it before it was approved.
_TRIALS = (
    "SELECT DISTINCT e.num, e.task, t.reward FROM events e JOIN tasks t ON t.ns = e.ns AND t.id = e.task"
    " JOIN memories m ON m.num = e.num AND m.ns = e.ns WHERE {here}e.kind = 'tried' AND t.ended IS NOT NULL"
    " AND (e.owner IS NULL OR m.zone <> 'trusted')"
)
# What to expect of a task is told by those of the person: no agent moves what others are measured against.
_ENDED = "SELECT reward FROM tasks WHERE ns = ?1 AND zone = 'trusted' AND"
_TRIALS_HERE = _TRIALS.format(here="e.ns = ?1 AND ")

_MISCOUNTED = (
    "SELECT count(*) FROM memories m LEFT JOIN (SELECT num, count(*) AS tasks FROM ({trials}) AS trials"
    " GROUP BY num) x ON x.num = m.num WHERE m.tasks_with <> coalesce(x.tasks, 0)"
)
MISCOUNTED_TRIALS = _MISCOUNTED.format(trials=_TRIALS.format(here=""))
MISCOUNTED_HERE = f"{_MISCOUNTED.format(trials=_TRIALS_HERE)} AND m.ns = ?1"


def _zoned(values: list[Any]) -> list[Any]:
    """A row whose last column is a zone."""
    return [*values[:-1], Zone(values[-1])]


def _counted(trials: Sequence[tuple[int, str, float | None]]) -> dict[int, tuple[int, float]]:
    """In how many tasks each memory was tried, and the sum of their rewards."""
    rewards: dict[int, list[float | None]] = {}
    for num, _, reward in trials:
        rewards.setdefault(num, []).append(reward)
    return {num: (len(own), _summed(own)) for num, own in rewards.items()}


def _summed(rewards: Sequence[float | None]) -> float:
    """The exact sum, rounded once: it is the same in whatever order an engine gives the rows."""
    return fsum(reward for reward in rewards if reward is not None)


class SqlTasks(Struct, frozen=True):
    """Another's task is not there for who reads as a token."""

    _here: NamespaceConnection

    def _select(self, further: str, *values: Any) -> list[Task]:
        mine = self._here.theirs("t.owner")
        rows = self._here.all(_SELECT + (f" AND {mine}" if mine else "") + further, *values)
        return [Task(id, self._here.name, *[*_zoned(rest), owner]) for id, *rest, owner in rows]

    def get(self, id: str) -> Task | None:
        return next(iter(self._select(" AND t.id = ?2", id)), None)

    def latest(
        self, *, running: bool | None, project: str | None, session: str | None, limit: int, offset: int,
        owner: str | None = None,
    ) -> list[Task]:  # fmt: skip
        """The latest first; where an owner is named, those that this token started."""
        ended = {None: "", True: " AND t.ended IS NULL", False: " AND t.ended IS NOT NULL"}[running]
        return self._select(
            f"{ended} AND (CAST(?2 AS TEXT) IS NULL OR t.project = ?2) AND (CAST(?3 AS TEXT) IS NULL OR t.session = ?3)"
            " AND (CAST(?6 AS TEXT) IS NULL OR t.owner = ?6) ORDER BY t.started DESC, t.id DESC LIMIT ?4 OFFSET ?5",
            project, session, limit, offset, owner,
        )  # fmt: skip

    def ended(self, project: str | None, limit: int) -> list[Task]:
        """The ended tasks of a project, the latest first."""
        return self._select(
            " AND t.project IS NOT DISTINCT FROM ?2 AND t.ended IS NOT NULL ORDER BY t.ended DESC, t.id DESC LIMIT ?3",
            project,
            limit,
        )

    def recalled(self, task: Task) -> list[int]:
        """The memories that were returned in a task, or to its session while it ran, to who started it, in the order of
        time: what another asks in its name counts for nothing."""
        return self._here.first(
            "SELECT e.num FROM events e JOIN memories m ON m.num = e.num AND m.ns = ?1 WHERE e.ns = ?1"
            " AND e.kind = 'recalled'"
            " AND (e.task = ?2 OR (e.session = ?3 AND e.at BETWEEN ?4 AND ?5))"
            " AND m.status IN ('active', 'superseded') AND e.owner IS NOT DISTINCT FROM ?6"
            " GROUP BY e.num ORDER BY min(e.id)",
            task.id, task.session, task.started, task.ended, task.owner,
        )  # fmt: skip

    def attempts(self, wording: str) -> list[Task]:
        """The ended tasks of one wording, in the order in which they ended."""
        return self._select(" AND t.wording = ?2 AND t.ended IS NOT NULL ORDER BY t.ended, t.id", wording)

    def artifacts(self, tasks: Sequence[str], *, chars: int, limit: int) -> list[Artifact]:
        """What these tasks logged, in the order of time, each up to so many characters; -1 is no limit."""
        rows = self._here.all(
            "SELECT a.id, a.task, a.kind,"
            " CASE WHEN ?2 < 0 THEN a.content ELSE substr(a.content, 1, CAST(?2 AS INTEGER)) END, a.created, a.zone"
            " FROM TEXTS(?3) j CROSS JOIN artifacts a ON a.ns = ?1 AND a.task = j.value"
            " AND SOUND(log, a) ORDER BY a.created, a.id LIMIT ?4",
            chars, packed(tasks), limit if limit >= 0 else NO_LIMIT,
        )  # fmt: skip
        return [Artifact(id, self._here.name, *_zoned(rest)) for id, *rest in rows]

    def artifact_kinds(self, id: str) -> list[tuple[str, str]]:
        return self._here.all("SELECT id, kind FROM artifacts WHERE ns = ?1 AND task = ?2 ORDER BY created, id", id)

    def memories(self, tasks: Sequence[str]) -> list[int]:
        """The memories that belong to these tasks, in the order of time."""
        return self._here.first(
            "SELECT m.num FROM TEXTS(?2) j CROSS JOIN memories m ON m.ns = ?1 AND m.task = j.value"
            " WHERE m.status IN ('active', 'pending_review', 'superseded') ORDER BY m.created, m.id",
            packed(tasks),
        )

    def uses(self, id: str) -> dict[int, str]:
        """The memories that were used in a task, and who said so: before any agent the person, who is called ""."""
        return self._here.mapping(
            "SELECT e.num, min(coalesce(e.owner, '')) FROM events e JOIN memories m ON m.num = e.num AND m.ns = ?1"
            " WHERE e.ns = ?1 AND e.task = ?2 AND m.status IN ('active', 'superseded') AND e.kind = 'used'"
            " GROUP BY e.num ORDER BY e.num",
            id,
        )

    def given(self, nums: Sequence[int], task: Task, owner: str | None, now: int) -> set[int]:
        """Of some memories those that a task was given: recalled in it, or by whoever asks while it ran, or written."""
        return set(
            self._here.first(
                "SELECT DISTINCT e.num FROM NUMBERS(?2) j CROSS JOIN events e ON e.num = j.value AND e.ns = ?1"
                " AND e.kind = 'recalled' AND (e.task = ?3 OR (e.owner IS NOT DISTINCT FROM ?4 AND e.at BETWEEN ?5"
                " AND ?6))"
                " UNION SELECT m.num FROM NUMBERS(?2) j CROSS JOIN memories m ON m.num = j.value AND m.ns = ?1"
                " AND m.task = ?3",
                packed(nums), task.id, owner, task.started, now,
            )
        )  # fmt: skip

    def writers(self, nums: Sequence[int]) -> dict[int, str]:
        """Which agent wrote each of some memories, where one did."""
        return self._here.mapping(
            "SELECT e.num, e.owner FROM NUMBERS(?2) j CROSS JOIN events e ON e.num = j.value AND e.ns = ?1"
            " AND e.kind = 'written' ORDER BY e.id DESC",
            packed(nums),
        )

    def tried(self, num: int, owner: str) -> int:
        """In how many tasks of an agent a memory counts."""
        (count,) = self._here.first(
            "SELECT count(DISTINCT task) FROM events WHERE ns = ?1 AND num = ?2 AND kind = 'tried' AND owner = ?3",
            num, owner,
        )  # fmt: skip
        return int(count)

    def outcomes(self, tasks: Sequence[str]) -> dict[str, float]:
        """The last reward that was recorded for each task."""
        return self._here.mapping(
            "SELECT e.task, e.amount FROM TEXTS(?2) j CROSS JOIN events e ON e.ns = ?1 AND e.task = j.value"
            " AND e.kind = 'outcome' WHERE e.amount IS NOT NULL ORDER BY e.at, e.id",
            packed(tasks),
        )

    def trials(self, nums: Sequence[int]) -> dict[int, tuple[int, float]]:
        """In how many ended tasks each memory took part, and the sum of their rewards."""
        rows = self._here.all(
            "SELECT m.num, m.tasks_with, m.reward_with FROM NUMBERS(?2) j CROSS JOIN memories m"
            " ON m.num = j.value AND m.ns = ?1 SORTED BY j.key",
            packed(nums),
        )
        return {num: (tasks, rewards) for num, tasks, rewards in rows}

    def trials_until(self, at: int) -> tuple[list[tuple[int, int, float]], int, float]:
        """Each memory's tasks and their rewards as they stood at a time, and all those of the person."""
        rows = self._here.all(f"{_TRIALS_HERE} AND e.at <= ?2 AND t.ended <= ?2", at)
        rewards = self._here.first(f"{_ENDED} ended <= ?2", at)
        return [(num, *counted) for num, counted in sorted(_counted(rows).items())], len(rewards), _summed(rewards)

    def put(self, task: Task) -> None:
        self._here.change(
            "INSERT INTO tasks (ns, id, text, started, wording, session, project, worktree, zone, owner)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            task.id, task.text, task.started, task.wording, task.session, task.project, task.worktree, task.zone,
            task.owner,
        )  # fmt: skip

    def put_artifact(self, artifact: Artifact) -> None:
        self._here.change(
            "INSERT INTO artifacts (ns, id, task, kind, content, created, zone) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            artifact.id, artifact.task, artifact.kind, artifact.content, artifact.created, artifact.zone,
        )  # fmt: skip

    def end(self, task: Task, episode: int) -> None:
        self._here.change(
            "UPDATE tasks SET ended = ?3, reward = ?4, summary = ?5, wording = ?6, episode = ?7, zone = ?8"
            " WHERE ns = ?1 AND id = ?2",
            task.id, task.ended, task.reward, task.summary, task.wording, episode, task.zone,
        )  # fmt: skip

    def recount(self, id: str | None = None, *, num: int | None = None) -> None:
        """Count trials anew for the memories of one task, or one memory, or, without either, the whole namespace."""
        here, seq = self._here, self._here.number()
        if id is None:
            only = "tasks_with <> 0" if num is None else "num = ?3"
            here.change(
                f"UPDATE memories SET tasks_with = 0, reward_with = 0, seq = ?2 WHERE ns = ?1 AND {only}", seq,
                *(() if num is None else (num,)),
            )  # fmt: skip
        only = "" if id is None else " AND e.num IN (SELECT num FROM events WHERE ns = ?1 AND task = ?2)"
        only = only if num is None else " AND e.num = ?2"
        rows = here.all(_TRIALS_HERE + only, *(each for each in (id, num) if each is not None))
        here.change_many(
            "UPDATE memories SET tasks_with = ?3, reward_with = ?4, seq = ?5 WHERE num = ?2 AND ns = ?1",
            [(num, *counted, seq) for num, counted in _counted(rows).items()],
        )
        rewards = here.first(f"{_ENDED} ended IS NOT NULL")
        here.change(
            "UPDATE namespaces SET tasks_ended = ?2, reward_total = ?3 WHERE id = ?1", len(rewards), _summed(rewards)
        )

    def forget_words(self, episodes: Sequence[int]) -> None:
        """Deleting a task's episode for good takes its words and logs along; its reward stays, as a number."""
        wanted = packed(episodes)
        ended = "SELECT id FROM tasks WHERE ns = ?1 AND episode IN (SELECT value FROM NUMBERS(?2))"
        self._here.change(f"DELETE FROM artifacts WHERE ns = ?1 AND task IN ({ended})", wanted)
        self._here.change(f"UPDATE tasks SET text = '', summary = NULL WHERE ns = ?1 AND id IN ({ended})", wanted)
