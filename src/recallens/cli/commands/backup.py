from __future__ import annotations

from pathlib import Path

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import shared
from recallens.cli.screen import visible


@click.command()
@click.argument("target")
@shared
@pass_given
def backup(given: Given, target: str) -> None:
    """Copy the store to the new file TARGET while others go on using it. The copy is a store like any other."""
    with given.engine() as engine:
        engine.maintenance.backup(target)
    size = Path(target).expanduser().stat().st_size
    if given.json:
        given.emit({"target": target, "bytes": size})
    else:
        click.echo(visible(f"copied to {target} ({size:,} bytes)"))
