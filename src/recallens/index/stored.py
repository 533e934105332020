"""The words and vectors of a namespace that is too large to be held here: the database proposes, and what a question
needs of a row is read when it is asked for. Every score is computed by the formulas that a resident index uses, of the
same stored numbers, so that a row has the same score whoever proposed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, islice
from operator import itemgetter

import numpy as np

from recallens.index.columns import Columns
from recallens.index.segments import Postings, Terms
from recallens.index.vectors import VECTOR_DTYPE, BoundSemantic, Single, VectorIndex, to_blob
from recallens.index.views import Proposals, distinct
from recallens.model.verdict import BoolArray, FloatArray, IntArray, places
from recallens.store.candidates import BLOCK_BITS, Block, CandidateReader, beginning, looked_at
from recallens.store.protocols import Reader

_ENTRY = np.dtype([("low", "<u2"), ("count", "<u2")])
# Rows beyond those that are asked for: the graph may give two that are nearly alike in the wrong order.
NEAREST_SLACK = 3
LEAST_NEAREST = 200
# Of so few rows that a filter leaves each is compared; where more are left, the graph finds enough of them.
COMPARED_ROWS = 5_000


class StoredWords:
    """In the place of a segment that covers every row. What was read once is kept for the time of one recall."""

    first = 0

    def __init__(self, reader: Reader, candidates: CandidateReader, columns: Columns) -> None:
        self._reader, self._candidates, self._columns = reader, candidates, columns
        self._postings: dict[int, Postings | None] = {}
        self._texts: dict[int, Terms] = {}

    def __len__(self) -> int:
        return self._columns.size

    def look_up(self, words: Sequence[int]) -> None:
        """Read the postings of words that will be asked for, in one statement."""
        missing = [word for word in dict.fromkeys(words) if word not in self._postings]
        if missing:
            self._postings.update(dict.fromkeys(missing))
            blocks = self._candidates.postings(missing)
            for word, own in groupby(blocks, key=itemgetter(0)):
                self._postings[word] = self._decoded(list(own))

    def _decoded(self, blocks: Sequence[Block]) -> Postings | None:
        entries = np.frombuffer(b"".join([entries for _, _, entries in blocks]), dtype=_ENTRY)
        sizes = [len(entries) // _ENTRY.itemsize for _, _, entries in blocks]
        high = np.repeat(np.array([block for _, block, _ in blocks], dtype=np.int64) << BLOCK_BITS, sizes)
        rows = self._columns.locate(high + entries["low"])
        known = rows >= 0
        rows, counts = rows[known], entries["count"][known].astype(np.uint16)
        if len(rows) > 1 and not (rows[1:] > rows[:-1]).all():  # what was written again stands behind what was not
            order = rows.argsort(kind="stable")
            rows, counts = rows[order], counts[order]
        return Postings(rows.astype(np.int32), counts) if len(rows) else None

    def postings(self, word: int) -> Postings | None:
        if word < 0:
            return None
        self.look_up([word])
        return self._postings[word]

    def begun(self, pairs: IntArray, most: int) -> IntArray:
        """The rows that begin with one of these pairs of words; those of a pair that more than so many share are not
        among them."""
        words = [beginning(pair >> 32, pair & 0xFFFFFFFF) for pair in pairs.tolist()]
        self.look_up(words)
        lists = [listed.rows for word in words if (listed := self._postings[word]) is not None]
        return np.concatenate([np.empty(0, dtype=np.int64), *(rows for rows in lists if len(rows) <= most)])

    def sequence(self, row: int) -> Terms:
        return self.texts(np.array([row]))[0]

    def texts(self, rows: IntArray) -> list[Terms]:
        """The words of rows, in text order."""
        missing = distinct(np.array([row for row in rows.tolist() if row not in self._texts], dtype=np.int64))
        if len(missing):
            self._texts.update(dict.fromkeys(missing.tolist(), np.empty(0, dtype=np.uint32)))
            nums = self._columns["num"][missing]
            order = nums.argsort()
            found = dict(zip(nums[order].tolist(), missing[order].tolist(), strict=True))
            for num, words in self._reader.terms.entries(nums[order].tolist()):
                self._texts[found[num]] = np.frombuffer(words, dtype=np.uint32)
        return [self._texts[row] for row in rows.tolist()]


class StoredVectors:
    """In the place of a resident index of vectors: those of the rows that a recall has asked for."""

    def __init__(
        self, reader: Reader, candidates: CandidateReader, columns: Columns, encoder: str, dimension: int
    ) -> None:
        self._reader, self.candidates, self._columns, self.encoder = reader, candidates, columns, encoder
        self._asked = np.zeros(columns.size, dtype=np.bool_)
        self.held = VectorIndex.empty(dimension).with_rows(
            np.empty(0, dtype=np.int64), np.empty((0, dimension), dtype=VECTOR_DTYPE), columns.size
        )

    def __len__(self) -> int:
        return self.candidates.standing.memories

    def having(self, rows: IntArray) -> VectorIndex:
        """An index that holds what these rows have, beside what was asked for before."""
        fresh = distinct(rows[~self._asked[rows]])
        if len(fresh):
            self._asked[fresh] = True
            nums = self._columns["num"][fresh]
            found = self._reader.vectors.of(self.encoder, np.sort(nums).tolist())
            if found:
                own = self._columns.locate([num for num, _ in found])
                blobs = np.frombuffer(b"".join(blob for _, blob in found), dtype=VECTOR_DTYPE)
                self.held = self.held.with_rows(own, blobs.reshape(len(found), -1), self._columns.size)
        return self.held

    def has(self, rows: IntArray) -> BoolArray:
        held: BoolArray = self.having(rows).where[rows] >= 0
        return held

    def single(self, rows: IntArray) -> Single:
        return self.having(rows).single(rows)

    def bind(self, columns: Columns, query: Single, handicap: float) -> ProposedSemantic:
        return ProposedSemantic(self, columns, query, handicap)


class ProposedSemantic:
    """The query's vector against what the database holds: its graph proposes rows, which are then weighed exactly."""

    name = "semantic"

    def __init__(self, vectors: StoredVectors, columns: Columns, query: Single, handicap: float) -> None:
        self._vectors, self._columns = vectors, columns
        self._query, self._handicap = query, handicap
        self._blob = to_blob(query)

    def propose(self, k: int, mask: BoolArray | None = None, beside: IntArray | None = None) -> Proposals:
        allowed = self._columns["alive"] if mask is None else mask & self._columns["alive"]
        wanted = max(NEAREST_SLACK * k, LEAST_NEAREST)
        rows = self._nearest(allowed, wanted)
        asked = rows if beside is None else distinct(np.concatenate([rows, beside]))
        nearest = self._bound(asked).propose(k, allowed, beside)
        return Proposals(nearest.rows, nearest.raw, more=len(rows) > k)

    def _nearest(self, allowed: BoolArray, wanted: int) -> IntArray:
        candidates, encoder = self._vectors.candidates, self._vectors.encoder
        if np.count_nonzero(allowed) <= COMPARED_ROWS:
            nums = self._columns["num"][places(allowed)].tolist()
            return distinct(self._columns.locate(candidates.nearest_among(encoder, self._blob, nums, 2 * wanted)))
        found: dict[int, float] = {}
        depth, seen = looked_at(candidates.standing.memories), 0
        nearest = candidates.nearest(encoder, self._blob)
        while (len(found) < wanted or seen < depth) and (some := list(islice(nearest, max(wanted, depth - seen)))):
            seen += len(some)
            rows = self._columns.locate([num for num, _ in some])
            passing = (rows >= 0) & allowed[rows]
            for row, (_, distance), passes in zip(rows.tolist(), some, passing.tolist(), strict=True):
                if passes:
                    found[row] = min(distance, found.get(row, distance))
        nearest.close()
        return np.array(sorted(sorted(found, key=found.__getitem__)[: 2 * wanted]), dtype=np.int64)

    def _bound(self, rows: IntArray) -> BoundSemantic:
        return BoundSemantic(self._vectors.having(rows), self._columns, self._query, self._handicap)

    def score(self, rows: IntArray) -> FloatArray:
        return self._bound(rows).score(rows)

    def best_parts(self, rows: IntArray) -> IntArray:
        return self._bound(rows).best_parts(rows)

    def vectors(self, rows: IntArray) -> Single:
        return self._bound(rows).vectors(rows)

    def nearer(self, score: float) -> int:
        return self._vectors.candidates.nearer(self._vectors.encoder, self._blob, score)
