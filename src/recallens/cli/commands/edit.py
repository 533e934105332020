from __future__ import annotations

import sys

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, shared
from recallens.cli.reading import words
from recallens.ingest.validate import text_content


@click.command()
@click.argument("id", type=TEXT)
@click.argument("text", nargs=-1, type=TEXT)
@shared
@pass_given
def edit(given: Given, id: str, text: tuple[str, ...]) -> None:
    """Give the memory ID a new TEXT (- for standard input, none for $EDITOR).

    The old text stays as history: a new memory with the same attributes supersedes it.
    """
    with given.engine() as engine:
        old = engine.get(id)
        content = words(text) if text else _from_editor(old.content)
        new = None if text_content(content) == old.content else engine.edit(old.id, content)
    if given.json:
        given.emit({"id": new.id if new else old.id, "supersedes": old.id if new else None, "changed": new is not None})
    elif new is None:
        click.echo(f"unchanged {old.id}")
    else:
        click.echo(f"remembered {new.id}, which supersedes {old.id}")


def _from_editor(content: str) -> str:
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise click.UsageError("give the new TEXT, or - to read it from standard input")
    edited = click.edit(content, extension=".md")
    return content if edited is None else edited
