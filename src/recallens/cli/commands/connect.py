from __future__ import annotations

import importlib.util
import json
import logging
import os
import sys
from typing import TYPE_CHECKING

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, shared
from recallens.errors import InvalidInput, UnknownOption

if TYPE_CHECKING:
    from recallens.mcp.calls import Offer
    from recallens.mcp.stdio import LazyEngine
    from recallens.mcp.tools import Tool


SERVED_BY = ("starlette", "uvicorn", "jinja2")
TOOLSETS = ("default", "full")
COMPATS = ("remnic",)
PORT = 8766
TOKEN = "RECALLENS_TOKEN"


# The names in `cli.clients.places`, known here without loading them: a test holds the two together.
@click.command()
@click.option("--host", metavar="HOST", type=TEXT, default="127.0.0.1",
              help="Where to listen (127.0.0.1); elsewhere only with tokens.")  # fmt: skip
@click.option("--port", metavar="PORT", type=click.IntRange(0, 65535), default=8765,
              help="The port (8765); 0 takes a free one.")  # fmt: skip
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@click.option("--allow-host", "allow_hosts", metavar="NAME", type=TEXT, multiple=True,
              help="Another name under which it is asked for, such as a proxy's; repeat it for several.")  # fmt: skip
@click.option("--threads", metavar="N", type=click.IntRange(1, 64), help="Requests worked on at a time.")
@click.option("--deadline", metavar="SECONDS", type=click.FloatRange(min=0.1, max=3600), default=30.0,
              help="A request that takes longer is answered 504 (30).")  # fmt: skip
@click.option("--access-log", is_flag=True, help="A line a request on standard error: route, status, time.")
@click.option("--spans", is_flag=True, help="OpenTelemetry spans, where it is installed and set up.")
@shared
def serve(
    given: Given, /, host: str, port: int, open_page: bool, allow_hosts: tuple[str, ...], threads: int | None,
    deadline: float, access_log: bool, spans: bool,
) -> None:  # fmt: skip
    """Answer over HTTP: the API at /v1, its description at /openapi.json, the page at /. Ctrl-C stops it.

    Without a token it answers this machine alone. `recallens token create` makes one; from then on every
    request needs it.

    \b
    recallens serve --open
    curl "http://127.0.0.1:8765/v1/search?q=how+long+are+lookups+cached"
    """
    missing = [name for name in SERVED_BY if importlib.util.find_spec(name) is None]
    if missing:
        raise InvalidInput(f"serving needs {', '.join(missing)}:", hint='pip install "recallens[serve]"')
    from recallens.http.limits import Limits
    from recallens.server import address_of, listening, refuse_open_doors, run, whole

    logging.basicConfig(level=logging.INFO if access_log else logging.WARNING, format="%(levelname)s %(message)s")
    limits = Limits(deadline=deadline) if threads is None else Limits(deadline=deadline, threads=threads)
    with given.engine(create=True) as engine:
        engine.core.folder = None  # whoever asks over HTTP works elsewhere
        refuse_open_doors(engine, host)
        with listening(host, port) as listener:
            address = address_of(listener, host)
            app = whole(engine, host=host, allow_hosts=allow_hosts, limits=limits, spans=spans, access_log=access_log)
            run(app, listener, started=lambda: _say_address(given, address, engine.tokens.guarded(), open_page))
    given.note("stopped")


def _say_address(given: Given, address: str, guarded: bool, open_page: bool) -> None:
    if given.json:
        click.echo(json.dumps({"address": address, "guarded": guarded}))
    else:
        click.echo(address)
        given.note("every request needs a token" if guarded else "open to this machine, without a token")
        given.note("Ctrl-C stops it")
    if open_page:
        import webbrowser

        webbrowser.open(address)


# ── MCP ──


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
def mcp(
    given: Given, toolset: str, compat: str | None, token: str | None, http: bool, host: str, port: int
) -> None:  # fmt: skip
    """Serve an agent over MCP. A client starts it; `recallens install` tells the client how."""
    if toolset not in TOOLSETS:
        raise UnknownOption("set of tools", toolset, TOOLSETS)
    if compat is not None and compat not in COMPATS:
        raise UnknownOption("compat", compat, COMPATS)
    if http and importlib.util.find_spec("mcp") is None:
        raise InvalidInput("MCP over HTTP needs the package `mcp`", hint="pip install 'recallens[mcp]'")
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
    offer = offered(opening, chosen(toolset, compat), token or os.environ.get(TOKEN))
    stdio.serve(offer, wire, warm=opening.warm, close=opening.close)


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
        return Offer(opening, lambda engine, request: token_caller(engine, token), tools)
    return Offer(opening, lambda engine, request: local_caller(settings), tools)


def _serve_http(given: Given, tools: tuple[Tool, ...], host: str, port: int) -> None:
    from recallens.mcp.http import PATH, alone
    from recallens.server import address_of, listening, refuse_open_doors, run

    with given.engine(create=True) as engine:
        engine.core.folder = None  # whoever asks over HTTP works elsewhere
        refuse_open_doors(engine, host)
        with listening(host, port) as listener:
            address = address_of(listener, host) + PATH
            run(alone(engine, host=host, tools=tools), listener, started=lambda: click.echo(address))


# ── the configuration of clients and shells ──
