from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from recallens.cli.given import Given
from recallens.cli.options import shared
from recallens.config import is_address
from recallens.errors import InvalidInput

COMMAND = "recallens"
SHELLS = ("bash", "zsh", "fish")


CLIENT_NAMES = ("claude-code", "cursor", "vscode", "codex", "gemini", "claude-desktop")


@click.command()
@click.option("--client", "name", required=True, metavar="NAME", help=f"Which client: {', '.join(CLIENT_NAMES)}.")
@click.option("--project", is_flag=True, help="For this folder's project (claude-code, cursor, vscode).")
@click.option("--user", is_flag=True, help="For every project of this user (others).")
@click.option("--hooks", is_flag=True, help="Also hooks, which recall and remember unasked (not claude-desktop).")
@click.option(
    "--instructions", is_flag=True, help="Also a few lines in the client's AGENTS.md, CLAUDE.md or GEMINI.md."
)
@click.option("--skill", is_flag=True, help="Also a skill, which tells the agent how to use its memory.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--undo", is_flag=True, help="Take all of it out again.")
@shared
def install(
    given: Given, name: str, project: bool, user: bool, hooks: bool, instructions: bool, skill: bool, dry_run: bool,
    undo: bool,
) -> None:  # fmt: skip
    """Write the MCP server, and with --hooks the hooks, into a client's own configuration. Everything else in it stays,
    and doing it twice is the same as doing it once."""
    from recallens.cli.clients.configuration import TextEdit, apply, installed, removed, server_edit, snippet
    from recallens.cli.clients.guides import GUIDES, guides_of, instructions_edit, skill_edit
    from recallens.cli.clients.hooks import HOOKS, hooks_edit, hooks_of
    from recallens.cli.clients.places import ClientScope, client_named

    client = client_named(name)
    if project and user:
        raise InvalidInput("--project and --user exclude each other", hint="Run it once for each.")
    where = ClientScope.PROJECT if project else ClientScope.USER if user else client.default
    of_project = where is ClientScope.PROJECT
    start, said = _start(shared=of_project), _said(given, shared=of_project)
    entry = client.entry(start[0], [*start[1:], "mcp", *said])
    edits: dict[Path, list[TextEdit]] = {client.place(where): [server_edit(client, entry)]}
    if hooks or (undo and name in HOOKS):
        own = hooks_of(name)
        for_all = of_project and not own.private
        words = [*_start(shared=for_all), "hook"], ["--client", name, *_said(given, shared=for_all)]
        edit = hooks_edit(name, lambda event: shlex.join([*words[0], event, *words[1]]))
        edits.setdefault(own.places[where](), []).append(edit)
    guides = guides_of(name) if instructions or skill else GUIDES.get(name)
    if guides is not None:
        if instructions or (undo and where in guides.instructions):
            edits[guides.place(guides.instructions, where)] = [instructions_edit()]
        if skill or undo:
            edits[guides.place(guides.skills, where)] = [skill_edit()]
    by_hand = f"Put this into it by hand (or take it out, to undo):\n{snippet(client, entry)}"
    changes = [(removed if undo else installed)(path, own, by_hand) for path, own in edits.items()]
    # A file that something else of ours could stand in, and that holds none, is not worth a word.
    changes = [each for each in changes if each.changes or each.path == changes[0].path or not undo]
    for change in changes:
        if change.changes and not dry_run:
            apply(change, undo=undo)
    if given.json:
        first, *others = changes
        more = {"others": [{"path": str(each.path), "changed": each.changes, "diff": each.diff()} for each in others]}
        given.emit({
            "client": client.name, "scope": where, "path": str(first.path), "changed": first.changes,
            "dryRun": dry_run, "undo": undo, "entry": entry, "diff": first.diff(), **(more if others else {}),
        })  # fmt: skip
        return
    for change in changes:
        _tell(change.path, changed=change.changes, dry_run=dry_run, undo=undo, diff=change.diff())
    if dry_run and any(change.changes for change in changes):
        given.note("nothing was changed: leave out --dry-run to do it")
    elif not undo and any(change.changes for change in changes):
        given.note(f"Restart {client.title} to use it. `--undo` takes it out again.")
        if of_project:
            _tell_of_sharing(given, said)
        if where in client.approval:
            given.note(client.approval[where])
        if hooks and (note := hooks_of(name).note):
            given.note(note)


def _tell_of_sharing(given: Given, said: list[str]) -> None:
    """A project's files are shared with whoever works on it, so that they name no place of this machine."""
    if shutil.which(COMMAND) is None:
        given.note(
            f"The file starts `{COMMAND}`, which is not on your PATH: `pipx install {COMMAND}` puts it there, and "
            "`--user` writes this installation's own path instead."
        )
    if any(os.path.isabs(word) for word in said):
        given.note("The store lies outside the project: the file names its place on this machine.")


def _tell(path: Path, *, changed: bool, dry_run: bool, undo: bool, diff: str) -> None:
    if not changed:
        click.echo(f"{path} {'holds no recallens' if undo else 'is as it should be'}; nothing to change")
    elif dry_run:
        click.echo(diff, nl=False)
    else:
        click.echo(f"took recallens out of {path}" if undo else f"wrote recallens into {path}")


def _start(*, shared: bool) -> list[str]:
    """How a client starts the command: by its name in a file that others read too, else this very installation,
    wherever it is started from."""
    if shared:
        return [COMMAND]
    script = Path(sys.executable).with_name(COMMAND)
    return [str(script)] if os.access(script, os.X_OK) else [sys.executable, "-m", COMMAND]


def _said(given: Given, *, shared: bool) -> list[str]:
    """What the shell has set is not known to a client that was started from a desktop, so that it is said. A store
    inside the project is named from there in a file that others read too."""
    settings = given.settings()
    said = []
    if settings.sources["store"] in ("flag", "environment"):
        store = settings.store
        if not is_address(store):
            store = os.path.abspath(store)
            inside = os.path.relpath(store)
            store = inside if shared and not inside.startswith(os.pardir) else store
        said += ["--store", store]
    if settings.sources.get("namespace") in ("flag", "environment"):
        said += ["--namespace", settings.namespace]
    return said


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
