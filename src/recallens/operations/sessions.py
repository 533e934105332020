"""Sessions and tasks: an agent's run, and what it is trying to do in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, StringConstraints

from recallens.operations.arguments import Arguments, Content, Name, NumberedPage, Pages, Share, Words, offset_of
from recallens.operations.memories import memory_records
from recallens.operations.operation import OWNER, READ, WRITE, Answer, Call, Operation, next_page, owns
from recallens.render.records import Record, artifact_record, outcome_record, session_record, task_record

if TYPE_CHECKING:
    from recallens.engine import Engine
    from recallens.model.memory import Session
    from recallens.model.task import Task

Title = Annotated[str, StringConstraints(max_length=500)]


class StartSession(Arguments):
    id: Annotated[Name | None, Field(description="An id of yours; else it gets one.")] = None
    project: Name | None = None
    title: Title | None = None


class OneSession(Arguments):
    id: Name


class EndSession(OneSession):
    summary: Annotated[str, StringConstraints(max_length=20_000)] | None = None


class BeginSession(StartSession):
    started: int | None = None


class FinishSession(EndSession):
    ended: int | None = None


class NumberedTasks(NumberedPage):
    running: bool | None = None
    project: str | None = None
    of_session: str | None = None


class UseMemories(Arguments):
    ids: tuple[str, ...]
    task: str | None = None
    session: str | None = None


class StartTask(Arguments):
    task: Annotated[Words, Field(description="What is to be done.")]
    id: Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^\S+$")] | None = None
    session: Name | None = None
    project: Name | None = None
    worktree: Name | None = None


class LogTask(Arguments):
    id: Name
    content: Content
    kind: Literal["log", "terminal_snapshot"] = "log"


class EndTask(Arguments):
    id: Name
    reward: Annotated[Share, Field(description="How well it went: 0 failed, 1 perfect.")]
    summary: Annotated[str, StringConstraints(max_length=20_000)] | None = None


class Tasks(Pages):
    running: Annotated[bool | None, Field(description="Only those that run, or that have ended.")] = None
    project: Name | None = None
    of_session: Annotated[Name | None, Field(description="Only of this session.")] = None


class OneTask(Arguments):
    id: Name


def start_session(engine: Engine, call: Call, asked: StartSession | BeginSession) -> Answer:
    id = asked.id or f"s-{engine.core.new_id().lower()}"
    _own(engine, call, id)
    return Answer(session_record(engine.sessions.start(id, **asked.given("id"), namespace=call.namespace)))


def end_session(engine: Engine, call: Call, asked: EndSession | FinishSession) -> Answer:
    _own(engine, call, asked.id, claim=False)
    ended = engine.sessions.end(**asked.given(), zone=call.caller.zone, namespace=call.namespace)
    return Answer(session_record(ended))


def list_sessions(engine: Engine, call: Call, asked: Pages) -> Answer:
    shown = ["sessions", call.namespace]
    start = offset_of(asked.cursor, shown)
    return next_page("sessions", _sessions(engine, call, asked.limit, start)[0], asked.limit, shown, start)


def page_of_sessions(engine: Engine, call: Call, asked: NumberedPage) -> Answer:
    records, sessions = _sessions(engine, call, asked.limit, (asked.page - 1) * asked.limit)
    return Answer({"page": asked.page, "limit": asked.limit, "sessions": records}, value=sessions)


def _sessions(engine: Engine, call: Call, limit: int, start: int) -> tuple[list[Record], list[tuple[Session, int]]]:
    sessions = engine.sessions.recent(limit=limit, offset=start, namespace=call.namespace)
    return [{**session_record(session), "memoriesInSession": count} for session, count in sessions], sessions


def get_session(engine: Engine, call: Call, asked: OneSession) -> Answer:
    report = engine.sessions.report(asked.id, namespace=call.namespace)
    records = memory_records(engine, [memory for memory, _, _ in report.links])
    links = [
        {"usageType": usage, "at": at, "memory": record}
        for record, (_, usage, at) in zip(records, report.links, strict=True)
    ]
    return Answer({"session": session_record(report.session), "memories": links})


def start_task(engine: Engine, call: Call, asked: StartTask) -> Answer:
    return Answer(task_record(engine.tasks.start(asked.task, **asked.given("task"), namespace=call.namespace)))


def log_task(engine: Engine, call: Call, asked: LogTask) -> Answer:
    return Answer(artifact_record(engine.tasks.log(asked.id, asked.content, kind=asked.kind, namespace=call.namespace)))


def end_task(engine: Engine, call: Call, asked: EndTask) -> Answer:
    outcome = engine.tasks.end(asked.id, **asked.given("id"), zone=call.caller.zone, namespace=call.namespace)
    return Answer(outcome_record(outcome))


def list_tasks(engine: Engine, call: Call, asked: Tasks) -> Answer:
    shown = ["tasks", call.namespace, asked.running, asked.project, asked.of_session]
    start = offset_of(asked.cursor, shown)
    return next_page("tasks", list(map(task_record, _tasks(engine, call, asked, start))), asked.limit, shown, start)


def page_of_tasks(engine: Engine, call: Call, asked: NumberedTasks) -> Answer:
    tasks = _tasks(engine, call, asked, (asked.page - 1) * asked.limit)
    return Answer({"page": asked.page, "limit": asked.limit, "tasks": list(map(task_record, tasks))}, value=tasks)


def _tasks(engine: Engine, call: Call, asked: Tasks | NumberedTasks, start: int) -> list[Task]:
    return engine.tasks.recent(
        running=asked.running, project=asked.project, session=asked.of_session, limit=asked.limit, offset=start,
        namespace=call.namespace,
    )  # fmt: skip


def get_task(engine: Engine, call: Call, asked: OneTask) -> Answer:
    return Answer(task_record(engine.tasks.get(asked.id, namespace=call.namespace)))


def use_memories(engine: Engine, call: Call, asked: UseMemories) -> Answer:
    ids = engine.tasks.used(asked.ids, task=asked.task, session=asked.session, namespace=call.namespace)
    return Answer({"used": ids} | ({"task": asked.task} if asked.task is not None else {}))


def _own(engine: Engine, call: Call, session: str, *, claim: bool = True) -> None:
    """Another's session answers as one that does not exist; so does one that nobody has, where it must exist."""
    from recallens.engine.sessions import no_session

    if not owns(engine, call, session, claim=claim):
        raise no_session(session)


