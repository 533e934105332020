from __future__ import annotations

import importlib.util
import json
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, refuse_unused, shared
from recallens.errors import InvalidInput, UnknownOption

if TYPE_CHECKING:
    from recallens.http.entrance import Entrance
    from recallens.mcp.calls import Offer
    from recallens.mcp.stdio import LazyEngine
    from recallens.mcp.tools import Tool


SERVED_BY = ("starlette", "uvicorn", "jinja2")
TOOLSETS = ("default", "full")
COMPATS = ("remnic",)
PORT = 8766
TOKEN = "RECALLENS_TOKEN"  # nosec B105: the name of a variable


# The names in `cli.clients.places`, known here without loading them: a test holds the two together.
@click.command()
@click.option("--host", metavar="HOST", type=TEXT, default="127.0.0.1",
              help="Where to listen (127.0.0.1); elsewhere only with tokens.")  # fmt: skip
@click.option("--port", metavar="PORT", type=click.IntRange(0, 65535), default=8765,
              help="The port (8765); 0 takes a free one.")  # fmt: skip
@click.option("--socket", "path", metavar="PATH", type=click.Path(path_type=Path, dir_okay=False),
              help="Listen at a Unix socket that you alone can open, instead of a port.")  # fmt: skip
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@click.option("--allow-host", "allow_hosts", metavar="NAME", type=TEXT, multiple=True,
              help="Another name under which it is asked for, such as a proxy's, with tokens; repeatable.")  # fmt: skip
@click.option("--threads", metavar="N", type=click.IntRange(1, 64), help="Requests worked on at a time.")
@click.option("--workers", metavar="N", type=click.IntRange(1, 64), default=1,
              help="Processes behind the one address (1), each with threads of its own.")  # fmt: skip
@click.option("--deadline", metavar="SECONDS", type=click.FloatRange(min=0.1, max=3600), default=30.0,
              help="A request that takes longer is answered 504 (30).")  # fmt: skip
@click.option("--read-url", metavar="URL", type=TEXT,
              help="A replica from which recalls are answered: postgresql://… (also RECALLENS_READ_URL).")  # fmt: skip
@click.option("--access-log", is_flag=True, help="A line a request on standard error: route, status, time.")
@click.option("--spans", is_flag=True, help="OpenTelemetry spans, where it is installed and set up.")
@shared
def serve(
    given: Given, /, host: str, port: int, path: Path | None, open_page: bool, allow_hosts: tuple[str, ...],
    threads: int | None, workers: int, deadline: float, read_url: str | None, access_log: bool, spans: bool,
) -> None:  # fmt: skip
    """Answer over HTTP: the API at /v1, its description at /openapi.json, the page at /. Ctrl-C stops it.

    It prints a link that opens the page once, in your browser. Programs show a token, or use a Unix socket
    of yours.

    \b
    recallens serve --open
    TOKEN=$(recallens token create --namespace default)
    curl -H "Authorization: Bearer $TOKEN" \\
      "http://127.0.0.1:8765/v1/search?q=how+long+are+lookups+cached"
    """
    missing = [name for name in SERVED_BY if importlib.util.find_spec(name) is None]
    if missing:
        raise InvalidInput(f"serving needs {', '.join(missing)}:", hint='pip install "recallens[serve]"')
    from recallens.http.guard import is_loopback
    from recallens.http.limits import Limits
    from recallens.server import address_of, listening, listening_at, refuse_open_doors, run, whole

    logging.basicConfig(level=logging.INFO if access_log else logging.WARNING, format="%(levelname)s %(message)s")
    asked: dict[str, Any] = {"deadline": deadline, **({} if threads is None else {"threads": threads})}
    limits = Limits(**asked)
    if path is not None:
        refuse_unused("with --socket", "host", "port", "open_page")
    if workers > 1:
        if path is not None:
            raise InvalidInput("one process answers at a Unix socket", hint="Leave --workers or --socket out.")
        _serve_by_several(given, workers, host, port, allow_hosts, asked, read_url, spans, access_log, open_page)
        return
    with given.engine(create=True, read_url=read_url) as engine:
        engine.core.folder = None  # whoever asks over HTTP works elsewhere
        private = path is not None
        refuse_open_doors(engine, host, allow_hosts)
        with listening(host, port) if path is None else listening_at(path) as listener:
            app = whole(
                engine, host=host, allow_hosts=allow_hosts, private=private, limits=limits, spans=spans,
                access_log=access_log,
            )  # fmt: skip
            address = address_of(listener, host) if path is None else str(path)
            entrance = app.state.entrance if path is None and is_loopback(host) else None
            told = "you alone can open it" if private else "every request needs a token"
            run(app, listener, started=lambda: _say_address(given, address, told, entrance, open_page))
    given.note("stopped")


def _serve_by_several(
    given: Given, count: int, host: str, port: int, allow_hosts: tuple[str, ...], limits: dict[str, Any],
    read_url: str | None, spans: bool, access_log: bool, open_page: bool,
) -> None:  # fmt: skip
    """The processes share the port, and the sessions of browsers in a folder of theirs."""
    from recallens import workers
    from recallens.http.entrance import Entrance
    from recallens.http.guard import is_loopback
    from recallens.server import address_of, refuse_open_doors, reserved

    with given.engine(create=True, read_url=read_url) as engine:  # made or brought up to date before several open it
        refuse_open_doors(engine, host, allow_hosts)
        settings = engine.core.settings
    shared = workers.shared_folder()
    try:
        with reserved(host, port) as place:
            told = workers.Workers(
                settings, host, place.getsockname()[1], count, shared, allow_hosts, limits, spans, access_log
            )
            entrance = Entrance(shared=shared) if is_loopback(host) else None
            address = address_of(place, host)
            workers.run(
                told,
                started=lambda: _say_address(given, address, "every request needs a token", entrance, open_page),
            )
    finally:
        workers.remove(shared)
    given.note("stopped")


def _say_address(given: Given, address: str, told: str, entrance: Entrance | None, open_page: bool) -> None:
    """With the link where a browser of this machine can use one; who used it gets another, for another browser."""
    link = None if entrance is None else address + entrance.new_link()
    if given.json:
        click.echo(json.dumps({"address": address} | ({} if link is None else {"link": link})))
    else:
        click.echo(link or address)
        given.note(told if link is None else "the link opens the page once, in your browser; programs show a token")
        given.note("Ctrl-C stops it")
    if entrance is not None:
        entrance.redeemed = lambda: given.note(f"opened; for another browser: {address}{entrance.new_link()}")
    if open_page and link is not None:
        import webbrowser

        webbrowser.open(link)


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
        refuse_unused("with --http: who asks shows one with each request", "token")
        _serve_http(given, chosen(toolset, compat), host, port)
        return
    refuse_unused("without --http", "host", "port")
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
    from recallens.http.guard import is_loopback
    from recallens.mcp.http import PATH, alone
    from recallens.server import address_of, listening, refuse_open_doors, run

    with given.engine(create=True) as engine:
        engine.core.folder = None  # whoever asks over HTTP works elsewhere
        refuse_open_doors(engine, host)
        with listening(host, port) as listener:
            said = [address_of(listener, host) + PATH]
            app, key = alone(engine, host=host, tools=tools)
            if is_loopback(host):
                said.append(f"Authorization: Bearer {key}")
            run(app, listener, started=lambda: click.echo("\n".join(said)))


# ── the configuration of clients and shells ──
