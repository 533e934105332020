from __future__ import annotations

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import shared

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@shared
@pass_given
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
