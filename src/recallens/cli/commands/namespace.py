from __future__ import annotations

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, shared
from recallens.cli.screen import counted, visible


@click.group()
def namespace() -> None:
    """List or remove namespaces. Nothing crosses from one to another."""


@namespace.command("list")
@shared
@pass_given
def names(given: Given) -> None:
    """Every namespace and how many memories it holds."""
    with given.engine() as engine:
        found = engine.maintenance.namespaces()
    if given.json:
        given.emit({"namespaces": [{"name": name, "memories": count} for name, count in found]})
    else:
        for name, count in found:
            click.echo(f"{visible(name)}  {counted(count, 'memory', 'memories')}")


@namespace.command()
@click.argument("name", type=TEXT)
@click.option("--yes", is_flag=True, help="Do not ask.")
@shared
@pass_given
def remove(given: Given, name: str, yes: bool) -> None:
    """Delete the namespace NAME and everything in it for good."""
    with given.engine() as engine:
        held = dict(engine.maintenance.namespaces()).get(name)
        told = "" if held is None else f" and its {counted(held, 'memory', 'memories')}"
        # An unknown name is refused by the engine; there is nothing to ask about.
        if held is not None and not given.agreed(f"deleting namespace {name}{told} for good", yes=yes):
            click.echo("nothing was deleted", err=True)
            return
        count = engine.maintenance.remove_namespace(name)
    if given.json:
        given.emit({"removed": name, "memories": count})
    else:
        click.echo(f"removed {visible(name)} and its {counted(count, 'memory', 'memories')}")
