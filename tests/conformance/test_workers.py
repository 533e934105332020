"""Several processes over one server: workers share what waits, and a write is in the next recall of every process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import psycopg
import pytest

import postgres
from recallens import Engine
from recallens.errors import StoreUnreachable

TEXTS = 150


def started(address: str, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "recallens", "worker", "--store", address, "--json", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def waiting(address: str) -> int:
    """A store in which every text waits for its vector."""
    with Engine.open(address, encoder="hashing") as engine:
        for number in range(TEXTS):
            engine.remember(f"Drawer {number} holds the keys of room {number}", dedupe=False)
        key = engine.core.encoding.key
        assert key is not None
        with engine.core.store.write_all() as whole:
            whole.drop_vectors(key)
            return whole.enqueue_missing(key)


def test_workers_share_what_waits() -> None:
    address = postgres.fresh_store()
    assert waiting(address) == TEXTS
    running = [started(address, "--once") for _ in range(2)]
    encoded = [json.loads(process.communicate(timeout=100)[0])["encoded"] for process in running]
    assert sum(encoded) == TEXTS
    with Engine.open(address, create=False) as engine:
        assert engine.encoder.waiting() == 0
        assert engine.maintenance.doctor().problems == []


@pytest.mark.slow
def test_a_worker_survives_a_lost_connection_and_ends_when_told() -> None:
    address = postgres.fresh_store()
    process = started(address, "--every", "0.2")
    try:
        with Engine.open(address, encoder="hashing") as engine:
            engine.remember("The first drawer")
            with psycopg.connect(address, autocommit=True) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                    " AND datname = current_database()"
                )
            for _ in range(20):
                try:
                    engine.remember("The second drawer")
                    break
                except StoreUnreachable:
                    continue
            assert len(engine.search("drawer", limit=5, record=False).results) == 2
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(output)["backlog"] == 0


def test_a_write_is_in_the_next_recall_of_another_process() -> None:
    address = postgres.fresh_store()
    with Engine.open(address, encoder="hashing") as one, Engine.open(address, encoder="hashing") as two:
        for number in range(5):
            memory = one.remember(f"Door {number} opens with the brass key {number}", dedupe=False)
            results = two.search(f"brass key {number}", record=False, limit=10).results
            assert memory.id in [result.memory.id for result in results]
            two.forget(memory.id, hard=True)
            assert memory.id not in [
                result.memory.id for result in one.search(f"brass key {number}", record=False, limit=10).results
            ]
