from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recallens.cli.files import piped, read_text, words
from recallens.cli.given import Given
from recallens.cli.options import TEXT, Size, page, several_ids, shared
from recallens.cli.screen import first_line, moment, say

if TYPE_CHECKING:
    from recallens.operations import Answer


@click.group()
def task() -> None:
    """Start, log, end and list tasks. A task that ends with a reward says what each memory was worth in it."""


@task.command("start")
@click.argument("text", nargs=-1, required=True, type=TEXT)
@click.option("--id", metavar="ID", type=TEXT, help="An id of yours; else it gets one.")
@click.option("--session", metavar="ID", type=TEXT, help="The session that works on it.")
@click.option("--project", metavar="NAME", type=TEXT, help="The project it belongs to.")
@click.option("--worktree", metavar="NAME", type=TEXT, help="The worktree it is done in.")
@shared
def start_task(given: Given, /, text: tuple[str, ...], **attributes: str | None) -> None:
    """Start a task.

    \b
    recallens task start "Deploy the API to staging" --id deploy-7
    recallens search "what to mind when deploying" --task deploy-7
    recallens used 01M7GR285QBW --task deploy-7
    make deploy 2>&1 | recallens task log deploy-7
    recallens task end deploy-7 --reward 0.9 --summary "Migrated first."
    """

    def printed(answer: Answer) -> None:
        begun = answer.value
        say(f"started {begun.id}")
        if begun.wording != begun.id:
            given.note(f"worded as {begun.wording}: `recallens details {begun.wording}` shows how that went")

    given.perform("start_task", {"task": words(text), **attributes}, printed, create=True)


@task.command()
@click.argument("task", metavar="TASK", type=TEXT)
@click.argument("text", nargs=-1, type=TEXT)
@click.option("--file", "file", metavar="FILE", help="Log this file's text.")
@click.option("--kind", type=TEXT, default="log", help="log or terminal_snapshot (log).")
@shared
def log(given: Given, task: str, text: tuple[str, ...], file: str | None, kind: str) -> None:
    """Keep TEXT, what is piped in, or a file, in full with a running task; secrets are taken out."""
    if text and file is not None:
        raise click.UsageError("give one of TEXT and --file")
    if not text and file is None and not piped():
        raise click.UsageError("give a TEXT, pipe one in, or use --file")
    content = read_text(file) if file is not None else words(text) if text else read_text("-")
    given.perform(
        "log_task", {"id": task, "content": content, "kind": kind},
        lambda answer: say(f"logged {answer.record['id']} of {answer.record['task']}"),
    )  # fmt: skip


@task.command("end")
@click.argument("task", metavar="TASK", type=TEXT)
@click.option("--reward", type=float, required=True, metavar="0..1", help="How well it went: 0 failed, 1 perfect.")
@click.option("--summary", type=TEXT, help="What was done and what came of it.")
@shared
def end_task(given: Given, task: str, reward: float, summary: str | None) -> None:
    """End a task: it becomes an episode, and each memory that was used in it is judged by its reward."""

    def printed(answer: Answer) -> None:
        outcome = answer.value
        say(f"ended {outcome.task.id} with reward {reward:g}")
        say(f"episode {outcome.episode}")
        for credit in outcome.credited:
            say(f"used {credit.handle} ({credit.shown} in the log)")
        for one in outcome.promoted:
            word = "new" if one.created else "grown"
            say(f"{one.kind} {one.id} ({word}, {one.count} times)")

    given.perform("end_task", {"id": task, "reward": reward, "summary": summary}, printed)


@task.command("list")
@click.option("--running/--ended", "running", default=None, help="Only those that run, or that have ended.")
@click.option("--project", metavar="NAME", type=TEXT, help="Only this project.")
@click.option("--session", "of_session", metavar="ID", type=TEXT, help="Only of this session.")
@page
@click.option("--limit", type=Size("limit", "tasks", 20), default=20, metavar="N", help="Tasks a page (20).")
@shared
def list_tasks(given: Given, /, page: int, **filters: object) -> None:
    """Tasks, the latest first."""

    def printed(answer: Answer) -> None:
        for one in answer.value:
            reward = "running" if one.reward is None else f"reward {one.reward:g}"
            say("  ".join([one.id, moment(one.started), reward, first_line(one.text, 80)]))
        if not answer.value:
            click.echo("no tasks" if page == 1 else "no more tasks")

    given.perform("page_of_tasks", {"page": page, **filters}, printed)


@click.command()
@several_ids
@click.option("--task", metavar="TASK", type=TEXT, help="The running task that they helped.")
@click.option("--session", metavar="ID", type=TEXT, help="The session that used them; else the task's.")
@shared
def used(given: Given, ids: tuple[str, ...], task: str | None, session: str | None) -> None:
    """Say which memories were of use. In a task, only these then count as having helped it."""
    given.perform(
        "use_memories", {"ids": ids, "task": task, "session": session},
        lambda answer: say("\n".join(f"used {id}" for id in answer.record["used"])),
    )  # fmt: skip
