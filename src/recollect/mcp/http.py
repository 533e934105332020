"""Over HTTP: one endpoint at /mcp. Each request stands alone, so that any of several servers can answer it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route

PATH: Final = "/mcp"
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
MOST_BODY: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route for a Starlette application, and what has to run around it (its lifespan)."""

    route: Route
    running: Callable[[], AbstractAsyncContextManager[None]]


def endpoint(server: Server[Any], *, security: TransportSecuritySettings | None = None) -> Endpoint:
    """`security` checks Host and Origin; None leaves that to whatever stands before the route."""
    manager = StreamableHTTPSessionManager(
        app=server,
        json_response=True,
        stateless=True,
        security_settings=security,
        max_request_body_size=MOST_BODY,
    )
    return Endpoint(Route(PATH, endpoint=StreamableHTTPASGIApp(manager), methods=["POST"]), manager.run)


def local_app(server: Server[Any]) -> Starlette:
    """For this machine alone: a page of another site cannot reach it by a name of its own."""
    made = endpoint(server, security=loopback_only())
    return Starlette(routes=[made.route], lifespan=lambda app: made.running())


def loopback_only() -> TransportSecuritySettings:
    hosts = ["127.0.0.1", "localhost", "[::1]"]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*hosts, *(f"{host}:*" for host in hosts)],
        allowed_origins=[f"http://{host}:*" for host in hosts],
    )
