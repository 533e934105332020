from __future__ import annotations

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.keeping import backlog, encode
from recallens.cli.options import TEXT, shared
from recallens.cli.progress import bar
from recallens.cli.screen import counted, visible


@click.group()
def encoder() -> None:
    """Find, choose or clear the encoder, which turns text into vectors."""


@encoder.command()
@shared
@pass_given
def detect(given: Given) -> None:
    """Look for encoders: the packaged one, Ollama, and the endpoint that is set. Nothing is downloaded or changed."""
    with given.engine(create=True) as engine:
        found = engine.encoder.detect()
    if given.json:
        given.emit(found.to_json())
        return
    click.echo(visible(f"in use     {found.current or 'none yet'}"))
    for one in found.available:
        click.echo(visible(f"available  {one.spec}{'  (multilingual)' if one.multilingual else ''}"))
    for place in found.looked:
        if place.problem is not None:
            click.echo(visible(f"not there  {place.place}: {place.problem}"))
    for spec in found.cleared:
        click.echo(visible(f"cleared    {spec}"))
    click.echo(visible(f"suggested  {found.suggestion or 'nothing else'}: {found.reason}"))
    if found.suggestion is not None:
        given.note(f"recallens encoder use {found.suggestion}")


@encoder.command()
@click.argument("spec", type=TEXT)
@shared
@pass_given
def use(given: Given, spec: str) -> None:
    """Encode everything with SPEC from now on: minilm, openai:MODEL, ollama:MODEL, fastembed:MODEL or none."""
    with given.engine(create=True) as engine:
        names = engine.maintenance.namespaces()
        with bar(given, "indexing", sum(count for _, count in names)) as advance:
            engine.encoder.use(spec, progress=advance)
        before = backlog(engine)
        failure = encode(engine, given)
        waiting, key = backlog(engine), engine.core.encoding.key
    if given.json:
        given.emit({"encoderSpec": spec, "encoder": key, "encoded": before - waiting, "backlog": waiting})
    else:
        click.echo(visible(f"uses {spec}, encoded {counted(before - waiting, 'text')}"))
    if failure is not None:
        raise failure


@encoder.command()
@shared
@pass_given
def clear(given: Given) -> None:
    """Search by words alone. What was used is never set again by itself; `encoder use` sets it by name."""
    with given.engine() as engine:
        before = engine.encoder.clear()
    if given.json:
        given.emit({"cleared": before})
    else:
        click.echo(visible(f"cleared {before}: words alone from now on" if before else "there is no encoder to clear"))
