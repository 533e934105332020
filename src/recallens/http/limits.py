"""What one server takes on: how much at a time, how long, how large."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recallens.http.problems import RETRY_SECONDS, Refused

T = TypeVar("T")


class Limits(Struct, frozen=True):
    """`threads` work at a time, `waiting` more wait their turn, first come first served."""

    body_bytes: int = 2 * 1024 * 1024
    query_bytes: int = 64 * 1024
    threads: int = max(2, min(4, os.cpu_count() or 2))
    waiting: int = 256
    deadline: float = 30.0


class WorkQueue:
    """Threads of a fixed number with one queue: each keeps its connection, and nobody overtakes."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.in_hand = 0
        self._counting = threading.Lock()
        self._threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="recallens")

    async def run(self, work: Callable[[], T]) -> T:
        if self.in_hand >= self.limits.threads + self.limits.waiting:
            raise Refused(
                503, "Overloaded", f"{self.in_hand} requests are being worked on; no more are taken at a time",
                hint="Try again in a moment.", Retry_After=str(RETRY_SECONDS),
            )  # fmt: skip
        with self._counting:
            self.in_hand += 1
        begun = self._threads.submit(work)
        # Counted until the thread is free again, also where nobody waits for the answer any more.
        begun.add_done_callback(self._done)
        return await asyncio.wrap_future(begun)

    def _done(self, _: Future[T]) -> None:
        with self._counting:
            self.in_hand -= 1

    def close(self) -> None:
        """Ends when what was begun is done; what only waited is dropped."""
        self._threads.shutdown(wait=True, cancel_futures=True)


class Bounded:
    """Refuses bodies past the limit, by what they announce and by what they hold."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self.limits.body_bytes
        too_large = Refused(413, "TooLarge", f"the body is larger than {most:,} bytes", hint="Send it in parts.")
        if len(scope["query_string"]) > self.limits.query_bytes:
            raise Refused(414, "QueryTooLong", f"the query has over {self.limits.query_bytes:,} bytes",
                          hint="Use POST with a JSON body.")  # fmt: skip
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > most:
            raise too_large
        held = 0

        async def bounded() -> Message:
            nonlocal held
            message = await receive()
            held += len(message.get("body", b""))
            if held > most:
                raise too_large
            return message

        await self.app(scope, bounded, send)
