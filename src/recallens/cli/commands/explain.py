from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recallens.cli.commands.search import Shown
from recallens.cli.files import target, write
from recallens.cli.given import Given
from recallens.cli.options import FORMAT, TEXT, shared
from recallens.cli.question import asks, needed, question
from recallens.errors import InvalidInput, NotFound
from recallens.render import DEFAULT_FORMAT, FORMATS

if TYPE_CHECKING:
    pass


_XRAY_USAGE = (
    f"recallens xray QUERY… [--format {'|'.join(FORMATS)}] [--budget CHARS] [--tokens N] [--namespace NAME]"
    " [--session ID] [--out FILE]; --help lists every option."
)


@click.command()
@click.argument("query", nargs=-1, type=TEXT)
@click.option("--format", "format", metavar="FORMAT", type=FORMAT, help=f"{', '.join(FORMATS)} ({DEFAULT_FORMAT}).")
@click.option("--out", metavar="FILE", type=TEXT, help="Write it to this file instead of the screen.")
@click.option("--sensitivity", is_flag=True, help="Say of each result which part of its score decided its place.")
@click.option("--ledger", metavar="FILE", type=TEXT, help="Also write the decisions, for replay and diff.")
@click.option("--trace-id", metavar="ID", type=TEXT, help="An id of yours that the X-ray carries.")
@asks
@shared
def xray(
    given: Given, /, query: tuple[str, ...], format: str | None, out: str | None, sensitivity: bool,
    ledger: str | None, trace_id: str | None, **options: Any,
) -> None:  # fmt: skip
    """Ask, and see why each memory came: tier, score, filters, provenance, budget. Records nothing.

    \b
    recallens xray "how long are lookups cached"
    recallens xray 인증 --format html --out ~/xray.html
    git diff | recallens xray "what to mind here" --diff -
    recallens xray "cache ttl" --sensitivity --ledger cache.json
    """
    from recallens.cli.printers import chosen_format, show, unseen, written
    from recallens.render.records import to_text
    from recallens.xray.sensitivity import sensitivity as by_term

    format = chosen_format(given, format)
    asked = needed(question(query, options), _XRAY_USAGE)
    page = None if out is None or out == "-" else target("--out", out)
    record = None if ledger is None else target("--ledger", ledger)
    if page is not None and page == record:
        raise InvalidInput("--out and --ledger name the same file")
    arguments = {"query": asked.text, **given.asker(asked.options), "format": format}
    with given.engine() as engine:
        if not engine.core.settings.capture:
            show(given, unseen(format), page)
            return
        shown = Shown(given, why=None, verbose=False)
        answer = given.run(engine, "recall_xray", arguments, trace_id=trace_id, deliver=shown.text)
    snapshot, decisions = answer.value
    text = written(snapshot, format, by_term(decisions)) if sensitivity else answer.text.removesuffix("\n")
    if record is not None:
        write(record, to_text({**decisions.to_json(), "digest": decisions.digest()}) + "\n")
        given.note(f"wrote {record}")
    show(given, text, page)


@click.command()
@click.argument("snapshot", required=False, type=TEXT)
@click.option("--session", metavar="ID", type=TEXT, help="The session that asked; else those without one.")
@click.option("--format", "format", metavar="FORMAT", type=FORMAT, help=f"{', '.join(FORMATS)} ({DEFAULT_FORMAT}).")
@shared
def explain(given: Given, snapshot: str | None, session: str | None, format: str | None) -> None:
    """The X-ray of a recorded search: the one with the id SNAPSHOT, or the last of a session.

    \b
    recallens search "how long are lookups cached" --session s-1
    recallens explain --session s-1
    recallens explain 5f6b1a2c-9d8e-5c01-8f3a-1b2c3d4e5f60 --json
    """
    from recallens.cli.printers import chosen_format, unseen

    format = chosen_format(given, format)
    if snapshot is not None and session is not None:
        raise InvalidInput("a snapshot's id says which search is meant; leave --session out")
    with given.engine() as engine:
        if snapshot is not None:
            answer = given.run(engine, "get_snapshot", {"id": snapshot, "format": format})
        elif not engine.core.settings.capture:
            click.echo(unseen(format))
            return
        else:
            session = session or engine.core.settings.session
            try:
                answer = given.run(engine, "recall_explain", {"session": session, "format": format})
            except NotFound as error:
                raise _no_recorded_search(session) from error
    click.echo(answer.text, nl=False)


def _no_recorded_search(session: str | None) -> NotFound:
    asked, option = (f"of session {session!r}", f" --session {session}") if session else ("without a session", "")
    return NotFound(
        f"no recorded search {asked}",
        hint=f'`recallens search "…"{option}` records one; `recallens xray "…"` explains a question right away.',
    )
