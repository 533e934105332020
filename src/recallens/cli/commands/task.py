from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, Size, shared
from recallens.cli.reading import piped, read_text, words

if TYPE_CHECKING:
    from recallens.model.task import Task


@click.group()
def task() -> None:
    """Start, log, end and list tasks. A task that ends with a reward says what each memory was worth in it."""


@task.command()
@click.argument("text", nargs=-1, required=True, type=TEXT)
@click.option("--id", metavar="ID", type=TEXT, help="An id of yours; else it gets one.")
@click.option("--session", metavar="ID", type=TEXT, help="The session that works on it.")
@click.option("--project", metavar="NAME", type=TEXT, help="The project it belongs to.")
@click.option("--worktree", metavar="NAME", type=TEXT, help="The worktree it is done in.")
@shared
@pass_given
def start(
    given: Given, text: tuple[str, ...], id: str | None, session: str | None, project: str | None, worktree: str | None
) -> None:
    """Start a task.

    \b
    recallens task start "Deploy the API to staging" --id deploy-7
    recallens search "what to mind when deploying" --task deploy-7
    recallens used 01M7GR285QBW --task deploy-7
    make deploy 2>&1 | recallens task log deploy-7
    recallens task end deploy-7 --reward 0.9 --summary "Migrated first."
    """
    from recallens.cli.screen import visible
    from recallens.render.records import task_record

    with given.engine(create=True) as engine:
        begun = engine.tasks.start(words(text), id=id, session=session, project=project, worktree=worktree)
    if given.json:
        given.emit(task_record(begun))
        return
    click.echo(visible(f"started {begun.id}"))
    if begun.wording != begun.id:
        given.note(f"worded as {begun.wording}: `recallens details {begun.wording}` shows how that went")


@task.command()
@click.argument("task", metavar="TASK", type=TEXT)
@click.argument("text", nargs=-1, type=TEXT)
@click.option("--file", "file", metavar="FILE", help="Log this file's text.")
@click.option("--kind", type=TEXT, default="log", help="log or terminal_snapshot (log).")
@shared
@pass_given
def log(given: Given, task: str, text: tuple[str, ...], file: str | None, kind: str) -> None:
    """Keep TEXT, what is piped in, or a file, in full with a running task; secrets are taken out."""
    from recallens.cli.screen import visible
    from recallens.render.records import artifact_record

    if text and file is not None:
        raise click.UsageError("give one of TEXT and --file")
    if not text and file is None and not piped():
        raise click.UsageError("give a TEXT, pipe one in, or use --file")
    content = read_text(file) if file is not None else words(text) if text else read_text("-")
    with given.engine() as engine:
        artifact = engine.tasks.log(task, content, kind=kind)
    if given.json:
        given.emit(artifact_record(artifact))
    else:
        click.echo(visible(f"logged {artifact.id} of {artifact.task}"))


@task.command()
@click.argument("task", metavar="TASK", type=TEXT)
@click.option("--reward", type=float, required=True, metavar="0..1", help="How well it went: 0 failed, 1 perfect.")
@click.option("--summary", type=TEXT, help="What was done and what came of it.")
@shared
@pass_given
def end(given: Given, task: str, reward: float, summary: str | None) -> None:
    """End a task: it becomes an episode, and each memory that took part is judged by its reward."""
    from recallens.cli.screen import visible
    from recallens.render.records import outcome_record

    with given.engine() as engine:
        outcome = engine.tasks.end(task, reward=reward, summary=summary)
    if given.json:
        given.emit(outcome_record(outcome))
        return
    click.echo(visible(f"ended {outcome.task.id} with reward {reward:g}"))
    click.echo(f"episode {outcome.episode}")
    for one in outcome.promoted:
        word = "new" if one.created else "grown"
        click.echo(f"{one.kind} {one.id} ({word}, {one.count} times)")


@task.command("list")
@click.option("--running/--ended", "running", default=None, help="Only those that run, or that have ended.")
@click.option("--project", metavar="NAME", type=TEXT, help="Only this project.")
@click.option("--session", metavar="ID", type=TEXT, help="Only of this session.")
@click.option("--page", type=click.IntRange(min=1), default=1, metavar="N", help="Which page (1).")
@click.option("--limit", type=Size("limit", "tasks", 20), default=20, metavar="N", help="Tasks a page (20).")
@shared
@pass_given
def list_tasks(
    given: Given, running: bool | None, project: str | None, session: str | None, page: int, limit: int
) -> None:
    """Tasks, the latest first."""
    with given.engine() as engine:
        found = engine.tasks.recent(
            running=running, project=project, session=session, limit=limit, offset=(page - 1) * limit
        )
    if given.json:
        from recallens.render.records import task_record

        given.emit({"page": page, "limit": limit, "tasks": [task_record(one) for one in found]})
        return
    from recallens.cli.screen import visible

    for one in found:
        click.echo(visible(_line(one)))
    if not found:
        click.echo("no tasks" if page == 1 else "no more tasks")


def _line(task: Task) -> str:
    from recallens.cli.screen import first_line, moment

    reward = "running" if task.reward is None else f"reward {task.reward:g}"
    return "  ".join([task.id, moment(task.started), reward, first_line(task.text, 80)])


@click.command()
@click.argument("ids", nargs=-1, required=True, type=TEXT)
@click.option("--task", metavar="TASK", type=TEXT, help="The running task that they helped.")
@click.option("--session", metavar="ID", type=TEXT, help="The session that used them; else the task's.")
@shared
@pass_given
def used(given: Given, ids: tuple[str, ...], task: str | None, session: str | None) -> None:
    """Say which memories were of use. In a task, only these then count as having helped it."""
    with given.engine() as engine:
        found = engine.tasks.used(ids, task=task, session=session)
    if given.json:
        given.emit({"used": found} | ({"task": task} if task is not None else {}))
    else:
        click.echo("\n".join(f"used {id}" for id in found))


@click.command()
@click.argument("id", metavar="TASK-OR-ID", type=TEXT)
@click.option("--tokens", metavar="N", type=Size("tokens", "tokens", 400), help="Tokens of content an entry (400).")
@click.option("--full", is_flag=True, help="Everything, however long.")
@click.option("--limit", metavar="N", type=Size("limit", "entries", 20), default=20, help="Entries at most (20).")
@shared
@pass_given
def details(given: Given, id: str, tokens: int | None, full: bool, limit: int) -> None:
    """The full logs and terminal snapshots of a task, or of the task that a memory belongs to.

    A memory without a task is its own entry.
    """
    if full and tokens is not None:
        raise click.UsageError("give one of --tokens and --full")
    with given.engine() as engine:
        found = engine.layers.details(id, tokens=tokens, full=full, limit=limit)
    if given.json:
        from recallens.render.records import details_record

        given.emit(details_record(found))
        return
    from recallens.cli.screen import moment, visible

    for entry in found.entries:
        told = entry.metadata
        click.echo(visible(f"── {told['kind']} {entry.id}, {moment(told['createdAt'])}, {entry.tokens} tokens"))
        click.echo(visible(entry.full_content))
        if entry.truncated:
            click.echo(f"… {entry.omitted_tokens:,} tokens more; --full shows them")
        if entry.related:
            click.echo(visible(f"related: {', '.join(entry.related)}"))
        click.echo()
    if len(found.entries) < found.total:
        click.echo(f"{len(found.entries)} of {found.total} entries; --limit {found.total} shows all")
    if not found.entries:
        click.echo("nothing was logged")
