from __future__ import annotations

import click

from recollect.cli.given import Given, pass_given
from recollect.cli.options import shared

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@shared
@pass_given
@click.pass_context
def completion(ctx: click.Context, given: Given, shell: str) -> None:
    """Print the completion script of SHELL (bash, zsh or fish).

    \b
    eval "$(recollect completion bash)"       # in ~/.bashrc
    eval "$(recollect completion zsh)"        # in ~/.zshrc
    recollect completion fish | source        # in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(ctx.find_root().command, {}, "recollect", "_RECOLLECT_COMPLETE").source()
    if given.json:
        given.emit({"shell": shell, "script": script})
    else:
        click.echo(script)