SESSIONS = (
    Operation("start_session", "Start a session; without an id it gets one.", WRITE, StartSession, start_session),
    Operation("end_session", "End a session; its recap is kept as a memory.", WRITE, EndSession, end_session),
    Operation("list_sessions", "Sessions, the latest first.", READ, Pages, list_sessions),
    Operation("get_session", "A session and every memory it touched, with how.", READ, OneSession, get_session),
    Operation("start_task", "Start a task.", WRITE, StartTask, start_task),
    Operation("log_task", "Keep a full log with a running task, without secrets.", WRITE, LogTask, log_task),
    Operation("end_task", "End a task with its reward: each memory in it is judged by that.", WRITE, EndTask, end_task),
    Operation("list_tasks", "Tasks, the latest first.", READ, Tasks, list_tasks),
    Operation("get_task", "One task.", READ, OneTask, get_task),
    Operation("begin_session", "Start a session, at a time of yours.", OWNER, BeginSession, start_session),
    Operation("finish_session", "End a session, at a time of yours.", OWNER, FinishSession, end_session),
    Operation("page_of_sessions", "Sessions by pages, the latest first.", OWNER, NumberedPage, page_of_sessions),
    Operation("page_of_tasks", "Tasks by pages, the latest first.", OWNER, NumberedTasks, page_of_tasks),
    Operation("use_memories", "Say which memories were of use, and in which task.", OWNER, UseMemories, use_memories),
)  # fmt: skip
