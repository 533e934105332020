"""The laws of the ledger, over verdicts of any shape: sum, replay, gates commute, records come back as they were."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from laws import taking
from recallens.model.ledger import Entry, Ledger
from recallens.model.pool import Pool
from recallens.model.verdict import ID_DTYPE, Found, Gate, Note, Pick, Round, Term, Verdict

FLOATS = st.floats(-10, 10, allow_nan=False)


def entry(stage: str, verdict: Verdict, considered: int, admitted: int, nanos: int = 0) -> Entry:
    return Entry(stage=stage, verdict=verdict, considered=considered, admitted=admitted, nanos=nanos)


def ids(names: list[int]) -> np.ndarray:
    return np.array([f"{name:026d}".encode() for name in names], dtype=ID_DTYPE)


def masks(size: int) -> st.SearchStrategy[np.ndarray]:
    return st.lists(st.booleans(), min_size=size, max_size=size).map(lambda bits: np.array(bits, dtype=np.bool_))


@st.composite
def founds(draw: st.DrawFn, batch: int) -> Found:
    names = draw(st.lists(st.integers(0, 20), max_size=8, unique=True))
    raw = np.array([draw(FLOATS) for _ in names])
    rows = np.array(names, dtype=np.int64)
    return Found(draw(st.sampled_from(("lexical", "semantic"))), ids(names), raw, rows, batch=batch)


@st.composite
def gates(draw: st.DrawFn, size: int) -> Gate:
    name = draw(st.sampled_from(("status-active", "project", "validity")))
    return Gate(name, draw(masks(size)), draw(masks(size)), draw(masks(size)), draw(st.text(max_size=5)))


@st.composite
def terms(draw: st.DrawFn, size: int) -> Term:
    delta = np.array([draw(FLOATS) for _ in range(size)])
    return Term(draw(st.sampled_from("abcd")), delta, draw(masks(size)), {"weight": draw(FLOATS | st.integers(0, 3))})


@st.composite
def recalls(draw: st.DrawFn) -> Ledger:
    """A round as the pipeline runs it: gather, gates, refill, gates, terms, pick."""
    pool = Pool()
    entries: list[Entry] = []

    def say(stage: str, verdict: Verdict) -> None:
        nonlocal pool
        _, considered, admitted = pool.step(verdict)
        entries.append(entry(stage, verdict, considered, admitted, draw(st.integers(0, 9))))
        pool = pool.apply(verdict)

    say("plan", Note("plan", {"preset": "default"}))
    for batch in (0, 1):
        for _ in range(draw(st.integers(1, 3))):
            say("gather", draw(founds(batch)))
        for _ in range(draw(st.integers(0, 4))):
            say("gates", draw(gates(len(pool))))
    for _ in range(draw(st.integers(0, 5))):
        say("terms", draw(terms(len(pool))))
    live = np.flatnonzero(pool.live)
    chosen = live[np.argsort(-pool.score[live], kind="stable")][: draw(st.integers(0, 5))]
    say("select", Pick("limit", chosen, np.ones(len(chosen)), "the first"))
    return Ledger({"text": "q"}, tuple(entries))


def same(first: Pool, second: Pool) -> bool:
    return (
        np.array_equal(first.ids, second.ids)
        and np.array_equal(first.live, second.live)
        and np.array_equal(first.score, second.score)
        and np.array_equal(first.ranked(), second.ranked())
    )


@given(recalls())
def test_the_score_is_the_sum_of_its_terms(ledger: Ledger) -> None:
    pool = ledger.replay()
    for position in range(len(pool)):
        total = sum(
            float(term.delta[position])
            for term in ledger.terms()
            if position < len(term.delta) and term.computed[position]
        )
        assert pool.score[position] == pytest.approx(total, abs=1e-9)


@given(recalls())
def test_a_stored_ledger_replays_to_the_same_pool(ledger: Ledger) -> None:
    for stored in (Ledger.from_json(json.loads(json.dumps(ledger.to_json()))), Ledger.unpacked(ledger.packed())):
        assert same(stored.replay(), ledger.replay())
        assert stored.canonical() == ledger.canonical()
        assert stored.digest() == ledger.digest()
        assert [entry.nanos for entry in stored.entries] == [entry.nanos for entry in ledger.entries]


@given(recalls(), st.randoms(use_true_random=False))
def test_gates_commute(ledger: Ledger, chance: random.Random) -> None:
    """Within a run of gates any order leaves the same rows live."""
    entries, at = list(ledger.entries), 0
    while at < len(entries):
        end = at
        while end < len(entries) and isinstance(entries[end].verdict, Gate):
            end += 1
        run = entries[at:end]
        chance.shuffle(run)
        entries[at:end] = run
        at = end + 1
    assert same(Ledger(ledger.query, tuple(entries)).replay(), ledger.replay())


@given(recalls())
def test_measured_time_is_outside_the_digest(ledger: Ledger) -> None:
    slower = tuple(replace(e, nanos=e.nanos + 1) for e in ledger.entries)
    assert Ledger(ledger.query, slower).canonical() == ledger.canonical()
    assert Ledger(ledger.query, slower).to_json() != ledger.to_json()


def in_order(record: dict[str, Any]) -> bytes:
    return json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


@given(recalls(), st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.floats())
def test_what_is_digested_is_the_record_with_its_keys_in_order(ledger: Ledger, text: str, number: float) -> None:
    some, none = np.array([True, False]), np.zeros(2, dtype=np.bool_)
    odd: list[Verdict] = [
        Found(text, ids([1, 2]), np.array([number, np.nan]), np.array([0, 1]), 3, True, True, text),
        Found("empty", ids([]), np.empty(0), np.empty(0, dtype=np.int64)),
        Gate(text, some, none, some, text, (7, 3)),
        Gate("no reason", some, none, none),
        Term(text, np.array([number, -0.0]), some, {text: number, "a": 1.0}),
        Pick(text, np.array([1, 0]), np.array([number, 2.0]), text),
        Note(text, {"z": [text, {"b": number, "a": None}], "a": {text: True}, text: 5}),
        Round(2, text),
    ]
    entries = (*ledger.entries, *(entry(text, verdict, 4, 2, 1) for verdict in odd))
    whole = Ledger({"text": text, "now": 5, "filters": {"b": 1, "a": [text]}}, entries)
    record = whole.to_json()
    del record["silent"]
    for row in record["entries"]:
        del row["nanos"]
    assert whole.canonical() == in_order(record)


@given(recalls())
def test_a_row_once_found_never_leaves_the_pool(ledger: Ledger) -> None:
    pool, seen = Pool(), 0
    for entry in ledger.entries:
        following = pool.apply(entry.verdict)
        assert np.array_equal(following.ids[: len(pool)], pool.ids)
        assert len(set(following.ids.tolist())) == len(following)
        assert not (following.live[: len(pool)] & ~pool.live).any()
        pool, seen = following, max(seen, len(following))
    assert len(pool) == seen


@given(recalls())
@taking(50)
def test_a_verdict_does_not_change_the_pool_it_is_applied_to(ledger: Ledger) -> None:
    pool = Pool()
    for entry in ledger.entries:
        before = (pool.ids.copy(), pool.live.copy(), pool.score.copy())
        following = pool.apply(entry.verdict)
        assert all(np.array_equal(a, b) for a, b in zip(before, (pool.ids, pool.live, pool.score), strict=True))
        pool = following


def test_an_absent_term_is_not_a_zero() -> None:
    found = Found("lexical", ids([1, 2]), np.array([1.0, 2.0]), np.array([0, 1]))
    absent = Term("graph", np.array([7.0, 0.0]), np.array([False, True]))
    entries = [entry("s", verdict, 0, 0) for verdict in (found, absent)]
    ledger = Ledger({}, tuple(entries))
    assert ledger.replay().score.tolist() == [0.0, 0.0]
    assert ledger.parts_of(np.arange(2)) == [{}, {"graph": 0.0}]


def test_an_exempt_row_is_admitted_beside_those_that_pass() -> None:
    pool = Pool().apply(Found("lexical", ids([1, 2, 3]), np.ones(3), np.arange(3)))
    gate = Gate("g", np.array([1, 1, 1], bool), np.array([1, 1, 0], bool), np.array([1, 0, 0], bool))
    assert pool.step(gate)[1:] == (3, 2)
    assert pool.apply(gate).live.tolist() == [True, False, True]


def test_a_view_that_proposes_again_adds_only_what_is_new() -> None:
    pool = Pool().apply(Found("lexical", ids([1, 2]), np.array([3.0, 2.0]), np.arange(2)))
    pool = pool.apply(Found("lexical", ids([2, 3]), np.array([2.0, 1.0]), np.array([1, 2]), batch=1, refill=True))
    assert pool.raw("lexical").tolist() == [3.0, 2.0, 1.0]
    assert pool.batch.tolist() == [0, 0, 1]
    assert np.isnan(pool.raw("semantic")).all()
    assert pool.proposed_by("semantic").tolist() == [False] * 3


def test_an_unknown_verdict_in_a_record_is_named() -> None:
    record = {"query": {}, "entries": [{"stage": "s", "considered": 0, "admitted": 0, "verdict": {"type": "guess"}}]}
    with pytest.raises(ValueError, match="cannot be read as a ledger: Invalid value 'guess'"):
        Ledger.from_json(record)
