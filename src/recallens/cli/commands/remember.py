from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, WHEN, OneOf, listed, shared
from recallens.cli.reading import piped, read_text, words
from recallens.ingest.citations import CITATION_FORMS
from recallens.model.memory import Kind, Sector, Status, Tier, Zone

# What only one memory can have, so that it cannot stand for every line of a file.
_SINGULAR = ("title", "supersedes")


@click.command()
@click.argument("text", nargs=-1, type=TEXT)
@click.option("--file", "file", metavar="FILE", help="Keep this file's text as one memory.")
@click.option("--jsonl", metavar="FILE", help="Load JSON lines, - for standard input: all are checked first.")
@click.option("--document", metavar="FILE", help="Add a text file as a document: its sections become memories.")
@click.option("--project", metavar="NAME", type=TEXT, help="The project it belongs to.")
@click.option("--sector", type=OneOf(Sector, "sector"), help=f"One of {listed(Sector)}; else decided by rule.")
@click.option("--kind", type=OneOf(Kind, "kind"), help=f"One of {listed(Kind)}; else decided by rule.")
@click.option("--tier", type=OneOf(Tier, "tier"), help=f"One of {listed(Tier)}.")
@click.option("--title", type=TEXT, help="A short name for it.")
@click.option("--tag", "tags", metavar="TAG", type=TEXT, multiple=True, help="Repeat it for several.")
@click.option("--importance", type=float, metavar="0..1", help="How much it matters (0.5).")
@click.option("--confidence", type=float, metavar="0..1", help="How sure it is (0.8).")
@click.option("--session", metavar="ID", type=TEXT, help="The session that learned it.")
@click.option("--source", metavar="NAME", type=TEXT, help="Where it came from (user).")
@click.option("--task", metavar="ID", type=TEXT, help="The task it belongs to.")
@click.option("--worktree", metavar="NAME", type=TEXT, help="The worktree it belongs to.")
@click.option("--author", metavar="NAME", type=TEXT, help="Who said it.")
@click.option("--cite", "citations", metavar="CITATION", type=TEXT, multiple=True, help=CITATION_FORMS + ".")
@click.option("--created", type=WHEN, help="When it was learned, if not now: 2026-03-05, 3d …")
@click.option("--valid-from", type=WHEN, help="When it begins to hold.")
@click.option("--valid-until", type=WHEN, help="When it stops to hold.")
@click.option("--supersedes", metavar="ID", type=TEXT, help="The memory it replaces.")
@click.option("--scope", "scopes", metavar="SCOPE", type=TEXT, multiple=True, help="Repeat it for several.")
@click.option("--zone", type=OneOf(Zone, "zone"), help=f"How far to trust it: {listed(Zone)}.")
@click.option("--status", type=OneOf(Status, "status"), help="pending_review lets it wait for `review`.")
@click.option("--no-dedupe", is_flag=True, help="Keep it even if a memory already says the same.")
@click.option("--skip-bad", is_flag=True, help="With --jsonl: load the good lines, name the bad ones.")
@click.option("--no-embed", is_flag=True, help="Leave the vectors for later; words find it at once.")
@shared
@pass_given
def remember(
    given: Given, /, text: tuple[str, ...], file: str | None, jsonl: str | None, document: str | None, no_dedupe: bool,
    skip_bad: bool, no_embed: bool, **attributes: Any,
) -> None:  # fmt: skip
    """Keep TEXT, or what is piped in, or many memories from JSON lines.

    \b
    recallens remember "Deploys go out on Tuesdays" --project api --tag deploy
    git log -1 --format=%B | recallens remember --kind episode
    recallens remember --jsonl examples/memories.jsonl
    """
    from recallens.cli.keeping import keep_document, keep_lines, keep_one

    if sum((bool(text), file is not None, jsonl is not None, document is not None)) > 1:
        raise click.UsageError("give one of TEXT, --file, --jsonl and --document")
    said = {name: value for name, value in attributes.items() if value is not None and value != ()}
    if jsonl is not None:
        for name in _SINGULAR:
            if name in said:
                raise click.UsageError(f"--{name} names one memory; with --jsonl each line has its own")
        keep_lines(given, jsonl, said, dedupe=False if no_dedupe else None, skip_bad=skip_bad, embed=not no_embed)
        return
    if document is not None:
        unused = sorted(said.keys() - {"project", "title"})
        if unused:
            raise click.UsageError(f"a document takes --title and --project, not {unused[0].replace('_', '-')}")
        path = Path(document).expanduser()
        keep_document(given, read_text(document), path=str(path), title=said.get("title"), project=said.get("project"))
        return
    if not text and file is None and not piped():
        raise click.UsageError("give a TEXT, pipe one in, or use --file, --jsonl or --document")
    content = read_text(file) if file is not None else words(text) if text else read_text("-")
    keep_one(given, content, said, dedupe=False if no_dedupe else None, embed=not no_embed)
