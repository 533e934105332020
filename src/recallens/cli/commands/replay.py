from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, shared
from recallens.cli.screen import counted, say
from recallens.errors import InvalidInput

if TYPE_CHECKING:
    from recallens.operations import Answer
    from recallens.xray.diff import Difference


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
        say(f"reproduced: {counted(len(again.ids), 'result')} of {again.considered:,} considered")
        for rank, (id, score) in enumerate(zip(again.ids, again.scores, strict=True), start=1):
            say(f"{rank:>3}  {id}  {score:.4f}")
        say(f"digest {again.digest}")
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
        _print_section("settings", map(str, difference.settings))

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


def _print_section(heading: str, lines: Iterable[str]) -> None:
    lines = list(lines)
    if lines:
        say(f"{heading}:")
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
    except (ValueError, AttributeError, RecursionError) as error:
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
