"""Which texts have nearly the same fingerprint, found without comparing with every one.

64 bits are three bands. If two fingerprints differ in at most d = 3r + a bits (a < 3), they differ in at most r bits in
one of the first a + 1 bands, or in fewer than r in one of the others. So it is enough to look up the values near each
band's own, and to compare in full with the rows that have one of them.

Norouzi et al., 2012, "Fast Search in Hamming Space with Multi-Index Hashing", doi:10.1109/CVPR.2012.6248043.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from recallens.model.verdict import IntArray

Fingerprints = NDArray[np.uint64]
Distances = NDArray[np.uint8]

# Where each band begins, and its bits. At a million rows three bands leave 6,000 rows to compare with for a distance of
# 9, four 22,000 and five 41,000.
BANDS = ((0, 22), (22, 21), (43, 21))
# Bands are made once so many fingerprints were looked for, and of this many rows: below that it takes less time to
# compare with every row. As many may come after them before they are made anew.
WORTH_BANDS = 64
# Texts made after one pattern have nearly the same fingerprint, all of them. To pick so large a part of the rows by a
# band takes longer than to compare with each.
WORTHLESS_BAND = 20
LONGEST_TAIL = 131_072


def hamming(a: int, others: Fingerprints) -> Distances:
    """The distance from one fingerprint to each of many."""
    return np.bitwise_count(np.bitwise_xor(others, np.uint64(a)))


class Band:
    """The rows by the value that their fingerprints have in one band."""

    def __init__(self, values: IntArray, bits: int) -> None:
        counts = np.bincount(values, minlength=1 << bits)
        self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        self._rows = np.argsort(values, kind="stable").astype(np.int32)

    def having(self, values: IntArray, most: int) -> NDArray[np.int32] | None:
        """The rows that have one of these values, in any order; None where they are more than so many."""
        starts, ends = self._starts[values], self._starts[values + 1]
        held = np.flatnonzero(ends > starts)
        starts, counts = starts[held], ends[held] - starts[held]
        if counts.sum() > most:
            return None
        before = np.cumsum(counts) - counts
        rows: NDArray[np.int32] = self._rows[np.arange(counts.sum()) + np.repeat(starts - before, counts)]
        return rows


class FingerprintIndex:
    """The bands of the first `held` rows of a namespace, if they were made; later rows are compared with one by one.

    Versions of the columns hand it on, since a row's fingerprint stays; where one was changed, they begin with none.
    """

    def __init__(self, held: int = 0, bands: tuple[Band, ...] = (), asked: int = 0) -> None:
        self._held = held
        self._bands = bands
        self._asked = asked

    def kept_up(self, known: Fingerprints) -> FingerprintIndex:
        """This index, or one whose bands hold these rows too."""
        self._asked += 1
        if self._asked < WORTH_BANDS or len(known) - self._held <= LONGEST_TAIL:
            return self
        bands = [
            Band((known >> np.uint64(at) & np.uint64((1 << bits) - 1)).astype(np.int64), bits) for at, bits in BANDS
        ]
        return FingerprintIndex(len(known), tuple(bands), self._asked)

    def near(self, fingerprint: int, known: Fingerprints, distance: int) -> tuple[IntArray, Distances]:
        """The rows within this distance, in their order, and the distance of each."""
        candidates = self._candidates(fingerprint, distance)
        distances = hamming(fingerprint, known if candidates is None else known[self._held :])
        rows = np.flatnonzero(distances <= distance)
        if candidates is None:
            return rows, distances[rows]
        close = candidates[hamming(fingerprint, known[candidates]) <= distance]
        rows = np.unique(np.concatenate([close, rows + self._held]))  # one may be close in several bands
        return rows, hamming(fingerprint, known[rows])

    def _candidates(self, fingerprint: int, distance: int) -> NDArray[np.int32] | None:
        """What the bands leave to compare with; None where that is no less work than every row."""
        if not self._bands:
            return None
        most, found = self._held // WORTHLESS_BAND, []
        for band, values in zip(self._bands, _values(fingerprint, distance), strict=True):
            rows = band.having(values, most)
            if rows is None:
                return None
            found.append(rows)
        return np.concatenate(found)


def _values(fingerprint: int, distance: int) -> Iterator[IntArray]:
    """For each band, the values that are near enough to the fingerprint's own."""
    radius, rest = divmod(distance, len(BANDS))
    for place, (at, bits) in enumerate(BANDS):
        own = fingerprint >> at & ((1 << bits) - 1)
        yield own ^ _differences(bits, radius if place <= rest else radius - 1)


@cache
def _differences(bits: int, radius: int) -> IntArray:
    """Every value of so many bits of which at most `radius` are set."""
    chosen = [places for count in range(radius + 1) for places in combinations(range(bits), count)]
    return np.array([sum(1 << place for place in places) for places in chosen], dtype=np.int64)
