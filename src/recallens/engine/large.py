"""Namespaces that are too large to be held in memory: the database makes an index of their words and vectors, and what
it leaves out is measured before it answers."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np
from msgspec import Struct

from recallens.engine.core import Core
from recallens.errors import EncoderError, NotFound
from recallens.index.stored import LEAST_NEAREST
from recallens.index.vectors import to_blob
from recallens.store.candidates import CandidateReader, IndexStanding, looked_at
from recallens.store.protocols import Reader

# Questions that the index is measured with: the first words of memories all over the namespace, which are near to
# others without being any memory's own vector.
SAMPLED, ASKED_WORDS, COMPARED_TO = 40, 9, 10


class IndexedNamespace(Struct, frozen=True):
    """A namespace of the store, and its index if it has one."""

    name: str
    memories: int
    standing: IndexStanding | None


class LargeNamespaces:
    def __init__(self, core: Core) -> None:
        self._core = core

    def listed(self) -> list[IndexedNamespace]:
        """Every namespace with its index; one that is above the setting and has none is answered from memory."""
        with self._core.store.read_all() as whole:
            found = []
            for state, count in whole.namespaces():
                candidates = whole.at(state.name).candidates
                found.append(IndexedNamespace(state.name, count, candidates.standing if candidates else None))
        return found

    def due(self) -> list[str]:
        """Those that are above the setting, and whose index is not there, not ready, or of another encoder."""
        return [
            each.name
            for each in self.listed()
            if each.memories > self._core.settings.resident_memories
            and (
                each.standing is None or not each.standing.ready or each.standing.encoders != self._encoders(each.name)
            )
        ]

    def index(self, namespace: str, progress: Callable[[int], None] = lambda done: None) -> IndexStanding:
        """Make the index of a namespace, or go on where somebody stopped, and measure it. From then on it answers, if
        the namespace is above the setting."""
        self._core.refuse_read_only()
        with self._core.reading(namespace) as reader:
            name = reader.name
        for count in self._core.store.index(name, self._encoders(name)):
            progress(count)
        return self.measure(name)

    def drop(self, namespace: str) -> None:
        """The processes hold the namespace in memory again."""
        self._core.refuse_read_only()
        with self._core.reading(namespace) as reader:
            name = reader.name
        self._core.store.drop_index(name)

    def measure(self, namespace: str) -> IndexStanding:
        """Compare the index with an exact look at every vector, and keep what share it finds."""
        with self._core.reading(namespace) as reader:
            candidates = reader.candidates
            if candidates is None:
                raise NotFound(f"namespace {namespace!r} has no index", hint="`recallens store index` makes one.")
            count = reader.statistics()["totals"]["memories"]
            shares = self._shares(reader, candidates)
        recall = float(np.mean(shares)) if shares else None
        with self._core.changing(namespace) as tx:
            kept = tx.candidates
            if kept is None:
                raise NotFound(f"the index of {namespace!r} went while it was measured", hint="Make it again.")
            kept.put_measure(count, recall, len(shares), self._core.clock())
        with self._core.reading(namespace) as reader:
            assert reader.candidates is not None
            return reader.candidates.standing

    def _shares(self, reader: Reader, candidates: CandidateReader) -> list[float]:
        encoding = self._core.encoding
        if encoding.key is None or encoding.key not in candidates.standing.encoders:
            return []
        try:
            encoder = encoding.available()
        except EncoderError:
            return []
        nums, shares = reader.memories.numbers(), []
        for memory in reader.memories.get(nums[:: max(1, len(nums) // SAMPLED)][:SAMPLED]).values():
            asked = to_blob(np.asarray(encoder.encode_query(" ".join(memory.content.split()[:ASKED_WORDS]))))
            exact = _first(candidates.nearest(encoding.key, asked, exactly=True), COMPARED_TO)
            # A recall weighs so many exactly: what is among them is in its place.
            weighed = _first(candidates.nearest(encoding.key, asked), LEAST_NEAREST, looked_at(len(nums)))
            if exact:
                shares.append(len(exact & weighed) / len(exact))
        return shares

    def _encoders(self, namespace: str) -> tuple[str, ...]:
        with self._core.read(namespace) as reader:
            second = reader.state.second if reader.state is not None else None
        return tuple(key for key in (self._core.encoding.key, second) if key is not None)


def _first(nearest: Generator[tuple[int, float]], count: int, depth: int = 0) -> set[int]:
    """The nearest distinct memories of the first so many that come, or of as many as it takes."""
    found: dict[int, float] = {}
    for seen, (num, distance) in enumerate(nearest, start=1):
        found[num] = min(distance, found.get(num, distance))
        if len(found) >= count and seen >= depth:
            break
    nearest.close()
    return set(sorted(found, key=found.__getitem__)[:count])
