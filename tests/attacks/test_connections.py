"""Many connections, half requests, slow bodies and slow readers, over raw sockets against a real server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from recallens.engine import Engine
from recallens.http.connections import BoundedConnection
from recallens.http.limits import Limits
from recallens.server import running, whole

pytestmark = pytest.mark.usefixtures("in_background")
HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
BODY_HEAD = (
    b"POST %s HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: %s\r\n"
    b"Accept: application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\n{"
)


@contextmanager
def command(store: Path, files: int) -> Iterator[str]:
    """The command itself, where only so many files may be open."""
    limited = f"import resource as r, sys; r.setrlimit(r.RLIMIT_NOFILE, ({files}, {files}));"
    code = limited + "sys.argv = ['recallens', *sys.argv[1:]]; from recallens.cli.main import main; main()"
    words = [sys.executable, "-c", code, "serve", "--port", "0", "--store", str(store)]
    environment = {**os.environ, "RECALLENS_ENCODER": "hashing:64"}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as serve:
        assert serve.stdout is not None
        try:
            yield serve.stdout.readline().strip().partition("/open/")[0]
        finally:
            serve.terminate()
            serve.wait(20)


@contextmanager
def served(store: Path, monkeypatch: pytest.MonkeyPatch, **seconds: float) -> Iterator[tuple[str, int]]:
    for name, value in seconds.items():
        monkeypatch.setattr(BoundedConnection, name, value)
    with Engine.open(store, encoder="hashing:64") as engine:
        engine.remember("x " * 200_000)
        app = whole(engine, private=True, limits=Limits(body_seconds=0.5))
        with running(app) as address:
            yield "127.0.0.1", int(address.rpartition(":")[2])


def ended(wire: socket.socket, within: float) -> bytes:
    """What came until the other side closed, which it must do in time."""
    wire.settimeout(within)
    received = b""
    while True:
        try:
            piece = wire.recv(65_536)
        except ConnectionResetError:
            return received
        if not piece:
            return received
        received += piece


def test_health_is_told_beside_1100_half_open_requests(tmp_path: Path) -> None:
    """As many as the machine lets a process have open, and more."""
    with command(tmp_path / "s.db", 1024) as address, ExitStack() as held:
        place = ("127.0.0.1", int(address.rpartition(":")[2]))
        for number in range(1_100):
            wire = held.enter_context(socket.create_connection(place, timeout=10))
            wire.sendall(HEAD if number % 2 else b"")
        began = time.monotonic()
        for _ in range(5):
            assert httpx.get(f"{address}/healthz", timeout=5).json() == {"status": "ok"}
        assert time.monotonic() - began < 5


def test_health_is_told_beside_600_bodies_that_do_not_come(tmp_path: Path) -> None:
    with command(tmp_path / "s.db", 1024) as address, ExitStack() as held:
        place = ("127.0.0.1", int(address.rpartition(":")[2]))
        for _ in range(600):
            wire = held.enter_context(socket.create_connection(place, timeout=10))
            wire.sendall(BODY_HEAD % (b"/session", b"application/json"))
        for _ in range(5):
            assert httpx.get(f"{address}/healthz", timeout=5).json() == {"status": "ok"}


def test_a_head_that_does_not_come_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(tmp_path / "s.db", monkeypatch, head_seconds=0.5) as place:
        for sent in (b"", b"GET /hea", HEAD, HEAD + b"X-Slow: "):
            with socket.create_connection(place) as wire:
                wire.sendall(sent)
                assert ended(wire, 5) == b""
        with socket.create_connection(place) as wire:  # a byte at a time does not keep it open
            assert drips(wire, HEAD * 100, 0.1) < 3
        with socket.create_connection(place) as wire:  # nor does a request that was answered before
            wire.sendall(HEAD + b"\r\n" + HEAD)
            assert ended(wire, 5).count(b"200 OK") == 1


def test_a_head_that_is_too_large_is_431(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = (
        b"".join(b"X-%d: %s\r\n" % (number, b"x" * 1_000) for number in range(count)) for count in (25, 200)
    )
    with served(tmp_path / "s.db", monkeypatch) as place:
        for path in (b"/healthz", b"/v1/stats", b"/mcp", b"/"):
            for more, expected in ((small, False), (large, True), (b"X-One: " + b"x" * 40_000 + b"\r\n", True)):
                with socket.create_connection(place) as wire:
                    wire.sendall(HEAD.replace(b"/healthz", path) + b"Connection: close\r\n" + more + b"\r\n")
                    assert (b" 431 " in ended(wire, 5).partition(b"\r\n")[0]) is expected
        with socket.create_connection(place) as wire:  # a path is a part of the head too
            wire.sendall(HEAD.replace(b"/healthz", b"/" + b"x" * 40_000) + b"Connection: close\r\n\r\n")
            assert b" 431 " in ended(wire, 5).partition(b"\r\n")[0]


def drips(wire: socket.socket, data: bytes, every: float) -> float:
    """How long somebody can go on who sends a byte now and then."""
    began = time.monotonic()
    for at in range(len(data)):
        try:
            wire.sendall(data[at : at + 1])
        except OSError:
            break
        time.sleep(every)
    return time.monotonic() - began


@pytest.mark.parametrize(
    ("path", "kind"),
    [(b"/v1/memories", b"application/json"), (b"/session", b"application/json"), (b"/mcp", b"application/json"),
     (b"/sign-in", b"application/x-www-form-urlencoded"), (b"/rate", b"application/x-www-form-urlencoded")],
)  # fmt: skip
def test_a_slow_body_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: bytes, kind: bytes) -> None:
    with served(tmp_path / "s.db", monkeypatch) as place, socket.create_connection(place) as wire:
        wire.sendall(BODY_HEAD % (path, kind))
        dripping = threading.Thread(target=drips, args=(wire, b"x" * 50, 0.1))
        dripping.start()
        answer = ended(wire, 8)
        dripping.join()
    assert answer.startswith((b"HTTP/1.1 408 ", b"HTTP/1.1 500 ")), answer[:200]


def test_an_answer_that_nobody_takes_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(tmp_path / "s.db", monkeypatch, send_seconds=0.5) as place, socket.socket() as wire:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        wire.connect(place)
        wire.sendall(b"GET /v1/memories/m1 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        assert waits(lambda: connections(place[1]) == 0, 10)


def waits(condition: Callable[[], bool], seconds: float) -> bool:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if condition():
            return True
        time.sleep(0.05)
    return False


def connections(port: int) -> int:
    """Established ones on the server's side, as the system counts them."""
    lines = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
    return sum(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "01" for line in lines)
