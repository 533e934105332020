from __future__ import annotations

from enum import StrEnum
from typing import Any

import click

from recallens.cli.commands.search import warn_of_failures
from recallens.cli.files import changed_files, words
from recallens.cli.given import Given
from recallens.cli.options import TEXT, OneOf, Size, listed, no_record, project_asked, shared
from recallens.cli.question import flag
from recallens.errors import InvalidInput
from recallens.model.query import DEFAULT_TOKENS


class ContextFormat(StrEnum):
    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


@click.command()
@click.argument("query", nargs=-1, required=True, type=TEXT)
@click.option("--context-budget", metavar="TOKENS", type=Size("context-budget", "tokens", 8_000), default=8_000,
              help="At most this many tokens in all (8000).")  # fmt: skip
@click.option("--brain-file-limit", metavar="N", type=click.IntRange(min=0), default=8,
              help="Sections of files at most (8); 0 leaves files out altogether.")  # fmt: skip
@click.option("--medium-term-limit", metavar="N", type=click.IntRange(min=0), default=3,
              help="Summaries of past sessions at most (3); 0 leaves them out.")  # fmt: skip
@click.option("--folder", "folders", metavar="FOLDER", type=TEXT, multiple=True,
              help="Of files, only those in this folder of the vault; repeat it for several.")  # fmt: skip
@click.option("--include-raw", is_flag=True, help="Also raw conversations and transcripts.")
@click.option("--open-file", metavar="FILE", type=TEXT, help="The file that is open: what is about it goes up.")
@click.option("--command", "commands", metavar="TEXT", type=TEXT, multiple=True,
              help="A recent command, the latest first: what shares its words goes up. Repeat it for several."
              )  # fmt: skip
@click.option("--hierarchical", is_flag=True, help="Prefer what is as abstract as the question.")
@click.option("--blend", type=float, metavar="0..1", help="What meaning weighs beside the words (0.5).")
@flag("chunk_level")
@project_asked
@click.option("--session", metavar="ID", type=TEXT, help="The session that asks.")
@click.option("--preset", metavar="NAME", type=TEXT, help="The ranking (fusion).")
@click.option("--log", is_flag=True, help="Also how the result came about, a line a stage, on standard error.")
@no_record
@shared
def retrieve(given: Given, /, query: tuple[str, ...], log: bool, no_record: bool, **options: Any) -> None:
    """One context string from every source, within a budget; lessons to verify stand apart.

    \b
    recallens retrieve "how do we roll back a deploy" --open-file src/deploy.py
    recallens retrieve 캐시 만료 정책 --folder wiki --context-budget 2000
    """

    form = "json" if given.json else "text"
    arguments = {"query": words(query), "format": form, **given.asker(options)}
    with given.engine() as engine:
        answer = given.run(engine, "retrieve", arguments, no_record=no_record)
    click.echo(answer.text, nl=False)
    if log:
        given.note("\n".join(answer.value.fusionLog))


@click.command()
@click.argument("task", nargs=-1, type=TEXT)
@click.option("--tokens", metavar="N", type=Size("tokens", "tokens", DEFAULT_TOKENS), default=DEFAULT_TOKENS,
              help=f"At most this many tokens in all ({DEFAULT_TOKENS}).")  # fmt: skip
@click.option("--constitution", metavar="FILE", type=TEXT,
              help="What every context begins with; else memories of kind principle.")  # fmt: skip
@click.option("--files", metavar="FILE", type=TEXT, multiple=True,
              help="A file that the task is about; repeat it for several.")  # fmt: skip
@click.option("--diff", metavar="FILE", type=TEXT, help="A unified diff that names the files; - is standard input.")
@project_asked
@click.option("--session", metavar="ID", type=TEXT, help="The session that asks.")
@click.option("--scope", "scopes", metavar="SCOPE", type=TEXT, multiple=True,
              help="A context to ask from; repeat it for several.")  # fmt: skip
@click.option("--format", "form", type=OneOf(ContextFormat, "format"),
              help=f"One of {listed(ContextFormat)}; --json is json.")  # fmt: skip
@click.option("--no-record", is_flag=True, help="Do not record what was delivered.")
@shared
def context(
    given: Given, /, task: tuple[str, ...], files: tuple[str, ...], diff: str | None, form: ContextFormat | None,
    no_record: bool, **options: Any,
) -> None:  # fmt: skip
    """What an agent should know for a task, within a token budget.

    \b
    recallens context "shorten the cache TTL of tracking lookups" --tokens 4000
    recallens context "인증 토큰 갱신을 고친다" --constitution AGENTS.md --json

    The block goes to standard output, what it cost and what was left out to
    standard error.
    """
    if given.json and form not in (None, ContextFormat.JSON):
        raise InvalidInput(f"--json and --format {form} exclude each other")

    sent = ContextFormat.JSON if given.json else form or ContextFormat.TEXT
    format = "block" if sent is ContextFormat.TEXT else str(sent)
    named = (*files, *(changed_files(diff) if diff is not None else ()))
    arguments = {
        "task": words(task), "files": tuple(dict.fromkeys(named)), "format": format, **given.asker(options),
    }  # fmt: skip
    with given.engine() as engine:
        answer = given.run(engine, "compose_context", arguments, no_record=no_record)
    composed = answer.value
    click.echo(answer.text if answer.text.strip() else "", nl=False)
    if sent is ContextFormat.JSON:
        return
    from recallens.render.context import summary

    for name, told in summary(composed).items():
        given.note(f"{name}: {told}")
    if composed.notice:
        given.note(composed.notice)
    warn_of_failures(given, composed.degraded)
