"""The real command in processes of its own: interrupts, pipes, several writers, permissions, the real encoder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_scene import RECALLENS, Ask, spawn, write_lines

from sample import newcomer

pytestmark = pytest.mark.slow


def bulk(path: Path, count: int, word: str = "parcel") -> Path:
    texts = [f"{word} {n} left depot {n * 7919 % 1009} for address {n * 104729}" for n in range(count)]
    return write_lines(path, [{"content": text, "key": f"{word}-{n}"} for n, text in enumerate(texts)])


def test_a_new_user_with_the_real_encoder(
    home: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECALLENS_ENCODER")
    data = shutil.copytree(newcomer(tmp_path_factory), home / "newcomer")
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    assert "encoder    minilm" in (data / "init").read_text(encoding="utf-8")
    assert (data / "remember").read_text(encoding="utf-8").startswith("remembered 130 memories")
    found = json.loads(spawn("search", "--json", "When do trucks wait longest to enter the warehouse?").stdout)
    assert found["results"][0]["memory"]["sourceId"] == "depot-queue-vans"
    assert "나루물류 요청 한도 초당 50건" in spawn("search", "나루물류요청한도", "-k", "1").stdout
    assert spawn("doctor").stdout.endswith("no problems\n")


def test_interrupting_a_bulk_load_keeps_what_was_acknowledged(home: Path, store: Path, ask: Ask) -> None:
    file = bulk(home / "m.jsonl", 20_000)
    process = subprocess.Popen(
        [*RECALLENS, "remember", "--jsonl", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A suite that runs in the background has Ctrl-C ignored, and a child would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + 30
    while not (store.exists() and kept(ask, store) >= 512) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130, told
    assert told.strip().splitlines()[-1] == "interrupted; everything acknowledged so far is kept"
    assert "Traceback" not in told
    assert 512 <= kept(ask, store) < 20_000
    healthy = spawn("doctor")
    assert healthy.returncode == 0, healthy.stdout


def kept(ask: Ask, store: Path) -> int:
    return int(ask("stats", "--store", store)["totals"].get("memories", 0))


def test_two_processes_write_at_once(home: Path) -> None:
    spawn("init")
    files = [bulk(home / f"{word}.jsonl", 600, word) for word in ("parcel", "letter")]
    writers = [
        subprocess.Popen([*RECALLENS, "remember", "--jsonl", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for file in files
    ]
    for writer in writers:
        _, told = writer.communicate(timeout=60)
        assert writer.returncode == 0, told
    totals = json.loads(spawn("stats", "--json").stdout)["totals"]
    assert totals["memories"] == 1200
    healthy = spawn("doctor")
    assert healthy.returncode == 0, healthy.stdout


def test_a_reader_that_leaves_early_is_no_failure(home: Path) -> None:
    spawn("remember", "--jsonl", bulk(home / "m.jsonl", 900), "--no-embed")
    for command in ("list --limit 900", "list --limit 900 --json"):
        line = f"set -o pipefail; {subprocess.list2cmdline(RECALLENS)} {command} | head -n 1"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), command
        assert len(done.stdout.splitlines()) == 1


# Root may write anywhere; without these two capabilities it is held to the permission bits like anyone else.
ORDINARY = (
    "import ctypes, os, sys\n"
    "PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2\n"
    "for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):\n"
    "    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)\n"
    "os.execv(sys.argv[1], sys.argv[1:])"
)


def as_ordinary_user(*args: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", ORDINARY, *RECALLENS, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_folder_that_cannot_be_written_to(home: Path) -> None:
    place = home / "read-only"
    place.mkdir()
    spawn("remember", "Tokens rotate daily", "--store", place / "store.db")
    (place / "store.db").chmod(0o444)
    place.chmod(0o555)
    try:
        found = as_ordinary_user("search", "tokens", "--store", place / "store.db")
        assert found.returncode == 0, found.stderr
        assert "Tokens rotate daily" in found.stdout
        for args in (["remember", "More"], ["init"], ["reindex"], ["session", "start"]):
            refused = as_ordinary_user(*args, "--store", place / "store.db")
            assert refused.returncode == 4, (args, refused)
            assert "cannot be written to" in refused.stderr
        refused = as_ordinary_user("init", "--store", place / "new.db")
        assert refused.returncode == 4
        assert f"cannot write to the folder {place}" in refused.stderr
        assert "--store PATH" in refused.stderr
    finally:
        place.chmod(0o755)


def test_a_terminal_that_is_not_utf8() -> None:
    spawn("remember", "배포는 화요일에 한다 🚀")
    for args in (["list"], ["search", "배포"]):
        done = spawn(*args, env={**os.environ, "PYTHONIOENCODING": "ascii"})
        assert done.returncode == 0, done.stderr
        assert "\\ubc30" in done.stdout


def test_colour_only_where_somebody_looks(home: Path) -> None:
    spawn("remember", "Tokens rotate daily")
    assert "\x1b" not in spawn("search", "tokens").stdout
    line = f"{subprocess.list2cmdline(RECALLENS)} search tokens"
    environment = {**os.environ, "TERM": "xterm-256color"}
    if shutil.which("script") is None:
        pytest.skip("no script(1) to make a terminal")

    def on_a_terminal(extra: str = "", **more: str) -> str:
        done = subprocess.run(
            ["script", "-qec", line + extra, "/dev/null"], env=environment | more, capture_output=True, text=True,
            check=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.stdout

    colours = ("\x1b[36m", "\x1b[1;32m")
    assert any(colour in on_a_terminal() for colour in colours)
    assert "\x1b" not in on_a_terminal(" --no-color")
    assert "\x1b" not in on_a_terminal(NO_COLOR="1")
    line = f"{subprocess.list2cmdline(RECALLENS)} reindex"  # with a bar of progress
    assert "\x1b" not in on_a_terminal(NO_COLOR="1")
