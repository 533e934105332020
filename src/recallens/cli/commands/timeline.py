from __future__ import annotations

import click
from rich.text import Text

from recallens.cli.given import Given, pass_given
from recallens.cli.memories import table
from recallens.cli.options import TEXT, shared
from recallens.cli.screen import counted, day, first_line, screen, visible
from recallens.errors import InvalidInput
from recallens.render.layers import timeline_entry_record
from recallens.render.records import timeline_record

DEPTH, A_SIDE = 5, 10


@click.command()
@click.argument("id", type=TEXT)
@click.option("--before", type=int, metavar="N", help=f"How many before it ({DEPTH}).")
@click.option("--after", type=int, metavar="N", help=f"How many after it ({DEPTH}).")
@click.option("--window", type=float, metavar="DAYS", help="What came within so many days, as an agent reads it.")
@click.option("--limit", type=int, metavar="N", help=f"With --window: how many a side ({A_SIDE}).")
@shared
@pass_given
def timeline(
    given: Given, id: str, before: int | None, after: int | None, window: float | None, limit: int | None
) -> None:
    """What came before and after a memory in its project, and in which sessions."""
    if window is not None:
        if before is not None or after is not None:
            raise InvalidInput("--before and --after do not go with --window", hint="Use --limit N for each side.")
        _around(given, id, window, A_SIDE if limit is None else limit)
        return
    if limit is not None:
        raise InvalidInput("--limit goes with --window", hint="Use --before N and --after N, or add --window DAYS.")
    with given.engine() as engine:
        found = engine.layers.timeline(id, DEPTH if before is None else before, DEPTH if after is None else after)
        memories = [*found.before, found.anchor, *found.after]
        saliences = engine.memories.salience(memories)
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


def _around(given: Given, id: str, window: float, limit: int) -> None:
    with given.engine() as engine:
        anchor = engine.get(id)
        found = engine.layers.around(anchor.id, window=window, limit=limit)
    spent = sum(entry.tokens for entry in found)
    if given.json:
        entries = [timeline_entry_record(entry) for entry in found]
        given.emit({"observation_id": anchor.id, "window": window, "tokens": spent, "entries": entries})
        return
    for entry in found:
        click.echo(visible(entry.text) + "\n")
    within = f"{counted(len(found), 'memory', 'memories')} within {window:g} days of {anchor.id}"
    click.echo(f"{within}, {counted(spent, 'token')}")
