from __future__ import annotations

import click
from rich.text import Text

from recollect.cli.given import Given, pass_given
from recollect.cli.memories import table
from recollect.cli.options import TEXT, shared
from recollect.cli.screen import day, first_line, screen, visible
from recollect.render.records import timeline_record


@click.command()
@click.argument("id", type=TEXT)
@click.option("--before", type=int, default=5, metavar="N", help="How many before it (5).")
@click.option("--after", type=int, default=5, metavar="N", help="How many after it (5).")
@shared
@pass_given
def timeline(given: Given, id: str, before: int, after: int) -> None:
    """What came before and after a memory in its project, and in which sessions."""
    with given.engine() as engine:
        found = engine.timeline(id, before, after)
        memories = [*found.before, found.anchor, *found.after]
        saliences = engine.salience(memories)
    if given.json:
        given.emit(timeline_record(found, saliences))
        return
    console = screen(given)
    console.print(table(memories, mark=found.anchor.id))
    if found.sessions:
        console.print(Text("\nsessions", style="dim"))
    for session in found.sessions.values():
        summary = f": {first_line(session.summary)}" if session.summary else ""
        console.print(Text(visible(f"{session.id}, {day(session.started)}{summary}")))
