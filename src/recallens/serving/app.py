"""The one application that `recallens serve` runs: the API's routes, and whatever else is mounted beside them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from recallens.http import answering, signing_in, status
from recallens.http.guard import Guard, doors
from recallens.http.limits import Bounded, Limits, Work
from recallens.http.metrics import Metrics
from recallens.http.observing import Observed

if TYPE_CHECKING:
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
    work, metrics = Work(limits), Metrics()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.callback(work.close)
            for one in lifespans:
                await stack.enter_async_context(one(app))
            yield

    app = Starlette(
        routes=[*status.routes(), *answering.routes(), *signing_in.routes(), *routes],
        middleware=[
            Middleware(Observed, metrics=metrics, spans=spans, access_log=access_log),
            Middleware(Guard, engine=engine, doors=doors(host, allow_hosts, public=public, sign_in=sign_in)),
            Middleware(Bounded, limits=limits),
        ],
        exception_handlers={HTTPException: answering.on_http_error},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.engine, app.state.limits, app.state.work, app.state.metrics = engine, limits, work, metrics
    return app
