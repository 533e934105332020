from __future__ import annotations

from collections.abc import Iterable

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, shared
from recallens.cli.screen import counted, visible
from recallens.errors import RecallensError
from recallens.model.times import instant
from recallens.xray.diff import Difference, MovedResult, SettingChanged


@click.command()
@click.argument("snapshot", type=TEXT)
@shared
@pass_given
def replay(given: Given, snapshot: str) -> None:
    """The results of a recorded search again, from its decisions; and what differs if it is asked now.

    SNAPSHOT is the id of a recorded search's X-ray, a file of its JSON, or a file that `xray --ledger` wrote. Exit 1 if
    the record was altered.

    \b
    recallens replay 5f6b1a2c-9d8e-5c01-8f3a-1b2c3d4e5f60
    recallens replay cache.json
    """
    from recallens.xray.replay import compare_live
    from recallens.xray.replay import replay as replayed

    live: list[Difference] = []
    failure = None
    with given.engine() as engine:
        ledger = engine.recalls.stored(snapshot)
        again = replayed(ledger)
        try:
            live = compare_live(ledger, engine.recalls.ledger)
        except RecallensError as error:  # the record stands by itself, whatever has become of the store
            failure = error.message
    if given.json:
        answer = {"live": [one.to_json() for one in live]} if failure is None else {"liveError": failure}
        given.emit({"reproduced": True, **again.to_json(), **answer})
        return
    click.echo(f"reproduced: {counted(len(again.ids), 'result')} of {again.considered:,} considered")
    for rank, (id, score) in enumerate(zip(again.ids, again.scores, strict=True), start=1):
        click.echo(f"{rank:>3}  {id}  {score:.4f}")
    click.echo(f"digest {again.digest}")
    if failure is not None:
        click.echo(visible(f"\nthe store could not be asked again: {failure}"))
        return
    click.echo("\nasked now, nothing differs" if not live else "\nasked now:")
    for line in _sentences(live):
        click.echo(visible(f"- {line}"))


@click.command()
@click.argument("before", type=TEXT)
@click.argument("after", type=TEXT)
@shared
@pass_given
def diff(given: Given, before: str, after: str) -> None:
    """What entered, left and moved between two recorded searches, each with its cause.

    BEFORE and AFTER are what `replay` takes.

    \b
    recallens xray "cache ttl" --ledger before.json
    recallens xray "cache ttl" --weight bm25=2 --ledger after.json
    recallens diff before.json after.json
    """
    with given.engine() as engine:
        found = engine.diff(before, after)
    if given.json:
        given.emit({"before": before, "after": after, **found.to_json()})
        return
    if found.empty:
        click.echo("nothing differs")
    for heading, changes in (("entered", found.entered), ("left", found.left), ("moved", found.moved),
                             ("other scores", found.rescored)):  # fmt: skip
        _print(heading, _sentences(changes))
    _print("settings", [_setting(one) for one in found.settings])


def _sentences(changes: Iterable[Difference]) -> list[str]:
    """What can be seen in four decimals; smaller changes of a score are only counted."""
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


def _print(heading: str, lines: list[str]) -> None:
    if lines:
        click.echo(f"{heading}:")
    for line in lines:
        click.echo(visible(f"- {line}"))
