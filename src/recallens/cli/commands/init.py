from __future__ import annotations

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, shared
from recallens.cli.screen import visible


@click.command()
@click.option(
    "--encoder", metavar="SPEC", type=TEXT, help="minilm, openai:MODEL, ollama:MODEL, fastembed:MODEL or none."
)
@shared
@pass_given
def init(given: Given, encoder: str | None) -> None:
    """Make a store, or say what the one that is there uses.

    The encoder turns text into vectors. A new store takes the packaged one, or one that is found on this machine:
    `recallens encoder detect` shows what there is, `recallens encoder use SPEC` changes it.
    """
    with given.engine(create=True, encoder=encoder) as engine:
        found = engine.encoder.bootstrap() if encoder is None else None
        with engine.core.store.write(engine.core.namespace(None)) as tx:
            engine.core.settle_encoding(tx)
            tx.ensure(engine.core.clock())
        record = {
            "store": engine.core.store.location,
            "namespace": engine.core.namespace(None),
            "encoderSpec": engine.core.encoding.spec,
            "encoder": engine.core.encoding.key,
        }
        if found is not None and found.suggestion not in (None, record["encoderSpec"]):
            record["suggestedEncoder"] = found.suggestion
    if given.json:
        given.emit(record)
        return
    click.echo(visible(f"store      {record['store']}"))
    click.echo(visible(f"namespace  {record['namespace']}"))
    click.echo(visible(f"encoder    {record['encoderSpec']}"))
    if found is not None and "suggestedEncoder" in record:
        given.note(f"{found.reason}: recallens encoder use {found.suggestion}")
    if record["encoder"] is None:
        click.echo("This store has no encoder: searches go by words alone.")
