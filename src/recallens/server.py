"""What `recallens serve` runs: HTTP, MCP and the page as one application, and the server that listens."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from importlib.util import find_spec
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from recallens.errors import InvalidInput, NotAllowed
from recallens.http.endpoints import on_http_error
from recallens.http.endpoints import routes as own_routes
from recallens.http.guard import Guard, doors, is_loopback
from recallens.http.limits import Bounded, Limits, WorkQueue
from recallens.http.telemetry import Metrics, Observed

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from recallens.engine import Engine

Lifespan = Callable[[Starlette], AbstractAsyncContextManager[object]]


def build(
    engine: Engine,
    *,
    host: str = "127.0.0.1",
    allow_hosts: Collection[str] = (),
    limits: Limits | None = None,
    routes: Sequence[BaseRoute] = (),
    public: Collection[str] = (),
    sign_in: str | None = None,
    lifespans: Sequence[Lifespan] = (),
    spans: bool = False,
    access_log: bool = False,
) -> Starlette:
    """`routes` are those of the page and of MCP; they stand behind the same guard and find their caller set.

    `public` are paths of theirs that need no token, `sign_in` the page to which a browser without one is sent.
    """
    limits = limits or Limits()
    work, metrics = WorkQueue(limits), Metrics()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.callback(work.close)
            for one in lifespans:
                await stack.enter_async_context(one(app))
            yield

    app = Starlette(
        routes=[*own_routes(), *routes],
        middleware=[
            Middleware(Observed, metrics=metrics, spans=spans, access_log=access_log),
            Middleware(Guard, engine=engine, doors=doors(host, allow_hosts, public=public, sign_in=sign_in)),
            Middleware(Bounded, limits=limits),
        ],
        exception_handlers={HTTPException: on_http_error},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.engine, app.state.limits, app.state.work, app.state.metrics = engine, limits, work, metrics
    return app


def whole(
    engine: Engine,
    *,
    host: str = "127.0.0.1",
    allow_hosts: Collection[str] = (),
    limits: Limits | None = None,
    spans: bool = False,
    access_log: bool = False,
) -> Starlette:
    """The API with what is served beside it: the page, and MCP where its package is installed."""
    from recallens.web import site

    limits = limits or Limits()
    routes, lifespans = site.routes(), list[Lifespan]()
    if find_spec("mcp") is not None:
        from recallens.mcp.http import endpoint

        agents = endpoint(engine, limits=limits)
        routes.append(agents.route)
        lifespans.append(agents.running)
    return build(
        engine,
        host=host,
        allow_hosts=allow_hosts,
        limits=limits,
        routes=routes,
        public=site.public(),
        sign_in=site.SIGN_IN,
        lifespans=lifespans,
        spans=spans,
        access_log=access_log,
    )


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
