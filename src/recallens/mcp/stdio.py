"""Over stdin and stdout. stdout is the wire and nothing else: whatever is printed by anyone goes to stderr.

The process ends with its client: at the end of stdin, when the parent is gone, on SIGTERM and Ctrl-C. What has begun to
be written is finished first. The engine opens when it is first needed: a client waits for the list of tools, not for an
encoder.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import anyio.to_thread

from recallens.errors import InvalidInput

if TYPE_CHECKING:
    from recallens.config import Settings
    from recallens.engine import Engine

PARENT_CHECK_SECONDS: Final = 1.0
# A call that does not come back must not keep a process alive whose client is gone.
LAST_SECONDS: Final = 20.0
_CHUNK: Final = 1 << 16


def claim_wire() -> tuple[int, int]:
    """Descriptors of our own for the wire. From here on stdin is empty and stdout is stderr, for libraries in C too."""
    try:
        wire_in, wire_out = os.dup(0), os.dup(1)
    except OSError as error:
        raise InvalidInput("standard input or output is closed", hint="A client starts it with both.") from error
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # no stderr either
        os.dup2(nothing, 1)
    os.close(nothing)
    return wire_in, wire_out


def serve(make: Callable[[], Any], wire: tuple[int, int], *, close: Callable[[], None]) -> None:
    """Answer until the client is gone. `make` gives the server; it is called when the wire is already ours."""
    parent = os.getppid()
    try:
        asyncio.run(_serve(make, wire, parent))
    finally:
        _end_at_last()
        close()


async def _serve(make: Callable[[], Any], wire: tuple[int, int], parent: int) -> None:
    from mcp.server.stdio import stdio_server

    server = make()
    async with anyio.create_task_group() as ending:
        stop = ending.cancel_scope.cancel
        loop = asyncio.get_running_loop()

        def stopped() -> None:
            _end_at_last()
            stop()

        async def watch_parent() -> None:
            """A client that is killed may leave stdin open in another of its children."""
            while os.getppid() == parent:
                await anyio.sleep(PARENT_CHECK_SECONDS)
            stopped()

        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError):  # Windows ends a process without asking
                loop.add_signal_handler(number, stopped)
        ending.start_soon(watch_parent)
        # The transport only iterates over lines and awaits write and flush, which ours do without its worker threads:
        # one of those would wait for a line that never comes.
        out = _Written(wire[1])
        async with stdio_server(cast("Any", _Lines(wire[0], out)), cast("Any", out)) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        stop()


def _end_at_last() -> None:
    watchdog = threading.Timer(LAST_SECONDS, os._exit, args=(1,))
    watchdog.daemon = True
    watchdog.start()


class _Lines:
    """Lines of stdin. The thread that waits for them is a daemon: nobody waits for it when the client is dead."""

    def __init__(self, descriptor: int, out: _Written) -> None:
        self._descriptor, self._out = descriptor, out

    async def __aiter__(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        sender, lines = anyio.create_memory_object_stream[str](16)

        def read() -> None:
            try:
                for line in filter(bytes.strip, self._split()):
                    text = line.decode("utf-8", "replace")
                    asyncio.run_coroutine_threadsafe(sender.send(text), loop).result()
                loop.call_soon_threadsafe(sender.close)
            except (RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # nobody listens any more

        threading.Thread(target=read, name="stdin", daemon=True).start()
        async with lines:
            async for line in lines:
                message = readable(line)
                if isinstance(message, str):
                    yield message
                else:
                    await self._out.write(json.dumps(message) + "\n")
        _end_at_last()

    def _split(self) -> Iterator[bytes]:
        rest = b""
        with suppress(OSError):
            while chunk := os.read(self._descriptor, _CHUNK):
                *whole, rest = (rest + chunk).split(b"\n")
                yield from whole
        yield rest


def readable(line: str) -> str | dict[str, Any]:
    """The message, or the error to answer with: the transport drops what it cannot read, and its sender would wait."""
    from mcp_types import INVALID_REQUEST, PARSE_ERROR, jsonrpc_message_adapter

    with suppress(ValueError):
        jsonrpc_message_adapter.validate_json(line, by_name=False)
        return line
    id, code, about = None, INVALID_REQUEST, "this is no JSON-RPC message"
    try:
        message = json.loads(line)
        id = message.get("id") if isinstance(message, dict) else None
        # Half of a surrogate pair, as a text cut in JavaScript ends in: no UTF-8 can hold it.
        mended = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace").decode()
    except (ValueError, RecursionError) as error:
        code, about = PARSE_ERROR, f"this line is no JSON: {error}"
    else:
        with suppress(ValueError):
            jsonrpc_message_adapter.validate_json(mended, by_name=False)
            return mended
    known = id if isinstance(id, str | int) else None
    return {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": about}}


class _Written:
    """stdout. A client that does not read holds up its answers, not the server."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def write(self, text: str) -> None:
        with suppress(BrokenPipeError):  # stdin will end as well
            data = memoryview(text.encode("utf-8", "replace"))
            await anyio.to_thread.run_sync(self._write, data, abandon_on_cancel=True)

    def _write(self, rest: memoryview) -> None:
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    async def flush(self) -> None:
        return None


class LazyEngine:
    """Opens the store once, whoever asks first. A failure is told to whoever asked, and tried again by the next."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._engine: Engine | None = None
        self._lock = threading.Lock()

    def __call__(self) -> Engine:
        with self._lock:
            if self._engine is None:
                from recallens.engine import Engine

                self._engine = Engine.open(settings=self.settings, create=True)
            return self._engine

    def close(self) -> None:
        with self._lock:
            if self._engine is not None:
                self._engine.close()
                self._engine = None
