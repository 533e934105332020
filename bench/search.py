"""Speed of the embedded engine at growing sizes, in one run, beside brute force on the same vectors as the yardstick.

    python bench/search.py                    10,000 and 100,000 memories with the packaged encoder
    python bench/search.py --sizes 30000 --encoder hashing:384    quick, plumbing only

Times of a machine mean little; the ratio to the yardstick of the same run is what carries over.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from corpus import questions, texts
from recallens import Draft, Engine
from recallens.config import load
from recallens.index.encoders.protocol import Encoder, EncoderKey, Vectors
from recallens.index.encoders.registry import open_encoder
from recallens.model.verdict import Note

HERE = Path(__file__).parent
EMBED_SAMPLE = 1_000
QUERIES = 500
WARM_UP = 200
LIMIT = 10
PACE_STEPS = 3_000
# A query is disturbed if Python went slower than this, against its best, just before it or just after.
DISTURBED = 1.15
LABELS = {"lexicalAndSemantic": "lexical + semantic", "pipelineAndFetch": "pipeline + fetch", "total": "total"}


class Cached:
    """The real encoder, remembering vectors by the hash of their text, so that a second run is about the search."""

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        self._encoder = encoder
        self._path = folder / f"{hashlib.sha256(str(encoder.key).encode()).hexdigest()[:12]}.npz"
        self._known: dict[str, Vectors] = {}
        if self._path.exists():
            stored = np.load(self._path)
            self._known = dict(zip(stored["keys"].tolist(), stored["vectors"], strict=True))

    @property
    def key(self) -> EncoderKey:
        return self._encoder.key

    @property
    def languages(self) -> tuple[str, ...]:
        return self._encoder.languages

    def encode_query(self, text: str) -> Vectors:
        return self._encoder.encode_query(text)

    def encode_documents(self, batch: Sequence[str]) -> Vectors:
        names = [hashlib.sha256(text.encode()).hexdigest() for text in batch]
        missing = [i for i, name in enumerate(names) if name not in self._known]
        if missing:
            for i, vector in zip(missing, self._encoder.encode_documents([batch[i] for i in missing]), strict=True):
                self._known[names[i]] = vector
        return np.stack([self._known[name] for name in names])

    def save(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(self._path, keys=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))


def ingest(engine: Engine, corpus: Sequence[str]) -> float:
    started = time.perf_counter()
    for _ in engine.memories.remember_many(Draft(text, project=f"p{at % 5}") for at, text in enumerate(corpus)):
        pass
    return len(corpus) / (time.perf_counter() - started)


def percentile(values: Sequence[float], share: float) -> float:
    return float(np.percentile(values, share)) if values else 0.0


STAGES = ("encode", "lexical", "semantic", "symbolic", "tiers", "pipeline", "fetch", "total", "told", "highlights")
TIERS = ("direct-answer", "procedural", "review-context", "graph", "recent-scan")


def stage_of(name: str) -> str:
    """What is looked for is apart from what is decided: each view and the tiers have rows of their own."""
    if name.startswith("gather:"):
        return name.removeprefix("gather:")
    if name in TIERS:
        return "tiers"
    return name if name == "encode" else "fetch" if name == "describe" else "pipeline"


def pace() -> int:
    """Nanoseconds of a piece of Python that is always the same. A host with other guests gives now more, now less of
    its cores; this shows it, beside every query."""
    started = time.perf_counter_ns()
    total = 0
    for number in range(PACE_STEPS):
        total += number * number % 7
    return time.perf_counter_ns() - started


def measure(engine: Engine, asked: Sequence[str]) -> list[dict[str, float]]:
    """Milliseconds of each query, by stage. What is outside the ledger is binding the query and fetching the results.

    What is made when it is read is no part of a recall, and so measured apart: what its notes tell of the results, the
    parts of each score, and the highlights.
    """
    rows = []
    for text in asked:
        query = engine.recalls.query(text, limit=LIMIT)
        before = pace()
        started = time.perf_counter_ns()
        recall = engine.recall(query)
        total = time.perf_counter_ns() - started
        spent: dict[str, int] = defaultdict(int)
        for entry in recall.ledger.entries:
            spent[stage_of(entry.stage)] += entry.nanos
        for name, nanos in recall.ledger.silent.items():
            spent[stage_of(name)] += nanos
        spent["fetch"] += total - sum(spent.values())
        spent["total"] = total
        spent["pace"] = max(before, pace())
        started = time.perf_counter_ns()
        told = [dict(entry.verdict.data) for entry in recall.ledger.entries if isinstance(entry.verdict, Note)]
        told += [dict(recall.ledger.query), *(dict(result.parts) for result in recall.results)]
        spent["told"] = time.perf_counter_ns() - started
        started = time.perf_counter_ns()
        for result in recall.results:
            _ = result.highlights
        spent["highlights"] = time.perf_counter_ns() - started
        rows.append({stage: nanos / 1e6 for stage, nanos in spent.items()})
    return rows


def summed(rows: Sequence[dict[str, float]], *stages: str) -> float:
    """The median over queries of these stages together."""
    return percentile([sum(row.get(stage, 0.0) for stage in stages) for row in rows], 50)


def together(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    return {
        "lexicalAndSemantic": summed(rows, "lexical", "semantic"),
        "pipelineAndFetch": summed(rows, "pipeline", "fetch"),
        "total": summed(rows, "total"),
    }


def brute_force(engine: Engine, asked: Sequence[str]) -> list[float]:
    """The same semantic question answered by one product over every vector in single precision."""
    with engine.core.store.read("default") as reader:
        state = reader.state
        assert state is not None
        assert engine.core.encoding.key is not None
        blobs = [blob for *_, blob in reader.vectors.changes(engine.core.encoding.key, 0)]
    matrix = np.frombuffer(b"".join(blobs), dtype="<f2").reshape(len(blobs), -1).astype(np.float32)
    encoder = engine.core.encoding.available()
    times = []
    for text in asked:
        vector = encoder.encode_query(text)
        started = time.perf_counter_ns()
        scores = matrix @ vector
        np.argpartition(-scores, LIMIT)[:LIMIT]
        times.append((time.perf_counter_ns() - started) / 1e6)
    return times


def cold_start(store: Path, encoder: str) -> float:
    """A new process that opens the store and answers its first search."""
    script = (
        "import sys, recallens; recallens.open(sys.argv[1], encoder=sys.argv[2]).search('cold start', record=False)"
    )
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", script, str(store), encoder], check=True)
    return time.perf_counter() - started


def measured(store: Path, spec: str, queries: int) -> dict[str, Any]:
    """Searches by a process that only searches, as a server does: it has answered other questions before these."""
    warm_up = min(WARM_UP, queries)
    questions_of_all = questions(warm_up + queries)
    before, asked = questions_of_all[:warm_up], questions_of_all[warm_up:]
    with Engine.open(store, encoder=spec) as engine:
        measure(engine, before)
        times = measure(engine, asked)
        own = percentile([one["pace"] for one in times], 5)
        undisturbed = [one for one in times if one["pace"] <= DISTURBED * own]
        row: dict[str, Any] = {"queries": len(asked), "python": platform.python_version(), "memoryMiB": peak_memory()}
        yardstick = brute_force(engine, asked)
    for stage in (*STAGES, "pace"):
        took = [one[stage] for one in times if stage in one]
        row[stage] = {"p50": percentile(took, 50), "p95": percentile(took, 95)}
    row["all"] = {"share": 1.0, **together(times)}
    row["undisturbed"] = {"share": len(undisturbed) / len(times), **together(undisturbed)}
    row["yardstick"] = {"p50": percentile(yardstick, 50), "p95": percentile(yardstick, 95)}
    row["searchRatio"] = (row["lexical"]["p50"] + row["semantic"]["p50"]) / row["yardstick"]["p50"]
    row["pipelineRatio"] = (row["pipeline"]["p50"] + row["fetch"]["p50"]) / row["yardstick"]["p50"]
    return row


def peak_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(size: int, spec: str, folder: Path, cache: Path, queries: int = QUERIES) -> dict[str, Any]:
    plain = open_encoder(spec)
    assert plain is not None
    encoder = Cached(plain, cache)
    corpus = texts(size)
    store = folder / f"{size}.db"
    row: dict[str, Any] = {"memories": len(corpus), "encoder": str(plain.key)}

    with Engine.open(folder / f"{size}-sample.db", encoder=spec) as sample:
        started = time.perf_counter()
        ingest(sample, corpus[:EMBED_SAMPLE])
        sample.encoder.drain()
        row["ingestEmbeddedPerSecond"] = min(EMBED_SAMPLE, len(corpus)) / (time.perf_counter() - started)

    with Engine.open(settings=load({"store": str(store), "encoder": spec}), encoder=encoder) as engine:
        row["ingestPerSecond"] = ingest(engine, corpus)
        engine.encoder.drain()
        if spec == "minilm":
            encoder.save()
        engine.maintenance.publish()
    del encoder, engine
    command = [sys.executable, __file__, "--encoder", spec, "--queries", str(queries), "--searches-of", str(store)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    row |= json.loads(told.stdout)
    row["coldStartSeconds"] = min(cold_start(store, spec) for _ in range(3))
    row["storeMiB"] = store.stat().st_size / 2**20
    row["indexMiB"] = sum(p.stat().st_size for p in Path(f"{store}.index").rglob("*") if p.is_file()) / 2**20
    return row


def table(rows: Sequence[dict[str, Any]]) -> str:
    lines = ["| | " + " | ".join(f"{row['memories']:,}" for row in rows) + " |", "| --- |" + " ---: |" * len(rows)]

    def add(label: str, cells: Sequence[str]) -> None:
        lines.append(f"| {label} | " + " | ".join(cells) + " |")

    add("Python", [row["python"] for row in rows])
    add("ingest, memories/s", [f"{row['ingestPerSecond']:,.0f}" for row in rows])
    add(
        f"ingest with embedding, memories/s (first {EMBED_SAMPLE:,})",
        [f"{row['ingestEmbeddedPerSecond']:,.0f}" for row in rows],
    )
    for stage in (*STAGES, "pace", "yardstick"):
        add(f"{stage}, ms p50 / p95", [f"{row[stage]['p50']:.2f} / {row[stage]['p95']:.2f}" for row in rows])
    for name in ("lexicalAndSemantic", "pipelineAndFetch", "total"):
        add(
            f"{LABELS[name]}, ms p50, all / undisturbed",
            [f"{row['all'][name]:.2f} / {row['undisturbed'][name]:.2f}" for row in rows],
        )
    add("queries that nothing disturbed", [f"{row['undisturbed']['share']:.0%}" for row in rows])
    add("(lexical + semantic) / yardstick", [f"{row['searchRatio']:.2f}" for row in rows])
    add("(pipeline + fetch) / yardstick", [f"{row['pipelineRatio']:.2f}" for row in rows])
    add("first search in a cold process, s", [f"{row['coldStartSeconds']:.2f}" for row in rows])
    add("process memory, MiB", [f"{row['memoryMiB']:.0f}" for row in rows])
    add("store / index files, MiB", [f"{row['storeMiB']:.0f} / {row['indexMiB']:.0f}" for row in rows])
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000", help="how many memories, separated by commas")
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--queries", type=int, default=QUERIES, help="how many are measured")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--out", type=Path, help="also write the figures as JSON to this file")
    parser.add_argument("--searches-of", type=Path, help="only search this store, and print the figures as JSON")
    options = parser.parse_args()
    if options.searches_of:
        print(json.dumps(measured(options.searches_of, options.encoder, options.queries)))
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            run(int(size), options.encoder, Path(folder), HERE / "cache", options.queries)
            for size in options.sizes.split(",")
        ]
    if options.out:
        options.out.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(rows, indent=2) if options.json else table(rows))


if __name__ == "__main__":
    main()
