"""A store of any size in minutes: real sentences put together anew, with everything that ingest would read off them.

    python bench/growing.py FILE 1000000      as often as you like: it goes on where it stopped
    python bench/growing.py postgresql://… 1000000 --encoder minilm      on a server, with vectors of a real model

Some thousand sentences go through the product's own `prepare`. A memory is two or three of them, and what is kept of
it is the sum of what is kept of its parts (words, labels), so that a row costs its insertion and little else; its
vector is the mean of its parts' vectors by the test encoder, or the one that is named. `check` compares some of them
with `prepare` of the whole text.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random

import numpy as np
from msgspec.structs import replace

from corpus import texts
from recallens import Draft, Engine
from recallens.index.encoders.protocol import Vectors, unit_rows
from recallens.index.encoders.registry import open_encoder
from recallens.index.vectors import to_blob
from recallens.ingest.dedupe import content_hash
from recallens.ingest.prepare import labels, prepare
from recallens.model.memory import Annotations
from recallens.store.records import Prepared
from recallens.text.content import gist
from recallens.text.token_count import estimate_tokens

ENCODER = "hashing:64"
PARTS = 40_000
LONGEST_PART = 220
BLOCK = 5_000  # rows a transaction; a block has the same texts whatever came before it
PROJECTS = 5
_MINUTE_MS = 60_000
_START = 1_600_000_000_000


class Parts:
    """Sentences with what is kept of each."""

    def __init__(self, count: int = PARTS, encoder: str = ENCODER) -> None:
        found = [text for text in texts(3 * count) if len(text) <= LONGEST_PART and text[-1:] in ".!?"]
        rows = [prepared(text) for text in (found or texts(count))[:count]]
        self.rows = [row for row in rows if row.body and not row.days_told]  # days are read off the whole text
        self.encoder = encoder
        self.vectors = _encoded([row.memory.content for row in self.rows], encoder)

    def texts(self, number: int) -> list[str]:
        """The texts of a block, for who ingests them the usual way."""
        return [" ".join(self.rows[part].memory.content for part in own) for own in self._picked(number)]

    def block(self, number: int, new_id: Callable[[], str]) -> tuple[list[Prepared], list[bytes]]:
        picked = self._picked(number)
        vectors = unit_rows(np.stack([self.vectors[own].mean(axis=0) for own in picked]))
        rows = []
        for at, own in enumerate(picked, start=number * BLOCK):
            parts = [self.rows[part] for part in own]
            rows.append(joined(parts, id=new_id(), at=at, project=f"p{at % PROJECTS}"))
        return rows, [to_blob(vector) for vector in vectors]

    def _picked(self, number: int) -> list[list[int]]:
        chance = Random(f"block {number}")
        return [chance.sample(range(len(self.rows)), chance.choice((2, 2, 2, 3))) for _ in range(BLOCK)]

    def check(self, count: int = 200) -> float:
        """The share of whole texts of which `prepare` keeps the same words and gist as the sum of the parts."""
        rows = self.block(0, lambda: "0" * 26)[0][:count]
        whole = [prepared(row.memory.content) for row in rows]
        same = [(a.body, a.gist) == (b.body, b.gist) for a, b in zip(rows, whole, strict=True)]
        return sum(same) / count


def joined(parts: Sequence[Prepared], *, id: str, at: int, project: str | None) -> Prepared:
    """What is kept of a text that is made of these parts."""
    text = " ".join(part.memory.content for part in parts)
    annotations = Annotations(*(
        tuple(dict.fromkeys(value for part in parts for value in getattr(part.memory.annotations, name)))
        for name in Annotations.__struct_fields__
    ))  # fmt: skip
    citations = tuple(dict.fromkeys(citation for part in parts for citation in part.memory.citations))
    body = [word for part in parts for word in part.body]
    created = _START + at * _MINUTE_MS
    memory = replace(
        parts[0].memory, id=id, content=text, project=project, created=created, updated=created,
        content_hash=content_hash(text), annotations=annotations, tags=annotations.tags, citations=citations,
    )  # fmt: skip
    return Prepared(
        memory, None, head=[word for part in parts for word in part.head], body=body, gist=gist(text, body),
        tokens=estimate_tokens(text), labels=tuple(dict.fromkeys(labels(annotations, citations))),
    )  # fmt: skip


def _encoded(texts: Sequence[str], encoder: str) -> Vectors:
    """A real model takes minutes: what it gave is kept beside other temporary files."""
    opened = open_encoder(encoder)
    assert opened is not None
    if encoder == ENCODER:
        return opened.encode_documents(texts)
    digest = sha256("\0".join([str(opened.key), *texts]).encode()).hexdigest()[:16]
    kept = Path(tempfile.gettempdir()) / f"recallens-parts-{digest}.npy"
    if not kept.exists():
        vectors = [opened.encode_documents(texts[start : start + 256]) for start in range(0, len(texts), 256)]
        np.save(kept, np.concatenate(vectors))
    found: Vectors = np.load(kept)
    return found


def prepared(text: str) -> Prepared:
    return prepare(Draft(text), id="", namespace="default", now=_START)


def grow(store: Path | str, size: int, parts: Parts) -> None:
    """Blocks are added until the store holds this many memories; a block that was begun and not ended is not there."""
    with Engine.open(store, encoder=parts.encoder) as engine:
        core = engine.core
        with core.store.read("default") as reader:
            held = len(reader.memories.numbers())
        for number in range(held // BLOCK, size // BLOCK):
            started = time.perf_counter()
            rows, vectors = parts.block(number, core.new_id)
            with core.making("default", texts=True) as tx:
                nums = tx.memories.insert(rows)
                assert core.encoding.key is not None
                tx.vectors.put(core.encoding.key, [(num, 0, blob) for num, blob in zip(nums, vectors, strict=True)])
            spent = time.perf_counter() - started
            if (number + 1) % 20 == 0:
                print(f"{(number + 1) * BLOCK:>9,} of {size:,}, {BLOCK / spent:,.0f} a second", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store")
    parser.add_argument("size", type=int)
    parser.add_argument("--encoder", default=ENCODER)
    chosen = parser.parse_args()
    parts = Parts(encoder=chosen.encoder)
    print(f"{len(parts.rows):,} parts; {parts.check():.0%} of texts are the sum of theirs", flush=True)
    grow(chosen.store, chosen.size, parts)


if __name__ == "__main__":
    main()
