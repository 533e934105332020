"""A real client of the SDK, over stdio or HTTP, used from ordinary code; and lines on a wire of one's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from httpx2 import AsyncClient
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from recallens.cli.commands.connect import chosen, offered
from recallens.config import load
from recallens.mcp.server import build
from recallens.mcp.stdio import LazyEngine
from recallens.mcp.tools import full_tools

RECALLENS = [sys.executable, "-m", "recallens"]
WORDED = {tool.name for tool in full_tools() if "format" in tool.defaults}
HANDSHAKE = (
    {"jsonrpc": "2.0", "id": 0, "method": "initialize",
     "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)  # fmt: skip


@dataclass(frozen=True)
class Desk:
    client: Client
    portal: BlockingPortal

    def do(self, name: str, *given: Any, **options: Any) -> Any:
        return self.portal.call(partial(getattr(self.client, name), *given, **options))

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return self.do("call_tool", tool, arguments)

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The record of a call that must succeed: structured where a tool can also tell it in words, else as text."""
        worded = tool.rpartition(".")[2] in WORDED
        result = self.call(tool, **({"format": "json"} if worded else {}), **arguments)
        assert not result.is_error, result.content[0].text
        if worded:
            assert not result.content
            return result.structured_content
        assert result.structured_content is None
        return json.loads(result.content[0].text)

    def told(self, tool: str, **arguments: Any) -> str:
        """The words of a call that must succeed, and nothing beside them."""
        result = self.call(tool, **arguments)
        (content,) = result.content
        assert not result.is_error, content.text
        assert result.structured_content is None
        return content.text

    def refused(self, tool: str, **arguments: Any) -> str:
        result = self.call(tool, **arguments)
        assert result.is_error, result
        assert result.structured_content is None
        return result.content[0].text


def environment(store: Path, given: Mapping[str, str] | None = None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RECALLENS_")}
    return {**kept, "RECALLENS_STORE": str(store), "RECALLENS_ENCODER": "hashing:64", **(given or {})}


@contextmanager
def over_stdio(store: Path, *options: str, env: Mapping[str, str] | None = None, mode: str = "auto") -> Iterator[Desk]:
    command = StdioServerParameters(
        command=RECALLENS[0], args=[*RECALLENS[1:], "mcp", *options], env=environment(store, env)
    )
    with connected(command, mode) as desk:
        yield desk


@contextmanager
def in_this_process(
    store: Path, toolset: str = "default", compat: str | None = None, **settings: Any
) -> Iterator[Desk]:
    """Where a scene is about the tools and not about the wire: a second's start less."""
    opening = LazyEngine(load({"store": str(store), "encoder": "hashing:64", **settings}))
    try:
        with connected(build(offered(opening, chosen(toolset, compat), None)), "auto") as desk:
            yield desk
    finally:
        opening.close()


@contextmanager
def over_http(store: Path, *options: str, mode: str = "auto") -> Iterator[Desk]:
    with serving(store, *options) as (url, header), start_blocking_portal() as portal:
        client = AsyncClient(headers=header, timeout=60)
        with (
            portal.wrap_async_context_manager(client),
            connected(streamable_http_client(url, http_client=client), mode, portal) as desk,
        ):
            yield desk


@contextmanager
def serving(store: Path, *options: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Its address, and the header with the key of its run."""
    process = subprocess.Popen(
        [*RECALLENS, "mcp", "--http", "--port", "0", *options],
        env=environment(store), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        said = process.stdout.readline().strip()
        assert said.startswith("http://"), process.stderr.read()
        name, _, key = process.stdout.readline().strip().partition(": ")
        yield said, {name: key}
    finally:
        process.terminate()
        rest = process.communicate(timeout=20)[1]
    assert process.returncode == 0
    assert "Traceback" not in rest, rest


@contextmanager
def connected(server: Any, mode: str, portal: BlockingPortal | None = None) -> Iterator[Desk]:
    with start_blocking_portal() if portal is None else nullcontext(portal) as portal:
        client = Client(server, mode=mode, read_timeout_seconds=60)
        with portal.wrap_async_context_manager(client) as entered:
            yield Desk(entered, portal)


class Wire:
    """A server's stdin and stdout, line by line, without a client in between."""

    def __init__(self, store: Path, *options: str, env: Mapping[str, str] | None = None, **given: Any) -> None:
        self.process = subprocess.Popen(
            [*RECALLENS, "mcp", *options], env=environment(store, env),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **given,
        )  # fmt: skip

    def send(self, *messages: Mapping[str, Any] | bytes) -> None:
        assert self.process.stdin is not None
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, id: int, method: str, **params: Any) -> dict[str, Any]:
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return self.receive()

    def started(self) -> Wire:
        self.send(*HANDSHAKE)
        assert self.receive()["id"] == 0
        return self

    def end(self, timeout: float = 20) -> tuple[int, bytes, bytes]:
        out, err = self.process.communicate(timeout=timeout)
        return self.process.returncode, out, err
