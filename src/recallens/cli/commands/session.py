from __future__ import annotations

import click
from rich.table import Table
from rich.text import Text

from recallens.cli.given import Given, pass_given
from recallens.cli.memories import facts
from recallens.cli.options import TEXT, WHEN, shared
from recallens.cli.screen import counted, first_line, moment, screen, visible
from recallens.errors import InvalidInput
from recallens.render.formats import headline
from recallens.render.records import memory_record, session_record


@click.group()
def session() -> None:
    """Start, end and look into sessions: the runs of an agent that memories come from and go to."""


@session.command()
@click.argument("id", required=False, type=TEXT)
@click.option("--project", metavar="NAME", type=TEXT, help="The project it works on.")
@click.option("--title", type=TEXT, help="What it is about.")
@click.option("--started", type=WHEN, help="When it began, if not now.")
@shared
@pass_given
def start(given: Given, id: str | None, project: str | None, title: str | None, started: int | None) -> None:
    """Start a session; without an ID it gets one."""
    with given.engine(create=True) as engine:
        begun = engine.sessions.start(id, project=project, title=title, started=started)
    if given.json:
        given.emit(session_record(begun))
        return
    click.echo(visible(f"started {begun.id}"))
    given.note(f"export RECALLENS_SESSION={begun.id} makes it the one that asks and remembers")


@session.command()
@click.argument("id", required=False, type=TEXT)
@click.option("--summary", type=TEXT, help="What came of it.")
@click.option("--ended", type=WHEN, help="When it ended, if not now.")
@shared
@pass_given
def end(given: Given, id: str | None, summary: str | None, ended: int | None) -> None:
    """End the session ID, or the one that RECALLENS_SESSION names."""
    with given.engine() as engine:
        wanted = id or engine.core.settings.session
        if wanted is None:
            raise InvalidInput("which session?", hint="Give its ID, or set RECALLENS_SESSION.")
        finished = engine.sessions.end(wanted, summary=summary, ended=ended)
    if given.json:
        given.emit(session_record(finished))
    else:
        click.echo(visible(f"ended {finished.id}"))


@session.command("show")
@click.argument("id", type=TEXT)
@shared
@pass_given
def show_session(given: Given, id: str) -> None:
    """A session and every memory it touched, with how."""
    with given.engine() as engine:
        report = engine.sessions.report(id)
        saliences = engine.memories.salience([memory for memory, _, _ in report.links])
    found = report.session
    if given.json:
        links = [
            {"usageType": usage, "at": at, "memory": memory_record(memory, saliences[memory.id])}
            for memory, usage, at in report.links
        ]
        given.emit({"session": session_record(found), "memories": links})
        return
    console = screen(given)
    console.print(facts([
        ("session", found.id), ("project", found.project), ("title", found.title), ("started", moment(found.started)),
        ("ended", None if found.ended is None else moment(found.ended)), ("summary", found.summary),
    ]))  # fmt: skip
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", expand=True)
    for name in ("memory", "usage", "at"):
        grid.add_column(name, no_wrap=True)
    grid.add_column("", no_wrap=True, overflow="ellipsis", ratio=1)
    for memory, usage, at in report.links:
        grid.add_row(Text(memory.id), Text(usage), Text(moment(at)), Text(headline(memory)))
    if report.links:
        console.print()
        console.print(grid)


@session.command("list")
@click.option("--page", type=click.IntRange(min=1), default=1, metavar="N", help="Which page (1).")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, metavar="N", help="Sessions a page (20).")
@shared
@pass_given
def list_sessions(given: Given, page: int, limit: int) -> None:
    """Sessions, the latest first."""
    with given.engine() as engine:
        found = engine.sessions.recent(limit=limit, offset=(page - 1) * limit)
    if given.json:
        records = [{**session_record(one), "memoriesInSession": count} for one, count in found]
        given.emit({"page": page, "limit": limit, "sessions": records})
        return
    console = screen(given)
    for one, count in found:
        about = one.title or one.summary or ""
        console.print(Text(visible(one.id), style="cyan"))
        told = [moment(one.started), counted(count, "memory", "memories"), one.project or "", first_line(about)]
        console.print(Text("   " + visible(" · ".join(part for part in told if part)), style="dim"))
    if not found:
        console.print(Text("no sessions" if page == 1 else "no more sessions", style="dim"))
