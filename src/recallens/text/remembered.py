"""What was read of a question, remembered for the next time it is asked in the same namespace.

Remembered for all, the time that an answer takes would tell one namespace what another has asked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any, TypeVar

T = TypeVar("T")


class _Asked(threading.local):
    namespace = ""


_asked = _Asked()


@contextmanager
def asked_in(namespace: str) -> Iterator[None]:
    before, _asked.namespace = _asked.namespace, namespace
    try:
        yield
    finally:
        _asked.namespace = before


def remembered(most: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """A function whose latest values are kept, those of one namespace apart from those of another."""

    def decorated(function: Callable[..., T]) -> Callable[..., T]:
        @lru_cache(maxsize=most)
        def kept(namespace: str, *given: Hashable, **named: Hashable) -> T:
            return function(*given, **named)

        @wraps(function)
        def read(*given: Any, **named: Any) -> T:
            return kept(_asked.namespace, *given, **named)

        read.forget = kept.cache_clear  # type: ignore[attr-defined]
        return read

    return decorated
