"""Sessions and tasks: an agent's run, and what it is trying to do in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from recallens.errors import NotFound
from recallens.operations.arguments import (
    PAGE,
    Arguments,
    Content,
    Cursor,
    Limit,
    Name,
    Share,
    Words,
    cursor_of,
    offset_of,
)
from recallens.operations.operation import Answer, Call, Operation, Right, owns
from recallens.render.records import Record, artifact_record, memory_record, outcome_record, session_record, task_record

if TYPE_CHECKING:
    from recallens.engine import Engine

Title = Annotated[str, Meta(max_length=500)]


class StartSession(Arguments, frozen=True):
    id: Annotated[Name | None, Meta(description="An id of yours; else it gets one.")] = None
    project: Name | None = None
    title: Title | None = None


class OneSession(Arguments, frozen=True, kw_only=True):
    id: Name


class EndSession(OneSession, frozen=True, kw_only=True):
    summary: Annotated[str, Meta(max_length=20_000)] | None = None


class Pages(Arguments, frozen=True):
    limit: Limit = PAGE
    cursor: Cursor = None


class NumberedPage(Arguments, frozen=True):
    page: int = 1
    limit: int = PAGE


class BeginSession(Arguments, frozen=True):
    id: str | None = None
    project: str | None = None
    title: str | None = None
    started: int | None = None


class FinishSession(Arguments, frozen=True, kw_only=True):
    id: str
    summary: str | None = None
    ended: int | None = None


class NumberedTasks(NumberedPage, frozen=True):
    running: bool | None = None
    project: str | None = None
    of_session: str | None = None


class UseMemories(Arguments, frozen=True, kw_only=True):
    ids: tuple[str, ...]
    task: str | None = None
    session: str | None = None


class StartTask(Arguments, frozen=True, kw_only=True):
    task: Annotated[Words, Meta(description="What is to be done.")]
    id: Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^\S+$")] | None = None
    session: Name | None = None
    project: Name | None = None
    worktree: Name | None = None


class LogTask(Arguments, frozen=True, kw_only=True):
    id: Name
    content: Content
    kind: Literal["log", "terminal_snapshot"] = "log"


class EndTask(Arguments, frozen=True, kw_only=True):
    id: Name
    reward: Annotated[Share, Meta(description="How well it went: 0 failed, 1 perfect.")]
    summary: Annotated[str, Meta(max_length=20_000)] | None = None


class TaskFilters(Pages, frozen=True):
    running: Annotated[bool | None, Meta(description="Only those that run, or that have ended.")] = None
    project: Name | None = None
    of_session: Annotated[Name | None, Meta(description="Only of this session.")] = None


class OneTask(Arguments, frozen=True, kw_only=True):
    id: Name


def start_session(engine: Engine, call: Call, asked: StartSession) -> Answer:
    id = asked.id or f"s-{engine.core.new_id().lower()}"
    _own(engine, call, id)
    begun = engine.sessions.start(id, project=asked.project, title=asked.title, namespace=call.namespace)
    return Answer(session_record(begun))


def end_session(engine: Engine, call: Call, asked: EndSession) -> Answer:
    _own(engine, call, asked.id, claim=False)
    ended = engine.sessions.end(asked.id, summary=asked.summary, namespace=call.namespace)
    return Answer(session_record(ended))


def list_sessions(engine: Engine, call: Call, asked: Pages) -> Answer:
    shown = ["sessions", call.namespace]
    start = offset_of(asked.cursor, shown)
    found = engine.sessions.recent(limit=asked.limit, offset=start, namespace=call.namespace)
    records = [{**session_record(one), "memoriesInSession": count} for one, count in found]
    return _page("sessions", records, asked.limit, cursor_of(shown, [start + asked.limit]))


def get_session(engine: Engine, call: Call, asked: OneSession) -> Answer:
    report = engine.sessions.report(asked.id, namespace=call.namespace)
    saliences = engine.memories.salience([memory for memory, _, _ in report.links])
    links = [
        {
            "usageType": usage,
            "at": at,
            "memory": memory_record(memory, saliences[memory.id], sight=call.caller.sight),
        }
        for memory, usage, at in report.links
    ]
    return Answer({"session": session_record(report.session), "memories": links}, value=report)


def start_task(engine: Engine, call: Call, asked: StartTask) -> Answer:
    begun = engine.tasks.start(asked.task, **asked.beside("task"), namespace=call.namespace)
    return Answer(task_record(begun), value=begun)


def log_task(engine: Engine, call: Call, asked: LogTask) -> Answer:
    return Answer(artifact_record(engine.tasks.log(asked.id, asked.content, kind=asked.kind, namespace=call.namespace)))


def end_task(engine: Engine, call: Call, asked: EndTask) -> Answer:
    outcome = engine.tasks.end(asked.id, reward=asked.reward, summary=asked.summary, namespace=call.namespace)
    return Answer(outcome_record(outcome), value=outcome)


def list_tasks(engine: Engine, call: Call, asked: TaskFilters) -> Answer:
    shown = ["tasks", call.namespace, asked.running, asked.project, asked.of_session]
    start = offset_of(asked.cursor, shown)
    found = engine.tasks.recent(
        running=asked.running, project=asked.project, session=asked.of_session, limit=asked.limit, offset=start,
        namespace=call.namespace,
    )  # fmt: skip
    return _page("tasks", [task_record(one) for one in found], asked.limit, cursor_of(shown, [start + asked.limit]))


def get_task(engine: Engine, call: Call, asked: OneTask) -> Answer:
    return Answer(task_record(engine.tasks.get(asked.id, namespace=call.namespace)))


# ── by the owner ──


def begin_session(engine: Engine, call: Call, asked: BeginSession) -> Answer:
    begun = engine.sessions.start(
        asked.id, project=asked.project, title=asked.title, started=asked.started, namespace=call.namespace
    )
    return Answer(session_record(begun))


def finish_session(engine: Engine, call: Call, asked: FinishSession) -> Answer:
    ended = engine.sessions.end(asked.id, summary=asked.summary, ended=asked.ended, namespace=call.namespace)
    return Answer(session_record(ended))


def page_of_sessions(engine: Engine, call: Call, asked: NumberedPage) -> Answer:
    start = (asked.page - 1) * asked.limit
    sessions = engine.sessions.recent(limit=asked.limit, offset=start, namespace=call.namespace)
    records = [{**session_record(session), "memoriesInSession": count} for session, count in sessions]
    return Answer({"page": asked.page, "limit": asked.limit, "sessions": records}, value=sessions)


def page_of_tasks(engine: Engine, call: Call, asked: NumberedTasks) -> Answer:
    tasks = engine.tasks.recent(
        running=asked.running, project=asked.project, session=asked.of_session, limit=asked.limit,
        offset=(asked.page - 1) * asked.limit, namespace=call.namespace,
    )  # fmt: skip
    records = [task_record(task) for task in tasks]
    return Answer({"page": asked.page, "limit": asked.limit, "tasks": records}, value=tasks)


def use_memories(engine: Engine, call: Call, asked: UseMemories) -> Answer:
    ids = engine.tasks.used(asked.ids, task=asked.task, session=asked.session, namespace=call.namespace)
    return Answer({"used": ids} | ({"task": asked.task} if asked.task is not None else {}))


def _page(name: str, records: list[Record], limit: int, following: str) -> Answer:
    record: Record = {name: records}
    return Answer(record | ({"next": following} if len(records) == limit else {}))


def _own(engine: Engine, call: Call, session: str, *, claim: bool = True) -> None:
    """Another's session answers as one that does not exist; so does one that nobody has, where it must exist."""
    if not owns(engine, call, session, claim=claim):
        raise NotFound(f"no session {session!r}", hint="`recallens session list` shows those that exist.")


SESSIONS = (
    Operation("start_session", "Start a session; without an id it gets one.", Right.WRITE, StartSession, start_session),
    Operation("end_session", "End a session; its recap is kept as a memory.", Right.WRITE, EndSession, end_session),
    Operation("list_sessions", "Sessions, the latest first.", Right.READ, Pages, list_sessions),
    Operation("get_session", "A session and every memory it touched, with how.", Right.READ, OneSession, get_session),
    Operation("start_task", "Start a task.", Right.WRITE, StartTask, start_task),
    Operation("log_task", "Keep a full log with a running task, without secrets.", Right.WRITE, LogTask, log_task),
    Operation("end_task", "End a task with its reward: each memory in it is judged by that.", Right.WRITE, EndTask,
              end_task),
    Operation("list_tasks", "Tasks, the latest first.", Right.READ, TaskFilters, list_tasks),
    Operation("get_task", "One task.", Right.READ, OneTask, get_task),
    Operation("begin_session", "Start a session, at a time of yours.", Right.OWNER, BeginSession, begin_session),
    Operation("finish_session", "End a session, at a time of yours.", Right.OWNER, FinishSession, finish_session),
    Operation("page_of_sessions", "Sessions by pages, the latest first.", Right.OWNER, NumberedPage, page_of_sessions),
    Operation("page_of_tasks", "Tasks by pages, the latest first.", Right.OWNER, NumberedTasks, page_of_tasks),
    Operation("use_memories", "Say which memories were of use, and in which task.", Right.OWNER, UseMemories,
              use_memories),
)  # fmt: skip
