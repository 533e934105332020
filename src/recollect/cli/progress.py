"""A bar on stderr while something long runs, where somebody is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from recollect.cli.given import Given
from recollect.cli.screen import screen

Advance = Callable[[int], None]


@contextmanager
def bar(given: Given, label: str, total: int) -> Iterator[Advance]:
    """Gives a function that is told how many more are done."""
    if given.json or not total or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen(given, stderr=True)) as progress:
        task = progress.add_task(label, total=total)
        yield lambda done: progress.advance(task, done)
