"""Over stdin and stdout, a line a message. stdout is the wire and nothing else: whatever is printed goes to stderr.

The process ends with its client: at the end of stdin, when the parent is gone, on SIGTERM and Ctrl-C. What has begun to
be written is finished first. The handshake is answered before the engine is loaded, which loads from then on: the first
search finds it ready, or waits for less. The SDK is not needed here: loading it takes as long as the engine.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recallens.config import is_address
from recallens.errors import InvalidInput, RecallensError
from recallens.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ProtocolError,
    initialized,
    result_of,
)

if TYPE_CHECKING:
    from recallens.config import Settings
    from recallens.engine import Engine
    from recallens.mcp.calls import Offer

log = logging.getLogger("recallens.mcp")

PARENT_CHECK_SECONDS: Final = 1.0
# A call that does not come back must not keep a process alive whose client is gone.
LAST_SECONDS: Final = 20.0
# A client that is gone, or does not read, is not waited for.
LAST_WRITE_SECONDS: Final = 2.0
# Calls that work at once; more wait. The core is synchronous, and two cores gain nothing from more.
MOST_CALLS: Final = 8
_CHUNK: Final = 1 << 16
# The longest text that a tool takes, with every letter spelled out in JSON, fits in a line.
LONGEST_LINE: Final = 16 * 1024 * 1024
# Answered at once, however many calls are at work.
_AT_ONCE: Final = ("initialize", "ping", "tools/list", "prompts/list", "resources/templates/list")


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


def serve(offer: Offer, wire: tuple[int, int], *, warm: Callable[[], None], close: Callable[[], None]) -> None:
    """Answer until the client is gone. `warm` is called once the handshake is answered."""
    parent = os.getppid()
    ended = threading.Event()
    told = False  # whether a signal or the parent's end, and not the end of stdin, is why it ends

    def stopped(*_: object) -> None:
        nonlocal told
        told = True
        ended.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stopped)
    connection = Connection(offer, wire[1], warm)

    def read() -> None:
        try:
            for line in filter(bytes.strip, _lines(wire[0])):
                if len(line) > LONGEST_LINE:
                    connection.refuse_line()
                else:
                    connection.take(line.decode("utf-8", "replace"))
        finally:
            ended.set()

    threading.Thread(target=read, name="stdin", daemon=True).start()  # nobody waits for it when the client is dead
    while not ended.wait(PARENT_CHECK_SECONDS):
        if os.getppid() != parent:  # a client that is killed may leave stdin open in another of its children
            stopped()
    watchdog = threading.Timer(LAST_SECONDS, os._exit, args=(1,))
    watchdog.daemon = True
    watchdog.start()
    connection.end(finish=not told)
    close()


def _lines(descriptor: int) -> Iterator[bytes]:
    """Each line, read once; of one that is too long as much as shows that it is."""
    parts: list[bytes] = []
    size = 0
    with suppress(OSError):
        while chunk := os.read(descriptor, _CHUNK):
            first, *others = chunk.split(b"\n")
            if size <= LONGEST_LINE:
                parts.append(first)
                size += len(first)
            if others:
                yield b"".join(parts)
                yield from others[:-1]
                parts, size = [others[-1]], len(others[-1])
    yield b"".join(parts)


class Connection:
    """What one client asks: calls in threads, so that pings are answered meanwhile, and answers in a thread of theirs,
    so that a client that does not read holds up its answers and not the server.
    """

    def __init__(self, offer: Offer, out: int, warm: Callable[[], None]) -> None:
        self._offer, self._out, self._warm = offer, out, warm
        self._client: str | None = None
        self._calls = ThreadPoolExecutor(MOST_CALLS, thread_name_prefix="call")
        self._answers: queue.SimpleQueue[Mapping[str, Any] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="stdout", daemon=True)
        self._writer.start()

    def take(self, line: str) -> None:
        """One message. A notification is answered by nobody, and an answer was asked for by nobody."""
        try:
            message = readable(line)
        except ProtocolError as error:
            self._refuse(_id_of(line), error)
            return
        id, method = message.get("id"), message.get("method")
        if id is None or method is None:
            return
        params = message.get("params") or {}
        if not isinstance(params, Mapping):
            self._refuse(id, ProtocolError(INVALID_PARAMS, "params must be an object"))
        elif method in _AT_ONCE:
            self._answer(id, method, params)
        else:
            self._calls.submit(self._answer, id, method, params)

    def _answer(self, id: str | int, method: str, params: Mapping[str, Any]) -> None:
        try:
            result = self._result(method, params)
        except ProtocolError as error:
            self._refuse(id, error)
        except Exception as error:
            log.exception("%s failed", method)
            self._refuse(id, ProtocolError(INTERNAL_ERROR, f"unexpected {type(error).__name__} in {method}"))
        else:
            self._answers.put({"jsonrpc": "2.0", "id": id, "result": result})
            if method == "initialize":
                # Among the calls, for which the end waits: a store that is closed under what is being loaded is an
                # error, and a process that ends within native code is killed by it.
                with suppress(RuntimeError):  # it ends already
                    self._calls.submit(self._warm)

    def _result(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        match method:
            case "ping":
                return {}
            case "initialize":
                info = params.get("clientInfo")
                name = info.get("name") if isinstance(info, Mapping) else None
                self._client = name if isinstance(name, str) else None
                return initialized(params)
            case _:
                from recallens.mcp.calls import CallContext, trace_of

                meta = params.get("_meta")
                trace = trace_of(meta if isinstance(meta, Mapping) else None, None)
                return result_of(self._offer, method, params, CallContext(None, self._client, trace))

    def refuse_line(self) -> None:
        """One that is too long to be read: whose answer it would be is not known."""
        message = f"a message has at most {LONGEST_LINE:,} bytes"
        self._refuse(None, ProtocolError(INVALID_REQUEST, message))

    def _refuse(self, id: str | int | None, error: ProtocolError) -> None:
        self._answers.put({"jsonrpc": "2.0", "id": id, "error": {"code": error.code, "message": error.message}})

    def _write(self) -> None:
        while (message := self._answers.get()) is not None:
            text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
            rest = memoryview(text.encode("utf-8", "replace") + b"\n")
            with suppress(BrokenPipeError):  # stdin will end as well
                while rest:
                    rest = rest[os.write(self._out, rest) :]

    def end(self, *, finish: bool) -> None:
        """What has begun is finished; what waits is too where `finish`, and is left undone otherwise."""
        self._calls.shutdown(wait=True, cancel_futures=not finish)
        self._answers.put(None)
        self._writer.join(LAST_WRITE_SECONDS)


def readable(line: str) -> dict[str, Any]:
    """A JSON-RPC message; anything else is refused in the protocol's words."""
    try:
        message = json.loads(line)
        if "\\u" in line:  # perhaps half of a surrogate pair, as a text cut in JavaScript ends in: no UTF-8 can hold it
            message = json.loads(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(PARSE_ERROR, f"this line is no JSON: {error}") from error
    if isinstance(message, dict) and message.get("jsonrpc") == "2.0":
        if isinstance(message.get("method"), str) and isinstance(message.get("id"), str | int | None):
            return message
        if "method" not in message and ("result" in message or "error" in message):
            return message
    raise ProtocolError(INVALID_REQUEST, "this is no JSON-RPC message")


def _id_of(line: str) -> str | int | None:
    with suppress(ValueError, RecursionError):
        message = json.loads(line)
        id = message.get("id") if isinstance(message, dict) else None
        return id if isinstance(id, str | int) else None
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
                self._engine.core.folder = Path.cwd()
            return self._engine

    def warm(self) -> None:
        """Load what the first search needs. A store that is not there is made by the first call, and not by this."""
        import recallens.mcp.calls
        import recallens.operations  # noqa: F401
        from recallens.text.token_count import count_tokens

        with suppress(RecallensError):  # whoever asks is told
            if is_address(self.settings.store) or Path(self.settings.store).exists():
                self().recall(self().recalls.question("warm"))
        count_tokens("warm")

    def close(self) -> None:
        with self._lock:
            if self._engine is not None:
                self._engine.close()
                self._engine = None
