"""What vectors of fewer bits cost in recall: half precision, as stored, and the 4-bit scan with exact rescoring.

    RECALLENS_EVAL_DATA=… RECALLENS_EVAL_CACHE=… python bench/quantised.py

The vectors are those that `recallens eval` has kept, in single precision; the questions are the sets' own. Exact
search in single precision is the truth that the others are held against.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import random
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from corpus import SETS, data_folder
from recallens.index.vectors import SCAN_DEPTH, VECTOR_DTYPE, build_scan

Single = NDArray[np.float32]
CUTS = (1, 10, 100)
STEP = 128


def kept(folder: Path, texts: list[str]) -> tuple[Single, Single]:
    """The cached vectors as (questions, everything else); a question that was never encoded is left out."""
    (path,) = folder.glob("*.vectors")
    wanted = {hashlib.sha256(f"query\0{text}".encode("utf-8", "replace")).digest() for text in texts}
    questions, rest = [], []
    connection = apsw.Connection(f"file:{path}?mode=ro", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    for name, blob in connection.execute("SELECT text, vector FROM vectors"):
        (questions if bytes(name) in wanted else rest).append(np.frombuffer(blob, dtype="<f4"))
    return np.stack(questions), np.stack(rest)


def asked(folder: Path, most: int) -> list[str]:
    found = []
    for name in SETS:
        with gzip.open(folder / name / "queries.jsonl.gz", "rt", encoding="utf-8") as lines:
            found += [json.loads(line)["text"] for line in lines]
    random.Random(3).shuffle(found)
    return found[:most]


def best(questions: Single, vectors: Single, count: int) -> NDArray[np.int64]:
    found = []
    for start in range(0, len(questions), STEP):
        scores = questions[start : start + STEP] @ vectors.T
        head = np.argpartition(-scores, count, axis=1)[:, :count]
        order = np.argsort(-np.take_along_axis(scores, head, axis=1), axis=1, kind="stable")
        found.append(np.take_along_axis(head, order, axis=1))
    return np.concatenate(found)


def overlap(truth: NDArray[np.int64], found: NDArray[np.int64], cut: int) -> float:
    shared = [len(set(a[:cut].tolist()) & set(b[:cut].tolist())) for a, b in zip(truth, found, strict=True)]
    return sum(shared) / (cut * len(shared))


def measure(questions: Single, vectors: Single) -> dict[str, dict[int, float]]:
    deepest = max(CUTS)
    truth = best(questions, vectors, deepest)
    half = vectors.astype(VECTOR_DTYPE)
    by_half = best(questions, half.astype(np.float32), deepest)
    _, places = build_scan(half).search(np.ascontiguousarray(questions), SCAN_DEPTH)
    scanned = np.asarray(places, dtype=np.int64)
    rescored = np.empty((len(questions), deepest), dtype=np.int64)
    for at, rows in enumerate(scanned):
        exact = half[rows].astype(np.float64) @ questions[at].astype(np.float64)
        rescored[at] = rows[np.argsort(-exact, kind="stable")[:deepest]]
    found = {"half precision, exact": by_half, "4-bit scan alone": scanned, "4-bit scan, rescored": rescored}
    return {name: {cut: overlap(truth, rows, cut) for cut in CUTS} for name, rows in found.items()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--questions", type=int, default=2_000)
    given = options.parse_args()
    folder, cache = data_folder(), os.environ.get("RECALLENS_EVAL_CACHE")
    if folder is None or cache is None:
        options.error("RECALLENS_EVAL_DATA and RECALLENS_EVAL_CACHE must name their folders; `recallens eval` fills it")
    questions, vectors = kept(Path(cache), asked(folder, given.questions))
    size = vectors.shape[1]
    print(f"{len(questions):,} questions over {len(vectors):,} vectors of {size}; bytes a vector: "
          f"single {4 * size:,}, half {2 * size:,}, 4-bit {size // 2:,}")  # fmt: skip
    print("| share of the exact best k that is found | " + " | ".join(f"@{cut}" for cut in CUTS) + " |")
    print("| --- |" + " ---: |" * len(CUTS))
    for name, shares in measure(questions, vectors).items():
        print(f"| {name} | " + " | ".join(f"{100 * share:.2f}" for share in shares.values()) + " |")


if __name__ == "__main__":
    main()
