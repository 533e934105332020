"""An engine for asyncio: every verb of the engine and of its nouns, awaited, in a thread of its own.

There is no second list of verbs: what the engine has, this has. `asynchronous.pyi` says it to type checkers and
editors; `python tests/docs/async_stub.py` writes it from the engine, and a test compares the two.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from recallens.engine.engine import Engine

# Each thread has its own connection to the store.
THREADS: Final = 4
_ENGINE: Final = "recallens.engine."


class AsyncPart:
    """A part of an engine whose methods are awaited."""

    def __init__(self, part: Any, threads: ThreadPoolExecutor) -> None:
        self._part = part
        self._threads = threads

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = getattr(self._part, name)
        if callable(value):
            return _awaited(value, self._threads)
        is_part = name != "core" and type(value).__module__.startswith(_ENGINE)
        return AsyncPart(value, self._threads) if is_part else value

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._part) if not name.startswith("_")]


def _awaited(method: Callable[..., Any], threads: ThreadPoolExecutor) -> Callable[..., Any]:
    def done(*args: Any, **named: Any) -> Any:
        answer = method(*args, **named)
        return list(answer) if isinstance(answer, Iterator) else answer  # what is read later would be read elsewhere

    @wraps(method)
    async def call(*args: Any, **named: Any) -> Any:
        work = partial(copy_context().run, done, *args, **named)
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    return call


class AsyncEngine(AsyncPart):
    """One store, opened: `async with await AsyncEngine.open("team.db") as memory: await memory.search("…")`."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, ThreadPoolExecutor(THREADS, thread_name_prefix="recallens"))

    @classmethod
    async def open(cls, store: str | Path | None = None, **options: Any) -> Self:
        return cls(await asyncio.to_thread(Engine.open, store, **options))

    async def close(self) -> None:
        """When all that was asked is done."""
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._part.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
