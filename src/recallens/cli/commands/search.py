from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, FormatType, shared
from recallens.cli.question import TypedQuestion, asks, question
from recallens.cli.screen import screen
from recallens.errors import InvalidInput
from recallens.render import DEFAULT_FORMAT, FORMATS

if TYPE_CHECKING:
    from recallens.model.recall import Recall

_HERE = FormatType("--xray takes the word after it as its format: put it last, or write --xray=text.")


@click.command()
@click.argument("query", nargs=-1, type=TEXT)
@asks
@click.option("--no-record", is_flag=True, help="Do not record what was returned.")
@click.option("--why/--no-why", default=True, help="Whether to show each score as the sum of its parts.")
@click.option(
    "--brief",
    is_flag=True,
    help="Layer 1, as an agent gets it: about 50 tokens a result, and one wider look if they cover too little.",
)
@click.option("--max-tokens", type=int, metavar="N", help="With --brief: at most this many tokens of results in all.")
@click.option(
    "--xray", "xray", metavar="[FORMAT]", type=_HERE, is_flag=False, flag_value=DEFAULT_FORMAT,
    help=f"Print the X-ray of this very search instead: {', '.join(FORMATS)}.",
)  # fmt: skip
@shared
@pass_given
def search(
    given: Given,
    /,
    query: tuple[str, ...],
    no_record: bool,
    why: bool,
    brief: bool,
    max_tokens: int | None,
    xray: str | None,
    **options: Any,
) -> None:
    """Find memories by words and by meaning, and say why each came.

    \b
    recallens search "how long are lookups cached"
    recallens search 인증 --project api --kind decision -k 3
    recallens search "cache ttl" --as-of 2026-05-01 --xray
    recallens search "how do we deploy and who approves it" --brief
    """
    format = None
    if xray is not None:
        from recallens.cli.xrays import chosen_format

        format = chosen_format(given, None if xray == DEFAULT_FORMAT else xray)
    asked = question(query, options)
    if brief:
        _brief(given, asked, max_tokens=max_tokens, record=False if no_record else None)
        return
    if max_tokens is not None:
        raise InvalidInput("--max-tokens is for --brief; whole memories are held to --tokens N")
    with given.engine() as engine:
        recall = engine.search(
            asked.text, certify=True, **asked.for_engine(engine.core.settings), record=False if no_record else None
        )
        snapshot = None if format is None or not engine.core.settings.capture else engine.recalls.snapshot_of(recall)
    if format is None:
        _answer(given, recall, why=why)
        return
    from recallens.cli.xrays import unseen
    from recallens.render import render

    click.echo(unseen(format) if snapshot is None else render(snapshot, format))


@click.command()
@click.argument("query", nargs=-1, type=TEXT)
@click.option("--limit", "-k", type=int, default=10, metavar="N", help="How many results (10).")
@click.option("--project", metavar="NAME", type=TEXT, help="Only this project; an empty name means any.")
@click.option("--no-record", is_flag=True, help="Do not record what was returned.")
@click.option("--why/--no-why", default=True, help="Whether to show each score as the sum of its parts.")
@shared
@pass_given
def documents(
    given: Given, /, query: tuple[str, ...], limit: int, project: str | None, no_record: bool, why: bool
) -> None:
    """Find passages of the documents that were added with `remember --document`."""
    with given.engine() as engine:
        settings = engine.core.settings
        recall = engine.recalls.search_documents(
            " ".join(query),
            project=(settings.project if project is None else project) or None,
            limit=limit,
            session=settings.session,
            record=False if no_record else None,
        )
    _answer(given, recall, why=why)


def _brief(given: Given, asked: TypedQuestion, *, max_tokens: int | None, record: bool | None) -> None:
    with given.engine() as engine:
        found = engine.layers.search(
            asked.text, max_tokens=max_tokens, **asked.for_engine(engine.core.settings), record=record
        )
    if given.json:
        given.emit(found.to_json())
        return
    from recallens.cli.results import print_certificate

    console = screen(given)
    for entry in found.entries:
        console.print(entry.text, markup=False, highlight=False)
    if found.recall.notice or not found.entries:
        console.print(found.recall.notice or "no memory matches", markup=False)
    print_certificate(console, found.certificate)


def _answer(given: Given, recall: Recall, *, why: bool) -> None:
    if given.json:
        from recallens.render.records import recall_record

        given.emit(recall_record(recall))
        return
    from recallens.cli.results import print_recall

    print_recall(screen(given), recall, why=why)
    for view, error in recall.degraded.items():
        given.note(f"warning: the {view} view failed, so that the others answered alone: {error}")
