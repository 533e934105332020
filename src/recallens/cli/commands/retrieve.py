from __future__ import annotations

from typing import Any

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, Size, shared
from recallens.cli.screen import visible


@click.command()
@click.argument("query", nargs=-1, required=True, type=TEXT)
@click.option(
    "--context-budget",
    metavar="TOKENS",
    type=Size("context-budget", "tokens", 8_000),
    default=8_000,
    help="At most this many tokens in all (8000).",
)
@click.option(
    "--brain-file-limit",
    metavar="N",
    type=click.IntRange(min=0),
    default=8,
    help="Sections of files at most (8); 0 leaves files out altogether.",
)
@click.option(
    "--medium-term-limit",
    metavar="N",
    type=click.IntRange(min=0),
    default=3,
    help="Summaries of past sessions at most (3); 0 leaves them out.",
)
@click.option(
    "--folder",
    "folders",
    metavar="FOLDER",
    type=TEXT,
    multiple=True,
    help="Of files, only those in this folder of the vault; repeat it for several.",
)
@click.option("--include-raw", is_flag=True, help="Also raw conversations and transcripts.")
@click.option("--open-file", metavar="FILE", type=TEXT, help="The file that is open: what is about it goes up.")
@click.option(
    "--command",
    "commands",
    metavar="TEXT",
    type=TEXT,
    multiple=True,
    help="A recent command, the latest first: what shares its words goes up. Repeat it for several.",
)
@click.option("--hierarchical", is_flag=True, help="Prefer what is as abstract as the question.")
@click.option("--blend", type=float, metavar="0..1", help="What meaning weighs beside the words (0.5).")
@click.option("--project", metavar="NAME", type=TEXT, help="Only this project; an empty name means any.")
@click.option("--session", metavar="ID", type=TEXT, help="The session that asks.")
@click.option("--preset", metavar="NAME", type=TEXT, help="The ranking (fusion).")
@click.option("--log", is_flag=True, help="Also how the result came about, a line a stage, on standard error.")
@click.option("--no-record", is_flag=True, help="Do not record what was returned.")
@shared
@pass_given
def retrieve(
    given: Given, /, query: tuple[str, ...], log: bool, no_record: bool, project: str | None, **options: Any
) -> None:
    """One context string from every source, within a budget; lessons to verify stand apart.

    \b
    recallens retrieve "how do we roll back a deploy" --open-file src/deploy.py
    recallens retrieve 캐시 만료 정책 --folder wiki --context-budget 2000
    """  # fmt: skip
    from recallens.model.recall import build_context_string, build_lesson_string

    with given.engine() as engine:
        settings = engine.core.settings
        options["session"] = options["session"] or settings.session
        result = engine.retrieve(
            " ".join(query),
            project=(settings.project if project is None else project) or None,
            record=False if no_record else None,
            **options,
        )
    if given.json:
        given.emit(result.to_json() | {"context": build_context_string(result), "lessons": build_lesson_string(result)})
        return
    click.echo(visible(build_context_string(result)), nl=False)
    click.echo(visible(build_lesson_string(result)), nl=False)
    if not result.selectedChunks and not result.lessonChunks:
        click.echo("no memory matches")
    if log:
        given.note("\n".join(result.fusionLog))
