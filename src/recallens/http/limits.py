"""What one server takes on: how much at a time, how long, how large."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Callable

from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recallens.http.problems import RETRY_SECONDS, Refused


class Limits(Struct, frozen=True):
    """`threads` work at a time, `waiting` more wait their turn. One caller has all threads but one, and a quarter of
    the places to wait. What a token is answered is counted in bytes a minute.
    """

    body_bytes: int = 2 * 1024 * 1024
    query_bytes: int = 64 * 1024
    head_bytes: int = 32 * 1024  # of the path and the headers together
    answer_bytes: int = 8 * 1024 * 1024
    bytes_a_minute: int = 64 * 1024 * 1024
    threads: int = 1 + max(2, min(4, os.cpu_count() or 2))
    waiting: int = 256
    deadline: float = 30.0
    body_seconds: float = 30.0


class Allowance:
    """The bytes that each caller may still be answered; they come back evenly over a minute."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = limits.bytes_a_minute, clock
        self._spent: dict[str, tuple[float, float]] = {}  # bytes, and when they were counted

    def _owed(self, caller: str) -> float:
        spent, at = self._spent.get(caller, (0.0, 0.0))
        return max(0.0, spent - (self._clock() - at) * self._most / 60)

    def check(self, caller: str) -> None:
        over = self._owed(caller) - self._most
        if over > 0:
            wait = max(RETRY_SECONDS, math.ceil(over * 60 / self._most))
            raise Refused(429, "TooMuch", "this token has been answered all that it may be in a minute",
                          hint="Ask for less at a time.", Retry_After=str(wait))  # fmt: skip

    def spend(self, caller: str, count: int) -> None:
        self._spent[caller] = self._owed(caller) + count, self._clock()


class Bounded:
    """Refuses heads past the limit; and bodies, by what they announce, by what they hold, and by their time."""

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
        head = len(scope.get("raw_path") or b"") + sum(len(name) + len(value) for name, value in scope["headers"])
        if head > self.limits.head_bytes:
            raise Refused(431, "HeadTooLarge", f"path and headers have over {self.limits.head_bytes:,} bytes",
                          hint="Send fewer and shorter headers.", Connection="close")  # fmt: skip
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > most:
            raise too_large
        held, whole = 0, False
        ends = asyncio.get_running_loop().time() + self.limits.body_seconds

        async def bounded() -> Message:
            nonlocal held, whole
            if whole:  # what comes behind the body is that the client has gone, and that may take its time
                return await receive()
            try:
                async with asyncio.timeout_at(ends):
                    message = await receive()
            except TimeoutError as error:
                raise Refused(408, "TooSlow", "the body did not come in time", hint="Send it again.",
                              Connection="close") from error  # fmt: skip
            held += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if held > most:
                raise too_large
            return message

        await self.app(scope, bounded, send)
