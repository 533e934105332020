"""A connection as the server keeps it: so long for a request's head, so long idle, so long for an answer to be taken.

uvicorn has a time only for what is idle between two requests. Of more connections than the server keeps, one that has
asked nothing yet makes room, then one whose request has not come whole, so that whoever does ask is answered.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS: Final = 10.0
SEND_SECONDS: Final = 60.0
MOST_CONNECTIONS: Final = 512
# Files that the process needs beside its connections: the store, its index, what is being accepted.
_OTHER_FILES: Final = 256
_FEWEST: Final = 16


def most_connections() -> int:
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        MOST_CONNECTIONS
        if allowed == resource.RLIM_INFINITY
        else max(16, min(MOST_CONNECTIONS, allowed - _OTHER_FILES))
    )


class BoundedConnection(H11Protocol):
    head_seconds = HEAD_SECONDS
    send_seconds = SEND_SECONDS

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._head_timer: asyncio.TimerHandle | None = None
        self._send_timer: asyncio.TimerHandle | None = None

    @property
    def asks_nothing(self) -> bool:
        """Whether no request of it is being answered, or read beyond its head."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def sends_its_body(self) -> bool:
        """Whether the rest of a request is still to come."""
        return self.conn.their_state is h11.SEND_BODY

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if len(self.connections) >= most_connections():
            others = [one for one in self.connections if isinstance(one, BoundedConnection)]
            idle = [one for one in others if one.asks_nothing] or [one for one in others if one.sends_its_body]
            if not idle:
                transport.abort()
                return
            oldest = min(idle, key=lambda one: one.since)
            oldest.transport.abort()
            self.connections.discard(oldest)  # it is told of its end only after others have come
        self.since = self.loop.time()
        super().connection_made(transport)
        self._wait_for_head()

    def _wait_for_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_seconds, self._give_up)

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        self._wait_for_head()  # of the next request, on a connection that was kept
        super().data_received(data)
        if not self.asks_nothing or self.conn.their_state is not h11.IDLE:
            self._stop("_head_timer")

    def on_response_complete(self) -> None:
        self.since = self.loop.time()
        super().on_response_complete()
        if self.asks_nothing and self.conn.trailing_data[0]:  # the beginning of the next one came along
            self._wait_for_head()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._send_timer = self._send_timer or self.loop.call_later(self.send_seconds, self.transport.abort)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._send_timer = self._send_timer or self.loop.call_later(self.send_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop("_send_timer")

    def connection_lost(self, exc: Exception | None) -> None:
        if self.transport is not None:
            super().connection_lost(exc)
        self._stop("_head_timer")
        self._stop("_send_timer")

    def _stop(self, timer: str) -> None:
        running: asyncio.TimerHandle | None = getattr(self, timer)
        if running is not None:
            running.cancel()
            setattr(self, timer, None)
