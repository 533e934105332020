from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any

import click

from recallens.cli.files import target, write
from recallens.cli.given import Given
from recallens.cli.options import FORMAT, TEXT, now_ms, shared
from recallens.cli.question import asks, command, needed, question
from recallens.cli.screen import counted, say
from recallens.errors import InvalidInput, NotFound
from recallens.model.times import instant
from recallens.render import FORMATS

if TYPE_CHECKING:
    from recallens.operations import Answer
    from recallens.xray.diff import Difference, SettingChanged
    from recallens.xray.why_not import KeptOut, Missed

_XRAY_USAGE = (
    f"recallens xray QUERY… [--format {'|'.join(FORMATS)}] [--budget CHARS] [--tokens N] [--namespace NAME]"
    " [--session ID] [--out FILE]; --help lists every option."
)
_WHY_NOT_USAGE = "recallens why-not MEMORY-ID QUERY… [options as for search]; --help lists every option."


@click.command()
@click.argument("query", nargs=-1, type=TEXT)
@click.option("--format", "format", metavar="FORMAT", type=FORMAT, help=f"{', '.join(FORMATS)} (text).")
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
        answer = given.run(engine, "recall_xray", arguments, trace_id=trace_id)
    snapshot, decisions = answer.value
    text = written(snapshot, format, by_term(decisions)) if sensitivity else answer.text.removesuffix("\n")
    if record is not None:
        write(record, to_text({**decisions.to_json(), "digest": decisions.digest()}) + "\n")
        given.note(f"wrote {record}")
    show(given, text, page)


@click.command()
@click.argument("snapshot", required=False, type=TEXT)
@click.option("--session", metavar="ID", type=TEXT, help="The session that asked; else those without one.")
@click.option("--format", "format", metavar="FORMAT", type=FORMAT, help=f"{', '.join(FORMATS)} (text).")
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
        raise NotFound(missing.sentence, hint="`recallens list` shows ids.")
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


# ── recorded searches ──


@click.command()
@click.argument("snapshot", type=TEXT)
@shared
def replay(given: Given, snapshot: str) -> None:
    """The results of a recorded search again, from its decisions; and what differs if it is asked now.

    SNAPSHOT is the id of a recorded search's X-ray, a file of its JSON, or a file that `xray --ledger` wrote. Exit 1 if
    the record was altered.

    \b
    recallens replay 5f6b1a2c-9d8e-5c01-8f3a-1b2c3d4e5f60
    recallens replay cache.json
    """

    def printed(answer: Answer) -> None:
        again, live = answer.value
        click.echo(f"reproduced: {counted(len(again.ids), 'result')} of {again.considered:,} considered")
        for rank, (id, score) in enumerate(zip(again.ids, again.scores, strict=True), start=1):
            click.echo(f"{rank:>3}  {id}  {score:.4f}")
        click.echo(f"digest {again.digest}")
        if live is None:
            say(f"\nthe store could not be asked again: {answer.record['liveError']}")
            return
        click.echo("\nasked now, nothing differs" if not live else "\nasked now:")
        for line in _sentences(live):
            say(f"- {line}")

    given.perform("replay_record", {"name": snapshot}, printed)


@click.command()
@click.argument("before", type=TEXT)
@click.argument("after", type=TEXT)
@shared
def diff(given: Given, before: str, after: str) -> None:
    """What entered, left and moved between two recorded searches, each with its cause.

    BEFORE and AFTER are what `replay` takes.

    \b
    recallens xray "cache ttl" --ledger before.json
    recallens xray "cache ttl" --weight bm25=2 --ledger after.json
    recallens diff before.json after.json
    """

    def printed(answer: Answer) -> None:
        difference = answer.value
        if difference.empty:
            click.echo("nothing differs")
        for heading, changes in (("entered", difference.entered), ("left", difference.left),
                                 ("moved", difference.moved), ("other scores", difference.rescored)):  # fmt: skip
            _print_section(heading, _sentences(changes))
        _print_section("settings", [_setting(one) for one in difference.settings])

    given.perform("diff_records", {"before": before, "after": after}, printed)


def _sentences(changes: Iterable[Difference]) -> list[str]:
    """What can be seen in four decimals; smaller changes of a score are only counted."""
    from recallens.xray.diff import MovedResult

    told, slight = [], 0
    for one in changes:
        if (
            isinstance(one, MovedResult)
            and one.rank_before == one.rank_after
            and _same(one.score_before, one.score_after)
        ):
            slight += 1
        else:
            told.append(one.sentence)
    return [*told, *([f"{counted(slight, 'score')} moved by less than 0.0001"] if slight else [])]


def _same(before: float, after: float) -> bool:
    return f"{before:.4f}" == f"{after:.4f}"


def _setting(one: SettingChanged) -> str:
    """Times are read as times."""
    if one.setting not in ("now", "as_of"):
        return str(one)
    before, after = ("unset" if at is None else instant(at) for at in (one.before, one.after))
    return f"{one.setting} is {after} and was {before}"


def _print_section(heading: str, lines: list[str]) -> None:
    if lines:
        click.echo(f"{heading}:")
    for line in lines:
        say(f"- {line}")


@click.command()
@click.argument("file", type=click.File("r", encoding="utf-8"), default="-")
@shared
def verify(given: Given, file: IO[str]) -> None:
    """Whether what a certificate rests on still stands: exit 1 if a memory in it changed, or it was altered.

    FILE is the JSON of a search (with its certificate), or of a certificate alone; - is standard input.

    \b
    recallens search "who approves deploys" --json > answer.json
    recallens verify answer.json
    """
    try:
        record = json.loads(file.read())
        certificate = record.get("certificate", record)
    except (ValueError, AttributeError) as error:
        raise InvalidInput(
            "this is no JSON of a search", hint="Give what `recallens search --json` printed, or its certificate."
        ) from error

    def printed(answer: Answer) -> None:
        verdict = answer.value
        click.echo("valid: every memory is as it was" if verdict.valid else "not valid")
        if verdict.altered:
            click.echo("- the certificate was altered: its digest is of other evidence")
        for id, why in verdict.stale.items():
            say(f"- {id}: {why}")

    if not given.perform("verify_certificate", {"certificate": certificate}, printed).value.valid:
        raise SystemExit(1)
