"""Each engine in two functions: one fills a folder with the data, another opens the folder in a process of its own and
gives the searches that the engine has, by name.

None encodes anything. Those that insist on an embedder are given one that knows the vector of every text it will see.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from peer_data import LIMIT, SETS, Asked, Data, Floats, composition

Search = Callable[[str, Floats], Sequence[int]]
Searches = dict[str, Search]


class Peer(NamedTuple):
    fill: Callable[[Data, Path], object]
    search: Callable[[Path, Asked], Searches]
    packages: tuple[str, ...] = ()  # what pip is asked for; the product itself needs nothing
    modules: tuple[str, ...] = ()  # what is imported before the clock starts
    packages_of: str | None = None  # the peer whose packages it shares


def _words(text: str) -> str:
    """A question without what a query language would read as its own."""
    return " ".join(re.findall(r"\w+", text.lower()))


def _known(source: Data | Asked) -> dict[str, Floats]:
    return dict(zip(source.texts, source.vectors, strict=True))


# ── Recallens ──


def _recallens(place: Path, source: Data | Asked) -> Any:
    """One vector a text, as the others have; with the packaged encoder sentences have vectors of their own too."""
    from recallens import Engine
    from recallens.config import Settings
    from recallens.index.encoders.protocol import EncoderKey, Vectors

    dimensions = source.vectors.shape[1]

    class Given:
        key = EncoderKey("given", "1", dimensions, "none")
        languages = () if SETS.get(source.task) == "multilingual" else ("en",)

        def __init__(self) -> None:
            self._known = _known(source)
            self._other = np.full(dimensions, dimensions**-0.5, dtype=np.float32)  # of a text that was redacted

        def encode_query(self, text: str) -> Vectors:
            return self._known.get(text, self._other)

        def encode_documents(self, texts: Sequence[str]) -> Vectors:
            return np.stack([self._known.get(text, self._other) for text in texts])

    settings = Settings(store=str(place / "store.db"), encoder=f"hashing:{dimensions}", encoder_second="none")
    return Engine.open(settings=settings, encoder=Given())


def fill_recallens(data: Data, place: Path) -> None:
    from recallens import Draft

    with _recallens(place, data) as engine:
        drafts = chain.from_iterable(map(Draft, texts) for _, texts, _ in data.batches())
        for _ in engine.memories.remember_many(drafts, dedupe=False):
            pass
        engine.encoder.drain()
        engine.maintenance.publish()


def fill_recallens_composed(data: Data, place: Path) -> None:
    """The same store in minutes, by what `growing.py` does: each sentence is prepared once, and a text is the sum of
    its sentences. Its speed says nothing; what searches it is measured as any other.
    """
    from growing import joined, prepared
    from recallens.index.vectors import to_blob

    sentences, picked = composition(len(data.texts))
    parts = [prepared(sentence) for sentence in sentences]
    with _recallens(place, data) as engine:
        core = engine.core
        for numbers, _, vectors in data.batches():
            rows = [
                joined([parts[part] for part in own], id=core.new_id(), at=num, project=None)
                for num, own in zip(numbers, picked, strict=False)
            ]
            with core.making(core.namespace(None), texts=True) as tx:
                nums = tx.memories.insert(rows)
                blobs = map(to_blob, vectors)
                tx.vectors.put(core.encoding.key, [(num, 0, blob) for num, blob in zip(nums, blobs, strict=True)])
        engine.maintenance.publish()


def search_recallens(place: Path, asked: Asked) -> Searches:
    from recallens.xray.explain import explain

    engine = _recallens(place, asked)

    def numbers(recall: Any) -> list[int]:
        return [result.memory.num - 1 for result in recall.results]

    def plain(text: str, vector: Floats, **options: Any) -> list[int]:
        return numbers(engine.search(text, limit=LIMIT, **{"record": False, **options}))

    def explained(text: str, vector: Floats) -> list[int]:
        recall = engine.search(text, limit=LIMIT, record=False)
        explain(recall.ledger)
        return numbers(recall)

    # Ten are ranked for a judged question, however few of them a caller would be given.
    whole = {"cut": False} if asked.judged else {}
    searches: Searches = {
        "hybrid": lambda text, vector: plain(text, vector, **whole),
        "vector": lambda text, vector: plain(text, vector, mode="semantic", preset="dense", **whole),
    }
    if asked.judged:
        return searches
    return {
        **searches,
        "hybrid with X-ray": explained,
        "hybrid, recorded": lambda text, vector: plain(text, vector, record=True),
    }


# ── stores of vectors, of words, of both ──


def fill_chromadb(data: Data, place: Path) -> None:
    collection = _chroma(place).create_collection("texts", metadata={"hnsw:space": "cosine"}, embedding_function=None)
    for numbers, texts, vectors in data.batches():
        collection.add(ids=list(map(str, numbers)), embeddings=vectors, documents=texts)


def search_chromadb(place: Path, asked: Asked) -> Searches:
    collection = _chroma(place).get_collection("texts", embedding_function=None)

    def vector(text: str, own: Floats) -> list[int]:
        return [int(id) for id in collection.query(query_embeddings=[own], n_results=LIMIT)["ids"][0]]

    return {"vector": vector}


def _chroma(place: Path) -> Any:
    import chromadb  # type: ignore[import-not-found]

    return chromadb.PersistentClient(str(place), settings=chromadb.Settings(anonymized_telemetry=False))


def fill_lancedb(data: Data, place: Path) -> Any:
    """Without an index of vectors, as lancedb is unless it is asked for one: every search looks at all of them."""
    import lancedb  # type: ignore[import-not-found]
    import pyarrow as arrow  # type: ignore[import-not-found]

    dimensions = data.vectors.shape[1]
    fields = [("num", arrow.int64()), ("text", arrow.string()), ("vector", arrow.list_(arrow.float32(), dimensions))]
    schema = arrow.schema(fields)
    table = lancedb.connect(str(place)).create_table("texts", schema=schema)
    for numbers, texts, vectors in data.batches():
        rows = arrow.FixedSizeListArray.from_arrays(arrow.array(vectors.ravel()), dimensions)
        table.add(arrow.table([arrow.array(numbers, arrow.int64()), arrow.array(texts), rows], schema=schema))
    table.create_fts_index("text", use_tantivy=False)
    table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
    return table


def fill_lancedb_indexed(data: Data, place: Path) -> None:
    """With its index of the most recall: the one that it makes where nothing is said finds a quarter of the nearest."""
    table = fill_lancedb(data, place)
    table.create_index(metric="cosine", vector_column_name="vector", index_type="IVF_HNSW_SQ")


def search_lancedb(place: Path, asked: Asked) -> Searches:
    import lancedb
    from lancedb.rerankers import RRFReranker  # type: ignore[import-not-found]

    table, by_rank = lancedb.connect(str(place)).open_table("texts"), RRFReranker()

    def numbers(query: Any) -> list[int]:
        return [row["num"] for row in query.limit(LIMIT).to_list()]

    def hybrid(text: str, own: Floats) -> list[int]:
        return numbers(table.search(query_type="hybrid").vector(own).text(_words(text)).rerank(by_rank))

    return {
        "hybrid": hybrid,
        "vector": lambda text, own: numbers(table.search(own).metric("cosine")),
        "words": lambda text, own: numbers(table.search(_words(text), query_type="fts")),
    }


def fill_qdrant(data: Data, place: Path) -> None:
    from qdrant_client import QdrantClient, models  # type: ignore[import-not-found]

    client = QdrantClient(path=str(place))
    size = data.vectors.shape[1]
    client.create_collection("texts", models.VectorParams(size=size, distance=models.Distance.COSINE))
    for numbers, texts, vectors in data.batches():
        payloads = [{"text": text} for text in texts]
        client.upsert("texts", models.Batch(ids=list(numbers), vectors=vectors.tolist(), payloads=payloads))
    client.close()


def search_qdrant(place: Path, asked: Asked) -> Searches:
    from qdrant_client import QdrantClient

    client = QdrantClient(path=str(place))

    def vector(text: str, own: Floats) -> list[int]:
        return [point.id for point in client.query_points("texts", query=own.tolist(), limit=LIMIT).points]

    return {"vector": vector}


def fill_tantivy(data: Data, place: Path) -> None:
    import tantivy  # type: ignore[import-not-found]

    builder = tantivy.SchemaBuilder().add_text_field("text", stored=True).add_integer_field("num", stored=True)
    writer = tantivy.Index(builder.build(), path=str(place)).writer()
    for numbers, texts, _ in data.batches():
        for num, text in zip(numbers, texts, strict=True):
            writer.add_document(tantivy.Document(num=num, text=text))
    writer.commit()
    writer.wait_merging_threads()


def search_tantivy(place: Path, asked: Asked) -> Searches:
    import tantivy

    index = tantivy.Index.open(str(place))
    searcher = index.searcher()

    def words(text: str, own: Floats) -> list[int]:
        hits = searcher.search(index.parse_query(_words(text), ["text"]), LIMIT).hits
        return [searcher.doc(address)["num"][0] for _, address in hits]

    return {"words": words}


def fill_bm25s(data: Data, place: Path) -> None:
    import bm25s  # type: ignore[import-not-found]

    index = bm25s.BM25()
    index.index(bm25s.tokenize(data.texts, show_progress=False), show_progress=False)
    index.save(str(place), show_progress=False)


def search_bm25s(place: Path, asked: Asked) -> Searches:
    import bm25s

    index = bm25s.BM25.load(str(place), mmap=True)

    def words(text: str, own: Floats) -> list[int]:
        found, scores = index.retrieve(bm25s.tokenize(text, show_progress=False), k=LIMIT, show_progress=False)
        return [int(num) for num, score in zip(found[0], scores[0], strict=True) if score > 0]

    return {"words": words}


# txtai looks its function up by name, in the process that fills and in the one that searches.
_txtai_known: dict[str, Floats] = {}


def txtai_vectors(texts: Iterable[str]) -> Floats:
    return np.stack([_txtai_known[text] for text in texts])


def _txtai(source: Data | Asked) -> Any:
    import txtai  # type: ignore[import-not-found]

    import peer_engines  # this file may run under another name

    peer_engines._txtai_known.update(_known(source))
    os.environ["ALLOW_RESOLVE_TRANSFORM"] = "True"
    return txtai.Embeddings(method="external", transform="peer_engines.txtai_vectors", hybrid=True, content=True)


def fill_txtai(data: Data, place: Path) -> None:
    embeddings = _txtai(data)
    embeddings.index(
        (num, text) for numbers, texts, _ in data.batches() for num, text in zip(numbers, texts, strict=True)
    )
    embeddings.save(str(place))


def search_txtai(place: Path, asked: Asked) -> Searches:
    embeddings = _txtai(asked)
    embeddings.load(str(place))
    return {"hybrid": lambda text, own: [int(row["id"]) for row in embeddings.search(text, LIMIT)]}


# ── memory products ──


def _mem0(place: Path, source: Data | Asked) -> Any:
    """With its own default store, qdrant in a folder. Its model is made and never called."""
    os.environ["MEM0_DIR"] = str(place / "home")
    from mem0 import Memory  # type: ignore[import-not-found]

    known = {text.strip(): vector for text, vector in _known(source).items()}  # it strips what it is asked

    class Given:
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return known[text.strip()].tolist()  # type: ignore[no-any-return]

        def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:
            return [self.embed(text) for text in texts]

    unused = {"provider": "openai", "config": {"api_key": "none"}}
    kept = {"path": str(place / "qdrant"), "embedding_model_dims": source.vectors.shape[1], "on_disk": True}
    memory = Memory.from_config({
        "llm": unused, "embedder": unused, "history_db_path": str(place / "history.db"),
        "vector_store": {"provider": "qdrant", "config": kept},
    })  # fmt: skip
    memory.embedding_model = Given()
    return memory


def fill_mem0(data: Data, place: Path) -> None:
    memory = _mem0(place, data)
    for numbers, texts, _ in data.batches():
        for num, text in zip(numbers, texts, strict=True):
            memory.add(text, user_id="peer", infer=False, metadata={"num": num})
    memory.vector_store.client.close()
    memory.close()


def search_mem0(place: Path, asked: Asked) -> Searches:
    memory = _mem0(place, asked)

    def vector(text: str, own: Floats) -> list[int]:
        results = memory.search(text, filters={"user_id": "peer"}, top_k=LIMIT, threshold=0.0)["results"]
        return [row["metadata"]["num"] for row in results]

    return {"vector": vector}


def _mempalace(source: Data | Asked) -> None:
    from mempalace import embedding  # type: ignore[import-not-found]

    known = _known(source)
    dimensions = source.vectors.shape[1]

    class Given:
        """Under the name that mempalace gives to all of its own embedders."""

        @staticmethod
        def name() -> str:
            return "default"

        def __call__(self, input: Sequence[str]) -> list[Floats]:
            return [known.get(text, np.zeros(dimensions, dtype=np.float32)) for text in input]

        embed_query = embed_documents = __call__

        def is_legacy(self) -> bool:
            return False

        def get_config(self) -> dict[str, Any]:
            return {}

        def default_space(self) -> str:
            return "cosine"

        def supported_spaces(self) -> list[str]:
            return ["cosine"]

    given = Given()
    embedding.get_embedding_function = lambda *options, **named: given


def fill_mempalace(data: Data, place: Path) -> None:
    _mempalace(data)
    from mempalace.palace import get_collection  # type: ignore[import-not-found]

    collection = get_collection(str(place))
    for numbers, texts, vectors in data.batches():
        ids = list(map(str, numbers))
        places = [{"wing": "peer", "room": "texts", "source_file": id, "chunk_index": 0} for id in ids]
        collection.upsert(documents=texts, ids=ids, metadatas=places, embeddings=vectors.tolist())


def search_mempalace(place: Path, asked: Asked) -> Searches:
    _mempalace(asked)
    from mempalace.searcher import search_memories  # type: ignore[import-not-found]

    def ranked(text: str, strategy: str) -> list[int]:
        answer = search_memories(text, str(place), n_results=LIMIT, candidate_strategy=strategy)
        return [int(row["source_path"]) for row in answer["results"]]

    return {
        "hybrid": lambda text, own: ranked(text, "union"),
        "vector, words re-rank": lambda text, own: ranked(text, "vector"),
    }


_LANCE = ("lancedb", "lancedb.rerankers")
_PALACE = ("mempalace", "mempalace.searcher", "mempalace.palace")
PEERS = {
    "recallens": Peer(fill_recallens, search_recallens, (), ("recallens.engine",)),
    "recallens-composed": Peer(fill_recallens_composed, search_recallens, (), ("recallens.engine",)),
    "lancedb": Peer(fill_lancedb, search_lancedb, ("lancedb", "pyarrow"), _LANCE),
    "lancedb-hnsw": Peer(fill_lancedb_indexed, search_lancedb, ("lancedb", "pyarrow"), _LANCE, "lancedb"),
    "txtai": Peer(fill_txtai, search_txtai, ("txtai", "torch==2.13.0"), ("txtai",)),
    "mempalace": Peer(fill_mempalace, search_mempalace, ("mempalace",), _PALACE),
    "mem0": Peer(fill_mem0, search_mem0, ("mem0ai",), ("mem0",)),
    "chromadb": Peer(fill_chromadb, search_chromadb, ("chromadb",), ("chromadb",)),
    "qdrant-client": Peer(fill_qdrant, search_qdrant, ("qdrant-client",), ("qdrant_client",)),
    "tantivy": Peer(fill_tantivy, search_tantivy, ("tantivy",), ("tantivy",)),
    "bm25s": Peer(fill_bm25s, search_bm25s, ("bm25s",), ("bm25s",)),
}  # fmt: skip
