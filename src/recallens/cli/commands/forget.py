from __future__ import annotations

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, shared
from recallens.cli.screen import counted


@click.command()
@click.argument("ids", nargs=-1, required=True, type=TEXT)
@click.option("--hard", is_flag=True, help="Delete for good: no byte of it stays in the store.")
@click.option("--yes", is_flag=True, help="Do not ask before --hard.")
@shared
@pass_given
def forget(given: Given, ids: tuple[str, ...], hard: bool, yes: bool) -> None:
    """Hide memories from every search. `recallens restore` brings them back, unless --hard deleted them."""
    with given.engine() as engine:
        # Every id is looked up first, so that a wrong one changes nothing.
        memories = list(dict.fromkeys(engine.get(id).id for id in ids))
        if hard and not given.agreed(f"deleting {counted(len(memories), 'memory', 'memories')} for good", yes=yes):
            click.echo("nothing was deleted", err=True)
            return
        for id in memories:
            engine.forget(id, hard=hard)
    if given.json:
        given.emit({"forgotten": memories, "hard": hard})
    else:
        click.echo("\n".join(f"{'deleted' if hard else 'forgot'} {id}" for id in memories))


@click.command()
@click.argument("ids", nargs=-1, required=True, type=TEXT)
@shared
@pass_given
def restore(given: Given, ids: tuple[str, ...]) -> None:
    """Bring back what was forgotten."""
    with given.engine() as engine:
        memories = [engine.get(id).id for id in ids]
        restored = {id: engine.restore(id) for id in memories}
    if given.json:
        given.emit({"restored": [{"id": id, "status": status} for id, status in restored.items()]})
    else:
        click.echo("\n".join(f"restored {id}, which is {status}" for id, status in restored.items()))
