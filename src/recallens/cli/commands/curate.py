from __future__ import annotations

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, OneOf, listed, shared
from recallens.model.memory import RelationType


@click.command()
@click.argument("old", type=TEXT)
@click.argument("new", type=TEXT)
@shared
@pass_given
def supersede(given: Given, old: str, new: str) -> None:
    """Say that the memory NEW replaces OLD. Searches leave OLD out from now on; it stays as history."""
    with given.engine() as engine:
        before, after = engine.get(old).id, engine.get(new).id
        engine.supersede(before, after)
    if given.json:
        given.emit({"old": before, "new": after})
    else:
        click.echo(f"{after} supersedes {before}")


@click.command()
@click.argument("source", type=TEXT)
@click.argument("target", type=TEXT)
@click.argument("type", type=OneOf(RelationType, "relation"))
@click.option("--confidence", type=float, default=1.0, metavar="0..1", help="How sure the link is (1).")
@shared
@pass_given
def relate(given: Given, source: str, target: str, type: RelationType, confidence: float) -> None:
    with given.engine() as engine:
        start, end = engine.get(source).id, engine.get(target).id
        engine.relate(start, end, type, confidence=confidence)
    if given.json:
        given.emit({"source": start, "target": end, "relation": type, "confidence": confidence})
    else:
        click.echo(f"{start} {type} {end}")


relate.help = f"Link SOURCE to TARGET. TYPE is one of {listed(RelationType)}."


@click.command()
@click.argument("ids", nargs=-1, required=True, type=TEXT)
@click.option("--session", metavar="ID", type=TEXT, help="The session that saw it proved.")
@shared
@pass_given
def confirm(given: Given, ids: tuple[str, ...], session: str | None) -> None:
    """Say that memories proved right: they are found more easily."""
    with given.engine() as engine:
        memories = [engine.get(id).id for id in ids]
        for id in memories:
            engine.confirm(id, session=session)
    if given.json:
        given.emit({"confirmed": memories})
    else:
        click.echo("\n".join(f"confirmed {id}" for id in memories))


@click.command()
@click.argument("ids", nargs=-1, required=True, type=TEXT)
@shared
@pass_given
def deemphasise(given: Given, ids: tuple[str, ...]) -> None:
    """Halve the weight of memories, and keep them."""
    with given.engine() as engine:
        memories = [engine.get(id).id for id in ids]
        weights = {id: engine.memories.deemphasise(id) for id in memories}
    if given.json:
        given.emit({"deemphasised": [{"id": id, "baseSalience": weight} for id, weight in weights.items()]})
    else:
        click.echo("\n".join(f"deemphasised {id}: its salience starts at {w:.2f}" for id, w in weights.items()))
