"""Segments: postings are the counts that a dictionary would give, however the rows were gathered."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.index import segments
from recallens.index.segments import Segment, from_entries, merge, with_segment
from recallens.store.records import LexicalEntry

TERMS = st.lists(st.integers(0, 12), max_size=10)
ROWS = st.lists(TERMS, max_size=20)


def entry(num: int, terms: list[int]) -> LexicalEntry:
    return num, array("I", terms).tobytes()


def segment_of(rows: list[list[int]], first: int = 0) -> Segment:
    nums = range(first + 100, first + 100 + len(rows))
    entries = [entry(num, terms) for num, terms in zip(nums, rows, strict=True)]
    return from_entries(first, list(nums), [entries[:3], entries[3:]], sum(map(len, rows[:5])))


def counts(segment: Segment) -> dict[int, list[tuple[int, int]]]:
    found = {}
    for term in segment.terms.tolist():
        postings = segment.postings(term)
        assert postings is not None
        found[term] = list(zip(postings.rows.tolist(), postings.counts.tolist(), strict=True))
    return found


def naive(rows: list[list[int]], first: int = 0) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for at, terms in enumerate(rows, first):
        for term, count in Counter(terms).items():
            found.setdefault(term, []).append((at, count))
    return found


def same(one: Segment, other: Segment) -> bool:
    names = ("offsets", "forward", "terms", "starts", "rows", "counts")
    return one.first == other.first and all(np.array_equal(getattr(one, n), getattr(other, n)) for n in names)


@given(ROWS, st.sampled_from((0, 5)))
def test_postings_equal_a_naive_count(rows: list[list[int]], first: int) -> None:
    segment = segment_of(rows, first)
    assert counts(segment) == naive(rows, first)
    assert segment.postings(99) is None
    for at, terms in enumerate(rows):
        assert segment.sequence(first + at).tolist() == terms


@given(ROWS, st.lists(st.integers(0, 20), max_size=4))
def test_merging_equals_building_at_once(rows: list[list[int]], cuts: list[int]) -> None:
    edges = sorted({0, len(rows), *(min(cut, len(rows)) for cut in cuts)})
    if len(edges) < 2:
        edges = [0, 0]
    parts = [segment_of(rows[a:b], a) for a, b in pairwise(edges)]
    assert same(merge(parts), segment_of(rows))


@given(st.lists(TERMS, max_size=40))
def test_a_stream_of_rows_keeps_few_segments_and_loses_none(rows: list[list[int]]) -> None:
    stack: tuple[Segment, ...] = ()
    for at, one in enumerate(rows):
        stack = with_segment(stack, segment_of([one], at))
    merged: dict[int, list[tuple[int, int]]] = {}
    for segment in stack:
        for term, postings in counts(segment).items():
            merged.setdefault(term, []).extend(postings)
    assert merged == naive(rows)
    assert len(stack) <= 2 + np.log2(1 + sum(len(terms) for terms in rows))
    assert sum(len(segment) for segment in stack) == len(rows)


@given(st.lists(st.lists(st.integers(0, 2**20), max_size=10), max_size=40))
def test_runs_of_rows_equal_one_sort(rows: list[list[int]]) -> None:
    whole = segment_of(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "RUN_ROWS", 8)
        patch.setattr(segments, "LONGEST_MOVE", 4)
        for few in (segments.FEW_TERMS, 20):  # a run with more terms than that is sorted
            patch.setattr(segments, "FEW_TERMS", few)
            assert same(segment_of(rows), whole)
        assert same(merge([segment_of(rows[:9]), segment_of(rows[9:], len(rows[:9]))]), whole)


def test_a_memory_without_an_entry_is_an_empty_row() -> None:
    segment = from_entries(3, [10, 11, 12], [[entry(10, [1]), entry(12, [1, 1])]])
    assert counts(segment) == {1: [(3, 1), (5, 2)]}
    assert segment.sequence(4).tolist() == []


def test_a_count_beyond_16_bits_stays_at_the_most() -> None:
    segment = segment_of([[7] * 70_000])
    assert counts(segment) == {7: [(0, 65_535)]}
