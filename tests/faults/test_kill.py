"""`kill -9` in the middle of bulk ingest: what was acknowledged is there, and what is there is whole."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recallens.engine import Engine

pytestmark = pytest.mark.slow

VICTIM = Path(__file__).with_name("victim.py")
KILLED = -signal.SIGKILL


@pytest.fixture
def zygote() -> Iterator[subprocess.Popen[str]]:
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, str(VICTIM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=one_thread
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        process.wait(30)


def end_of(zygote: subprocess.Popen[str], **life: object) -> int:
    assert zygote.stdin is not None
    assert zygote.stdout is not None
    zygote.stdin.write(json.dumps(life) + "\n")
    zygote.stdin.flush()
    return int(zygote.stdout.readline())


def check(store: Path, acknowledged: Path, encoder: str) -> int:
    """Open it as the next user would; gives how many memories it holds."""
    promised = set(acknowledged.read_text().split()) if acknowledged.exists() else set()
    with Engine.open(store, encoder=encoder) as engine:
        health = engine.maintenance.doctor()
        assert list(health.problems) == []
        kept = {row[0] for row in engine.core.store.connection.execute("SELECT id FROM memories")}
        assert promised <= kept
        waiting = engine.core.store.connection.execute("SELECT count(*) FROM backlog").fetchone()[0]
        assert engine.encoder.drain() == waiting == health.facts["backlog"]
        vectors = engine.core.store.connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
        assert vectors == len(kept)
        assert list(engine.maintenance.doctor().problems) == []
        for id in list(promised)[:3]:
            memory = engine.get(id)
            found = engine.search(memory.content, limit=5, include_superseded=True, record=False)
            assert memory.content in [result.memory.content for result in found.results]
    return len(kept)


@pytest.mark.parametrize("seed", range(5))
def test_killed_at_ten_random_points(tmp_path: Path, zygote: subprocess.Popen[str], seed: int) -> None:
    """Five times ten kills; a store lives through ten of them."""
    chance = random.Random(seed)
    store, acknowledged = tmp_path / "store.db", tmp_path / "acknowledged"
    counts = []
    for life in range(10):
        ended = end_of(
            zygote,
            store=str(store),
            acknowledged=str(acknowledged),
            seed=100 * seed + life,
            encoder="hashing",
            batch=chance.choice((1, 4, 16)),
            delay=chance.uniform(0.01, 0.35),
        )
        assert ended == KILLED
        counts.append(check(store, acknowledged, "hashing"))
    assert counts == sorted(counts)
    assert counts[-1] > 0


def test_killed_while_the_real_encoder_works(tmp_path: Path, zygote: subprocess.Popen[str]) -> None:
    chance = random.Random(7)
    store, acknowledged = tmp_path / "store.db", tmp_path / "acknowledged"
    for life in range(3):
        ended = end_of(
            zygote,
            store=str(store),
            acknowledged=str(acknowledged),
            seed=life,
            encoder="minilm",
            batch=8,
            delay=chance.uniform(0.8, 2.0),
        )
        assert ended == KILLED
        check(store, acknowledged, "minilm")
    assert acknowledged.read_text()
