from __future__ import annotations

import click
from rich.text import Text

from recallens.cli.given import Given, pass_given
from recallens.cli.memories import table
from recallens.cli.options import TEXT, shared
from recallens.cli.screen import counted, screen
from recallens.render.records import memory_record


@click.group()
def review() -> None:
    """Decide on memories that wait: pending ones and those in quarantine. Searches leave them out until then."""


@review.command("list")
@shared
@pass_given
def waiting(given: Given) -> None:
    """What waits for a decision, oldest first."""
    with given.engine() as engine:
        memories = engine.memories.awaiting_review()
        saliences = engine.memories.salience(memories)
    if given.json:
        given.emit({"memories": [memory_record(memory, saliences[memory.id]) for memory in memories]})
        return
    console = screen(given)
    if memories:
        console.print(table(memories))
    console.print(Text(f"{counted(len(memories), 'memory waits', 'memories wait')} for review", style="dim"))


@review.command()
@click.argument("ids", nargs=-1, required=True, type=TEXT)
@shared
@pass_given
def approve(given: Given, ids: tuple[str, ...]) -> None:
    """Make them active and trusted."""
    _decide(given, ids, approve=True)


@review.command()
@click.argument("ids", nargs=-1, required=True, type=TEXT)
@shared
@pass_given
def reject(given: Given, ids: tuple[str, ...]) -> None:
    """Keep them out of every search; `recallens prune` deletes them in the end."""
    _decide(given, ids, approve=False)


def _decide(given: Given, ids: tuple[str, ...], *, approve: bool) -> None:
    with given.engine() as engine:
        memories = [engine.get(id).id for id in ids]
        for id in memories:
            engine.memories.review(id, approve=approve)
    word = "approved" if approve else "rejected"
    if given.json:
        given.emit({word: memories})
    else:
        click.echo("\n".join(f"{word} {id}" for id in memories))
