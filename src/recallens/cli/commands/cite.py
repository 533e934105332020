from __future__ import annotations

from collections import Counter

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, shared
from recallens.cli.screen import counted, visible
from recallens.errors import InvalidInput
from recallens.model.citation import Standing
from recallens.render.formats import cited
from recallens.render.records import check_record


@click.group()
def cite() -> None:
    """What memories cite: files, symbols, commits, logs and terminal snapshots."""


@cite.command()
@click.argument("ids", metavar="[ID]...", nargs=-1, type=TEXT)
@click.option("--all", "every", is_flag=True, help="Every memory that cites anything.")
@click.option("--root", metavar="DIR", type=TEXT, help="The checkout to look in (also RECALLENS_WORKSPACE).")
@click.option("--project", metavar="NAME", type=TEXT, help="With --all: only the memories of this project.")
@click.option("--mark", is_flag=True, help="Keep the verdicts: what is stale then needs review in a recall.")
@shared
@pass_given
def check(given: Given, ids: tuple[str, ...], every: bool, root: str | None, project: str | None, mark: bool) -> None:
    """Whether files, lines, symbols, commits and logs that are cited are there.

    \b
    recallens cite check --all --root ~/src/harbor --mark
    recallens cite check 01M7GPP8JD13

    Nothing outside the root is read, and nothing is written without --mark.
    """
    if bool(ids) == every:
        raise InvalidInput("name the memories to check, or all of them", hint="Use `cite check ID…` or `--all`.")
    if ids and project is not None:
        raise InvalidInput("--project goes with --all: an ID names its memory by itself")
    with given.engine() as engine:
        place = engine.maintenance.citations.workspace(root)
        wanted = engine.core.settings.project if project is None else project
        found = engine.maintenance.citations.check(
            ids or None, root=place, project=(wanted or None) if every else None, mark=mark
        )
    counts = Counter(each.standing for check in found for each in check.checked)
    if given.json:
        given.emit(
            {
                "root": None if place is None else str(place),
                "marked": mark,
                "memories": len(found),
                **{standing.value: counts[standing] for standing in Standing},
                "checks": [check_record(check) for check in found],
            }
        )
        return
    for one in found:
        for each in one.checked:
            if ids or each.standing is not Standing.VERIFIED:
                told = f": {each.reason}" if each.reason else ""
                click.echo(visible(f"{one.memory}  {each.standing:8}  {cited(each.citation)}{told}"))
    figures = ", ".join(f"{counts[standing]:,} {standing}" for standing in Standing)
    click.echo(f"{counted(sum(counts.values()), 'citation')} of {counted(len(found), 'memory', 'memories')}: {figures}")
    if place is None and counts[Standing.UNKNOWN]:
        given.note("no workspace: files and commits were not looked for. Give the checkout with --root DIR.")
