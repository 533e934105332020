"""What `recallens serve` runs: HTTP, MCP and the page as one application, and the server that listens."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from recallens.config import make_private
from recallens.errors import InvalidInput, NotAllowed
from recallens.http.connections import BoundedConnection
from recallens.http.endpoints import on_http_error
from recallens.http.endpoints import routes as own_routes
from recallens.http.entrance import Entrance
from recallens.http.guard import Guard, doors, is_loopback
from recallens.http.limits import Allowance, Bounded, Limits
from recallens.http.telemetry import Metrics, Observed
from recallens.http.turns import WorkQueue

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from recallens.engine import Engine

Lifespan = Callable[[Starlette], AbstractAsyncContextManager[object]]


def build(
    engine: Engine,
    *,
    host: str = "127.0.0.1",
    allow_hosts: Collection[str] = (),
    private: bool = False,
    limits: Limits | None = None,
    routes: Sequence[BaseRoute] = (),
    public: Collection[str] = (),
    sign_in: str | None = None,
    lifespans: Sequence[Lifespan] = (),
    spans: bool = False,
    access_log: bool = False,
    shared: Path | None = None,
) -> Starlette:
    """`routes` are those of the page and of MCP; they stand behind the same guard and find their caller set.

    `public` are paths of theirs that need no token, `sign_in` the page to which a browser without one is sent.
    `private` says that only its owner can reach it, as at a Unix socket of theirs: who comes without a token is they.
    `shared` is the folder in which the processes of one server keep their browsers' sessions.
    """
    limits = limits or Limits()
    work, metrics, entrance = WorkQueue(limits), Metrics(), Entrance(shared=shared)
    names = doors(host, allow_hosts, private=private, public=public, sign_in=sign_in)

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
            Middleware(Guard, engine=engine, doors=names, entrance=entrance, allowance=Allowance(limits)),
            Middleware(Bounded, limits=limits),
        ],
        exception_handlers={HTTPException: on_http_error},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.engine, app.state.limits, app.state.work, app.state.metrics = engine, limits, work, metrics
    app.state.entrance = entrance
    return app


def whole(
    engine: Engine,
    *,
    host: str = "127.0.0.1",
    allow_hosts: Collection[str] = (),
    private: bool = False,
    limits: Limits | None = None,
    spans: bool = False,
    access_log: bool = False,
    shared: Path | None = None,
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
        private=private,
        limits=limits,
        routes=routes,
        public=site.public(),
        sign_in=site.SIGN_IN,
        lifespans=lifespans,
        spans=spans,
        access_log=access_log,
        shared=shared,
    )


# What is being answered at Ctrl-C has this long; what still waits then is dropped.
GRACE_SECONDS = 10
KEEP_ALIVE_SECONDS = 75
# Connections that the system holds ready, and those that are taken in at one go.
BACKLOG = 128
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


def refuse_open_doors(engine: Engine, host: str, allow_hosts: Collection[str] = ()) -> None:
    """Without a token there is only the link for the person here: then nobody else needs to reach the server."""
    reached = [name for name in (host, *allow_hosts) if not is_loopback(name)]
    if reached and not engine.tokens.guarded():
        raise NotAllowed(
            f"without a token the server answers this machine alone, and {reached[0]} is reached from others",
            hint="`recallens token create --namespace NAME` makes a token; or leave --host and --allow-host out.",
        )


def reserved(host: str, port: int) -> socket.socket:
    """A place that the processes of one server listen at, each for itself; nobody is answered here."""
    held = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind((host.strip("[]"), port))
    except (OSError, AttributeError) as error:
        held.close()
        raise InvalidInput(
            f"cannot share {host} port {port} between processes ({error})", hint="Use another --port, or one worker."
        ) from error
    return held


def listening(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """`shared` where other processes listen at the same place."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host.strip("[]"), port), family=family, backlog=BACKLOG, reuse_port=shared)
        # Connections inherit it. Without it the body of an answer waits until its head is acknowledged: 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        raise InvalidInput(
            f"cannot listen on {host} port {port} ({os.strerror(error.errno or 0)})",
            hint="Use another --port; 0 takes a free one.",
        ) from error


@contextmanager
def listening_at(path: Path) -> Iterator[socket.socket]:
    """A Unix socket that its owner alone can open; it is there as long as somebody listens."""
    made = socket.socket(socket.AF_UNIX)
    try:
        make_private(path.parent)
        if path.is_socket():
            _refuse_in_use(path)
            path.unlink()
        before = os.umask(0o177)
        try:
            made.bind(str(path))
        finally:
            os.umask(before)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        hint = "Give the path of a file that is not there yet, of at most 100 characters."
        raise InvalidInput(f"cannot listen at {path} ({error.strerror or error})", hint=hint) from error
    try:
        yield made
    finally:
        made.close()
        path.unlink(missing_ok=True)


def _refuse_in_use(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as asked, suppress(ConnectionRefusedError):
        asked.connect(str(path))
        raise InvalidInput(f"another server listens at {path}", hint="Stop it, or give another --socket.")


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
        http=BoundedConnection,
        ws="none",
        backlog=BACKLOG,
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )
