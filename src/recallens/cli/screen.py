"""Output for people: width, colour, time, bars of progress, and text that cannot do anything to the terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

from recallens.model.memory import ID_LENGTH
from recallens.model.times import age, day, moment
from recallens.render.formats import counted, first_line
from recallens.render.formats import printable as visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from recallens.cli.given import Given

MEMORY_ID = re.compile(rf"\b[0-9A-HJKMNP-TV-Z]{{{ID_LENGTH}}}\b")
_FILLING = re.compile(r" +(?=\n)")

__all__ = ["Bars", "Trimmed", "age", "counted", "day", "first_line", "moment", "say", "screen", "visible"]


# The handles of the memories that an answer names by id: what people read goes by handle.
handles: ContextVar[Mapping[str, str]] = ContextVar("handles", default=MappingProxyType({}))


def say(text: str) -> None:
    click.echo(visible(named(text)))


def named(text: str) -> str:
    known = handles.get()
    return MEMORY_ID.sub(lambda match: known.get(match[0], match[0]), text) if known else text


def screen(given: Given, *, stderr: bool = False) -> Console:
    """Rich's console: plain text when it is no terminal. Content goes in as Text, never as markup."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise  # Rich calls this inside its `except`; what a closed pipe means is decided once, by the command

    stream = sys.stderr if stderr else sys.stdout
    return Screen(
        file=cast("TextIO", stream if stream.isatty() else Trimmed(stream)),
        color_system=None if _plain(given) else "auto",  # Rich's own NO_COLOR leaves bold and dim
        markup=False,
        highlight=False,
        emoji=False,
    )


def _plain(given: Given) -> bool:
    """Whether no escape sequence may be written. An empty NO_COLOR is none (no-color.org)."""
    return given.no_color or bool(os.environ.get("NO_COLOR"))


class Trimmed:
    """A stream without the blanks that fill each line of a table up to the width of the screen."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(_FILLING.sub("", text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Bars:
    """A bar on stderr while something long runs, where somebody is watching."""

    def __init__(self, given: Given) -> None:
        self._given = given

    @contextmanager
    def bar(self, label: str, total: int) -> Iterator[Callable[[int], None]]:
        """Gives a function that is told how many more are done."""
        if not total or not self._watched:
            yield lambda done: None
            return
        with self._progress() as progress:
            task = progress.add_task(label, total=total)
            yield lambda done: progress.advance(task, done)

    @contextmanager
    def growing(self, label: str) -> Iterator[Callable[[int, int], None]]:
        """Gives a function that is told (done, total): the total is known only when the work is under way."""
        if not self._watched:
            yield lambda done, total: None
            return
        with self._progress() as progress:
            task = progress.add_task(label, total=None)
            yield lambda done, total: progress.update(task, completed=done, total=total)

    @property
    def _watched(self) -> bool:
        return not self._given.json and not _plain(self._given) and sys.stderr.isatty()

    def _progress(self) -> Progress:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        return Progress(*columns, console=screen(self._given, stderr=True))


def redactions_told(first: Sequence[tuple[str, Sequence[str]]], count: int) -> str:
    """Where secrets were taken out, and of which kinds; of more than are named, how many."""
    more = f"; and {count - len(first)} more" if count > len(first) else ""
    named = "; ".join(f"{place}: {', '.join(kinds)}" for place, kinds in first)
    return f"redacted {named}{more}"
