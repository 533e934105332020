from __future__ import annotations

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.keeping import backlog, encode
from recallens.cli.options import TEXT, shared
from recallens.cli.progress import bar
from recallens.cli.screen import counted


@click.command()
@click.option(
    "--encoder",
    metavar="SPEC",
    type=TEXT,
    help="Encode with another one: minilm, openai:MODEL, ollama:MODEL, fastembed:MODEL or none.",
)
@click.option("--vectors", is_flag=True, help="Encode everything again with the same encoder.")
@shared
@pass_given
def reindex(given: Given, encoder: str | None, vectors: bool) -> None:
    """Build everything derived anew from the memories, and encode what waits. It can be stopped and run again."""
    with given.engine() as engine:
        names = engine.maintenance.namespaces()
        with bar(given, "indexing", sum(count for _, count in names)) as advance:
            done = engine.maintenance.reindex(encoder=encoder, vectors=vectors, progress=advance)
        before = backlog(engine)
        failure = encode(engine, given)
        waiting = backlog(engine)
        for name, _ in names:
            engine.maintenance.publish(name)
        key = engine.core.encoding.key
    if given.json:
        given.emit({"entries": done["entries"], "encoded": before - waiting, "backlog": waiting, "encoder": key})
    else:
        click.echo(f"indexed {counted(done['entries'], 'memory', 'memories')}, encoded {before - waiting:,}")
        if waiting and failure is None:
            given.note(f"{counted(waiting, 'text waits', 'texts wait')}: another process is encoding")
    if failure is not None:
        raise failure
