"""The wire itself: nothing but JSON-RPC on stdout, and a process that ends with its client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp_scene import HANDSHAKE, Wire, environment

from recallens import Engine

pytestmark = pytest.mark.slow

# Started by every Python with this folder in its path: noise on stdout from every side, also from below Python.
NOISE = """
import atexit, logging, os, sys, threading, warnings

def make_noise():
    print("a careless print")
    sys.stdout.write("half a line")
    warnings.warn("a warning", stacklevel=1)
    logging.getLogger("noisy").warning("a log line")
    os.write(1, b"from below Python\\n")
    from rich.console import Console
    from rich.progress import track
    for _ in track(range(3), console=Console(file=sys.stdout, force_terminal=True)):
        pass

import recallens.operations.operation as operation
inner = operation.checked
def checked(*given, **named):
    make_noise()
    threading.Thread(target=make_noise).start()
    return inner(*given, **named)
operation.checked = checked
"""
LAUNCHER = """
import runpy, sys
exec(open(sys.argv[1]).read())
sys.argv[1:] = sys.argv[2:]
runpy.run_module("recallens", run_name="__main__")
"""


def call(id: int, tool: str, **arguments: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def test_stdout_is_pure_json_rpc_whatever_prints(tmp_path: Path) -> None:
    noise = tmp_path / "noise.py"
    noise.write_text(NOISE)
    process = subprocess.Popen(
        [sys.executable, "-W", "always", "-c", LAUNCHER, str(noise), "mcp"],
        env=environment(tmp_path / "store.db"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    lines = [
        *HANDSHAKE,
        call(1, "remember", content="게이트웨이는 화요일에 배포한다."),
        call(2, "search_memory", query="배포"),
    ]
    assert process.stdin is not None
    assert process.stdout is not None
    for line in lines:
        process.stdin.write(json.dumps(line).encode() + b"\n")
        process.stdin.flush()
        if "id" in line:
            answer = json.loads(process.stdout.readline())
            assert (answer["jsonrpc"], answer["id"]) == ("2.0", line["id"])
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, b"")
    said = err.decode()
    for each in ("a careless print", "half a line", "a warning", "a log line", "from below Python", "Working"):
        assert each in said, each


def test_what_cannot_be_read_is_answered_and_the_next_message_still_is(tmp_path: Path) -> None:
    wire = Wire(tmp_path / "store.db").started()
    wire.send(b"this is no json", b"", b'{"jsonrpc": "2.0", "id": 7}', b"[" * 100_000, b'"\xff\xfe"')
    answers = [wire.receive() for _ in range(4)]
    assert [(one["id"], one["error"]["code"]) for one in answers] == [
        (None, -32700), (7, -32600), (None, -32700), (None, -32600),
    ]  # fmt: skip
    # Half of a surrogate pair, as JavaScript writes a text that was cut.
    cut = b'{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "remember", "arguments": '
    wire.send(cut + rb'{"content": "a cut emoji \ud83d stays readable"}}}')
    assert wire.receive()["result"]["content"][0]["text"].startswith("Kept as m")
    assert wire.ask(9, "ping")["result"] == {}
    assert wire.ask(10, "no/such/method")["error"]["code"] == -32601
    code, out, err = wire.end()
    assert (code, out, err) == (0, b"", b"")


def test_a_line_without_an_end_is_read_once_and_refused(tmp_path: Path) -> None:
    """A line of 64 MB was copied with every piece of it: 66 s, in which nothing else was answered."""
    wire = Wire(tmp_path / "store.db").started()
    begun = time.monotonic()
    wire.send(b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"x": "' + b"a" * 64_000_000 + b'"}}')
    refused = wire.receive()
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    assert "at most" in refused["error"]["message"]
    assert wire.ask(5, "ping")["result"] == {}
    assert time.monotonic() - begun < 15
    wire.send(call(6, "remember", content="가" * 900_000))  # as much as a text may have
    assert "Kept as" in wire.receive()["result"]["content"][0]["text"]
    assert wire.end()[0] == 0


def test_pings_are_answered_while_a_call_works(tmp_path: Path) -> None:
    wire = Wire(tmp_path / "store.db").started()
    content = "a long text about many things, one after the other. " * 15_000
    wire.send(call(1, "remember", content=content))
    wire.send({"jsonrpc": "2.0", "id": 2, "method": "ping"}, {"jsonrpc": "2.0", "id": 3, "method": "tools/list"})
    assert [wire.receive()["id"] for _ in range(3)] == [2, 3, 1]
    assert wire.end()[0] == 0


def test_what_was_asked_before_stdin_ended_is_not_half_done(tmp_path: Path) -> None:
    """A client may leave without waiting: what it was told is kept, and nothing is damaged."""
    wire = Wire(tmp_path / "store.db").started()
    wire.send(
        *(
            call(number, "remember", content=f"thing {number} lies in drawer {number}", format="json")
            for number in range(1, 6)
        )
    )
    first = wire.receive()["result"]["structuredContent"]["id"]
    code, out, err = wire.end()
    assert code == 0, err
    told = {first} | {
        answer["result"]["structuredContent"]["id"]
        for answer in map(json.loads, out.splitlines())
        if "result" in answer
    }
    with Engine.open(tmp_path / "store.db", encoder="hashing:64") as engine:
        for id in told:
            assert "drawer" in engine.get(id).content
        assert list(engine.maintenance.doctor().problems) == []


@pytest.mark.usefixtures("in_background")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_ends_it_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    wire = Wire(tmp_path / "store.db").started()
    assert "result" in (wire.send(call(1, "remember", content="kept")), wire.receive())[1]
    wire.process.send_signal(number)
    # stdin stays open: nothing but the signal tells it to go.
    assert wire.process.wait(timeout=10) == 0
    assert wire.end()[1:] == (b"", b"")


PARENT = """
import os, subprocess, sys, time
reading, writing = os.pipe()
child = subprocess.Popen([sys.executable, "-m", "recallens", "mcp"], stdin=reading, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
# Another child holds the other end of the server's stdin open, as a shell or a debugger may.
holder = subprocess.Popen(["sleep", "60"], pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
os.write(writing, (sys.argv[1] + "\\n").encode())
child.stdout.readline()
print(child.pid, holder.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc here to see processes in")
def test_it_ends_when_its_parent_is_killed_and_stdin_stays_open(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, json.dumps(HANDSHAKE[0])],
        env=environment(tmp_path / "store.db"), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert parent.stdout is not None
    server, holder = map(int, parent.stdout.readline().split())
    try:
        assert alive(server)
        parent.kill()
        parent.communicate(timeout=10)
        deadline = time.monotonic() + 15
        while alive(server) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not alive(server)
        assert alive(holder)
    finally:
        os.kill(holder, signal.SIGKILL)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
