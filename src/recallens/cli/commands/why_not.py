from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, now_ms, shared
from recallens.cli.question import asks, command, needed, question
from recallens.cli.screen import say
from recallens.errors import NotFound

if TYPE_CHECKING:
    from recallens.xray.why_not import KeptOut, Missed


_WHY_NOT_USAGE = "recallens why-not MEMORY-ID QUERY… [options as for search]; --help lists every option."


@click.command("why-not")
@click.argument("memory", metavar="MEMORY-ID", type=TEXT)
@click.argument("query", nargs=-1, type=TEXT)
@asks
@shared
def why_not(given: Given, /, memory: str, query: tuple[str, ...], **options: Any) -> None:
    """Why a memory is not among the results, by how much it missed, and the smallest change that brings it in.

    \b
    recallens why-not 01M7GR285QBW "how long are lookups cached"
    """
    from recallens.xray.why_not import KeptOut, Unknown

    asked = needed(question(query, options), _WHY_NOT_USAGE)
    dated = asked.options["now"] is not None
    said = {**given.asker(asked.options), **({} if dated else {"now": now_ms()})}
    with given.engine() as engine:
        settings = engine.core.settings
        answer = given.answer(engine, "why_not", {"memory": memory, "query": asked.text, **said})
        put = engine.recalls.question(asked.text, **said)
    missing = answer.value
    if isinstance(missing, Unknown):
        raise NotFound(missing.sentence, hint="`recallens list` shows handles.")
    run = None
    if isinstance(missing, KeptOut) and missing.change is not None:
        run = command(missing.change.applied(put), settings, given, dated=dated)
    if given.json:
        given.emit(answer.record | ({"command": run} if run is not None else {}))
        return
    say(missing.sentence)
    if isinstance(missing, KeptOut):
        for line in _reasons(missing, put.limit, run):
            say(line)


def _reasons(missing: KeptOut, limit: int, run: str | None) -> Iterator[str]:
    yield "\nkept out by:"
    for blocker in missing.blockers:
        yield f"- {blocker.name} (in {blocker.stage}): {blocker.reason}"
    margins = list(_margins(missing.missed, limit))
    if margins:
        yield "\nmissed by:"
        yield from (f"- {margin}" for margin in margins)
    if run is not None:
        yield "\nthis brings it in, as running it has confirmed:"
        yield f"  {run}"


def _margins(missed: Missed, limit: int) -> Iterator[str]:
    from recallens.model.terms import as_share, ordinal

    if missed.rank is not None:
        yield f"rank: by its score it would be {ordinal(missed.rank)}, with room for {limit}"
    if missed.score is not None:
        yield f"score: {missed.score:.4f} less than the last result"
    if missed.relevance is not None:
        yield f"relevance: {as_share(missed.relevance)} less than the least that the cut asks for"
    if missed.chars is not None:
        yield f"budget: {missed.chars:,} characters too few"
    if missed.tokens is not None:
        yield f"tokens: {missed.tokens:,} too few"
    if missed.days is not None:
        yield f"days: {missed.days:.1f} between the time asked about and when it held"
    if missed.view is not None and missed.view_rank is not None:
        yield f"view: {ordinal(missed.view_rank)} in {missed.view}, which was asked for {missed.depth}"


# ── recorded searches ──
