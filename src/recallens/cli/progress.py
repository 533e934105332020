"""A bar on stderr while something long runs, where somebody is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from recallens.cli.given import Given
from recallens.cli.screen import screen

Advance = Callable[[int], None]


@contextmanager
def growing_bar(given: Given, label: str) -> Iterator[Callable[[int, int], None]]:
    """Gives a function that is told (done, total): the total is known only when the work is under way."""
    if given.json or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen(given, stderr=True)) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


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
