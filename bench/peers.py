"""Recallens beside what people would pick instead, on the same texts, vectors and questions, in one run.

    python bench/peers.py --install /tmp/peers                   10,000 memories
    python bench/peers.py --install /tmp/peers --sizes 10000 100000 1000000

Every peer has a process of its own and a folder of its own packages, which `--install` fills with pip where it is not
there yet; nothing of them comes near the product's environment. None encodes anything: all are given one set of
vectors. What could not be installed or failed is left out, and said.

Texts are two or three real sentences (`corpus.texts`) put together anew, so that any number can be made of some
thousand. A text's vector is the mean of its sentences' vectors by the test encoder, moved by noise of a tenth of
its length: near each other as real ones are, and no two the same. Questions are those of the sets, with the test
encoder's own vectors; `recall` is the share of the ten nearest by an exact product that a search by meaning finds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SIZES = (10_000,)
SENTENCES = 20_000
DIMENSIONS = 384
NOISE = 0.1
QUESTIONS, WARM_UP = 100, 20
LIMIT = 10
BATCH = 1_000
# A peer that has not taken the texts and answered by then is shown as such.
LONGEST_SECONDS = 2_400
HERE = Path(__file__).resolve()

Search = Callable[[str, NDArray[np.float32]], Sequence[int]]


class Data(NamedTuple):
    texts: list[str]
    vectors: NDArray[np.float32]
    questions: list[str]
    asked: NDArray[np.float32]

    @classmethod
    def read(cls, folder: Path) -> Data:
        texts, questions = (json.loads((folder / f"{name}.json").read_text()) for name in ("texts", "questions"))
        return cls(texts, np.load(folder / "vectors.npy"), questions, np.load(folder / "asked.npy"))

    def batches(self) -> Iterator[tuple[range, list[str], NDArray[np.float32]]]:
        for start in range(0, len(self.texts), BATCH):
            numbers = range(start, min(start + BATCH, len(self.texts)))
            yield numbers, self.texts[start : numbers.stop], self.vectors[start : numbers.stop]


def make(folder: Path, size: int) -> None:
    """The texts, vectors and questions of one size: the same for the same size."""
    import corpus
    from recallens.index.encoders.registry import open_encoder

    encoder = open_encoder(f"hashing:{DIMENSIONS}")
    assert encoder is not None
    sentences, chance = corpus.texts(min(SENTENCES, size)), Random(f"peers {size}")
    known, noise = encoder.encode_documents(sentences), np.random.default_rng(size)
    texts, vectors = [], np.empty((size, DIMENSIONS), dtype=np.float32)
    for at in range(size):
        own = chance.sample(range(len(sentences)), chance.choice((2, 2, 3)))
        texts.append(" ".join(sentences[part] for part in own))
        mean = known[own].mean(axis=0)
        moved = mean + NOISE * np.linalg.norm(mean) * noise.standard_normal(DIMENSIONS) / np.sqrt(DIMENSIONS)
        vectors[at] = moved / np.linalg.norm(moved)
    questions = corpus.questions(QUESTIONS + WARM_UP)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "texts.json").write_text(json.dumps(texts))
    (folder / "questions.json").write_text(json.dumps(questions))
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "asked.npy", np.stack([encoder.encode_query(question) for question in questions]))


# ── each in a process of its own: fill a folder with the data, and give the searches by name ──


def recallens(data: Data, place: Path) -> dict[str, Search]:
    from recallens import Draft, Engine
    from recallens.config import load
    from recallens.index.encoders.protocol import EncoderKey, Vectors
    from recallens.xray.explain import explain

    class Given:
        """The vectors that all are given, by their texts."""

        key = EncoderKey("given", "1", DIMENSIONS, "none")
        languages = ("en",)

        def __init__(self) -> None:
            self._known = dict(zip([*data.texts, *data.questions], [*data.vectors, *data.asked], strict=True))
            self._other = np.full(DIMENSIONS, DIMENSIONS**-0.5, dtype=np.float32)  # of a text that was redacted

        def encode_query(self, text: str) -> Vectors:
            return self._known.get(text, self._other)

        def encode_documents(self, texts: Sequence[str]) -> Vectors:
            return np.stack([self._known.get(text, self._other) for text in texts])

    settings = load({"store": str(place / "store.db"), "encoder": "hashing:384", "encoder_second": "none"})
    engine = Engine.open(settings=settings, encoder=Given())
    for _ in engine.memories.remember_many(map(Draft, data.texts), dedupe=False):
        pass
    engine.encoder.drain()
    engine.maintenance.publish()

    def numbers(recall: Any) -> list[int]:
        return [result.memory.num - 1 for result in recall.results]

    def plain(text: str, vector: NDArray[np.float32], **options: Any) -> list[int]:
        return numbers(engine.search(text, limit=LIMIT, **{"record": False, **options}))

    def explained(text: str, vector: NDArray[np.float32]) -> list[int]:
        recall = engine.search(text, limit=LIMIT, record=False)
        explain(recall.ledger)
        return numbers(recall)

    return {
        "hybrid": plain,
        "hybrid with X-ray": explained,
        "hybrid, recorded": lambda text, vector: plain(text, vector, record=True),
        "vector": lambda text, vector: plain(text, vector, mode="semantic", preset="dense"),
    }


def chromadb(data: Data, place: Path) -> dict[str, Search]:
    import chromadb as peer  # type: ignore[import-not-found]

    client = peer.PersistentClient(str(place), settings=peer.Settings(anonymized_telemetry=False))
    collection = client.create_collection("texts", metadata={"hnsw:space": "cosine"}, embedding_function=None)
    for numbers, texts, vectors in data.batches():
        collection.add(ids=list(map(str, numbers)), embeddings=vectors, documents=texts)

    def vector(text: str, asked: NDArray[np.float32]) -> list[int]:
        return [int(id) for id in collection.query(query_embeddings=[asked], n_results=LIMIT)["ids"][0]]

    return {"vector": vector}


def lancedb(data: Data, place: Path) -> dict[str, Search]:
    import lancedb as peer  # type: ignore[import-not-found]
    import pyarrow as arrow  # type: ignore[import-not-found]
    from lancedb.rerankers import RRFReranker  # type: ignore[import-not-found]

    fields = [("num", arrow.int64()), ("text", arrow.string()), ("vector", arrow.list_(arrow.float32(), DIMENSIONS))]
    table = peer.connect(str(place)).create_table("texts", schema=arrow.schema(fields))
    for numbers, texts, vectors in data.batches():
        rows = zip(numbers, texts, vectors.tolist(), strict=True)
        table.add([{"num": num, "text": text, "vector": vector} for num, text, vector in rows])
    table.create_fts_index("text", use_tantivy=False)
    by_rank = RRFReranker()

    def numbers_of(query: Any) -> list[int]:
        return [row["num"] for row in query.limit(LIMIT).to_list()]

    def hybrid(text: str, asked: NDArray[np.float32]) -> list[int]:
        return numbers_of(table.search(query_type="hybrid").vector(asked).text(_words(text)).rerank(by_rank))

    return {
        "vector": lambda text, asked: numbers_of(table.search(asked).metric("cosine")),
        "words": lambda text, asked: numbers_of(table.search(_words(text), query_type="fts")),
        "hybrid": hybrid,
    }


def tantivy(data: Data, place: Path) -> dict[str, Search]:
    import tantivy as peer  # type: ignore[import-not-found]

    schema = peer.SchemaBuilder().add_text_field("text").add_integer_field("num", stored=True).build()
    index = peer.Index(schema, path=str(place))
    writer = index.writer()
    for num, text in enumerate(data.texts):
        writer.add_document(peer.Document(num=num, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def words(text: str, asked: NDArray[np.float32]) -> list[int]:
        hits = searcher.search(index.parse_query(_words(text), ["text"]), LIMIT).hits
        return [searcher.doc(address)["num"][0] for _, address in hits]

    return {"words": words}


def bm25s(data: Data, place: Path) -> dict[str, Search]:
    import bm25s as peer  # type: ignore[import-not-found]

    index = peer.BM25()
    index.index(peer.tokenize(data.texts, show_progress=False), show_progress=False)
    index.save(str(place))

    def words(text: str, asked: NDArray[np.float32]) -> list[int]:
        found, _ = index.retrieve(peer.tokenize(text, show_progress=False), k=LIMIT, show_progress=False)
        return list(map(int, found[0]))

    return {"words": words}


def qdrant(data: Data, place: Path) -> dict[str, Search]:
    from qdrant_client import QdrantClient, models  # type: ignore[import-not-found]

    client = QdrantClient(path=str(place))
    client.create_collection("texts", models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE))
    for numbers, texts, vectors in data.batches():
        payloads = [{"text": text} for text in texts]
        client.upsert("texts", models.Batch(ids=list(numbers), vectors=vectors.tolist(), payloads=payloads))

    def vector(text: str, asked: NDArray[np.float32]) -> list[int]:
        return [point.id for point in client.query_points("texts", query=asked.tolist(), limit=LIMIT).points]

    return {"vector": vector}


def _words(text: str) -> str:
    """A question without what a query language would read as its own."""
    return " ".join(re.findall(r"\w+", text.lower()))


# What pip is asked for; the product itself needs nothing.
PEERS: dict[str, tuple[Callable[[Data, Path], dict[str, Search]], tuple[str, ...]]] = {
    "recallens": (recallens, ()),
    "chromadb": (chromadb, ("chromadb",)),
    "lancedb": (lancedb, ("lancedb", "pyarrow")),
    "qdrant-client": (qdrant, ("qdrant-client",)),
    "tantivy": (tantivy, ("tantivy",)),
    "bm25s": (bm25s, ("bm25s",)),
}


def measured(name: str, folder: Path) -> dict[str, Any]:
    data = Data.read(folder)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        wall, processor = time.perf_counter(), time.process_time()
        searches = PEERS[name][0](data, Path(place))
        row: dict[str, Any] = {
            "ingest": len(data.texts) / (time.perf_counter() - wall),
            "ingestProcessor": len(data.texts) / (time.process_time() - processor),
            "searches": _timed(searches, data),
        }
        row["memoryMiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        row["diskMiB"] = sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file()) / 2**20
    return row


def _timed(searches: dict[str, Search], data: Data) -> dict[str, dict[str, float]]:
    """Turn by turn, so that a busy minute falls on all; which comes first changes with every question."""
    waits, spent, hits = ({kind: list[float]() for kind in searches} for _ in range(3))
    kinds = list(searches)
    for at, (question, asked) in enumerate(zip(data.questions, data.asked, strict=True)):
        nearest = set(np.argpartition(-(data.vectors @ asked), LIMIT)[:LIMIT].tolist())
        for kind in (*kinds[at % len(kinds) :], *kinds[: at % len(kinds)]):
            wall, processor = time.perf_counter(), time.process_time()
            found = searches[kind](question, asked)
            if at >= WARM_UP:
                waits[kind].append(1e3 * (time.perf_counter() - wall))
                spent[kind].append(1e3 * (time.process_time() - processor))
                hits[kind].append(len(nearest.intersection(found)) / LIMIT)
    return {
        kind: {
            "p50": float(np.median(waits[kind])),
            "p95": float(np.percentile(waits[kind], 95)),
            "processor": float(np.median(spent[kind])),
            **({"recall": float(np.mean(hits[kind]))} if kind == "vector" else {}),
        }
        for kind in kinds
    }


# ── all of them ──


def apart(name: str, folder: Path, packages: Path) -> dict[str, Any] | str:
    """The figures of one peer, or why there are none."""
    wanted, place = PEERS[name][1], packages / name
    if wanted and not place.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(place), *wanted]
        if subprocess.run(command, check=False).returncode:
            shutil.rmtree(place, ignore_errors=True)
            return "could not be installed"
    paths = [*([str(place)] if wanted else []), str(HERE.parent.parent / "src")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, str(HERE), "--peer", name, "--data", str(folder)]
    try:
        told = subprocess.run(command, env=environment, stdout=subprocess.PIPE, timeout=LONGEST_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"not done after {LONGEST_SECONDS // 60} minutes"
    return dict(json.loads(told.stdout.splitlines()[-1])) if told.returncode == 0 else "failed"


def table(rows: dict[str, dict[str, Any] | str]) -> str:
    """Times as ratios to Recallens hybrid with its X-ray, of processor time and of what a caller waits."""
    own = rows["recallens"]
    assert isinstance(own, dict), own
    first = own["searches"]["hybrid with X-ray"]
    lines = ["| | p50, ms | p95, ms | p50 × | processor × | recall | ingest a second | memory, MiB | disk, MiB |"]
    lines.append("| --- |" + " ---: |" * 8)
    for name, row in rows.items():
        if isinstance(row, str):
            lines.append(f"| {name}: {row} |" + " |" * 8)
            continue
        for kind, took in row["searches"].items():
            recall = f"{took['recall']:.3f}" if "recall" in took else ""
            cells = [f"{took['p50']:.1f}", f"{took['p95']:.1f}", f"{took['p50'] / first['p50']:.2f}",
                     f"{took['processor'] / first['processor']:.2f}", recall, f"{row['ingest']:,.0f}",
                     f"{row['memoryMiB']:,.0f}", f"{row['diskMiB']:,.0f}"]  # fmt: skip
            lines.append(f"| {name}, {kind} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--install", type=Path, default=Path(tempfile.gettempdir()) / "recallens-peers")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.peer is not None:
        print(json.dumps(measured(chosen.peer, chosen.data)))
        return
    figures: dict[int, dict[str, Any]] = {}
    for size in chosen.sizes:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            make(folder, size)
            rows = {name: apart(name, folder, chosen.install) for name in dict.fromkeys(("recallens", *chosen.peers))}
        figures[size] = rows
        print(f"{size:,} memories\n\n{table(rows)}\n", flush=True)
        if chosen.json is not None:
            chosen.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
