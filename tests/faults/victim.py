"""Writes to a store until it is killed. Run as a script: each line of input is one life, `JSON of Life`.

A life is a forked child, so that fifty of them cost no fifty starts. What the child has been told is on disk it appends
to a file by itself, in one write a batch: that survives its death, and is the promise the test holds the engine to.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from deeds import DEEDS, WORDS, Course

from recallens.engine import Engine, ingest
from recallens.engine import encoder as backlog
from recallens.index import resident
from recallens.ingest.draft import Draft


def drafts(seed: int) -> Iterator[Draft]:
    chance = random.Random(seed)
    for number in itertools.count():
        words = chance.choices(WORDS, k=chance.randint(3, 30))
        yield Draft(f"{seed}-{number} {' '.join(words)}", project=chance.choice((None, "p")), session=f"s{seed % 3}")


def live(store: str, acknowledged: str, *, seed: int, encoder: str, batch: int) -> None:
    ingest.BATCH_ROWS = batch
    backlog.BACKLOG_ROWS = 2 * batch
    resident.SMALLEST_IMAGE, resident.LONGEST_TAIL = 1, 3 * batch
    out = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with Engine.open(store, encoder=encoder) as engine:
        for count, written in enumerate(engine.memories.remember_many(drafts(seed), dedupe=seed % 2 == 0)):
            os.write(out, "".join(f"{one.id}\n" for one in written).encode())
            if count % 3 == 2:
                engine.encoder.drain()
            if count % 5 == 4:
                engine.maintenance.publish()


def act(store: str, acknowledged: str, *, seed: int, notes: str) -> None:
    """Deeds of every kind: before each what it may change, and after it what must be true from then on."""
    backlog.REBUILD_ROWS = 16
    resident.SMALLEST_IMAGE, resident.LONGEST_TAIL = 1, 12
    out = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with Engine.open(store, encoder="hashing") as engine:
        course = Course(engine, Path(notes), random.Random(seed))
        deeds = random.Random(seed).sample(DEEDS, len(DEEDS))
        for deed in itertools.cycle(deeds):
            two = course.two()
            os.write(out, f"{json.dumps([deed.__name__, *two])}\n".encode())
            facts = deed(course, *two)
            os.write(out, f"{json.dumps(facts)}\n".encode())


def main() -> None:
    # What the first write loads and compiles is loaded here once, so that a short life is spent on writing.
    with tempfile.TemporaryDirectory() as folder, Engine.open(Path(folder) / "first.db", encoder="hashing") as engine:
        course = Course(engine, Path(folder) / "notes", random.Random(0))
        for deed in DEEDS:
            deed(course, *course.two())
    for line in sys.stdin:
        life = json.loads(line)
        delay = life.pop("delay")
        child = os.fork()
        if not child:
            (act if "notes" in life else live)(**life)
            os._exit(0)
        time.sleep(delay)
        died, status = os.waitpid(child, os.WNOHANG)
        if not died:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
