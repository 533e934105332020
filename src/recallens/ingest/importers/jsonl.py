"""JSON lines: sessions, memories, relations and tasks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recallens.errors import InvalidInput, RecallensError, UnknownOption
from recallens.ingest.citations import parse_citation
from recallens.ingest.draft import Draft
from recallens.ingest.importers import Import, MemoryLine, RelationLine, SessionLine, TaskLine
from recallens.ingest.prepare import check
from recallens.ingest.validate import option, parse_when, text_content, unit_interval
from recallens.model.citation import Citation, citation_from_json
from recallens.model.memory import Origin, RelationType

SUFFIXES = (".jsonl", ".ndjson", "")

LINE_TYPES = ("memory", "session", "relation", "task")
_TIMES = {"createdAt": "created", "created": "created", "validFrom": "valid_from", "validUntil": "valid_until"}
_FIELDS = {
    "content": "content", "text": "content", "title": "title", "summary": "summary", "projectId": "project",
    "project": "project", "sector": "sector", "kind": "kind", "tier": "tier", "status": "status", "zone": "zone",
    "tags": "tags", "scopes": "scopes", "importance": "importance", "confidence": "confidence",
    "salience": "salience", "source": "source", "sourceId": "source_id", "session": "session", "task": "task",
    "worktree": "worktree", "author": "author", "position": "position", "reward": "reward",
    "attributes": "attributes",
}  # fmt: skip
_NUMBERS = frozenset(("importance", "confidence", "salience", "position", "reward"))
_LISTS = frozenset(("tags", "scopes"))
TASK_FIELDS = (
    "type", "id", "text", "project", "projectId", "session", "worktree", "startedAt", "endedAt", "reward", "summary",
    "logs", "used",
)  # fmt: skip


def read_lines(lines: Iterable[str], *, now: int) -> Import:
    """Every line that is not blank; a line is a memory unless its `type` says otherwise."""
    imported = Import()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise InvalidInput("not a JSON object")
            if "\\u" in line:
                json.dumps(record, ensure_ascii=False).encode()  # half a surrogate pair can be escaped, not stored
            _read(record, imported, now, number)
        except json.JSONDecodeError as error:
            imported.errors.append(f"line {number}: not JSON ({error.msg} at column {error.colno})")
        except (ValueError, RecursionError) as error:
            # A number of thousands of digits, or objects nested as deep.
            imported.errors.append(f"line {number}: not JSON that can be read ({error})")
        except RecallensError as error:
            imported.errors.append(f"line {number}: {error}")
    return imported


def _read(record: Mapping[str, Any], imported: Import, now: int, number: int) -> None:
    match record.get("type", "memory"):
        case "memory":
            imported.memories.append(_memory(record, now, number))
        case "session":
            imported.sessions.append(_session(record, now))
        case "relation":
            imported.relations.append(_relation(record))
        case "task":
            imported.tasks.append(_task(record, now))
        case other:
            raise UnknownOption("line type", other, LINE_TYPES)


def _refuse_unknown(record: Mapping[str, Any], fields: Sequence[str], what: str) -> None:
    if unknown := sorted(record.keys() - set(fields)):
        raise InvalidInput(f"unknown field {unknown[0]!r}; a {what} has: {', '.join(fields)}")


def _memory(record: Mapping[str, Any], now: int, number: int) -> MemoryLine:
    _refuse_unknown(record, sorted({*_FIELDS, *_TIMES, "type", "key", "supersedes", "citations", "id"}), "memory")
    values: dict[str, Any] = {}
    for name, value in record.items():
        if name in _FIELDS and value is not None:
            values[_FIELDS[name]] = _typed(name, value)
        elif name in _TIMES and value is not None:
            values[_TIMES[name]] = parse_when(value, now_ms=now)
    if "content" not in values:
        raise InvalidInput("a memory needs `content`")
    cited = record.get("citations") or []
    if not isinstance(cited, list):
        raise InvalidInput("citations must be a list")
    key, supersedes = _text(record, "key"), _text(record, "supersedes")
    values.setdefault("source_id", key)
    draft = Draft(**values, citations=tuple(map(_citation, cited)))
    check(draft)
    return MemoryLine(draft, key, supersedes, number)


def _citation(cited: object) -> Citation:
    """As an object, or as `--cite` takes it."""
    return parse_citation(cited) if isinstance(cited, str) else citation_from_json(cited)


def _session(record: Mapping[str, Any], now: int) -> SessionLine:
    id = _text(record, "id")
    if not id:
        raise InvalidInput("a session needs `id`")
    times = (parse_when(record[name], now_ms=now) if record.get(name) else None for name in ("startedAt", "endedAt"))
    project = _text(record, "projectId") or _text(record, "project")
    return SessionLine(id, project, _text(record, "title"), _text(record, "summary"), *times)


def _relation(record: Mapping[str, Any]) -> RelationLine:
    source, target = _text(record, "source"), _text(record, "target")
    if not source or not target:
        raise InvalidInput("a relation needs `source` and `target`")
    relation = option(RelationType, record.get("relation"), "relation")
    confidence = unit_interval("confidence", record.get("confidence", 1.0))
    return RelationLine(
        source, target, relation, confidence, option(Origin, record.get("origin") or Origin.IMPORT, "origin")
    )


def _task(record: Mapping[str, Any], now: int) -> TaskLine:
    _refuse_unknown(record, TASK_FIELDS, "task")
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
        tuple(map(_log, _list(record, "logs"))), tuple(map(_name, _list(record, "used"))),
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


def _typed(name: str, value: Any) -> Any:
    if name in _NUMBERS:
        valid, wanted = isinstance(value, int | float) and not isinstance(value, bool), "a number"
        if valid and name == "position":
            valid, wanted = isinstance(value, int) and 0 <= value < 2**31, "a whole number from 0"
    elif name in _LISTS:
        valid, wanted = isinstance(value, list) and all(isinstance(item, str) for item in value), "a list of texts"
    elif name == "attributes":
        valid, wanted = isinstance(value, dict), "an object"
    else:
        valid, wanted = isinstance(value, str), "text"
    if not valid:
        raise InvalidInput(f"{name} must be {wanted}, not {value!r}")
    return tuple(value) if name in _LISTS else value
