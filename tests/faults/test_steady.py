"""A server's day in short: writes in batches and recalls at a steady pace. Memory, open files and the log stay flat.

RECALLENS_STEADY=3600 (`make soak`) runs it for an hour at 100 writes and 10 recalls a second; each commit for seconds.
"""

from __future__ import annotations

import gc
import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.ingest.draft import Draft

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("RECALLENS_STEADY", "4"))
WRITES, RECALLS = 100, 10
BATCH = 25
MINUTE = 60
# Of the turns of a long run, how many are kept; a busy machine misses some.
PACE = 0.97
WORDS = [f"word{number}" for number in range(3_000)]
MIB = 1 << 20
# What is written is held in memory too: columns, entries and vector of each, with the spare room at their ends.
BYTES_A_MEMORY = 2_048
# SQLite writes the log into the file at 1,000 pages of 4 KiB, and the log keeps its size; a batch may come on top.
LARGEST_LOG = 16 * MIB


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def paced(rate: float, deadline: float, act: Callable[[], None]) -> None:
    """Act so many times a second until the deadline; where more than a second is missed it is not made up for."""
    following = time.monotonic()
    while (now := time.monotonic()) < deadline:
        if now < following:
            time.sleep(min(following - now, deadline - now))
            continue
        following = max(following + 1 / rate, now - 1)
        act()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_a_steady_load_takes_no_more_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    chance, asked = random.Random(1), random.Random(2)
    with Engine.open(path, encoder="hashing:64") as engine:

        def write() -> None:
            session = f"s{chance.randrange(20)}"
            drafts = [Draft(" ".join(chance.choices(WORDS, k=24)), session=session) for _ in range(BATCH)]
            assert len(next(engine.memories.remember_many(drafts))) == BATCH
            engine.encoder.drain()

        def recall() -> None:
            engine.search(" ".join(asked.choices(WORDS, k=4)), session=f"s{asked.randrange(20)}")

        for _ in range(8):
            write()
            recall()
        gc.collect()
        before = resident_bytes(), len(os.listdir("/proc/self/fd")), threading.active_count()
        largest, counts = 0, {"writes": 0, "recalls": 0}
        started = time.monotonic()
        deadline = started + SECONDS

        def work(name: str, rate: float, act: Callable[[], None]) -> None:
            def counted() -> None:
                act()
                counts[name] += 1

            paced(rate, deadline, counted)

        threads = [
            threading.Thread(target=work, args=("writes", WRITES / BATCH, write)),
            threading.Thread(target=work, args=("recalls", RECALLS, recall)),
        ]
        for thread in threads:
            thread.start()
        told = started
        while any(thread.is_alive() for thread in threads):
            largest = max(largest, Path(f"{path}-wal").stat().st_size)
            time.sleep(0.05)
            if time.monotonic() - told >= MINUTE:
                told += MINUTE
                print(
                    f"{told - started:.0f} s: {counts['writes'] * BATCH:,} writes, {counts['recalls']:,} recalls,"
                    f" {resident_bytes() / MIB:.0f} MiB, {len(os.listdir('/proc/self/fd'))} open files,"
                    f" log at most {largest / MIB:.1f} MiB, processor {time.process_time():.0f} s",
                    flush=True,
                )
        for thread in threads:
            thread.join()
        gc.collect()
        after = resident_bytes(), len(os.listdir("/proc/self/fd")), threading.active_count()
        written = counts["writes"] * BATCH
        print(
            f"{SECONDS:.0f} s: {written:,} writes ({written / SECONDS:.0f} a second), {counts['recalls']:,} recalls"
            f" ({counts['recalls'] / SECONDS:.1f}); memory {before[0] / MIB:.0f} to {after[0] / MIB:.0f} MiB,"
            f" {before[1]} to {after[1]} open files, log at most {largest / MIB:.1f} MiB"
        )
        assert min(counts.values()) > 0
        if SECONDS > MINUTE:
            assert written >= PACE * WRITES * SECONDS
            assert counts["recalls"] >= PACE * RECALLS * SECONDS
        assert after[0] - before[0] <= 64 * MIB + BYTES_A_MEMORY * written
        assert after[1] <= before[1] + 4
        assert after[2] == before[2]
        assert largest <= LARGEST_LOG
        assert list(engine.maintenance.doctor().problems) == []
        assert engine.audit.verify().problems == ()
