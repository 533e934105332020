"""What it costs to erase a memory for good, and the next search.

python bench/erasing.py FILE [TIMES]      on a store of your own making: what it takes is gone
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time

from recallens.engine import Engine

TIMES = 5


def figures(engine: Engine, times: int = TIMES, *, question: str = "deploy cache", seed: int = 1) -> dict[str, float]:
    """Seconds, as medians: erasing one memory, the search after it, and both together at the worst; pages looked at."""
    chance, store = random.Random(seed), engine.core.store
    with store.read(engine.core.settings.namespace) as reader:
        nums = chance.sample(reader.memories.numbers(), times)
        ids = list(reader.memories.ids(nums).values())
    engine.search(question)
    erasing, searching, pages = [], [], []
    for id in ids:
        begun = time.perf_counter()
        receipt = engine.maintenance.erasure.erase([id])
        erased = time.perf_counter()
        engine.search(question)
        searching.append(time.perf_counter() - erased)
        erasing.append(erased - begun)
        pages.append(receipt.pages)
        assert receipt.pending is None
    both = [first + second for first, second in zip(erasing, searching, strict=True)]
    return {
        "erase_s": round(statistics.median(erasing), 3),
        "next_search_s": round(statistics.median(searching), 3),
        "both_worst_s": round(max(both), 3),
        "pages": statistics.median(pages),
    }


if __name__ == "__main__":
    with Engine.open(sys.argv[1], create=False) as opened:
        opened.maintenance.publish()
        print(json.dumps(figures(opened, int(sys.argv[2]) if len(sys.argv) > 2 else TIMES)))
