from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, shared
from recallens.cli.question import asks, command, needed, question
from recallens.cli.screen import visible

if TYPE_CHECKING:
    from recallens.xray.why_not import KeptOut, Missed

_USAGE = "recallens why-not MEMORY-ID QUERY… [options as for search]; --help lists every option."


@click.command("why-not")
@click.argument("memory", metavar="MEMORY-ID", type=TEXT)
@click.argument("query", nargs=-1, type=TEXT)
@asks
@shared
@pass_given
def why_not(given: Given, /, memory: str, query: tuple[str, ...], **options: Any) -> None:
    """Why a memory is not among the results, by how much it missed, and the smallest change that brings it in.

    \b
    recallens why-not 01M7GR285QBW "how long are lookups cached"
    """
    from recallens.errors import NotFound
    from recallens.xray.why_not import KeptOut, Unknown

    asked = needed(question(query, options), _USAGE)
    with given.engine() as engine:
        settings = engine.core.settings
        dated = asked.options["now"] is not None
        said = {**asked.for_engine(settings), **({} if dated else {"now": engine.core.clock()})}
        found = engine.why_not(memory, asked.text, **said)
        put = engine.recalls.question(asked.text, **said)
    if isinstance(found, Unknown):
        raise NotFound(found.sentence, hint="`recallens list` shows ids.")
    run = None
    if isinstance(found, KeptOut) and found.change is not None:
        run = command(found.change.applied(put), settings, given, dated=dated)
    if given.json:
        given.emit(found.to_json() | ({"command": run} if run is not None else {}))
        return
    click.echo(visible(found.sentence))
    if isinstance(found, KeptOut):
        for line in _told(found, put.limit, run):
            click.echo(visible(line))


def _told(found: KeptOut, limit: int, run: str | None) -> Iterator[str]:
    yield "\nkept out by:"
    for blocker in found.blockers:
        yield f"- {blocker.name} (in {blocker.stage}): {blocker.reason}"
    margins = list(_margins(found.missed, limit))
    if margins:
        yield "\nmissed by:"
        yield from (f"- {margin}" for margin in margins)
    if run is not None:
        yield "\nthis brings it in, as running it has confirmed:"
        yield f"  {run}"


def _margins(missed: Missed, limit: int) -> Iterator[str]:
    from recallens.model.terms import ordinal

    if missed.rank is not None:
        yield f"rank: by its score it would be {ordinal(missed.rank)}, with room for {limit}"
    if missed.score is not None:
        yield f"score: {missed.score:.4f} less than the last result"
    if missed.chars is not None:
        yield f"budget: {missed.chars:,} characters too few"
    if missed.tokens is not None:
        yield f"tokens: {missed.tokens:,} too few"
    if missed.days is not None:
        yield f"days: {missed.days:.1f} between the time asked about and when it held"
    if missed.view is not None and missed.view_rank is not None:
        yield f"view: {ordinal(missed.view_rank)} in {missed.view}, which was asked for {missed.depth}"
