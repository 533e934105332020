"""Tasks in JSON lines: what was to be done, what was logged and used, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recallens.errors import InvalidInput
from recallens.ingest.validate import parse_when, text_content, unit_interval

TASK_FIELDS = (
    "type", "id", "text", "project", "projectId", "session", "worktree", "startedAt", "endedAt", "reward", "summary",
    "logs", "used",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TaskLine:
    """`logs` are (kind, content) pairs; `used` names memories as a relation does."""

    id: str
    text: str
    project: str | None
    session: str | None
    worktree: str | None
    started: int | None
    ended: int | None
    reward: float | None
    summary: str | None
    logs: tuple[tuple[str, str], ...]
    used: tuple[str, ...]


def task_line(record: Mapping[str, Any], now: int) -> TaskLine:
    unknown = sorted(record.keys() - set(TASK_FIELDS))
    if unknown:
        raise InvalidInput(f"unknown field {unknown[0]!r}; a task has: {', '.join(TASK_FIELDS)}")
    id, text = _text(record, "id"), _text(record, "text")
    if not id or not text:
        raise InvalidInput("a task needs `id` and `text`")
    started, ended = (parse_when(record[n], now_ms=now) if record.get(n) else None for n in ("startedAt", "endedAt"))
    reward = None if record.get("reward") is None else unit_interval("reward", record["reward"])
    if ended is not None and (reward is None or (started is not None and ended < started)):
        raise InvalidInput("a task with `endedAt` needs a `reward` and a `startedAt` that is not after it")
    return TaskLine(
        id, text_content(text), _text(record, "projectId") or _text(record, "project"), _text(record, "session"),
        _text(record, "worktree"), started, ended, reward, _text(record, "summary"),
        tuple(_log(log) for log in _list(record, "logs")), tuple(_name(name) for name in _list(record, "used")),
    )  # fmt: skip


def _log(log: object) -> tuple[str, str]:
    if not isinstance(log, Mapping) or not isinstance(log.get("content"), str):
        raise InvalidInput(f"a log is an object with `content` and, if it is none, `kind`, not {log!r}")
    kind = log.get("kind", "log")
    if kind not in ("log", "terminal_snapshot"):
        raise InvalidInput(f"unknown kind of log {kind!r}; use one of: log, terminal_snapshot")
    return kind, text_content(log["content"])


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise InvalidInput(f"`used` must be a list of names, and {name!r} is none")
    return name


def _list(record: Mapping[str, Any], name: str) -> list[object]:
    value = record.get(name) or []
    if not isinstance(value, list):
        raise InvalidInput(f"{name} must be a list, not {value!r}")
    return value


def _text(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {value!r}")
    return value
