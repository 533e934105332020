from __future__ import annotations

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import shared
from recallens.cli.screen import counted, visible
from recallens.errors import StoreDamaged, StoreError

_REINDEX = "Run `recallens reindex`: it builds everything derived anew from the memories."
_RESTORE = "Copy the file aside and put a copy made by `recallens backup` in its place."
_ENCODER = "Make the encoder available again, or run `recallens reindex --encoder minilm`."


@click.command()
@shared
@pass_given
@click.pass_context
def doctor(ctx: click.Context, given: Given) -> None:
    """Check the file, the indexes and the encoder. Changes nothing; exit 4 if there is a problem."""
    try:
        with given.engine() as engine:
            health = engine.maintenance.doctor()
    except StoreDamaged as error:
        raise StoreDamaged(error.message, hint=f"Nothing was changed. {_RESTORE}") from error
    found = [{"problem": problem, "next": next_step(problem)} for problem in health.problems]
    if given.json:
        given.emit({"ok": not found, "problems": found, "facts": dict(health.facts)})
    else:
        facts = health.facts
        click.echo(visible(f"{facts['path']}, {facts['bytes']:,} bytes, SQLite {facts['sqlite']}"))
        click.echo(visible(f"encoder {facts['encoder'] or 'none'}"))
        if facts["backlog"]:
            waiting = counted(facts["backlog"], "text waits", "texts wait")
            click.echo(f"{waiting} to be encoded; `recallens reindex` does it")
        for each in found:
            click.echo(visible(f"problem: {each['problem']}\n  next: {each['next']}"))
        click.echo(counted(len(found), "problem") if found else "no problems")
    if found:
        ctx.exit(StoreError.exit_code)


def next_step(problem: str) -> str:
    if problem.startswith("file:"):
        return _RESTORE
    if problem.startswith("encoder:"):
        return _ENCODER
    return _REINDEX
