"""What everything costs as a store grows: from 10,000 to 1,000,000 memories, in one run.

    python bench/growth.py                                 the sizes of the issue, test encoder; minutes
    python bench/growth.py --sizes 10000 100000 --folder /tmp/growth      stores and figures stay there: a run goes on
                                                                          where another stopped

Each figure is of a process of its own, in seconds of its processor: what else the machine does hardly shows in it. An
erasure is also told as the person waits for it, with what the disk takes, and as the longest of some.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from corpus import questions
from growing import ENCODER, Parts, grow
from recallens import Draft, Engine

SIZES = (10_000, 100_000, 300_000, 1_000_000)
SEARCHES = 100
SINGLE = 50
BULK, TURN = 2_048, 256
ERASURES = 30
# Blocks of texts that no store of these sizes holds.
NEW_BLOCK = 10_000
NEW_PARTS = 2_000


def spent(act: Callable[[], object]) -> float:
    started = time.process_time()
    act()
    return time.process_time() - started


def peak_mib() -> float:
    """Of this process alone: `getrusage` counts what the one held that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


# ── one process each ──


def first(engine: Engine) -> dict[str, float]:
    """A search by a process that has just opened the store; without an image it makes the index from the rows."""
    (question,) = questions(1)  # which reads the sets that it is drawn from: no part of a search
    return {"seconds": spent(lambda: engine.search(question, record=False)), "mib": peak_mib()}


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
    """In turns, so that a busy minute does not fall on one of them; the first turn only warms up."""
    texts = iter(Parts(NEW_PARTS).texts(NEW_BLOCK + 1))
    engine.search(questions(1)[0], record=False)

    def stored(dedupe: bool, count: int) -> float:
        drafts = [Draft(next(texts), project="p1") for _ in range(count)]
        return spent(lambda: list(engine.memories.remember_many(drafts, dedupe=dedupe)))

    stored(False, TURN)
    seconds = {True: 0.0, False: 0.0}
    for turn in range(2 * BULK // TURN):
        seconds[turn % 2 == 0] += stored(turn % 2 == 0, TURN)
    return {"on": BULK / seconds[True], "off": BULK / seconds[False]}


def erase(engine: Engine) -> dict[str, float]:
    asked = questions(ERASURES + 1)
    forgets, searches, waits = [], [], []
    for text in asked[1:]:
        found = engine.search(text, record=False, cut=False).results[0].memory.id
        wall = time.perf_counter()
        forgets.append(spent(lambda found=found: engine.forget(found, hard=True)))
        searches.append(spent(lambda: engine.search(asked[0], record=False)))
        waits.append(time.perf_counter() - wall)
    middle = {"forget": forgets, "search": searches, "wait": waits}
    return {name: statistics.median(values) for name, values in middle.items()} | {"longest": max(waits)}


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


def measured(stored: Path, folder: Path, row: dict[str, Any]) -> Iterator[None]:
    """What the row has not yet, one figure a turn. On a copy, so that the store can be grown on; what changes least
    comes first."""
    store = folder / "measured.db"
    steps = ("first", "publish", "image", "doctor", "steady", "bulk", "erase")
    left = [step for step in steps if step not in row]
    if not left:
        return
    _drop(store)
    shutil.copy(stored, store)
    row["bytes"] = store.stat().st_size
    try:
        for step in steps:
            if step in left:
                row[step] = apart("first" if step == "image" else step, store)
                yield
            elif step == "publish":
                apart("publish", store)  # what comes after it has an image to read
    finally:
        _drop(store)


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
    "`forget --hard` of one, p50": lambda row: f"{row['erase']['forget']:.2f} s",
    "the next search, p50": lambda row: f"{row['erase']['search']:.2f} s",
    "both as waited for, p50 / longest": lambda row: f"{row['erase']['wait']:.2f} / {row['erase']['longest']:.2f} s",
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
        figures = folder / "figures.json"
        known = json.loads(figures.read_text()) if figures.exists() else {}
        rows: dict[int, dict[str, Any]] = {}
        parts, before = None, None
        for size in sorted(chosen.sizes):
            store, rows[size] = folder / f"{size}.db", known.get(str(size), {})
            if not store.exists() and before is not None:
                shutil.copy(before, store)
            parts = parts or Parts()
            grow(store, size, parts)
            for _ in measured(store, folder, rows[size]):
                for path in filter(None, (figures, chosen.json)):
                    path.write_text(json.dumps(known | rows, indent=1) + "\n")
            before = store
            print(f"\n{table(rows)}\n", flush=True)


if __name__ == "__main__":
    main()
