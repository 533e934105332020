from __future__ import annotations

import click
from rich.text import Text

from recallens.cli.given import Given, pass_given
from recallens.cli.memories import table
from recallens.cli.options import shared
from recallens.cli.screen import counted, screen


@click.command()
@click.option("--older-than", type=int, required=True, metavar="DAYS", help="Only what was forgotten this long ago.")
@click.option("--superseded", is_flag=True, help="Also what was superseded that long ago.")
@click.option("--yes", is_flag=True, help="Delete. Without it, only show what would go.")
@shared
@pass_given
def prune(given: Given, older_than: int, superseded: bool, yes: bool) -> None:
    """Delete for good what was forgotten or rejected long ago. Without --yes it only shows what would go."""
    with given.engine() as engine:
        due = engine.maintenance.prune(older_than_days=older_than, superseded=superseded, dry_run=not yes)
    if given.json:
        given.emit({"deleted": yes, "memories": [memory.id for memory in due]})
        return
    console = screen(given)
    if due:
        console.print(table(due))
    told = counted(len(due), "memory", "memories")
    console.print(Text(f"deleted {told} for good" if yes else f"{told} would go; --yes deletes them for good"))
