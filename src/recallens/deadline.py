"""The time that one piece of work has. Whatever takes long looks here, so that nothing works on for nobody.

A thread that has a deadline meets it in SQLite, between the verdicts of a recall, and at every text that is read into
words or tokens. The error comes again at each of these places, so that nobody who catches it can go on.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from time import monotonic

from recallens.errors import TooLate


class _Here(threading.local):
    moment = math.inf


_here = _Here()


@contextmanager
def until(moment: float) -> Iterator[None]:
    """What this thread does meanwhile ends at a moment of `time.monotonic`."""
    before, _here.moment = _here.moment, moment
    try:
        yield
    finally:
        _here.moment = before


def without() -> AbstractContextManager[None]:
    """For what all callers share, such as an index that is being built: stopped, it would only begin anew."""
    return until(math.inf)


def left() -> float:
    """Seconds; infinite where there is no deadline."""
    return _here.moment - monotonic()


def passed() -> bool:
    return monotonic() > _here.moment


def check() -> None:
    if monotonic() > _here.moment:
        raise TooLate("there was no answer in time", hint="Ask for less: a smaller limit or budget.")
