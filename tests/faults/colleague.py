"""One of several processes on one store. Run as a script: `colleague.py ROLE NAME STORE NOTES SECONDS`.

A writer remembers, finds what it has just remembered, and then notes it in its file. A reader picks notes of the
writers and must find each of them. Whatever goes wrong ends the process with a traceback, which is what the test
looks for.
"""

from __future__ import annotations

import random
import sys
import time
from contextlib import suppress
from pathlib import Path

from recallens.engine import Engine
from recallens.errors import ErasurePending
from recallens.index import resident

ROLE, NAME, STORE, NOTES, SECONDS = sys.argv[1:]
notes = Path(NOTES)
chance = random.Random(NAME)
resident.SMALLEST_IMAGE, resident.LONGEST_TAIL, resident.TAIL_SHARE = 20, 25, 0.1


def found(engine: Engine, key: str, *, record: bool = False) -> bool:
    recall = engine.search(key, mode=chance.choice(("keyword", "hybrid")), limit=3, record=record, session=NAME)
    return any(result.memory.content.startswith(f"{key} ") for result in recall.results)


def write(engine: Engine, deadline: float) -> int:
    count, mine = 0, []
    with (notes / NAME).open("a") as noted:
        while time.monotonic() < deadline:
            key = f"{NAME}x{count}"
            id = engine.remember(f"{key} lies in drawer {chance.randrange(50)} of the {chance.choice(WORDS)}").id
            assert found(engine, key, record=count % 4 == 0), f"{key} is not found by its own writer"
            if count % 7 == 3:
                engine.confirm(id)
            if count % 9 == 4:
                engine.edit(mine.pop(), f"{key}e is what the drawer is called now")
            elif count % 31 == 30:
                # Others read all the time: where one of them holds an older state for long, it is told and finished
                # later.
                with suppress(ErasurePending):
                    engine.forget(mine.pop(), hard=True)
            else:
                noted.write(f"{key}\n")
                noted.flush()
            if count % 9 == 3 or count % 31 == 29:
                mine.append(engine.remember(f"{key}t is temporary").id)
            if count % 10 == 9:
                engine.maintenance.publish()
            count += 1
    return count


def read(engine: Engine, deadline: float) -> int:
    count = 0
    while time.monotonic() < deadline:
        files = [path.read_text().split("\n")[:-1] for path in notes.iterdir()]
        keys = [key for lines in files for key in lines[-3:]] + [chance.choice(lines) for lines in files if lines]
        for key in keys:
            assert found(engine, key, record=count % 5 == 0), f"{key} is not found by {NAME}"
            count += 1
        if count % 40 < 3:
            engine.maintenance.publish()
            assert not engine.maintenance.doctor().problems, engine.maintenance.doctor().problems
    return count


WORDS = ["kitchen", "office", "workshop", "attic", "창고", "사무실"]

with Engine.open(STORE, encoder="hashing") as engine:
    print((write if ROLE == "writer" else read)(engine, time.monotonic() + float(SECONDS)))
