"""What an X-ray costs over the same recall without it, in one run.

    python bench/xray.py                       100,000 memories with the packaged encoder
    python bench/xray.py --memories 20000 --encoder hashing:384

The recall keeps its ledger anyway, so an X-ray is reading it out. Explaining (the snapshot) and rendering (text, JSON)
are measured apart; the bound is on the snapshot: at most 15% over the recall.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from corpus import questions, texts
from recallens import Engine
from recallens.config import load
from recallens.index.encoders.registry import open_encoder
from recallens.render import render
from recallens.xray.explain import explain
from search import DISTURBED, HERE, Cached, ingest, pace

QUERIES = 150
BOUND = 1.15


def measure(engine: Engine, asked: list[str]) -> dict[str, float]:
    """Median milliseconds. The two are taken turn by turn, and the ratio is of each turn: noise falls on both.

    Undisturbed are the turns before and after which Python kept its pace.
    """
    plain, explained, rendered, written, paces = [], [], [], [], []
    for text in asked:
        query = engine.recalls.question(text)
        before = pace()
        started = time.perf_counter()
        engine.recall(query)
        middle = time.perf_counter()
        ledger = engine.recall(query).ledger
        snapshot = explain(ledger)
        finished = time.perf_counter()
        paces.append(max(before, pace()))
        plain.append(middle - started)
        explained.append(finished - middle)
        started = time.perf_counter()
        render(snapshot, "text")
        rendered.append(time.perf_counter() - started)
        started = time.perf_counter()
        render(snapshot, "json")
        written.append(time.perf_counter() - started)
    ratios = np.array(explained) / np.array(plain)
    undisturbed = np.array(paces) <= DISTURBED * np.percentile(paces, 5)
    return {
        "recallMs": float(np.median(plain)) * 1e3,
        "recallWithSnapshotMs": float(np.median(explained)) * 1e3,
        "renderTextMs": float(np.median(rendered)) * 1e3,
        "renderJsonMs": float(np.median(written)) * 1e3,
        "ratio": float(np.median(ratios)),
        "undisturbedRatio": float(np.median(ratios[undisturbed])),
        "undisturbedShare": float(undisturbed.mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--queries", type=int, default=QUERIES, help="how many are measured")
    options = parser.parse_args()
    plain = open_encoder(options.encoder)
    assert plain is not None
    with tempfile.TemporaryDirectory() as folder:
        settings = load({"store": str(Path(folder) / "store.db"), "encoder": options.encoder})
        with Engine.open(settings=settings, encoder=Cached(plain, HERE / "cache")) as engine:
            ingest(engine, texts(options.memories))
            engine.encoder.drain()
            engine.maintenance.publish()
            asked = questions(options.queries)
            measure(engine, asked[:20])
            figures = measure(engine, asked)
    print(json.dumps({"memories": options.memories, "encoder": options.encoder, **figures}, indent=2))
    costs, quietly = (f"{100 * (figures[name] - 1):.1f}%" for name in ("ratio", "undisturbedRatio"))
    print(
        f"an X-ray costs {costs} over the recall, {quietly} where nothing disturbed it (bound {100 * (BOUND - 1):.0f}%)"
    )


if __name__ == "__main__":
    main()
