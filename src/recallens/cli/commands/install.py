from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recallens.cli.given import Given
from recallens.cli.options import shared
from recallens.config import is_address

if TYPE_CHECKING:
    pass


SHELLS = ("bash", "zsh", "fish")


CLIENT_NAMES = ("claude-code", "cursor", "vscode", "codex")


@click.command()
@click.option("--client", "name", required=True, metavar="NAME", help=f"Which client: {', '.join(CLIENT_NAMES)}.")
@click.option("--project", "scope", flag_value="project", help="For this folder's project (all but codex).")
@click.option("--user", "scope", flag_value="user", help="For every project of this user (codex).")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--undo", is_flag=True, help="Take it out again.")
@shared
def install(given: Given, name: str, scope: str | None, dry_run: bool, undo: bool) -> None:
    """Write the MCP server into a client's own configuration. Everything else in it stays; twice is as once."""
    from recallens.cli.clients.configuration import apply, installed, removed
    from recallens.cli.clients.places import ClientScope, client_named

    client = client_named(name)
    where = ClientScope(scope) if scope else client.default
    command, *args = _command(given)
    entry = client.entry(command, args)
    change = (removed if undo else installed)(client, client.place(where), entry)
    if change.changes and not dry_run:
        apply(change, undo=undo)
    if given.json:
        given.emit({
            "client": client.name, "scope": where, "path": str(change.path), "changed": change.changes,
            "dryRun": dry_run, "undo": undo, "entry": entry, "diff": change.diff(),
        })  # fmt: skip
        return
    _tell(given, client.title, change.path, changed=change.changes, dry_run=dry_run, undo=undo, diff=change.diff())


def _tell(
    given: Given, title: str, path: Path, *, changed: bool, dry_run: bool, undo: bool, diff: str
) -> None:  # fmt: skip
    if not changed:
        click.echo(f"{path} {'holds no recallens' if undo else 'is as it should be'}; nothing to change")
    elif dry_run:
        click.echo(diff, nl=False)
        given.note("nothing was changed: leave out --dry-run to do it")
    elif undo:
        click.echo(f"took recallens out of {path}")
    else:
        click.echo(f"wrote recallens into {path}")
        given.note(f"Start {title} anew to use it. `--undo` takes it out again.")


def _command(given: Given) -> list[str]:
    """How the client starts this very installation, wherever it is started from.

    What the shell has set is not known to a client that was started from a desktop, so that it is said.
    """
    settings = given.settings()
    said = []
    if settings.sources["store"] in ("flag", "environment"):
        said += ["--store", settings.store if is_address(settings.store) else os.path.abspath(settings.store)]
    if settings.sources.get("namespace") in ("flag", "environment"):
        said += ["--namespace", settings.namespace]
    script = Path(sys.executable).with_name("recallens")
    start = [str(script)] if os.access(script, os.X_OK) else [sys.executable, "-m", "recallens"]
    return [*start, "mcp", *said]


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@shared
@click.pass_context
def completion(ctx: click.Context, given: Given, shell: str) -> None:
    """Print the completion script of SHELL (bash, zsh or fish).

    \b
    eval "$(recallens completion bash)"       # in ~/.bashrc
    eval "$(recallens completion zsh)"        # in ~/.zshrc
    recallens completion fish | source        # in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(ctx.find_root().command, {}, "recallens", "_RECALLENS_COMPLETE").source()
    if given.json:
        given.emit({"shell": shell, "script": script})
    else:
        click.echo(script)
