"""A large namespace on a server, answered both ways: by the database's index and from memory.

    python bench/growing.py postgresql://… 1000000 --encoder minilm
    recallens store index --store postgresql://…
    python bench/scale.py postgresql://… --questions 300

For each way: how long the first question takes, p50 and p95 of the others, the processor that a recall costs here and
in the server (where it runs on this machine), and the memory of the process. Then for how many questions both gave the
same ids in the same order, and the same scores; and what share of the ten nearest the index finds. On a machine on
which others work the processor's milliseconds tell more than the clock's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg

from corpus import questions
from load import cpu_seconds
from recallens import Engine

WAYS = {"database": 1, "memory": 1_000_000_000}


def answered(store: str, way: str, count: int) -> dict[str, Any]:
    """One way, in a process of its own."""
    import resource

    asked = questions(count)
    with psycopg.connect(store) as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        server = int(Path(f"/proc/{row[0]}/stat").read_text().rpartition(")")[2].split()[1]) if row else 0
    with Engine.open(store, resident_memories=WAYS[way], encoder_second="none") as engine:
        engine.core.encoding.available().encode_query("so that the model is loaded")
        started, before = time.perf_counter(), time.process_time()
        engine.search(asked[0], record=False)
        cold, cold_cpu = time.perf_counter() - started, time.process_time() - before
        times, answers = [], []
        own, theirs = time.process_time(), cpu_seconds(server)
        for question in asked:
            started = time.perf_counter()
            recall = engine.search(question, record=False)
            times.append(time.perf_counter() - started)
            answers.append([(result.memory.id, result.score) for result in recall.results])
            assert ("index" in recall.ledger.notes("plan")[0]) is (way == "database")
        own, theirs = time.process_time() - own, cpu_seconds(server) - theirs
    times.sort()
    return {
        "way": way, "cold s": round(cold, 1), "cold cpu s": round(cold_cpu, 1),
        "p50 ms": round(times[len(times) // 2] * 1000, 1), "p95 ms": round(times[int(len(times) * 0.95)] * 1000, 1),
        "cpu ms": round(own / len(asked) * 1000, 1), "server cpu ms": round(theirs / len(asked) * 1000, 1),
        "peak MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, "answers": answers,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--way", choices=tuple(WAYS), help="only this one, as JSON")
    given = parser.parse_args()
    if given.way:
        print(json.dumps(answered(given.store, given.way, given.questions)))
        return
    found = {}
    for way in WAYS:
        command = [sys.executable, __file__, given.store, "--questions", str(given.questions), "--way", way]
        found[way] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print({name: value for name, value in found[way].items() if name != "answers"}, flush=True)
    pairs = list(zip(*(found[way]["answers"] for way in WAYS), strict=True))
    ids = [tuple([id for id, _ in answer] for answer in pair) for pair in pairs]
    print(f"{sum(a == b for a, b in ids) / len(ids):.1%} the same ids in the same order, "
          f"{sum(set(a) == set(b) for a, b in ids) / len(ids):.1%} the same ids, "
          f"{sum(a == b for a, b in pairs) / len(pairs):.1%} the same scores, of {len(ids)} questions")  # fmt: skip
    with Engine.open(given.store) as engine:
        standing = engine.maintenance.large.measure("default")
        print(f"of the ten nearest the index finds {standing.recall:.2%}, on {standing.sampled} questions")


if __name__ == "__main__":
    main()
