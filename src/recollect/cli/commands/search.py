from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.given import Given, pass_given
from recollect.cli.options import TEXT, OneOf, listed, now_ms, shared
from recollect.cli.screen import screen
from recollect.ingest.validate import parse_when
from recollect.model.memory import Kind, Sector, Tier
from recollect.model.query import Documents, Mode

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.model.recall import Recall


@click.command()
@click.argument("query", nargs=-1, type=TEXT)
@click.option("--mode", type=OneOf(Mode, "mode"), help=f"One of {listed(Mode)}.")
@click.option("--limit", "-k", type=int, metavar="N", help="How many results (10).")
@click.option("--project", metavar="NAME", type=TEXT, help="Only this project; an empty name means any.")
@click.option("--sector", type=OneOf(Sector, "sector"), help=f"Only this sector: {listed(Sector)}.")
@click.option("--tier", type=OneOf(Tier, "tier"), help=f"Only this tier: {listed(Tier)}.")
@click.option("--kind", type=OneOf(Kind, "kind"), help=f"Only this kind: {listed(Kind)}.")
@click.option(
    "--tag", "tags", metavar="TAG", type=TEXT, multiple=True, help="Only with this tag; repeat it for several."
)
@click.option("--min-salience", type=float, metavar="0..1", help="Only what is still this salient.")
@click.option("--include-superseded", is_flag=True, help="Also what has been replaced or has run out.")
@click.option("--in-session", metavar="ID", type=TEXT, help="Only what this session touched.")
@click.option("--session", metavar="ID", type=TEXT, help="The session that asks; what it gets is linked to it.")
@click.option("--now", metavar="WHEN", type=TEXT, help="Ask as if it were this time.")
@click.option("--as-of", metavar="WHEN", type=TEXT, help="What was known at this time: 2026-05-01, 3d …")
@click.option("--preset", metavar="NAME", type=TEXT, help="The ranking: default or classic.")
@click.option("--documents", type=OneOf(Documents, "documents"), help=f"Passages of documents: {listed(Documents)}.")
@click.option("--no-record", is_flag=True, help="Do not record what was returned.")
@click.option("--why/--no-why", default=True, help="Whether to show each score as the sum of its parts.")
@shared
@pass_given
def search(
    given: Given,
    /,
    query: tuple[str, ...],
    now: str | None,
    as_of: str | None,
    no_record: bool,
    why: bool,
    **options: Any,
) -> None:
    """Find memories by words and by meaning, and say why each came.

    \b
    recollect search "how long are lookups cached"
    recollect search 인증 --project api --kind decision -k 3
    recollect search "cache ttl" --as-of 2026-05-01
    """
    asked_at = None if now is None else parse_when(now, now_ms=now_ms())
    options["now"] = asked_at
    if as_of is not None:
        options["as_of"] = parse_when(as_of, now_ms=now_ms() if asked_at is None else asked_at)
    _answer(given, lambda engine: engine.search(" ".join(query), **_for(engine, options, no_record)), why=why)


@click.command()
@click.argument("query", nargs=-1, type=TEXT)
@click.option("--limit", "-k", type=int, default=10, metavar="N", help="How many results (10).")
@click.option("--project", metavar="NAME", type=TEXT, help="Only this project; an empty name means any.")
@click.option("--no-record", is_flag=True, help="Do not record what was returned.")
@click.option("--why/--no-why", default=True, help="Whether to show each score as the sum of its parts.")
@shared
@pass_given
def documents(given: Given, /, query: tuple[str, ...], no_record: bool, why: bool, **options: Any) -> None:
    """Find passages of the documents that were added with `remember --document`."""
    _answer(given, lambda engine: engine.search_documents(" ".join(query), **_for(engine, options, no_record)), why=why)


def _for(engine: Engine, options: dict[str, Any], no_record: bool) -> dict[str, Any]:
    """The options as the engine takes them; the settings name the project and the session that were not given."""
    project = options["project"] if options.get("project") is not None else engine.settings.project
    session = options.get("session") or engine.settings.session
    return {**options, "project": project or None, "session": session, "record": False if no_record else None}


def _answer(given: Given, ask: Callable[[Engine], Recall], *, why: bool) -> None:
    with given.engine() as engine:
        recall = ask(engine)
    if given.json:
        from recollect.render.records import recall_record

        given.emit(recall_record(recall))
        return
    from recollect.cli.results import print_recall

    print_recall(screen(given), recall, why=why)
    for view, error in recall.degraded.items():
        given.note(f"warning: the {view} view failed, so that the others answered alone: {error}")
