"""What is served beside the API: the page, and MCP where its package is installed."""

from __future__ import annotations

from collections.abc import Collection
from importlib.util import find_spec
from typing import TYPE_CHECKING

from starlette.applications import Starlette

from recallens.http.limits import Limits
from recallens.serving.app import Lifespan, build
from recallens.web import pages
from recallens.web.signing_in import PATH as SIGN_IN

if TYPE_CHECKING:
    from recallens.engine import Engine


def whole(
    engine: Engine,
    *,
    host: str = "127.0.0.1",
    allow_hosts: Collection[str] = (),
    limits: Limits | None = None,
    spans: bool = False,
    access_log: bool = False,
) -> Starlette:
    limits = limits or Limits()
    routes, lifespans = pages.routes(), list[Lifespan]()
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
        public=pages.public(),
        sign_in=SIGN_IN,
        lifespans=lifespans,
        spans=spans,
        access_log=access_log,
    )
