from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, FormatType, no_record, project_asked, shared
from recallens.cli.question import asks, question
from recallens.cli.screen import screen
from recallens.errors import InvalidInput
from recallens.render import DEFAULT_FORMAT, FORMATS

if TYPE_CHECKING:
    from recallens.engine.layers import MemorySearch
    from recallens.model.recall import Recall


_HERE = FormatType("--xray takes the word after it as its format: put it last, or write --xray=text.")


@click.command()
@click.argument("query", nargs=-1, type=TEXT)
@asks
@no_record
@click.option("--why/--no-why", default=True, help="Whether to show each score as the sum of its parts.")
@click.option("--brief", is_flag=True,
              help="Layer 1, as an agent gets it: about 50 tokens a result, and one wider look if they cover too"
              " little.")  # fmt: skip
@click.option("--max-tokens", type=int, metavar="N", help="With --brief: at most this many tokens of results in all.")
@click.option("--xray", "xray", metavar="[FORMAT]", type=_HERE, is_flag=False, flag_value=DEFAULT_FORMAT,
              help=f"Print the X-ray of this very search instead: {', '.join(FORMATS)}.")  # fmt: skip
@shared
def search(
    given: Given, /, query: tuple[str, ...], no_record: bool, why: bool, brief: bool, max_tokens: int | None,
    xray: str | None, **options: Any,
) -> None:  # fmt: skip
    """Find memories by words and by meaning, and say why each came.

    \b
    recallens search "how long are lookups cached"
    recallens search 인증 --project api --kind decision -k 3
    recallens search "cache ttl" --as-of 2026-05-01 --xray
    recallens search "how do we deploy and who approves it" --brief
    """
    format = None
    if xray is not None:
        from recallens.cli.printers import chosen_format

        format = chosen_format(given, None if xray == DEFAULT_FORMAT else xray)
    asked = question(query, options)
    if max_tokens is not None and not brief:
        raise InvalidInput("--max-tokens is for --brief; whole memories are held to --tokens N")
    arguments = {"query": asked.text, **given.asker(asked.options)}
    if brief:
        given.perform(
            "search_memory", {**arguments, "max_tokens": max_tokens},
            lambda answer: _print_brief(given, answer.value), no_record=no_record,
        )  # fmt: skip
        return
    if format is None:
        given.perform(
            "search", arguments, lambda answer: _print_recall(given, answer.value, why=why), no_record=no_record
        )
        return
    from recallens.cli.printers import unseen
    from recallens.render import render

    with given.engine() as engine:
        recall = given.answer(engine, "search", arguments, no_record=no_record).value
        snapshot = engine.recalls.snapshot_of(recall) if engine.core.settings.capture else None
    click.echo(unseen(format) if snapshot is None else render(snapshot, format))


@click.command()
@click.argument("query", nargs=-1, type=TEXT)
@click.option("--limit", "-k", type=int, default=10, metavar="N", help="How many results (10).")
@project_asked
@no_record
@click.option("--why/--no-why", default=True, help="Whether to show each score as the sum of its parts.")
@shared
def documents(
    given: Given, /, query: tuple[str, ...], limit: int, project: str | None, no_record: bool, why: bool
) -> None:
    """Find passages of the documents that were added with `remember --document`."""
    given.perform(
        "search_documents", {"query": " ".join(query), "limit": limit, **given.asker({"project": project})},
        lambda answer: _print_recall(given, answer.value, why=why), no_record=no_record,
    )  # fmt: skip


def _print_recall(given: Given, recall: Recall, *, why: bool) -> None:
    from recallens.cli.printers import print_recall

    print_recall(screen(given), recall, why=why)
    warn_of_failures(given, recall.degraded)


def warn_of_failures(given: Given, degraded: Any) -> None:
    for view, error in degraded.items():
        given.note(f"warning: the {view} view failed, so that the others answered alone: {error}")


def _print_brief(given: Given, found: MemorySearch) -> None:
    from recallens.cli.printers import print_certificate

    console = screen(given)
    for entry in found.entries:
        console.print(entry.text, markup=False, highlight=False)
    if found.recall.notice or not found.entries:
        console.print(found.recall.notice or "no memory matches", markup=False)
    print_certificate(console, found.certificate)
