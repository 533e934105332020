from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, shared
from recallens.cli.screen import counted, moment, say

if TYPE_CHECKING:
    from recallens.model.vault import SyncReport, Vault, VaultSync
    from recallens.operations import Answer

SHOWN_PATHS = 10


@click.group()
def vault() -> None:
    """Keep folders of markdown as memory. A folder is only ever read."""


@vault.command()
@click.argument("folder", type=click.Path())
@click.option("--name", metavar="NAME", type=TEXT, help="What to call it (the folder's name).")
@click.option("--scope", "scopes", metavar="FOLDER", type=TEXT, multiple=True,
              help="Only this folder of it; repeat it for several.")  # fmt: skip
@click.option(
    "--exclude", metavar="PATTERN", type=TEXT, multiple=True, help="Leave out what matches, as in .gitignore."
)
@click.option("--include", metavar="PATTERN", type=TEXT, multiple=True,
              help="Take in what matches, even from folders that are left out by themselves.")  # fmt: skip
@click.option("--include-raw", is_flag=True, help="Also conversations and transcripts.")
@click.option("--include-operational", is_flag=True, help="Also logs of sessions, agents and projects.")
@click.option("--project", metavar="NAME", type=TEXT, help="The project that its memories belong to.")
@click.option("--chunk", metavar="CHARACTERS", type=int, help="How long a section is at most (1,200).")
@click.option("--no-sync", is_flag=True, help="Only note it down; `vault sync` reads it.")
@click.option("--no-embed", is_flag=True, help="Leave the vectors for later; words find it at once.")
@shared
def add(given: Given, /, no_sync: bool, no_embed: bool, **attributes: object) -> None:
    """Make FOLDER a vault and read it. Adding it again changes what of it is read.

    \b
    recallens vault add ~/notes --exclude drafts/ --project api
    recallens vault add ~/wiki --scope decisions --scope lessons
    """

    def printed(answer: Answer) -> None:
        if no_sync:
            say(_line(*answer.value))
        else:
            _print_report(given, answer)

    arguments = {**attributes, "sync": not no_sync, "embed": not no_embed}
    given.perform("keep_vault", arguments, printed, create=True)


@vault.command()
@click.argument("name", type=TEXT, required=False)
@click.option("--path", "paths", metavar="PATH", type=TEXT, multiple=True,
              help="Only this file or folder of the vault; repeat it for several.")  # fmt: skip
@click.option("--no-embed", is_flag=True, help="Leave the vectors for later; words find it at once.")
@shared
def sync(given: Given, name: str | None, paths: tuple[str, ...], no_embed: bool) -> None:
    """Bring the vault NAME, or every one, up to date with its folder.

    What did not change is not read. It can be stopped and run again.
    """
    arguments = {"name": name, "paths": paths, "embed": not no_embed}
    given.perform("sync_vaults", arguments, lambda answer: _print_report(given, answer))


@vault.command()
@click.argument("name", type=TEXT)
@click.option("--debounce", type=click.IntRange(50, 60_000), default=400, metavar="MS",
              help="How long it must be quiet before a change is read (400).")  # fmt: skip
@click.option("--no-embed", is_flag=True, help="Leave the vectors for later; words find it at once.")
@shared
def watch(given: Given, name: str, debounce: int, no_embed: bool) -> None:
    """Keep the vault NAME up to date while its files change, until Ctrl-C."""
    import signal
    import threading

    from recallens.render.records import report_record

    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    # A shell starts a script's background job with Ctrl-C ignored; a watch that cannot be interrupted would never end.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def told(report: SyncReport) -> None:
        if given.json:
            click.echo(json.dumps(report_record(report), ensure_ascii=False))
        for one in () if given.json else report.vaults:
            _print_sync(given, one)

    with given.engine() as engine:
        found = engine.vaults.get(name)
        given.note(f"watching {found.root}; Ctrl-C stops it")
        try:
            engine.vaults.watch(found.name, stop, on_sync=told, debounce_ms=debounce, embed=not no_embed)
        except KeyboardInterrupt:
            stop.set()
        engine.maintenance.publish()
    given.note("stopped")


@vault.command("list")
@shared
def list_vaults(given: Given) -> None:
    """Every vault of the namespace, its folder and its size."""

    def printed(answer: Answer) -> None:
        for one, counts in answer.value:
            say(_line(one, counts))
        if not answer.value:
            click.echo("no vaults")

    given.perform("list_vaults", {}, printed)


@vault.command()
@click.argument("name", type=TEXT)
@click.option("--yes", is_flag=True, help="Do not ask.")
@shared
def remove(given: Given, name: str, yes: bool) -> None:
    """Delete the memories of the vault NAME for good. Its folder stays as it is."""
    with given.engine() as engine:
        held = engine.vaults.counts().get(name)
        # An unknown name is refused by the engine; there is nothing to ask about.
        if held is not None and not given.agreed(
            f"deleting the vault {name} and its {counted(held[1], 'section')} from the store", yes=yes
        ):
            return
        answer = given.answer(engine, "remove_vault", {"name": name})
    given.tell(answer, lambda answer: say(f"removed {name} and its {counted(answer.record['sections'], 'section')}"))


# ── printers ──


def _print_report(given: Given, answer: Answer) -> None:
    for one in answer.value.vaults:
        _print_sync(given, one)
    if waiting := answer.record["backlog"]:
        given.note(f"{counted(waiting, 'text waits', 'texts wait')} to be encoded; `recallens reindex` does it")


def _print_sync(given: Given, one: VaultSync) -> None:
    told = [
        f"{len(one.added):,} added", f"{len(one.changed):,} changed", f"{len(one.renamed):,} renamed",
        f"{len(one.removed):,} removed", f"{one.unchanged:,} unchanged", counted(len(one.errors), "error"),
        *((counted(len(one.warnings), "warning"),) if one.warnings else ()),
    ]  # fmt: skip
    say(f"{one.vault}: {', '.join(told)}")
    if one.changed_anything:
        click.echo(
            f"  {counted(one.sections_indexed, 'section')} indexed, {one.sections_kept:,} kept as they were,"
            f" {one.sections_removed:,} removed"
        )
    for problem in one.dropped_scopes:
        given.note(f"  scope dropped: {problem.path}: {problem.reason}")
    for left in one.left_out:
        how = f"; {left.take_in} takes them in" if left.take_in.startswith("--include") else ""
        given.note(f"  left out: {left.what} ({left.files:,}): {left.reason}{how}")
    for what, problems in (("error", one.errors), ("warning", one.warnings), ("skipped", one.skipped)):
        for problem in problems[:SHOWN_PATHS]:
            given.note(f"  {what}: {problem.path}: {problem.reason}")
        if len(problems) > SHOWN_PATHS:
            given.note(f"  … and {len(problems) - SHOWN_PATHS:,} more; --json lists them all")


def _line(vault: Vault, counts: tuple[int, int]) -> str:
    synced = "never synced" if vault.synced is None else f"synced {moment(vault.synced)}"
    files, sections = counted(counts[0], "file"), counted(counts[1], "section")
    return f"{vault.name}  {vault.root}\n   {files}, {sections}, {synced}"
