"""An engine for asyncio: every verb of the engine and of its nouns, awaited, in a thread of its own.

There is no second list of verbs: what the engine has, this has. `asynchronous.pyi` says it to type checkers and
editors; `python tests/docs/async_stub.py` writes it from the engine, and a test compares the two.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from functools import partial, wraps
from inspect import isgeneratorfunction, unwrap
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

from recallens.engine.engine import Engine
from recallens.errors import StoreClosed

# Each thread has its own connection to the store.
THREADS: Final = 4
_ENGINE: Final = "recallens.engine."
_END: Final = object()

T = TypeVar("T")


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


class AsyncStream(Generic[T]):
    """What a verb gives piece by piece: `async for` takes the pieces as they come, `await` all of them as a list."""

    def __init__(self, pieces: Callable[[], Iterator[T]], threads: ThreadPoolExecutor) -> None:
        self._pieces = pieces
        self._threads = threads

    async def __aiter__(self) -> AsyncIterator[T]:
        context = copy_context()
        pieces = await _done_in(self._threads, context, self._pieces)
        while (piece := await _done_in(self._threads, context, next, pieces, _END)) is not _END:
            yield piece

    def __await__(self) -> Generator[Any, None, list[T]]:
        return _done_in(self._threads, copy_context(), lambda: list(self._pieces())).__await__()


def _awaited(method: Callable[..., Any], threads: ThreadPoolExecutor) -> Callable[..., Any]:
    if isgeneratorfunction(unwrap(method)):
        return wraps(method)(lambda *args, **named: AsyncStream(partial(method, *args, **named), threads))

    @wraps(method)
    async def call(*args: Any, **named: Any) -> Any:
        return await _done_in(threads, copy_context(), method, *args, **named)

    return call


async def _done_in(
    threads: ThreadPoolExecutor, context: Context, work: Callable[..., Any], *args: Any, **named: Any
) -> Any:
    try:
        done = asyncio.get_running_loop().run_in_executor(threads, partial(context.run, work, *args, **named))
    except RuntimeError as error:  # the threads take nothing any more
        raise StoreClosed("the engine is closed", hint="Open it anew, by AsyncEngine.open.") from error
    return await done


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

    def __repr__(self) -> str:
        return f"<Async{repr(self._part)[1:]}"

    async def __aenter__(self) -> Self:
        self._part.__enter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
