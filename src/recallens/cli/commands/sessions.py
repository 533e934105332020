from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, WHEN, page, shared
from recallens.cli.screen import counted, first_line, moment, say, screen, visible
from recallens.errors import InvalidInput

if TYPE_CHECKING:
    from recallens.engine.sessions import SessionReport
    from recallens.operations import Answer


@click.group()
def session() -> None:
    """Start, end and look into sessions: the runs of an agent that memories come from and go to."""


@session.command("start")
@click.argument("id", required=False, type=TEXT)
@click.option("--project", metavar="NAME", type=TEXT, help="The project it works on.")
@click.option("--title", type=TEXT, help="What it is about.")
@click.option("--started", type=WHEN, help="When it began, if not now.")
@shared
def start_session(given: Given, /, **attributes: object) -> None:
    """Start a session; without an ID it gets one."""

    def printed(answer: Answer) -> None:
        id = answer.record["id"]
        say(f"started {id}")
        given.note(f"export RECALLENS_SESSION={id} makes it the one that asks and remembers")

    given.perform("begin_session", attributes, printed, create=True)


@session.command("end")
@click.argument("id", required=False, type=TEXT)
@click.option("--summary", type=TEXT, help="What came of it.")
@click.option("--ended", type=WHEN, help="When it ended, if not now.")
@shared
def end_session(given: Given, id: str | None, summary: str | None, ended: int | None) -> None:
    """End the session ID, or the one that RECALLENS_SESSION names."""
    with given.engine() as engine:
        wanted = id or engine.core.settings.session
        if wanted is None:
            raise InvalidInput("which session?", hint="Give its ID, or set RECALLENS_SESSION.")
        answer = given.answer(engine, "finish_session", {"id": wanted, "summary": summary, "ended": ended})
    given.tell(answer, lambda answer: say(f"ended {answer.record['id']}"))


@session.command("show")
@click.argument("id", type=TEXT)
@shared
def show_session(given: Given, id: str) -> None:
    """A session and every memory it touched, with how."""
    given.perform("get_session", {"id": id}, lambda answer: _print_session(given, answer.value))


def _print_session(given: Given, report: SessionReport) -> None:
    from rich.table import Table
    from rich.text import Text

    from recallens.cli.printers import facts
    from recallens.render.formats import headline

    console, session = screen(given), report.session
    console.print(facts([
        ("session", session.id), ("project", session.project), ("title", session.title),
        ("started", moment(session.started)), ("ended", None if session.ended is None else moment(session.ended)),
        ("summary", session.summary),
    ]))  # fmt: skip
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", expand=True)
    for name in ("memory", "usage", "at"):
        grid.add_column(name, no_wrap=True)
    grid.add_column("", no_wrap=True, overflow="ellipsis", ratio=1)
    for memory, usage, at in report.links:
        grid.add_row(Text(memory.handle), Text(usage), Text(moment(at)), Text(headline(memory)))
    if report.links:
        console.print()
        console.print(grid)


@session.command("list")
@page
@click.option("--limit", type=click.IntRange(1, 1000), default=20, metavar="N", help="Sessions a page (20).")
@shared
def list_sessions(given: Given, page: int, limit: int) -> None:
    """Sessions, the latest first."""

    def printed(answer: Answer) -> None:
        from rich.text import Text

        console = screen(given)
        for one, count in answer.value:
            about = one.title or one.summary or ""
            console.print(Text(visible(one.id), style="cyan"))
            told = [moment(one.started), counted(count, "memory", "memories"), one.project or "", first_line(about)]
            console.print(Text("   " + visible(" · ".join(part for part in told if part)), style="dim"))
        if not answer.value:
            console.print(Text("no sessions" if page == 1 else "no more sessions", style="dim"))

    given.perform("page_of_sessions", {"page": page, "limit": limit}, printed)


# ── tasks ──
