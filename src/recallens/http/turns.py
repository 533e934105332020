"""The threads of a server, and whose turn it is."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from recallens.deadline import until
from recallens.http.limits import Limits
from recallens.http.problems import RETRY_SECONDS, Refused

T = TypeVar("T")


class WorkQueue:
    """Threads of a fixed number. Callers take turns, so that none waits for all that another has asked."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._share = max(1, limits.threads - 1)
        self._most_waiting = max(2, limits.waiting // 4)
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # the first caller is the next whose turn it is
        self._working = Counter[str]()
        self._threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="recallens")

    @property
    def in_hand(self) -> int:
        return self._working.total() + sum(map(len, self._waiting.values()))

    async def run(self, work: Callable[[], T], *, caller: str = "", seconds: float | None = None) -> T:
        """In a thread, when its turn comes; after `seconds` from now what looks at its deadline stops."""
        ends = math.inf if seconds is None else time.monotonic() + seconds
        await self._turn(caller)
        begun = self._threads.submit(_worked_until, ends, work)
        loop = asyncio.get_running_loop()

        def done(_: Future[T]) -> None:
            """The thread is free: only now, also where nobody waits for the answer any more."""
            with suppress(RuntimeError):  # the loop has ended, and everything with it
                loop.call_soon_threadsafe(self._free, caller)

        begun.add_done_callback(done)
        return await asyncio.wrap_future(begun)

    async def _turn(self, caller: str) -> None:
        queue = self._waiting.get(caller, ())
        full = self.in_hand >= self.limits.threads + self.limits.waiting
        if full or len(queue) >= self._most_waiting:
            raise Refused(
                503, "Overloaded", f"{self.in_hand} requests are being worked on; no more are taken at a time",
                hint="Try again in a moment.", Retry_After=str(RETRY_SECONDS),
            )  # fmt: skip
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(turn)
        self._begin_next()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # its turn had come in the same moment
                self._free(caller)
            else:
                self._leave(caller, turn)
            raise

    def _leave(self, caller: str, turn: asyncio.Future[None]) -> None:
        queue = self._waiting.get(caller)
        if queue is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._waiting[caller]

    def _begin_next(self) -> None:
        while self._working.total() < self.limits.threads:
            caller = next((name for name in self._waiting if self._working[name] < self._share), None)
            if caller is None:
                return
            queue = self._waiting.pop(caller)
            turn = queue.popleft()
            if queue:
                self._waiting[caller] = queue  # behind all others
            if not turn.done():
                self._working[caller] += 1
                turn.set_result(None)

    def _free(self, caller: str) -> None:
        self._working[caller] -= 1
        if not self._working[caller]:
            del self._working[caller]
        self._begin_next()

    def close(self) -> None:
        """Ends when what was begun is done; what only waited is dropped."""
        self._threads.shutdown(wait=True, cancel_futures=True)


def _worked_until(ends: float, work: Callable[[], T]) -> T:
    with until(ends):
        return work()
