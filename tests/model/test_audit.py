"""The audit chain: whatever is done to it shows. And the four patterns that an honest agent seldom has."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from recallens.model.audit import (
    HIGH_CARDINALITY,
    NAMESPACE_WALK_LEAST,
    RAPID_FIRE,
    RAPID_WINDOW_MS,
    REPEAT_QUERY,
    REPEAT_WINDOW_MS,
    AuditEntry,
    anomalies,
    chained,
    query_digest,
    verify_chain,
)
from standing import START_MS

Chain = list[AuditEntry]


def log(*recalls: tuple[int, str | None, str, list[str]]) -> Chain:
    """A chain of recalls: at, session, question, memories injected."""
    entries: Chain = []
    for at, session, query, memories in recalls:
        head = (entries[-1].number, entries[-1].digest) if entries else (0, "")
        entries += chained(
            namespace="default", head=head, at=START_MS + at, session=session, query=query_digest(query),
            injected=[(memory, f"hash of {memory}") for memory in memories],
        )  # fmt: skip
    return entries


def head(entries: Chain) -> tuple[int, str]:
    return (entries[-1].number, entries[-1].digest) if entries else (0, "")


WHOLE = log((0, "s", "cache", ["a", "b", "c"]), (5, None, "deploy", ["a"]), (9, "t", "cache", ["d", "e"]))


def test_a_chain_is_whole_and_holds_no_text() -> None:
    assert verify_chain(WHOLE, head(WHOLE)) == []
    assert verify_chain([], (0, "")) == []
    assert [entry.number for entry in WHOLE] == [1, 2, 3, 4, 5, 6]
    assert len({entry.id for entry in WHOLE}) == 6
    assert all(after.previous == before.digest for before, after in pairwise(WHOLE))
    assert "cache" not in repr(WHOLE)


@pytest.mark.parametrize(
    "change",
    [
        {"at": START_MS + 1}, {"session": "u"}, {"session": None}, {"query_digest": query_digest("other")},
        {"memories": ("z", "hash of z")}, {"memories": ("b", "another hash")}, {"namespace": "other"},
        {"digest": "f" * 64},
    ],
)  # fmt: skip
def test_an_altered_entry_is_found(change: dict[str, Any]) -> None:
    entries = [*WHOLE[:1], replace(WHOLE[1], **change), *WHOLE[2:]]
    assert "entry 2 was altered" in verify_chain(entries, head(WHOLE))


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (lambda e: [*e[:2], *e[3:]], "entries 3 to 3 are missing"),
        (lambda e: e[2:], "entries 1 to 2 are missing"),
        (lambda e: [e[0], e[2], e[1], *e[3:]], "entry 2 is out of order"),
        (lambda e: e[:-1], "the chain ends at entry 5, but 6 were written"),
        (lambda e: [], "the chain ends at entry 0, but 6 were written"),
        (lambda e: [*e, e[-1]], "entry 6 is out of order"),
    ],
)
def test_what_was_deleted_reordered_or_truncated_is_found(tamper: Callable[[Chain], Chain], told: str) -> None:
    assert told in verify_chain(tamper(WHOLE), head(WHOLE))


def test_an_entry_rewritten_with_a_right_digest_breaks_the_next() -> None:
    forged = chained(
        namespace="default", head=(1, WHOLE[0].digest), at=START_MS, session="s", query=WHOLE[1].query_digest,
        injected=[("z", "hash of z")],
    )  # fmt: skip
    assert verify_chain([WHOLE[0], *forged, *WHOLE[2:]], head(WHOLE)) == [
        "entry 3 does not follow from the one before it"
    ]


def test_a_last_entry_rewritten_whole_does_not_fit_the_head() -> None:
    forged = chained(
        namespace="default", head=(5, WHOLE[4].digest), at=START_MS, session="t", query="q", injected=[("z", "h")]
    )
    assert verify_chain([*WHOLE[:5], *forged], head(WHOLE)) != []


@given(st.permutations(range(6)), st.integers(0, 6))
def test_any_other_order_or_length_is_found(order: list[int], length: int) -> None:
    kept = [WHOLE[at] for at in order][:length]
    assert (verify_chain(kept, head(WHOLE)) == []) is (kept == WHOLE)


# ── anomalies ──


def kinds(entries: Chain, memories: int = 10_000) -> list[tuple[str, str | None, int]]:
    return [(one.kind, one.session, one.count) for one in anomalies(entries, memories)]


def test_a_quiet_log_has_none() -> None:
    assert kinds(WHOLE) == []
    assert kinds([]) == []


def test_a_repeated_question_within_ten_minutes() -> None:
    step = REPEAT_WINDOW_MS // (REPEAT_QUERY - 1)
    asked = [(at * step, "s", "cache", ["a"]) for at in range(REPEAT_QUERY)]
    assert kinds(log(*asked)) == [("repeat-query", "s", REPEAT_QUERY)]
    assert kinds(log(*asked[:-1])) == []
    slower = [(at * (step + 1), "s", "cache", ["a"]) for at in range(REPEAT_QUERY)]
    assert kinds(log(*slower)) == []
    shared = [(at * step, f"s-{at % 2}", "cache", ["a"]) for at in range(REPEAT_QUERY)]
    assert kinds(log(*shared)) == []


def test_rapid_fire() -> None:
    step = RAPID_WINDOW_MS // (RAPID_FIRE - 1)
    asked = [(at * step, "s", f"question {at}", ["a"]) for at in range(RAPID_FIRE)]
    assert kinds(log(*asked)) == [("rapid-fire", "s", RAPID_FIRE)]
    assert kinds(log(*asked[:-1])) == []


def test_high_cardinality() -> None:
    memories = [f"m-{at}" for at in range(HIGH_CARDINALITY)]
    assert kinds(log((0, "s", "everything", memories))) == [("high-cardinality", "s", HIGH_CARDINALITY)]
    assert kinds(log((0, "s", "everything", memories[:-1]))) == []
    assert kinds(log((0, "s", "one", memories[:150]), (1, "t", "two", memories[150:]))) == []


def test_a_walk_through_the_namespace() -> None:
    memories = [f"m-{at}" for at in range(NAMESPACE_WALK_LEAST)]
    assert kinds(log((0, "s", "q", memories)), 100) == [("namespace-walk", "s", NAMESPACE_WALK_LEAST)]
    assert kinds(log((0, "s", "q", memories)), 101) == []
    assert kinds(log((0, "s", "q", memories[:-1])), 60) == []  # a small namespace is soon walked by anyone
