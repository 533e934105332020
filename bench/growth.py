"""What everything costs as a store grows: from 10,000 to 1,000,000 memories, in one run.

    python bench/growth.py                                 the sizes of the issue, test encoder; minutes
    python bench/growth.py --sizes 10000 100000 --folder /tmp/growth      stores stay there, and are used again

Each figure is of a process of its own, in seconds of its processor: what else the machine does hardly shows in it.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpus import questions
from growing import ENCODER, Parts, grow
from recallens import Draft, Engine

SIZES = (10_000, 100_000, 300_000, 1_000_000)
SEARCHES = 100
SINGLE = 50
BULK = 2_048
# Blocks of texts that no store of these sizes holds.
NEW_BLOCK = 10_000
NEW_PARTS = 2_000


def spent(act: Callable[[], object]) -> float:
    started = time.process_time()
    act()
    return time.process_time() - started


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# ── one process each ──


def first(engine: Engine) -> dict[str, float]:
    """A search by a process that has just opened the store; without an image it makes the index from the rows."""
    return {"seconds": spent(lambda: engine.search(questions(1)[0], record=False)), "mib": peak_mib()}


def publish(engine: Engine) -> dict[str, float]:
    engine.search(questions(1)[0], record=False)
    return {"seconds": spent(engine.maintenance.publish)}


def steady(engine: Engine) -> dict[str, float]:
    asked = questions(SEARCHES + 10)
    searches = [spent(lambda text=text: engine.search(text, record=False)) for text in asked]
    fresh = iter(Parts(NEW_PARTS).texts(NEW_BLOCK))
    remembers = [spent(lambda: engine.remember(next(fresh))) for _ in range(SINGLE)]
    return {"search": statistics.median(searches[10:]), "remember": statistics.median(remembers)}


def bulk(engine: Engine) -> dict[str, float]:
    """In turns, so that a busy minute does not fall on one of them."""
    texts = Parts(NEW_PARTS).texts(NEW_BLOCK + 1)
    engine.search(questions(1)[0], record=False)
    seconds = {True: 0.0, False: 0.0}
    for start in range(0, 2 * BULK, BULK // 2):
        drafts = [Draft(text, project="p1") for text in texts[start : start + BULK // 2]]
        dedupe = start % BULK == 0
        stored = engine.memories.remember_many(drafts, dedupe=dedupe)
        seconds[dedupe] += spent(lambda stored=stored: list(stored))
    return {"on": BULK / seconds[True], "off": BULK / seconds[False]}


def erase(engine: Engine) -> dict[str, float]:
    found = engine.search(questions(2)[1], record=False, cut=False).results[0].memory.id
    wall = time.perf_counter()
    forget = spent(lambda: engine.forget(found, hard=True))
    search = spent(lambda: engine.search(questions(1)[0], record=False))
    return {"forget": forget, "search": search, "wall": time.perf_counter() - wall}


def doctor(engine: Engine) -> dict[str, float]:
    problems: list[str] = []
    seconds = spent(lambda: problems.extend(engine.maintenance.doctor().problems))
    assert not problems, problems
    return {"seconds": seconds}


MEASURES: dict[str, Callable[[Engine], dict[str, float]]] = {
    measure.__name__: measure for measure in (first, publish, steady, bulk, erase, doctor)
}


def apart(name: str, store: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", name, "--store", str(store)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    print(name, told.strip(), file=sys.stderr, flush=True)
    return dict(json.loads(told))


# ── all of them ──


def measured(stored: Path, folder: Path) -> dict[str, Any]:
    """On a copy, so that the store can be grown on; what changes least comes first."""
    store = folder / "measured.db"
    _drop(store)
    shutil.copy(stored, store)
    row: dict[str, Any] = {"bytes": store.stat().st_size}
    try:
        row["first"] = apart("first", store)
        row["publish"] = apart("publish", store)
        row["image"] = apart("first", store)
        for name in ("doctor", "steady", "bulk", "erase"):
            row[name] = apart(name, store)
    finally:
        _drop(store)
    return row


def _drop(store: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{store}{suffix}").unlink(missing_ok=True)
    shutil.rmtree(f"{store}.index", ignore_errors=True)


LINES: dict[str, Callable[[dict[str, Any]], str]] = {
    "first search, no image": lambda row: f"{row['first']['seconds']:.2f} s",
    "peak memory of that": lambda row: f"{row['first']['mib']:,.0f} MiB",
    "first search, with image": lambda row: f"{row['image']['seconds']:.2f} s",
    "search p50": lambda row: f"{1000 * row['steady']['search']:.1f} ms",
    "remember p50": lambda row: f"{1000 * row['steady']['remember']:.1f} ms",
    "bulk a second, dedupe on / off": lambda row: f"{row['bulk']['on']:,.0f} / {row['bulk']['off']:,.0f}",
    "`forget --hard` of one": lambda row: f"{row['erase']['forget']:.2f} s",
    "the next search": lambda row: f"{row['erase']['search']:.2f} s",
    "`doctor`": lambda row: f"{row['doctor']['seconds']:.2f} s",
}


def table(rows: dict[int, dict[str, Any]]) -> str:
    heads = ["", *(f"{size:,}" for size in rows)]
    lines = [[name, *(tell(row) for row in rows.values())] for name, tell in LINES.items()]
    rule = ["---", *("---:" for _ in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--folder", type=Path, help="where the stores are kept (a temporary folder)")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--measure", choices=MEASURES, help=argparse.SUPPRESS)
    parser.add_argument("--store", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure is not None:
        with Engine.open(chosen.store, encoder=ENCODER) as engine:
            print(json.dumps(MEASURES[chosen.measure](engine)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        parts, rows, before = None, {}, None
        for size in sorted(chosen.sizes):
            store = folder / f"{size}.db"
            if not store.exists() and before is not None:
                shutil.copy(before, store)
            parts = parts or Parts()
            grow(store, size, parts)
            rows[size] = measured(store, folder)
            before = store
            print(f"\n{table(rows)}\n", flush=True)
            if chosen.json is not None:
                chosen.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
