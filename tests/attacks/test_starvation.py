"""The weakest token asks for the most that it can, and others are answered meanwhile."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from recallens import deadline
from recallens.engine import Engine
from recallens.errors import TooLate
from recallens.http.limits import Allowance, Limits
from recallens.ingest.draft import Draft
from recallens.server import running, whole

pytestmark = pytest.mark.usefixtures("in_background")
GREEDY = {"q": "what is the lookup cache", "limit": 1000, "cut": "false"}
DEADLINE = 1.0
LIMITS = Limits(deadline=DEADLINE, threads=3, answer_bytes=60_000)


def text(number: int) -> str:
    """Long, and with a word of its own in every sentence."""
    chance = random.Random(number)
    made = (f"The lookup cache {chance.randrange(10**6)} holds {chance.randrange(99)} rows." for _ in range(150))
    return f"Memory {number}. " + "\n".join(made)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tmp_path_factory.mktemp("starved") / "s.db", encoder="hashing:64") as engine:
        for _ in engine.memories.remember_many((Draft(text(number)) for number in range(24)), dedupe=False):
            pass
        yield engine


def token(engine: Engine, name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {engine.tokens.create(['default'], right='read', name=name)[1]}"}


def test_a_read_token_starves_nobody(engine: Engine) -> None:
    app = whole(engine, limits=LIMITS)
    weak, other = token(engine, "weak"), token(engine, "other")
    with running(app) as address, ThreadPoolExecutor(24) as threads:

        def greedy(_: int) -> int:
            asked = GREEDY | {"contextBudget": 1_000_000}
            return httpx.get(f"{address}/v1/recall", params=asked, headers=weak, timeout=60).status_code

        attack = threads.map(greedy, range(24))
        taken = []
        for _ in range(6):
            began = time.monotonic()
            answer = httpx.get(f"{address}/v1/search", params={"q": "cache", "limit": 1}, headers=other, timeout=60)
            taken.append(time.monotonic() - began)
            assert answer.status_code == 200, answer.text
        assert set(attack) <= {200, 400, 503, 504}
        # What was given up frees its thread.
        ends = time.monotonic() + 2 * DEADLINE
        while app.state.work.in_hand and time.monotonic() < ends:
            time.sleep(0.02)
        assert app.state.work.in_hand == 0, taken


@pytest.mark.parametrize("name", ["retrieve", "search", "xray", "context"])
def test_work_ends_at_its_deadline_wherever_it_is(engine: Engine, name: str) -> None:
    """At the tenth part of what it takes, and as soon as it is asked."""
    query = "what is the lookup cache"
    asks = {
        "retrieve": lambda: engine.retrieve(query, context_budget=1_000_000, limit=1000, cut=False),
        "search": lambda: [each.highlights for each in engine.search(query, limit=1000, cut=False).results],
        "xray": lambda: engine.recalls.snapshot_of(engine.recall(engine.recalls.query(query, limit=1000, cut=False))),
        "context": lambda: engine.context(query, tokens=1_000_000),
    }
    began = time.monotonic()
    asks[name]()
    whole_time = time.monotonic() - began
    for share in (0.0, 0.1, 0.3):
        began = time.monotonic()
        with deadline.until(began + share * whole_time), pytest.raises(TooLate):
            asks[name]()
        assert time.monotonic() - began < share * whole_time + max(0.5, whole_time / 2)
    asks[name]()


def test_a_write_that_ends_at_its_deadline_leaves_nothing(engine: Engine) -> None:
    before = engine.maintenance.stats()["totals"]
    with deadline.until(time.monotonic()), pytest.raises(TooLate):
        engine.remember("Half of it must never be there")
    assert engine.maintenance.stats()["totals"] == before


def test_an_answer_is_bounded_in_bytes(engine: Engine) -> None:
    weak = token(engine, "bytes")
    with running(whole(engine, limits=Limits(answer_bytes=60_000))) as address:
        answer = httpx.get(f"{address}/v1/search", params=GREEDY, headers=weak, timeout=60)
        assert (answer.status_code, answer.json()["code"]) == (400, "AnswerTooLarge")
        call = {"name": "search_memory", "arguments": {"query": GREEDY["q"], "limit": 1000, "format": "json"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        accepts = {"Accept": "application/json, text/event-stream"}
        assert len(httpx.post(f"{address}/mcp", json=body, headers={**weak, **accepts}, timeout=60).content) < 100_000


def test_a_token_is_answered_so_much_a_minute() -> None:
    now = [0.0]
    allowance = Allowance(Limits(bytes_a_minute=6_000), lambda: now[0])
    for _ in range(7):
        allowance.check("weak")
        allowance.spend("weak", 1_000)
    with pytest.raises(Exception, match="in a minute"):
        allowance.check("weak")
    allowance.check("other")
    now[0] += 10.1
    allowance.check("weak")


# ── YAML: the loader recurses without a bound, and merged keys multiply ──

BOMBS = {
    "brackets": "x: " + "[" * 40_000 + "\nthe irrigation pump stalls often",
    "merged keys": "\n".join(
        ["a0: &a0 {k: v}", *(f"a{n}: &a{n} {{<<: [{','.join([f'*a{n - 1}'] * 8)}]}}" for n in range(1, 30))]
    ),
    "aliases": "\n".join(["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))]),
}


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("lines", ["\n---\n", "\nsome long key here: v\n---\n"])
def test_a_lesson_with_a_bomb_of_yaml_is_delivered_and_ends_no_process(tmp_path: Path, bomb: str, lines: str) -> None:
    """In a process of its own: what it proves wrong is a crash (01bfcb5: SIGSEGV, or minutes)."""
    script = (
        "import sys, recallens\n"
        "with recallens.open(sys.argv[1], encoder='none') as engine:\n"
        "    engine.remember(sys.stdin.read(), kind='lesson')\n"
        "    assert engine.retrieve('greenhouse irrigation pump')\n"
    )
    text = f"---\n{BOMBS[bomb]}{lines}# Greenhouse irrigation pump\n\nThe greenhouse irrigation pump stalls in June."
    command = [sys.executable, "-c", script, str(tmp_path / "bomb.db")]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_note_with_a_bomb_of_yaml_is_told_of_and_its_text_is_read(tmp_path: Path, bomb: str) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pump.md").write_text(
        f"---\n{BOMBS[bomb]}\n---\n\nThe irrigation pump stands in hall 4.", encoding="utf-8"
    )
    script = (
        "import sys, recallens\n"
        "with recallens.open(sys.argv[1], encoder='none') as engine:\n"
        "    engine.vaults.add(sys.argv[2])\n"
        "    (synced,) = engine.vaults.sync().vaults\n"
        "    assert synced.warnings and not synced.errors, synced\n"
        "    assert engine.search('where is the irrigation pump').results\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "bomb.db"), str(notes)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
