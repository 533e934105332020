from __future__ import annotations

import importlib.util
import logging
import os
import sys
from typing import TYPE_CHECKING

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, shared
from recallens.errors import InvalidInput, UnknownOption

if TYPE_CHECKING:
    from recallens.mcp.calls import Offer
    from recallens.mcp.stdio import LazyEngine
    from recallens.mcp.tools import Tool

TOOLSETS = ("default", "full")
COMPATS = ("remnic",)
PORT = 8766
TOKEN = "RECALLENS_TOKEN"


@click.command()
@click.option("--tools", "toolset", default="default", metavar="SET", help=f"Which tools: {', '.join(TOOLSETS)}.")
@click.option("--compat", metavar="NAME", help=f"Also answer to the tool names of: {', '.join(COMPATS)}.")
@click.option("--token", metavar="TOKEN", help=f"Grant what this token grants, not everything (also {TOKEN}).")
@click.option("--http", is_flag=True, help="Serve streamable HTTP at /mcp instead of stdin and stdout.")
@click.option("--host", default="127.0.0.1", metavar="HOST", type=TEXT,
              help="With --http: where to listen (127.0.0.1); elsewhere only with tokens.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65_535), default=PORT, metavar="N",
              help=f"With --http ({PORT}); 0 takes a free one.")  # fmt: skip
@shared
@pass_given
def mcp(
    given: Given, toolset: str, compat: str | None, token: str | None, http: bool, host: str, port: int
) -> None:  # fmt: skip
    """Serve an agent over MCP. A client starts it; `recallens install` tells the client how."""
    if toolset not in TOOLSETS:
        raise UnknownOption("set of tools", toolset, TOOLSETS)
    if compat is not None and compat not in COMPATS:
        raise UnknownOption("compat", compat, COMPATS)
    if importlib.util.find_spec("mcp") is None:
        raise InvalidInput("the MCP server needs the package `mcp`", hint="pip install 'recallens[mcp]'")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    if http:
        _serve_http(given, chosen(toolset, compat), host, port)
        return
    if sys.stdin is not None and sys.stdin.isatty():
        given.note("waiting for an MCP client on standard input; `recallens install` tells a client of it")
    from recallens.mcp import stdio
    from recallens.mcp.stdio import LazyEngine

    wire = stdio.claim_wire()  # before anything is imported that could print
    opening = LazyEngine(given.settings())

    def make() -> object:
        from recallens.mcp.server import build

        return build(offered(opening, chosen(toolset, compat), token or os.environ.get(TOKEN)))

    stdio.serve(make, wire, close=opening.close)


def chosen(toolset: str, compat: str | None) -> tuple[Tool, ...]:
    from recallens.mcp.tools import TOOLS, aliased

    if toolset == "default":
        return aliased(TOOLS, compat)
    from recallens.mcp.tools import full_tools

    return aliased(full_tools(), compat)


def offered(opening: LazyEngine, tools: tuple[Tool, ...], token: str | None) -> Offer:
    from recallens.mcp.calls import Offer, local_caller, token_caller

    settings = opening.settings
    if token:
        return Offer(opening, lambda engine, request: token_caller(engine, token), tools, settings.record)
    return Offer(opening, lambda engine, request: local_caller(settings), tools, settings.record)


def _serve_http(given: Given, tools: tuple[Tool, ...], host: str, port: int) -> None:
    from recallens.mcp.http import PATH, alone
    from recallens.server import address_of, listening, refuse_open_doors, run

    with given.engine(create=True) as engine:
        refuse_open_doors(engine, host)
        with listening(host, port) as listener:
            address = address_of(listener, host) + PATH
            run(alone(engine, host=host, tools=tools), listener, started=lambda: click.echo(address))
