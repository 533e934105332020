"""The semantic view: exact against brute force; the scan loses nothing; ties fall the same way everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_columns import row

from recallens.index import vectors
from recallens.index.columns import Columns
from recallens.index.vectors import VECTOR_DTYPE, BoundSemantic, VectorIndex, to_blob, to_single
from recallens.index.views import best, ordered

DIMENSION = 64


def unit(rows: int, seed: int) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal((rows, DIMENSION)).astype(np.float32)
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def columns_of(size: int, removed: tuple[int, ...] = ()) -> Columns:
    columns, _ = Columns.empty().next([row(num, created=num % 3) for num in range(1, size + 1)], list(removed))
    return columns


def index_of(matrix: np.ndarray, *, folded: bool, parts: int = 1) -> VectorIndex:
    index, places = VectorIndex.empty(DIMENSION), np.arange(len(matrix))
    for part in np.array_split(places, parts):
        index = index.with_rows(part, matrix[part].astype(VECTOR_DTYPE), int(part[-1]) + 1)
    return index.compacted(len(matrix)) if folded else index


def brute(matrix: np.ndarray, query: np.ndarray, columns: Columns, mask: np.ndarray | None, k: int) -> list[int]:
    scores = (matrix.astype(VECTOR_DTYPE).astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    rows = np.flatnonzero(columns["alive"] if mask is None else columns["alive"] & mask)
    return rows[ordered(columns, rows, scores[rows])[:k]].tolist()


@pytest.mark.parametrize("folded", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_the_exact_path_is_brute_force(folded: bool, masked: bool) -> None:
    matrix, queries = unit(700, 1), unit(20, 2)
    columns = columns_of(700, removed=(3, 4, 5, 699))
    mask = np.random.default_rng(3).random(700) < 0.3 if masked else None
    index = index_of(matrix, folded=folded, parts=4)
    for query in queries:
        proposals = BoundSemantic(index, columns, query).propose(10, mask)
        assert proposals.rows.tolist() == brute(matrix, query, columns, mask, 10)
        expected = matrix[proposals.rows].astype(VECTOR_DTYPE).astype(np.float64) @ query.astype(np.float64)
        assert proposals.raw.tolist() == pytest.approx(expected.tolist(), abs=1e-12)
        assert proposals.more is True


@pytest.mark.parametrize("tail", [0, 300])
@pytest.mark.parametrize("masked", [True, False])
def test_the_scan_path_finds_the_true_first_ten(monkeypatch: pytest.MonkeyPatch, tail: int, masked: bool) -> None:
    monkeypatch.setattr(vectors, "EXACT_ROWS", 500)
    total = 3_000 + tail
    matrix, queries, columns = unit(total, 4), unit(50, 5), columns_of(total, removed=(10, 3_001))
    index = index_of(matrix[:3_000], folded=True)
    assert index.scan is not None
    if tail:
        index = index.with_rows(np.arange(3_000, total), matrix[3_000:].astype(VECTOR_DTYPE), total)
    mask = np.random.default_rng(6).random(total) < 0.2 if masked else None
    for query in queries:
        bound = BoundSemantic(index, columns, query)
        if masked:
            bound.propose(10)  # the ladder asks without the mask first
        assert bound.propose(10, mask).rows.tolist() == brute(matrix, query, columns, mask, 10)


def test_a_score_is_one_number_wherever_the_row_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, (query,), columns = unit(600, 7), unit(1, 8), columns_of(600)
    everything = np.arange(600)
    in_tail = BoundSemantic(index_of(matrix, folded=False, parts=7), columns, query).score(everything)
    in_base = BoundSemantic(index_of(matrix, folded=True), columns, query).score(everything)
    monkeypatch.setattr(vectors, "EXACT_ROWS", 100)
    scanned = BoundSemantic(index_of(matrix, folded=True), columns, query)
    assert in_tail.tobytes() == in_base.tobytes() == scanned.score(everything).tobytes()
    some = np.array([5, 77, 400])
    assert scanned.score(some).tolist() == in_base[some].tolist()
    assert scanned.propose(5).raw.tolist() == in_base[scanned.propose(5).rows].tolist()


def test_a_vector_written_again_replaces_the_old_one() -> None:
    """Two processes may encode the same memory; it is one row all the same, with its last vector."""
    matrix, columns = unit(40, 9), columns_of(40)
    for folded in (True, False):
        index = index_of(matrix, folded=folded)
        again = index.with_rows(np.array([3, 4]), matrix[[8, 4]].astype(VECTOR_DTYPE), 40)
        bound = BoundSemantic(again, columns, matrix[8])
        proposals = bound.propose(40)
        assert sorted(proposals.rows.tolist()) == list(range(40))
        assert set(proposals.rows[:2].tolist()) == {3, 8}
        folded_again = BoundSemantic(again.compacted(40), columns, matrix[8])
        assert folded_again.propose(40).rows.tolist() == proposals.rows.tolist()


def test_a_row_without_a_vector_is_neither_proposed_nor_scored() -> None:
    matrix, columns = unit(5, 10), columns_of(7)
    index = VectorIndex.empty(DIMENSION).with_rows(np.array([0, 2, 3, 4, 6]), matrix.astype(VECTOR_DTYPE), 7)
    bound = BoundSemantic(index, columns, matrix[0])
    proposals = bound.propose(10)
    assert (sorted(proposals.rows.tolist()), proposals.more) == ([0, 2, 3, 4, 6], False)
    assert np.isnan(bound.score(np.arange(7))).tolist() == [False, True, False, False, False, True, False]
    assert BoundSemantic(VectorIndex.empty(DIMENSION), columns, matrix[0]).propose(3).rows.tolist() == []


def test_a_blob_is_half_precision_little_endian() -> None:
    vector = unit(1, 11)[0]
    assert np.frombuffer(to_blob(vector), dtype="<f2").tolist() == vector.astype(np.float16).tolist()


# ── ties ──


@given(st.lists(st.sampled_from((0.0, 0.5, 0.5, 1.0)), min_size=1, max_size=30), st.integers(0, 12))
def test_the_best_k_are_the_first_k_of_the_whole_order(scores: list[float], k: int) -> None:
    columns, values = columns_of(len(scores)), np.array(scores)
    rows = np.arange(len(scores))
    assert best(columns, rows, values, k).tolist() == ordered(columns, rows, values)[:k].tolist()


def test_ties_go_to_the_newer_then_to_the_lower_id() -> None:
    columns = columns_of(6)  # created is num % 3: rows 1 and 4 (nums 2 and 5) are the newest
    assert best(columns, np.arange(6), np.zeros(6), 6).tolist() == [1, 4, 0, 3, 2, 5]
    assert best(columns, np.array([5, 3, 4]), np.array([1.0, 1.0, 0.0]), 1).tolist() == [3]


def test_every_finite_half_is_the_same_number_in_single_precision() -> None:
    every = np.arange(2**16, dtype=np.uint16).view(VECTOR_DTYPE)
    finite = every[np.isfinite(every)]
    assert to_single(finite).view(np.uint32).tolist() == finite.astype(np.float32).view(np.uint32).tolist()


def test_vectors_are_the_stored_ones_whether_or_not_they_were_read_for_the_proposals() -> None:
    matrix = unit(40, 5)
    stored = matrix.astype(VECTOR_DTYPE).astype(np.float32)
    bound = BoundSemantic(index_of(matrix, folded=True), columns_of(40), matrix[0])
    wanted = np.array([31, 0, 7, 39])
    assert (bound.vectors(wanted) == stored[wanted]).all()
    bound.propose(3, beside=np.array([7]))
    assert (bound.vectors(wanted) == stored[wanted]).all()
