"""Several processes over one server: workers share what waits, and a write is in the next recall of every process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

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


def test_a_restart_of_the_server_loses_nothing_that_was_acknowledged() -> None:
    address = postgres.fresh_store()
    with Engine.open(address, encoder="hashing") as engine:
        kept = {engine.remember("The first drawer", dedupe=False).id}
        refused = 0
        with psycopg.connect(address, autocommit=True) as other:
            other.execute("CHECKPOINT")  # this server need not survive a power cut: it is told to write what it has
        postgres.restart()
        for number in range(5):
            try:
                kept.add(engine.remember(f"Drawer {number} after it", dedupe=False).id)
            except StoreUnreachable:
                refused += 1
        assert refused <= 1
        assert kept <= {result.memory.id for result in engine.search("drawer", limit=20, cut=False).results}
        assert engine.maintenance.doctor().problems == []


def test_many_writers_lose_nothing() -> None:
    address = postgres.fresh_store()
    with Engine.open(address, encoder="hashing") as one, Engine.open(address, encoder="hashing") as two:

        def write(number: int) -> list[tuple[str, str]]:
            engine, namespace = (one, two)[number % 2], f"team-{number % 3}"
            texts = (f"Shelf {number} has box {box} since Tuesday" for box in range(12))
            return [(namespace, engine.remember(text, namespace=namespace, dedupe=False).id) for text in texts]

        with ThreadPoolExecutor(8) as threads:
            written = [each for part in threads.map(write, range(8)) for each in part]
        for namespace, id in written:
            assert one.get(id, namespace=namespace).id == two.get(id, namespace=namespace).id == id
        numbers = [one.get(id, namespace=namespace).num for namespace, id in written]
        assert len(set(numbers)) == len(written)
        assert one.maintenance.doctor().problems == []
