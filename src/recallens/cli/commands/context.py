from __future__ import annotations

from enum import StrEnum

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, OneOf, Size, listed, shared
from recallens.cli.reading import changed_files
from recallens.errors import InvalidInput
from recallens.model.query import DEFAULT_TOKENS


class Form(StrEnum):
    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


@click.command()
@click.argument("task", nargs=-1, type=TEXT)
@click.option(
    "--tokens",
    metavar="N",
    type=Size("tokens", "tokens", DEFAULT_TOKENS),
    default=DEFAULT_TOKENS,
    help=f"At most this many tokens in all ({DEFAULT_TOKENS}).",
)
@click.option(
    "--constitution", metavar="FILE", type=TEXT, help="What every context begins with; else memories of kind principle."
)
@click.option(
    "--files", metavar="FILE", type=TEXT, multiple=True, help="A file that the task is about; repeat it for several."
)
@click.option("--diff", metavar="FILE", type=TEXT, help="A unified diff that names the files; - is standard input.")
@click.option("--project", metavar="NAME", type=TEXT, help="Only this project; an empty name means any.")
@click.option("--session", metavar="ID", type=TEXT, help="The session that asks.")
@click.option(
    "--scope",
    "scopes",
    metavar="SCOPE",
    type=TEXT,
    multiple=True,
    help="A context that the caller holds; repeat it for several.",
)
@click.option("--format", "form", type=OneOf(Form, "format"), help=f"One of {listed(Form)}; --json is json.")
@click.option("--no-record", is_flag=True, help="Do not record what was delivered.")
@shared
@pass_given
def context(
    given: Given,
    /,
    task: tuple[str, ...],
    tokens: int,
    constitution: str | None,
    files: tuple[str, ...],
    diff: str | None,
    project: str | None,
    session: str | None,
    scopes: tuple[str, ...],
    form: Form | None,
    no_record: bool,
) -> None:  # fmt: skip
    """What an agent should know for a task, within a token budget.

    \b
    recallens context "shorten the cache TTL of tracking lookups" --tokens 4000
    recallens context "인증 토큰 갱신을 고친다" --constitution AGENTS.md --json

    The block goes to standard output, what it cost and what was left out to
    standard error.
    """
    if given.json and form not in (None, Form.JSON):
        raise InvalidInput(f"--json and --format {form} exclude each other")
    named = (*files, *(changed_files(diff) if diff is not None else ()))
    with given.engine() as engine:
        settings = engine.core.settings
        found = engine.context(
            " ".join(task),
            tokens,
            constitution=constitution,
            files=tuple(dict.fromkeys(named)),
            project=(settings.project if project is None else project) or None,
            session=session or settings.session,
            scopes=scopes,
            record=False if no_record else None,
        )
    from recallens.render.context import context_markdown, context_record, summary

    if given.json or form is Form.JSON:
        given.emit(context_record(found))
        return
    click.echo(context_markdown(found) if form is Form.MARKDOWN else found.block, nl=False)
    for name, told in summary(found).items():
        given.note(f"{name}: {told}")
    if found.notice:
        given.note(found.notice)
    for view, error in found.degraded.items():
        given.note(f"warning: the {view} view failed, so that the others answered alone: {error}")
