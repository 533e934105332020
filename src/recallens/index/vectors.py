"""The semantic view: exact while small, then a 4-bit scan whose head is scored again exactly.

A row's score is always computed from its stored half-precision vector by one formula in double precision, so it is
the same number whether the row came from the scan, from the tail or from a filter's second look. A row whose text was
encoded in several parts, as a whole and by its sentences, has the score of the best one.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from recallens.index.columns import Columns
from recallens.index.images import DamagedIndex, checksum
from recallens.index.views import Proposals, best, distinct
from recallens.model.verdict import BoolArray, FloatArray, IntArray, everywhere, places

Half = NDArray[np.float16]
Single = NDArray[np.float32]

VECTOR_DTYPE = np.dtype("<f2")
# Up to here a full product takes about as long as a quantised scan, and is exact.
EXACT_ROWS = 8_192
SCAN_BITS = 4
# Rows that share a checksum: the head of a scan is read from some 200 blocks, 10 MB at 384 dimensions.
BLOCK_ROWS = 64
# Rows scored again after a scan; at 100,000 rows the true first ten were always among the first 200.
SCAN_DEPTH = 200
# Single precision orders rows up to rounding: a few more than asked for are scored again before the cut.
EXACT_SLACK = 16


def to_blob(vector: NDArray[Any]) -> bytes:
    return vector.astype(VECTOR_DTYPE).tobytes()


def to_single(vectors: Half) -> Single:
    """The same numbers, all of them finite, in single precision; numpy takes three times as long, number by number.

    The bits of a half, moved to where those of a single are, make one whose exponent is too small by 112.
    """
    bits = vectors.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= ~0x70000000  # copies of the sign, which is already in its place
    single = bits.view(np.float32)
    single *= _EXPONENTS
    return single


_EXPONENTS = np.float32(2.0**112)


class VectorIndex(Struct, frozen=True, eq=False):
    """`base` is stored with its scan, `tail` came since; `where` is each row's place in base then tail, or -1.

    The parts of a row lie side by side.
    """

    base: Half
    base_rows: NDArray[np.int32]
    tail: Half
    tail_rows: NDArray[np.int32]
    where: NDArray[np.int32]
    scan: Any
    base_single: Single | None  # not kept beside a scan
    tail_single: Single
    sums: NDArray[np.uint64] | None = None  # of the blocks of a base that is mapped from a file
    sound: BoolArray | None = None  # blocks of it that were found to be as they were written
    parts: NDArray[np.int32] | None = None  # how many vectors each row has; None where none has more than one

    @staticmethod
    def empty(dimension: int) -> VectorIndex:
        return VectorIndex.of(np.empty((0, dimension), dtype=VECTOR_DTYPE), np.empty(0, dtype=np.int32), 0, None)

    @staticmethod
    def of(
        base: Half, base_rows: NDArray[np.int32], size: int, scan: Any, sums: NDArray[np.uint64] | None = None
    ) -> VectorIndex:
        """`sums` are the checksums of a base that is mapped from a file: a block is checked when it is first used."""
        sound = None if sums is None else np.zeros(len(sums), dtype=np.bool_)
        where, parts = np.full(size, -1, dtype=np.int32), None
        begins, counts = _runs(base_rows)
        where[base_rows[begins]] = begins
        if counts is not None:
            parts = np.ones(size, dtype=np.int32)
            parts[base_rows[begins]] = counts
        none, single = base[:0], to_single(base) if scan is None else None
        return VectorIndex(
            base, base_rows, none, base_rows[:0], where, scan, single, none.astype(np.float32), sums, sound, parts
        )

    def __len__(self) -> int:
        return len(self.base_rows) + len(self.tail_rows)

    def with_rows(self, rows: IntArray, vectors: Half, size: int) -> VectorIndex:
        """A row with several parts is named once for each, one after the other."""
        where = np.full(size, -1, dtype=np.int32)
        where[: len(self.where)] = self.where
        begins, counts = _runs(rows)
        where[rows[begins]] = len(self) + begins
        parts = None
        if self.parts is not None or counts is not None:
            parts = np.ones(size, dtype=np.int32)
            if self.parts is not None:
                parts[: len(self.parts)] = self.parts
            parts[rows[begins]] = 1 if counts is None else counts
        return structs.replace(
            self,
            parts=parts,
            tail=np.concatenate([self.tail, vectors]),
            tail_rows=np.concatenate([self.tail_rows, rows.astype(np.int32)]),
            where=where,
            tail_single=np.concatenate([self.tail_single, to_single(vectors)]),
        )

    def dropped(self, gone: BoolArray) -> VectorIndex:
        """Without the vectors of rows that are gone."""
        where = self.where.copy()
        where[: len(gone)][gone] = -1
        return structs.replace(self, where=where)

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes; what is mapped from a file counts, since it is read."""
        arrays = (self.base, self.base_rows, self.tail, self.tail_rows, self.where, self.base_single, self.tail_single)
        scan = self.base.size * SCAN_BITS // 8 if self.scan is not None else 0
        return scan + sum(array.nbytes for array in arrays if array is not None)

    @property
    def outdated(self) -> bool:
        """Whether it holds vectors that are no row's."""
        held = self.where >= 0
        return int(held.sum() if self.parts is None else self.parts[: len(held)][held].sum()) < len(self)

    def compacted(self, size: int) -> VectorIndex:
        """Everything that is still some row's vector, in the order of rows, with a scan where that pays."""
        rows = places(self.where[:size] >= 0).astype(np.int32)
        own, counts = self.of_rows(rows)
        base = self.gather(own)
        rows = rows if counts is None else rows.repeat(counts)
        return VectorIndex.of(base, rows, size, build_scan(base))

    def of_rows(self, rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
        """The places of the vectors of rows that have one, and how many each row has; None where that is one."""
        first: NDArray[Any] = self.where[rows]
        if self.parts is None:
            return first, None
        counts: NDArray[np.int32] = self.parts[rows]
        begins = np.cumsum(counts) - counts
        return (first - begins).repeat(counts) + np.arange(int(counts.sum())), counts

    def gather(self, places: NDArray[Any]) -> Half:
        if not len(self.tail_rows):
            self._check(places)
            halves: Half = self.base[places]
            return halves
        vectors = np.empty((len(places), self.base.shape[1]), dtype=VECTOR_DTYPE)
        in_base = places < len(self.base_rows)
        self._check(places[in_base])
        vectors[in_base] = self.base[places[in_base]]
        vectors[~in_base] = self.tail[places[~in_base] - len(self.base_rows)]
        return vectors

    def _check(self, places: NDArray[Any]) -> None:
        """Blocks that are read for the first time must be as they were written."""
        if self.sound is None or self.sums is None or self.sound[blocks := places // BLOCK_ROWS].all():
            return
        fresh = distinct(blocks[~self.sound[blocks]])
        if not np.array_equal(block_sums(self.base, fresh), self.sums[fresh]):
            raise DamagedIndex
        self.sound[fresh] = True

    def has(self, rows: IntArray) -> BoolArray:
        """Which of the rows have a vector."""
        held: BoolArray = self.where[rows] >= 0
        return held

    def bind(self, columns: Columns, query: Single, handicap: float) -> BoundSemantic:
        """Asked one question; `handicap` is what every part but the first counts less."""
        return BoundSemantic(self, columns, query, handicap)

    def single(self, rows: IntArray) -> Single:
        """The first vector of each row that has one, in single precision."""
        return to_single(self.gather(self.where[rows]))


def _runs(rows: NDArray[Any]) -> tuple[IntArray, IntArray | None]:
    """Where each row begins, and how many vectors it has there; None where each has one."""
    begins = places(np.r_[True, rows[1:] != rows[:-1]]) if len(rows) else np.empty(0, dtype=np.int64)
    return begins, None if len(begins) == len(rows) else np.diff(np.r_[begins, len(rows)])


def block_sums(vectors: Half, blocks: IntArray | None = None) -> NDArray[np.uint64]:
    """The checksum of each block of rows, or of those blocks that are named."""
    count = -(-len(vectors) // BLOCK_ROWS)
    each = range(count) if blocks is None else blocks.tolist()
    sums = [checksum(vectors[block * BLOCK_ROWS : (block + 1) * BLOCK_ROWS]) for block in each]
    return np.array(sums, dtype=np.uint64)


@cache
def has_scans() -> bool:
    """Whether there is a quantised scan on this machine; without one every search is a full product."""
    return find_spec("turbovec") is not None


def build_scan(vectors: Half) -> Any:
    """None where a full product does: it is exact, and takes twice the memory and at 100,000 rows some 20 ms more."""
    if len(vectors) <= EXACT_ROWS or not has_scans():
        return None
    import turbovec

    scan = turbovec.TurboQuantIndex(dim=vectors.shape[1], bit_width=SCAN_BITS)
    step = 16_384
    for start in range(0, len(vectors), step):
        scan.add(to_single(vectors[start : start + step]))
    return scan


class BoundSemantic:
    """The query's vector against one version of the vectors."""

    name = "semantic"

    def __init__(self, index: VectorIndex, columns: Columns, query: Single, handicap: float = 0.0) -> None:
        """`handicap` is what every part but the first counts less."""
        self._index = index
        self._handicap = handicap
        self._columns = columns
        self._query = query.astype(np.float32)
        self._double = self._query.astype(np.float64)
        self._head: IntArray | None = None
        self._weighed: tuple[IntArray, FloatArray] | None = None  # rows in order, with the score that each has
        self._read: tuple[IntArray, Single] | None = None  # those of them that have a vector, with it
        self._late: tuple[dict[int, int], Single] = {}, index.base[:0].astype(np.float32)  # read since, by row

    def propose(self, k: int, mask: BoolArray | None = None, beside: IntArray | None = None) -> Proposals:
        """What others proposed is weighed in the same pass."""
        index = self._index
        if not len(index):
            return Proposals.none()
        allowed = self._columns["alive"] if mask is None else mask & self._columns["alive"]
        rows = self._candidates(k, allowed, masked=mask is not None)
        weighed = rows if beside is None or not len(beside) else _distinct(rows, beside)
        scores, self._read = self._weigh(weighed)
        self._weighed = weighed, scores
        chosen = best(self._columns, rows, scores if weighed is rows else scores[weighed.searchsorted(rows)], k)
        more = len(rows) > k or int((allowed[: len(index.where)] & (index.where >= 0)).sum()) > k
        return Proposals(chosen, self.score(chosen), more)

    def score(self, rows: IntArray) -> FloatArray:
        """What was weighed for the proposals, most of a pool, is not weighed again."""
        if self._weighed is None or not len(self._weighed[0]):
            return self._weigh(rows)[0]
        known, weights = self._weighed
        at = np.minimum(known.searchsorted(rows), len(known) - 1)
        scores = weights[at]
        fresh = places(known[at] != rows)
        if len(fresh):
            scores[fresh], (late, vectors) = self._weigh(rows[fresh])
            self._late = dict(zip(late.tolist(), range(len(late)), strict=True)), vectors
        return scores

    def best_parts(self, rows: IntArray) -> IntArray:
        """Which part of each row has its score, from 0; of those that are equal the first, and -1 without a vector."""
        nearest = np.where(self._index.where[rows] >= 0, 0, -1)
        if self._index.parts is None:
            return nearest
        several = places((nearest == 0) & (self._index.parts[rows] > 1))
        own, counts = self._index.of_rows(rows[several])
        if counts is None or not len(several):
            return nearest
        begins = np.cumsum(counts) - counts
        scores = self._handicapped(
            (to_single(self._index.gather(own)).astype(np.float64) * self._double).sum(1), begins
        )
        nearest[several] = [int(each.argmax()) for each in np.split(scores, begins[1:])]
        return nearest

    def _handicapped(self, scores: FloatArray, begins: IntArray) -> FloatArray:
        """The scores of parts, of which each row's first is at its beginning."""
        if self._handicap:
            whole = scores[begins]
            scores = scores - self._handicap
            scores[begins] = whole
        return scores

    def vectors(self, rows: IntArray) -> Single:
        """The vectors of rows that have one. Most were read for the proposals, and are at hand."""
        if self._read is None or not len(self._read[0]):
            return self._index.single(rows)
        known, vectors = self._read
        at = np.minimum(known.searchsorted(rows), len(known) - 1)
        chosen: Single = vectors[at]
        fresh = places(known[at] != rows)
        if len(fresh):
            place, late = self._late
            at_hand = [place.get(row, -1) for row in rows[fresh].tolist()]
            chosen[fresh] = self._index.single(rows[fresh]) if -1 in at_hand else late[at_hand]
        return chosen

    def _weigh(self, rows: IntArray) -> tuple[FloatArray, tuple[IntArray, Single]]:
        """The score of each row, NaN without a vector; and the rows that have one, with it."""
        has = self._index.where[rows] >= 0
        known = rows if everywhere(has) else rows[has]
        own, counts = self._index.of_rows(known)
        vectors = to_single(self._index.gather(own))
        products = vectors.astype(np.float64)
        products *= self._double
        total: FloatArray = np.add.reduce(products, axis=1)
        if counts is not None and len(known):
            begins = np.cumsum(counts) - counts
            total, vectors = np.maximum.reduceat(self._handicapped(total, begins), begins), vectors[begins]
        if len(known) == len(rows):
            return total, (known, vectors)
        scores = np.full(len(rows), np.nan)
        scores[has] = total
        return scores, (known, vectors)

    def _candidates(self, k: int, allowed: BoolArray, *, masked: bool) -> IntArray:
        """Rows that are sure to hold the k best; the scan's first head serves a filter too if enough of it passes."""
        index = self._index
        tail = self._exact(index.tail_rows, index.tail_single, k, allowed)
        if index.scan is None:
            return _distinct(self._exact(index.base_rows, index.base_single, k, allowed), tail)
        if masked and self._head is not None:
            passing = self._head[allowed[self._head]]
            if len(passing) >= k:
                return _distinct(passing, tail)
        depth = max(SCAN_DEPTH, 2 * k) * -(-len(index) // max(int((index.where >= 0).sum()), 1))
        mask = None if allowed.all() else np.ascontiguousarray(allowed[index.base_rows])
        count = min(depth, len(index.base_rows) if mask is None else int(mask.sum()))
        if not count:
            return distinct(tail)
        _, places = index.scan.search(self._query[None], count, mask=mask)
        head = index.base_rows[places[0]].astype(np.int64)
        if not masked:
            self._head = head
        return _distinct(head, tail)

    def _exact(self, rows: NDArray[np.int32], vectors: Single | None, k: int, allowed: BoolArray) -> IntArray:
        if vectors is None or not len(rows):
            return np.empty(0, dtype=np.int64)
        eligible = places(allowed[rows])
        wanted = k + EXACT_SLACK
        if len(eligible) <= wanted:
            return rows[eligible].astype(np.int64)
        # Not `@`: its library wakes a thread for each core, which then spin for ten times as long as this takes.
        scores = np.vecdot(vectors, self._query)[eligible]
        if self._index.parts is not None:  # the best part of each row; what was written again lies there twice
            begins, _ = _runs(rows[eligible])
            scores, eligible = np.maximum.reduceat(self._handicapped(scores, begins), begins), eligible[begins]
            if len(eligible) <= wanted:
                return rows[eligible].astype(np.int64)
        return rows[eligible[np.argpartition(-scores, wanted)[:wanted]]].astype(np.int64)


def _distinct(base: IntArray, tail: IntArray) -> IntArray:
    """A row whose vector was written again lies in both."""
    return distinct(np.concatenate([base, tail]))
