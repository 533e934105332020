from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recallens.cli.files import words
from recallens.cli.given import Given
from recallens.cli.options import TEXT, Decorated, FormatType, no_record, project_asked, refuse_unused, shared
from recallens.cli.question import asks, question
from recallens.cli.screen import screen
from recallens.render import DEFAULT_FORMAT, FORMATS

if TYPE_CHECKING:
    from rich.console import Console

    from recallens.model.recall import Recall
    from recallens.operations import Answer


_HERE = FormatType("--xray takes the word after it as its format: put it last, or write --xray=brief.")


def details(command: Decorated) -> Decorated:
    """What a person may ask to see beside the answer."""
    command = click.option("--why/--no-why", default=None, help="Whether to show each score as the sum of its parts.")(
        command
    )
    return click.option(
        "--verbose", "-v", is_flag=True, help="Also how each result was found, the filters, and the near misses."
    )(command)


@click.command()
@click.argument("query", nargs=-1, type=TEXT)
@asks
@no_record
@details
@click.option("--brief", is_flag=True,
              help="Layer 1, as an agent gets it: a line or two of each memory, and one wider look if they cover too"
              " little.")  # fmt: skip
@click.option("--max-tokens", type=int, metavar="N", help="With --brief: at most this many tokens in all, as sent.")
@click.option("--xray", "xray", metavar="[FORMAT]", type=_HERE, is_flag=False, flag_value=DEFAULT_FORMAT,
              help=f"Print the X-ray of this very search instead: {', '.join(FORMATS)}.")  # fmt: skip
@shared
def search(
    given: Given, /, query: tuple[str, ...], no_record: bool, verbose: bool, why: bool | None, brief: bool,
    max_tokens: int | None, xray: str | None, **options: Any,
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
    if not brief:
        refuse_unused("without --brief: whole memories are held to --tokens N", "max_tokens")
    for form, name in ((brief, "brief"), (xray is not None, "xray")):
        if form:
            refuse_unused(f"with --{name}", "why", "verbose", *({"xray"} if brief else ()))
    arguments = {"query": asked.text, **given.asker(asked.options)}
    if brief:
        given.print_layer("search_memory", {**arguments, "max_tokens": max_tokens}, no_record=no_record)
        return
    shown = Shown(given, why=why, verbose=verbose)
    if format is None:
        given.perform("search", arguments, shown.show, no_record=no_record, deliver=shown.text)
        return
    from recallens.cli.printers import unseen
    from recallens.render import render

    with given.engine() as engine:
        recall = given.answer(engine, "search", arguments, no_record=no_record, deliver=shown.text).value
        snapshot = engine.recalls.snapshot_of(recall) if engine.core.settings.capture else None
    click.echo(unseen(format) if snapshot is None else render(snapshot, format))


@click.command()
@click.argument("query", nargs=-1, type=TEXT)
@click.option("--limit", "-k", type=int, default=10, metavar="N", help="How many results (10).")
@project_asked
@no_record
@details
@shared
def documents(
    given: Given, /, query: tuple[str, ...], limit: int, project: str | None, no_record: bool, verbose: bool,
    why: bool | None,
) -> None:  # fmt: skip
    """Find passages of the documents that were added with `remember --document`."""
    given.perform(
        "search_documents", {"query": words(query), "limit": limit, **given.asker({"project": project})},
        Shown(given, why=why, verbose=verbose).show, no_record=no_record,
    )  # fmt: skip


class Shown:
    """A recall as this person is shown it."""

    def __init__(self, given: Given, *, why: bool | None, verbose: bool) -> None:
        self._given, self._why, self._verbose = given, verbose if why is None else why, verbose

    def show(self, answer: Answer) -> None:
        self._print(screen(self._given), answer.value)
        warn_of_failures(self._given, answer.value.degraded)

    def text(self, recall: Recall) -> str:
        """The same without colour."""
        console = screen(self._given)
        with console.capture() as captured:
            self._print(console, recall)
        return "".join(f"{line.rstrip()}\n" for line in click.unstyle(captured.get()).splitlines())

    def _print(self, console: Console, recall: Recall) -> None:
        from recallens.cli.printers import print_recall

        print_recall(console, recall, why=self._why, verbose=self._verbose)


def warn_of_failures(given: Given, degraded: Any) -> None:
    from recallens.render.formats import how_it_failed

    for view, error in degraded.items():
        given.note(f"warning: the {view} view {how_it_failed(error)}")
