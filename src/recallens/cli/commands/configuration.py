from __future__ import annotations

import os
import re

import click
from rich.text import Text

from recallens.cli.given import Given, pass_given
from recallens.cli.options import shared
from recallens.cli.screen import screen, visible
from recallens.config import ABOUT, Settings

# Whatever a URL carries beside its place may be a secret.
_CREDENTIALS = re.compile(r"(?<=:/)(/?)[^/@\s]+@")
_PARAMETERS = re.compile(r"\?.*")


@click.group()
def config() -> None:
    """The settings in force. Flag > environment > .recallens.toml > the user's config.toml > default."""


@config.command()
@shared
@pass_given
def show(given: Given) -> None:
    """Each setting, its value, where it came from and what it means. Keys are never shown."""
    settings = given.settings()
    rows = [
        (name, _shown(settings, name), settings.sources.get(name, "default"), about) for name, about in ABOUT.items()
    ]
    if given.json:
        given.emit({name: {"value": value, "from": origin, "about": about} for name, value, origin, about in rows})
        return
    console = screen(given)
    for name, value, origin, about in rows:
        told = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
        line = Text.assemble((name, "bold"), f" = {visible(told)}", (visible(f"  ({origin})"), "dim"))
        console.print(line, soft_wrap=True)
        console.print(Text(f"    {about}", style="dim"), soft_wrap=True)


def _shown(settings: Settings, name: str) -> object:
    value = getattr(settings, name)
    if name == "encoder_key_env":
        return f"{value} ({'set' if os.environ.get(value) else 'not set'})"
    if isinstance(value, str) and ":/" in value:
        return _PARAMETERS.sub("?…", _CREDENTIALS.sub(r"\1…@", value))
    return value
