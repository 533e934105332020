from __future__ import annotations

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, shared
from recallens.cli.screen import counted, visible


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
@click.option("--no-sync", is_flag=True, help="Only note it down; `vault sync` reads it.")
@click.option("--no-embed", is_flag=True, help="Leave the vectors for later; words find it at once.")
@shared
@pass_given
def add(
    given: Given, /, folder: str, name: str | None, scopes: tuple[str, ...], exclude: tuple[str, ...],
    include: tuple[str, ...], include_raw: bool, include_operational: bool, project: str | None, no_sync: bool,
    no_embed: bool,
) -> None:  # fmt: skip
    """Make FOLDER a vault and read it. Adding it again changes what of it is read.

    \b
    recallens vault add ~/notes --exclude drafts/ --project api
    recallens vault add ~/wiki --scope decisions --scope lessons
    """
    from recallens.cli.vaults import run_sync, vault_line
    from recallens.render.records import vault_record

    with given.engine(create=True) as engine:
        made = engine.vaults.add(
            folder, name, scopes=scopes, include=include, exclude=exclude, include_raw=include_raw,
            include_operational=include_operational, project=project,
        )  # fmt: skip
        if not no_sync:
            run_sync(given, engine, made.name, None, embed=not no_embed)
            return
        counts = engine.vaults.counts()[made.name]
    if given.json:
        given.emit(vault_record(made, counts))
    else:
        click.echo(vault_line(made, counts))


@vault.command()
@click.argument("name", type=TEXT, required=False)
@click.option("--path", "paths", metavar="PATH", type=TEXT, multiple=True,
              help="Only this file or folder of the vault; repeat it for several.")  # fmt: skip
@click.option("--no-embed", is_flag=True, help="Leave the vectors for later; words find it at once.")
@shared
@pass_given
def sync(given: Given, name: str | None, paths: tuple[str, ...], no_embed: bool) -> None:
    """Bring the vault NAME, or every one, up to date with its folder.

    What did not change is not read. It can be stopped and run again.
    """
    from recallens.cli.vaults import run_sync

    with given.engine() as engine:
        run_sync(given, engine, name, list(paths) or None, embed=not no_embed)


@vault.command()
@click.argument("name", type=TEXT)
@click.option("--debounce", type=click.IntRange(50, 60_000), default=400, metavar="MS",
              help="How long it must be quiet before a change is read (400).")  # fmt: skip
@click.option("--no-embed", is_flag=True, help="Leave the vectors for later; words find it at once.")
@shared
@pass_given
def watch(given: Given, name: str, debounce: int, no_embed: bool) -> None:
    """Keep the vault NAME up to date while its files change, until Ctrl-C."""
    import signal
    import threading

    from recallens.cli.vaults import print_sync
    from recallens.model.vault import SyncReport
    from recallens.render.records import report_record

    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    # A shell starts a script's background job with Ctrl-C ignored; a watch that cannot be interrupted would never end.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def told(report: SyncReport) -> None:
        if given.json:
            import json

            click.echo(json.dumps(report_record(report), ensure_ascii=False))
        else:
            for one in report.vaults:
                print_sync(given, one)

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
@pass_given
def list_vaults(given: Given) -> None:
    """Every vault of the namespace, its folder and its size."""
    from recallens.cli.vaults import vault_line
    from recallens.render.records import vault_record

    with given.engine() as engine:
        found, counts = engine.vaults.all(), engine.vaults.counts()
    if given.json:
        given.emit({"vaults": [vault_record(one, counts[one.name]) for one in found]})
        return
    for one in found:
        click.echo(vault_line(one, counts[one.name]))
    if not found:
        click.echo("no vaults")


@vault.command()
@click.argument("name", type=TEXT)
@click.option("--yes", is_flag=True, help="Do not ask.")
@shared
@pass_given
def remove(given: Given, name: str, yes: bool) -> None:
    """Delete the memories of the vault NAME for good. Its folder stays as it is."""
    with given.engine() as engine:
        held = engine.vaults.counts().get(name)
        told = "" if held is None else f" and its {counted(held[1], 'section')}"
        # An unknown name is refused by the engine; there is nothing to ask about.
        if held is not None and not given.agreed(f"deleting the vault {name}{told} from the store", yes=yes):
            click.echo("nothing was deleted", err=True)
            return
        count = engine.vaults.remove(name)
    if given.json:
        given.emit({"removed": name, "sections": count})
    else:
        click.echo(visible(f"removed {name} and its {counted(count, 'section')}"))
