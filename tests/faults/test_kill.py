"""`kill -9` in the middle of any write: what was acknowledged is there, and what is there is whole."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path

import pytest
from deeds import ACTIVE, DEEDS

from recallens.engine import Engine

pytestmark = pytest.mark.slow

VICTIM = Path(__file__).with_name("victim.py")
# `make soak` kills 3,072 times. A store lives so many lives, each for at most so many seconds.
KILLS = int(os.environ.get("RECALLENS_KILLS", "40"))
LIVES = 20
LONGEST_LIFE = 0.25
KILLED = -signal.SIGKILL


@pytest.fixture
def zygote() -> Iterator[subprocess.Popen[str]]:
    with zygotes() as zygote:
        yield zygote


@contextmanager
def zygotes() -> Iterator[subprocess.Popen[str]]:
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
        vectors = engine.core.store.connection.execute("SELECT count(*) FROM vectors GROUP BY encoder").fetchall()
        assert {count for (count,) in vectors} == {len(kept)}  # of the second encoder too, where there are any
        assert list(engine.maintenance.doctor().problems) == []
        for id in list(promised)[:3]:
            memory = engine.get(id)
            found = engine.search(memory.content, limit=5, include_superseded=True, record=False)
            assert memory.content in [result.memory.content for result in found.results]
    return len(kept)


def test_killed_in_every_kind_of_write(tmp_path: Path) -> None:
    """A store lives through some lives, each of them ended in the middle of a deed; two at a time."""
    started = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        ended = [deed for deeds in pool.map(lives_of, range(-(-KILLS // LIVES)), repeat(tmp_path)) for deed in deeds]
    among = Counter(ended)
    seconds, kinds = time.monotonic() - started, ", ".join(f"{deed} {count}" for deed, count in among.most_common())
    print(f"{len(ended):,} kills in {seconds:.0f} s, 0 acknowledged writes lost, 0 broken states; in: {kinds}")
    assert len(ended) >= KILLS
    assert len(among) > len(DEEDS) // 2


def lives_of(seed: int, tmp_path: Path) -> list[str]:
    """What each life was killed in."""
    chance, folder = random.Random(seed), tmp_path / str(seed)
    folder.mkdir()
    store, acknowledged = folder / "store.db", folder / "acknowledged"
    killed_in: list[str] = []
    with zygotes() as zygote:
        for life in range(LIVES):
            ended = end_of(
                zygote, store=str(store), acknowledged=str(acknowledged), notes=str(folder / "notes"),
                seed=1000 * seed + life, delay=chance.uniform(0.01, LONGEST_LIFE),
            )  # fmt: skip
            assert ended == KILLED
            killed_in.append(check_deeds(store, acknowledged))
    shutil.rmtree(folder)
    return killed_in


def check_deeds(store: Path, acknowledged: Path) -> str:
    """Every acknowledged fact is true; gives the deed in which it was killed, which may have been done or not."""
    facts: dict[str, list[str | None]] = {}
    in_flight, touched = "opening", []
    # The last line may have been cut in two.
    for line in acknowledged.read_text().split("\n")[:-1] if acknowledged.exists() else ():
        record = json.loads(line)
        if isinstance(record, list):
            in_flight, *touched = record
        else:
            in_flight, touched = "between deeds", []
            facts |= record
    with Engine.open(store, encoder="hashing") as engine:
        problems = [problem for problem in engine.maintenance.doctor().problems if "reindex" not in problem]
        assert problems == [], in_flight
        states = dict(engine.core.store.connection.execute("SELECT id, status FROM memories"))
        wrong = {id: (states.get(id), allowed) for id, allowed in facts.items() if states.get(id) not in allowed}
        assert wrong.keys() <= set(touched), (in_flight, wrong)
    # What the deed in flight has done to its two memories is true from now on.
    with acknowledged.open("a") as noted:
        noted.write("\n" if acknowledged.read_text()[-1:] not in ("", "\n") else "")
        found = {id: states.get(id) for id in touched}
        noted.write(
            json.dumps({id: ACTIVE if state in ACTIVE else [state, None] for id, state in found.items()}) + "\n"
        )
    return in_flight


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
