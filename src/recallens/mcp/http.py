"""Over HTTP: one endpoint at /mcp. Each request stands alone, so that any of several servers can answer it.

Who calls is decided before it gets here, by the same guard as for every other route.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from msgspec import Struct
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from recallens.engine import Engine
from recallens.http.entrance import Entrance
from recallens.http.guard import Guard, doors
from recallens.http.limits import Allowance, Bounded, Limits
from recallens.http.requests import caller_of
from recallens.http.telemetry import Metrics, Observed
from recallens.http.turns import WorkQueue
from recallens.mcp.calls import Offer
from recallens.mcp.server import build
from recallens.mcp.tools import TOOLS, Tool

PATH: Final = "/mcp"


class McpEndpoint(Struct, frozen=True):
    """A route for a Starlette application, and what has to run around it: its lifespan, once."""

    route: Route
    running: Callable[[Starlette], AbstractAsyncContextManager[None]]


def endpoint(engine: Engine, *, tools: tuple[Tool, ...] = TOOLS, limits: Limits | None = None) -> McpEndpoint:
    """For an application whose guard sets `request.state.caller`, as that of `recallens serve` does."""
    offer = Offer(lambda: engine, lambda engine, request: caller_of(request), tools)
    manager = StreamableHTTPSessionManager(
        app=build(offer), json_response=True, stateless=True, max_request_body_size=(limits or Limits()).body_bytes
    )
    route = Route(PATH, endpoint=StreamableHTTPASGIApp(manager), methods=["POST"])
    return McpEndpoint(route, lambda app: manager.run())


def alone(engine: Engine, *, host: str, tools: tuple[Tool, ...] = TOOLS) -> tuple[Starlette, str]:
    """The endpoint and nothing beside it, behind the same guard; and the key that opens it while it runs."""
    limits, entrance = Limits(), Entrance()
    made = endpoint(engine, tools=tools, limits=limits)
    app = Starlette(
        routes=[made.route],
        middleware=[
            Middleware(Observed, metrics=Metrics()),
            Middleware(Guard, engine=engine, doors=doors(host), entrance=entrance, allowance=Allowance(limits)),
            Middleware(Bounded, limits=limits),
        ],
        lifespan=made.running,
    )
    app.state.work, app.state.limits = WorkQueue(limits), limits
    return app, entrance.new_key()
