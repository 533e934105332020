"""The inverted index, in arrays. A segment covers a run of rows and never changes; small ones are merged in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from recallens.model.verdict import BoolArray, IntArray
from recallens.store.records import LexicalEntry

Terms = NDArray[np.uint32]
Counts = NDArray[np.uint16]
Places = NDArray[np.int32]

_MOST = np.iinfo(np.uint16).max


class Postings(Struct, frozen=True, eq=False):
    """The rows that hold one term, and how often."""

    rows: Places
    counts: Counts


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """`forward` holds each row's terms in text order; the other arrays are that, turned around.

    `memo` keeps what was once worked out of its rows: they never change.
    """

    first: int
    offsets: IntArray
    forward: Terms
    terms: Terms
    starts: IntArray
    rows: Places
    counts: Counts
    memo: dict[str, BoolArray] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def postings(self, term: int) -> Postings | None:
        # As one of their own kind: for any other number all the terms would be converted first. None is below 0.
        at = int(self.terms.searchsorted(np.uint32(term))) if term >= 0 else len(self.terms)
        if at == len(self.terms) or self.terms[at] != term:
            return None
        span = slice(int(self.starts[at]), int(self.starts[at + 1]))
        return Postings(self.rows[span], self.counts[span])

    def sequence(self, row: int) -> Terms:
        at = row - self.first
        return self.forward[int(self.offsets[at]) : int(self.offsets[at + 1])]


def build(first: int, offsets: IntArray, forward: Terms) -> Segment:
    """Turn sequences around: sort (term, row) pairs once, and count the runs."""
    lengths = np.diff(offsets)
    owner = np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths)
    pairs = (forward.astype(np.uint64) << np.uint64(32)) | owner
    pairs.sort()
    starts_of_pairs = _starts_of_runs(pairs)
    counts = np.diff(starts_of_pairs, append=len(pairs))
    unique = pairs[starts_of_pairs]
    term_of_pair = (unique >> np.uint64(32)).astype(np.uint32)
    row_of_pair = (unique & np.uint64(0xFFFFFFFF)).astype(np.int32) + np.int32(first)
    firsts = _starts_of_runs(term_of_pair)
    return Segment(
        first, offsets, forward,
        terms=term_of_pair[firsts],
        starts=np.r_[firsts, len(unique)].astype(np.int64),
        rows=row_of_pair,
        counts=np.minimum(counts, _MOST).astype(np.uint16),
    )  # fmt: skip


def _starts_of_runs(values: NDArray[Any]) -> IntArray:
    return np.flatnonzero(np.r_[True, values[1:] != values[:-1]]) if len(values) else np.empty(0, dtype=np.int64)


def from_entries(first: int, nums: Sequence[int] | IntArray, entries: Sequence[LexicalEntry]) -> Segment:
    """A segment for these memories, in this order; one without an entry is an empty row."""
    known = {entry.num: entry for entry in entries}
    ordered = [known.get(int(num)) for num in nums]
    lengths = [len(entry.terms) // 4 if entry else 0 for entry in ordered]
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
    forward = np.frombuffer(b"".join(entry.terms for entry in ordered if entry), dtype=np.uint32)
    return build(first, offsets, forward)


def merge(segments: Sequence[Segment]) -> Segment:
    if len(segments) == 1:
        return segments[0]
    sizes = np.cumsum([0, *(len(s.forward) for s in segments)])
    offsets = np.concatenate([[0], *(s.offsets[1:] + base for s, base in zip(segments, sizes, strict=False))])
    return build(segments[0].first, offsets.astype(np.int64), np.concatenate([s.forward for s in segments]))


def with_segment(segments: tuple[Segment, ...], new: Segment) -> tuple[Segment, ...]:
    """Append, merging from the end while the last is at least half the one before: few segments, each row moved rarely.

    The first segment is the stored base, which only compaction merges.
    """
    stack = [*segments, new]
    while len(stack) > 2 and len(stack[-1].forward) * 2 >= len(stack[-2].forward):
        last, before = stack.pop(), stack.pop()
        stack.append(merge([before, last]))
    return tuple(stack)
