"""Output for people: width, colour, time, and text that cannot do anything to the terminal."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

from recallens.model.times import age, day, moment
from recallens.render.formats import counted, first_line
from recallens.render.formats import printable as visible

if TYPE_CHECKING:
    from rich.console import Console

    from recallens.cli.given import Given

_FILLING = re.compile(r" +(?=\n)")

__all__ = ["Trimmed", "age", "counted", "day", "first_line", "moment", "screen", "visible"]


def screen(given: Given, *, stderr: bool = False) -> Console:
    """Rich's console: plain text when it is no terminal. Content goes in as Text, never as markup."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise  # Rich calls this inside its `except`; what a closed pipe means is decided once, by the command

    stream = sys.stderr if stderr else sys.stdout
    return Screen(
        file=cast("TextIO", stream if stream.isatty() else Trimmed(stream)),
        no_color=True if given.no_color else None,
        markup=False,
        highlight=False,
        emoji=False,
    )


class Trimmed:
    """A stream without the blanks that fill each line of a table up to the width of the screen."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(_FILLING.sub("", text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
