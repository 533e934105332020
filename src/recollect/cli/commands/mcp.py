from __future__ import annotations

import importlib.util
import logging
import socket
import sys
from typing import TYPE_CHECKING

import click

from recollect.cli.given import Given, pass_given
from recollect.cli.options import shared
from recollect.errors import InvalidInput, UnknownOption

if TYPE_CHECKING:
    from recollect.config import Settings
    from recollect.mcp.calling import Offer
    from recollect.mcp.opening import Opening
    from recollect.mcp.tools import Tool

TOOLSETS = ("default", "full")
COMPATS = ("remnic",)
PORT = 8766


@click.command()
@click.option("--tools", "toolset", default="default", metavar="SET", help=f"Which tools: {', '.join(TOOLSETS)}.")
@click.option("--compat", metavar="NAME", help=f"Also answer to the tool names of: {', '.join(COMPATS)}.")
@click.option("--http", is_flag=True, help="Serve streamable HTTP at /mcp instead of stdin and stdout.")
@click.option(
    "--host", default="127.0.0.1", metavar="HOST", help="With --http: this machine's own address (127.0.0.1)."
)
@click.option("--port", type=click.IntRange(0, 65_535), default=PORT, metavar="N", help=f"With --http ({PORT}).")
@shared
@pass_given
def mcp(given: Given, toolset: str, compat: str | None, http: bool, host: str, port: int) -> None:
    """Serve an agent over MCP. A client starts it; `recollect install` tells the client how."""
    if toolset not in TOOLSETS:
        raise UnknownOption("set of tools", toolset, TOOLSETS)
    if compat is not None and compat not in COMPATS:
        raise UnknownOption("compat", compat, COMPATS)
    _check_packages()
    settings = given.settings()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    if http:
        _serve_http(settings, toolset, compat, host, port)
        return
    from recollect.mcp import stdio
    from recollect.mcp.opening import Opening

    wire = stdio.claim_wire()  # before anything is imported that could print
    opening = Opening(settings)

    def make() -> object:
        from recollect.mcp.server import build

        return build(offered(settings, opening, toolset, compat))

    stdio.serve(make, wire, close=opening.close)


def offered(settings: Settings, opening: Opening, toolset: str, compat: str | None) -> Offer:
    from recollect.mcp.callers import local_caller
    from recollect.mcp.calling import Offer
    from recollect.mcp.tools import TOOLS, aliased

    tools: tuple[Tool, ...] = TOOLS
    if toolset == "full":
        from recollect.mcp.full import full_tools

        tools = full_tools()
    return Offer(
        engine=opening,
        caller=lambda engine, request: local_caller(settings),
        tools=aliased(tools, compat),
        records=settings.record,
    )


def _serve_http(settings: Settings, toolset: str, compat: str | None, host: str, port: int) -> None:
    import uvicorn

    from recollect.mcp.http import LOOPBACK, PATH, local_app
    from recollect.mcp.opening import Opening
    from recollect.mcp.server import build

    if host not in LOOPBACK:
        raise InvalidInput(
            f"without tokens MCP is served to this machine alone, not at {host!r}; use one of: {', '.join(LOOPBACK)}",
            hint="`recollect serve` serves it to others, who need a token.",
        )
    opening = Opening(settings)
    app = local_app(build(offered(settings, opening, toolset, compat)))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    try:
        with _bound(host, port) as listener:
            named = f"[{host}]" if ":" in host else host
            click.echo(f"MCP at http://{named}:{listener.getsockname()[1]}{PATH}", err=True)
            server.run(sockets=[listener])
    finally:
        opening.close()


def _bound(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise InvalidInput(
            f"cannot listen at {host} port {port}: {error.strerror}", hint="Give another --port; 0 is any that is free."
        ) from error


def _check_packages() -> None:
    if importlib.util.find_spec("mcp") is None:
        raise InvalidInput("the MCP server needs the package `mcp`", hint="pip install 'recollect[mcp]'")
