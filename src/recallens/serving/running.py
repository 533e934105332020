"""From an engine to a listening server, and back down without losing what was begun."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn

from recallens.errors import InvalidInput, NotAllowed
from recallens.http.guard import is_loopback

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from recallens.engine import Engine

# What is being answered at Ctrl-C has this long; what still waits then is dropped.
GRACE_SECONDS = 10
KEEP_ALIVE_SECONDS = 75
# More than a query may have, so that one which is too long is told so.
LARGEST_HEAD = 256 * 1024


class Server(uvicorn.Server):
    """Ends by itself at Ctrl-C and SIGTERM, instead of passing the signal on once all is closed."""

    def __init__(self, config: uvicorn.Config, told: Callable[[], None]) -> None:
        super().__init__(config)
        self._told = told

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._told()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True


def refuse_open_doors(engine: Engine, host: str) -> None:
    """Without a token, whoever reaches the server may do everything: then only this machine may reach it."""
    if not is_loopback(host) and not engine.tokens.guarded():
        raise NotAllowed(
            f"without a token the server answers this machine alone, and {host} is reached from others",
            hint="`recallens token create --namespace NAME` makes a token; or use --host 127.0.0.1.",
        )


def listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host.strip("[]"), port), family=family, backlog=2048)
        # Connections inherit it. Without it the body of an answer waits until its head is acknowledged: 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        raise InvalidInput(
            f"cannot listen on {host} port {port} ({os.strerror(error.errno or 0)})",
            hint="Use another --port; 0 takes a free one.",
        ) from error


def address_of(listener: socket.socket, host: str) -> str:
    port = listener.getsockname()[1]
    name = f"[{host.strip('[]')}]" if ":" in host else host
    return f"http://{name}:{port}"


@contextmanager
def running(app: ASGIApp, *, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """In a thread, for a program of its own; gives the address."""
    with listening(host, port) as listener:
        server = serving(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="recallens-serve")
        thread.start()
        try:
            yield address_of(listener, host)
        finally:
            server.should_exit = True
            thread.join()


def run(app: ASGIApp, listener: socket.socket, *, started: Callable[[], None] = lambda: None) -> None:
    """Until Ctrl-C or SIGTERM. `started` is called once the first request would be answered."""
    serving(app, started).run(sockets=[listener])


def serving(app: ASGIApp, started: Callable[[], None] = lambda: None) -> Server:
    return Server(_config(app), started)


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        lifespan="on",
        ws="none",
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )
