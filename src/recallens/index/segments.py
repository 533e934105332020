"""The inverted index, in arrays. A segment covers a run of rows and never changes; small ones are merged in time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from recallens.model.verdict import BoolArray, IntArray
from recallens.store.records import LexicalEntry

Terms = NDArray[np.uint32]
# 16 and 32 bits; fewer only while runs are joined.
Counts = NDArray[np.unsignedinteger[Any]]
Places = NDArray[np.integer[Any]]

_MOST, _FEW = np.iinfo(np.uint16).max, np.iinfo(np.uint8).max
# Rows that are put in order at once: of these, what is ordered lies in the processor's own memory.
RUN_ROWS = 1 << 13
# Terms that a run can number in 16 bits, and up to which there is a table of them all.
FEW_TERMS, MOST_TERMS = 1 << 16, 1 << 26
# Postings that are moved at once.
LONGEST_MOVE = 1 << 22


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
    memo: dict[str, NDArray[Any]] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def postings(self, term: int) -> Postings | None:
        # As one of their own kind: for any other number all the terms would be converted first. None is below 0.
        at = int(self.terms.searchsorted(np.uint32(term))) if term >= 0 else len(self.terms)
        if at == len(self.terms) or self.terms[at] != term:
            return None
        span = slice(int(self.starts[at]), int(self.starts[at + 1]))
        rows, counts = self.rows[span], self.counts[span]
        if not counts.min():  # what was erased from a stored segment has a count of 0
            rows, counts = rows[counts > 0], counts[counts > 0]
        return Postings(rows, counts) if len(rows) else None

    def sequence(self, row: int) -> Terms:
        at = row - self.first
        return self.forward[int(self.offsets[at]) : int(self.offsets[at + 1])]


def build(first: int, offsets: IntArray, forward: Terms) -> Segment:
    """Turn sequences around. Many are turned in runs, whose terms are numbered anew: so few are put in order by their
    digits, in half the time that sorting takes."""
    size, known = len(offsets) - 1, int(forward.max(initial=0)) + 1
    if size <= RUN_ROWS or known > MOST_TERMS:
        return _turned(first, offsets, forward)
    # One block for all runs, and not some hundred of a megabyte, which a process would never give back. Within a run
    # few bits are enough: while runs are joined, all postings are there twice.
    rows, counts, held = np.empty(len(forward), dtype=np.uint16), np.empty(len(forward), dtype=np.uint8), 0
    runs = []
    for a, b in pairwise([*range(0, size, RUN_ROWS), size]):
        own = forward[offsets[a] : offsets[b]]
        run = _numbered(offsets[a : b + 1] - offsets[a], own, known)
        place = slice(held, held + len(run.rows))
        rows[place], counts[place] = run.rows, run.counts
        often = run.counts.max(initial=0) > _FEW
        runs.append(replace(run, first=first + a, rows=rows[place], counts=run.counts if often else counts[place]))
        held = place.stop
    return _joined(offsets, forward, runs, within=True)


def _numbered(offsets: IntArray, forward: Terms, known: int) -> Segment:
    """The same as `_turned` from row 0 on, by the places that the terms below `known` have among those of this run."""
    held = np.zeros(known, dtype=np.bool_)
    held[forward] = True
    terms = np.flatnonzero(held)
    if len(terms) > FEW_TERMS:
        return _turned(0, offsets, forward)
    numbers = np.empty(known, dtype=np.uint16)
    numbers[terms] = np.arange(len(terms), dtype=np.uint16)
    own = numbers[forward]
    rows = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint16), np.diff(offsets))
    rows = rows[own.argsort(kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(own))])
    begins = np.ones(len(rows), dtype=np.bool_)  # a pair of a term and a row
    np.not_equal(rows[1:], rows[:-1], out=begins[1:])
    begins[starts[:-1]] = True
    pairs = np.flatnonzero(begins)
    counts = np.minimum(np.diff(pairs, append=len(rows)), _MOST).astype(np.uint16)
    return Segment(0, offsets, forward, terms.astype(np.uint32), pairs.searchsorted(starts), rows[pairs], counts)


def _turned(first: int, offsets: IntArray, forward: Terms) -> Segment:
    """Sort (term, row) pairs once, and count the runs."""
    lengths = np.diff(offsets)
    pairs = forward.astype(np.uint64) << np.uint64(32)
    pairs |= np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths)
    pairs.sort()
    starts_of_pairs = _starts_of_runs(pairs)
    counts = np.diff(starts_of_pairs, append=len(pairs))
    unique = pairs[starts_of_pairs]
    term_of_pair = (unique >> np.uint64(32)).astype(np.uint32)
    row_of_pair = unique.astype(np.uint32).astype(np.int32) + np.int32(first)
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


def from_entries(
    first: int, nums: Sequence[int] | IntArray, entries: Iterable[Sequence[LexicalEntry]], words: int = 0
) -> Segment:
    """A segment for these memories, whose numbers rise; one without an entry is an empty row.

    Entries come in some parts. `words` is how many they hold in all: they then go straight to where they stay.
    """
    lengths, forward, held = np.zeros(len(nums) + 1, dtype=np.int64), np.empty(words, dtype=np.uint32), 0
    for part in entries:
        lengths[1 + np.searchsorted(nums, [num for num, _ in part])] = [len(terms) // 4 for _, terms in part]
        more = np.frombuffer(b"".join([terms for _, terms in part]), dtype=np.uint32)
        if held + len(more) > len(forward):
            forward = np.concatenate([forward[:held], more])
        forward[held : held + len(more)] = more
        held += len(more)
    return build(first, np.cumsum(lengths), forward[:held])


def silenced(segment: Segment, rows: BoolArray) -> Segment:
    """The segment as if these of its rows had no words."""
    lengths = np.diff(segment.offsets)
    if not lengths[rows].any():
        return segment
    kept = segment.forward[~np.repeat(rows, lengths)]
    return build(segment.first, np.r_[0, np.where(rows, 0, lengths).cumsum()], kept)


def merge(segments: Sequence[Segment]) -> Segment:
    if len(segments) == 1:
        return segments[0]
    sizes = np.cumsum([0, *(len(s.forward) for s in segments)])
    offsets = np.concatenate([[0], *(s.offsets[1:] + base for s, base in zip(segments, sizes, strict=False))])
    return _joined(offsets.astype(np.int64), np.concatenate([s.forward for s in segments]), segments)


def _joined(offsets: IntArray, forward: Terms, runs: Sequence[Segment], *, within: bool = False) -> Segment:
    """One segment of several that follow each other: each term's rows, run by run, without sorting them again. `within`
    says that rows are counted from the first of their run."""
    terms = np.unique(np.concatenate([run.terms for run in runs]))
    where = [terms.searchsorted(run.terms) for run in runs]
    sizes = np.zeros(len(terms), dtype=np.int64)
    for run, at in zip(runs, where, strict=True):
        sizes[at] += np.diff(run.starts)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows, counts = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1], dtype=np.uint16)
    following = starts[:-1].copy()
    for run, at in zip(runs, where, strict=True):
        lengths = np.diff(run.starts)
        # From each posting's place in the run to its place among all; in pieces, for it takes more room than they do.
        edges = np.unique(np.searchsorted(run.starts, np.arange(0, len(run.rows), LONGEST_MOVE)))
        for a, b in pairwise([*edges.tolist(), len(run.terms)]):
            span = slice(int(run.starts[a]), int(run.starts[b]))
            place = np.arange(span.start, span.stop) + np.repeat(following[at[a:b]] - run.starts[a:b], lengths[a:b])
            counts[place] = run.counts[span]
            rows[place] = run.rows[span] if not within else run.rows[span].astype(np.int32) + np.int32(run.first)
        following[at] += lengths
    return Segment(runs[0].first, offsets, forward, terms, starts, rows, counts)


def with_segment(segments: tuple[Segment, ...], new: Segment) -> tuple[Segment, ...]:
    """Append, merging from the end while the last is at least half the one before: few segments, each row moved rarely.

    The first segment is the stored base, which only compaction merges.
    """
    stack = [*segments, new]
    while len(stack) > 2 and len(stack[-1].forward) * 2 >= len(stack[-2].forward):
        last, before = stack.pop(), stack.pop()
        stack.append(merge([before, last]))
    return tuple(stack)
