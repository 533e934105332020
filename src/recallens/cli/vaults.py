"""What a sync of vaults did, for people and as a record."""

from __future__ import annotations

import click

from recallens.cli.given import Given
from recallens.cli.keeping import backlog, encode
from recallens.cli.progress import growing_bar
from recallens.cli.screen import counted, moment, visible
from recallens.engine import Engine
from recallens.model.vault import Vault, VaultSync
from recallens.render.records import report_record

SHOWN_PATHS = 10


def run_sync(given: Given, engine: Engine, name: str | None, paths: list[str] | None, *, embed: bool) -> None:
    with growing_bar(given, "reading") as told:
        report = engine.vaults.sync(name, paths, told)
    failure = encode(engine, given) if embed else None
    waiting = backlog(engine)
    engine.maintenance.publish()
    if given.json:
        given.emit({**report_record(report), "backlog": waiting})
    else:
        for one in report.vaults:
            print_sync(given, one)
        if waiting:
            given.note(f"{counted(waiting, 'text waits', 'texts wait')} to be encoded; `recallens reindex` does it")
    if failure is not None:
        raise failure


def print_sync(given: Given, one: VaultSync) -> None:
    told = [
        f"{len(one.added):,} added", f"{len(one.changed):,} changed", f"{len(one.renamed):,} renamed",
        f"{len(one.removed):,} removed", f"{one.unchanged:,} unchanged", counted(len(one.errors), "error"),
    ]  # fmt: skip
    click.echo(visible(f"{one.vault}: {', '.join(told)}"))
    if one.changed_anything:
        click.echo(
            f"  {counted(one.sections_indexed, 'section')} indexed, {one.sections_kept:,} kept as they were,"
            f" {one.sections_removed:,} removed"
        )
    for problem in one.dropped_scopes:
        given.note(f"  scope dropped: {problem.path}: {problem.reason}")
    for what, problems in (("error", one.errors), ("skipped", one.skipped)):
        for problem in problems[:SHOWN_PATHS]:
            given.note(f"  {what}: {problem.path}: {problem.reason}")
        if len(problems) > SHOWN_PATHS:
            given.note(f"  … and {len(problems) - SHOWN_PATHS:,} more; --json lists them all")


def vault_line(vault: Vault, counts: tuple[int, int]) -> str:
    synced = "never synced" if vault.synced is None else f"synced {moment(vault.synced)}"
    files, sections = counted(counts[0], "file"), counted(counts[1], "section")
    return visible(f"{vault.name}  {vault.root}\n   {files}, {sections}, {synced}")
