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
    CUT,
    ERASED,
    GENESIS,
    HIGH_CARDINALITY,
    NAMESPACE_WALK_LEAST,
    RAPID_FIRE,
    RAPID_WINDOW_MS,
    REPEAT_QUERY,
    REPEAT_WINDOW_MS,
    Act,
    Anchor,
    AuditEntry,
    ChainHead,
    Key,
    against_anchors,
    anomalies,
    chained,
    cut_of,
    unlinked,
    verify_chain,
)
from standing import START_MS

Chain = list[AuditEntry]
KEY, OTHER = Key(b"k" * 32), Key(b"o" * 32)
KEYS = {KEY.id: KEY}


def log(*recalls: tuple[int, str | None, str, list[str]], who: str | None = None, key: Key = KEY) -> Chain:
    """A chain of recalls: at, session, question, memories injected."""
    entries: Chain = []
    for at, session, query, memories in recalls:
        act = Act("default", "search", START_MS + at, who, session, key.question(query))
        marks = [key.mark(b"salt", memory) for memory in memories]
        entries.append(chained(key, head(entries), act, marks))
    return entries


def head(entries: Chain) -> ChainHead:
    return ChainHead("c", entries[-1].number, entries[-1].digest) if entries else ChainHead("c")


RECALLS = (
    (0, "s", "cache", ["a", "b", "c"]), (5, None, "deploy", ["a"]), (9, "t", "cache", ["d", "e"]),
    (10, "t", "queue", []), (12, "u", "cache", ["a"]), (20, None, "port", ["b"]),
)  # fmt: skip
WHOLE = log(*RECALLS)


def test_a_chain_is_whole_and_holds_no_text() -> None:
    assert verify_chain(WHOLE, head(WHOLE), KEYS) == []
    assert verify_chain([], None, KEYS) == verify_chain([], head([]), KEYS) == []
    assert [entry.number for entry in WHOLE] == [1, 2, 3, 4, 5, 6]
    assert len({entry.id for entry in WHOLE}) == 6
    assert WHOLE[0].previous == GENESIS
    assert all(after.previous == before.digest for before, after in pairwise(WHOLE))
    assert "cache" not in repr(WHOLE)


@pytest.mark.parametrize(
    "change",
    [
        {"at": START_MS + 1}, {"session": "u"}, {"session": "s"}, {"question": KEY.question("other")},
        {"namespace": "other"}, {"who": "somebody"}, {"what": "forget"}, {"outcome": "NotFound"},
    ],
)  # fmt: skip
def test_an_altered_entry_is_found(change: dict[str, Any]) -> None:
    entries = [*WHOLE[:1], replace(WHOLE[1], act=replace(WHOLE[1].act, **change)), *WHOLE[2:]]
    assert any(problem.startswith("entry 2 was altered") for problem in verify_chain(entries, head(WHOLE), KEYS))


@pytest.mark.parametrize("change", [{"marks": ("z" * 24,)}, {"marks": ()}, {"total": 9}, {"digest": "f" * 64}])
def test_other_memories_or_another_digest_are_found(change: dict[str, Any]) -> None:
    entries = [*WHOLE[:1], replace(WHOLE[1], **change), *WHOLE[2:]]
    assert any(problem.startswith("entry 2 was altered") for problem in verify_chain(entries, head(WHOLE), KEYS))


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (lambda e: [*e[:2], *e[3:]], "entries 3 to 3 are missing"),
        (lambda e: e[2:], "entries 1 to 2 are missing, and no entry says that they were pruned"),
        (lambda e: [e[0], e[2], e[1], *e[3:]], "entry 2 is out of order"),
        (lambda e: e[:-1], "the chain ends at entry 5, but 6 were written"),
        (lambda e: [], "the chain ends at entry 0, but 6 were written"),
        (lambda e: [*e, e[-1]], "entry 6 is out of order"),
    ],
)
def test_what_was_deleted_reordered_or_truncated_is_found(tamper: Callable[[Chain], Chain], told: str) -> None:
    assert told in verify_chain(tamper(WHOLE), head(WHOLE), KEYS)


def test_a_chain_made_anew_without_the_key_is_found() -> None:
    rebuilt = log(*RECALLS[1:], key=OTHER)
    assert verify_chain(rebuilt, head(rebuilt), KEYS) == [
        f"entries 1 to 5 (5) were signed with the key {OTHER.id}, which is not here"
    ]
    named_as_ours = [replace(entry, key=KEY.id) for entry in rebuilt]
    assert "entry 1 was altered, or made without the key" in verify_chain(named_as_ours, head(rebuilt), KEYS)


def test_an_entry_of_ours_that_follows_from_another_is_found() -> None:
    longer = log(*RECALLS[1:])
    assert "entry 3 does not follow from the one before it" in verify_chain(
        [*WHOLE[:2], longer[2], *WHOLE[3:]], head(WHOLE), KEYS
    )


def test_a_chain_that_was_pruned_is_whole_and_nothing_else_may_be_missing() -> None:
    cut = chained(KEY, head(WHOLE), Act("default", CUT, START_MS, outcome=cut_of(3, WHOLE[2].digest)), ())
    pruned = [*WHOLE[3:], cut]
    assert verify_chain(pruned, head(pruned), KEYS) == []
    for kept in (pruned[1:], [*WHOLE[2:], cut][2:], [cut]):
        assert any("no entry says" in problem for problem in verify_chain(kept, head(kept), KEYS))
    assert verify_chain(pruned[:-1], head(pruned[:-1]), KEYS) != []


def test_an_anchor_finds_a_cut_an_older_copy_and_a_chain_made_anew() -> None:
    anchors = [Anchor("store", "default", head(WHOLE[:upto]), 0) for upto in range(1, 7)]

    def told(chain: Chain, store: str = "store", *, anew: str | None = None) -> tuple[list[str], list[str]]:
        ends = head(chain)
        return against_anchors(anchors, store, chain, replace(ends, chain=anew) if anew else ends)

    assert told(WHOLE) == told(WHOLE[3:]) == told(WHOLE, "a copy of it") == ([], [])
    assert told([*WHOLE, chained(KEY, head(WHOLE), WHOLE[0].act, ())]) == ([], ["anchored up to entry 6 of 7"])
    cut = "entry 6 was anchored, but the chain ends at 4: it was cut off, or this is an older copy of the store"
    assert told(WHOLE[:4]) == told(WHOLE[:4], "a copy of it") == ([cut], [])
    anew = log(*RECALLS[::-1])
    assert verify_chain(anew, head(anew), KEYS) == []
    assert told(anew) == (["entry 1 is not the one that was anchored: the chain was made anew"], [])
    begun = ["the log was begun anew: another one of this store was anchored, up to entry 6"]
    assert told(WHOLE[:2], anew="d")[0] == against_anchors(anchors, "store", [], None)[0] == begun
    elsewhere = [*anchors, Anchor("another", "default", replace(head(WHOLE), chain="d"), 0)]
    problems, notes = against_anchors(elsewhere, "store", WHOLE, head(WHOLE))
    assert (problems, notes) == ([], ["the anchor knows 1 other logs of such a namespace"])
    problems, notes = told(WHOLE[:2], "another store", anew="d")
    assert problems == ["the anchor knows a log of such a namespace, and it is not here: it was wiped, or is another's"]
    assert "no anchor knows this log" in notes[0]


def test_a_mark_that_stands_for_nothing_is_lost_unless_an_entry_says_that_it_was_erased() -> None:
    marks = {mark for entry in WHOLE for mark in entry.marks}
    assert unlinked(WHOLE, marks, KEYS) == (set(), set())
    assert unlinked(WHOLE, (), KEYS) == (marks, set())
    erased = chained(KEY, head(WHOLE), Act("default", ERASED, START_MS), sorted(marks))
    assert unlinked([*WHOLE, erased], (), KEYS) == (set(), marks)
    forged = chained(OTHER, head(WHOLE), erased.act, sorted(marks))
    assert unlinked([*WHOLE, replace(forged, key=KEY.id)], (), KEYS) == (marks, set())


def test_entries_from_before_erasures_were_written_down_still_verify() -> None:
    older: Chain = []
    for entry in WHOLE:
        entry = replace(entry, previous=head(older).digest)
        older.append(replace(entry, digest=KEY.entry(entry, b"entry")))
    assert verify_chain(older, head(older), KEYS) == []
    assert unlinked(older, (), KEYS)[0] == set()


def test_a_chain_under_another_name_is_found() -> None:
    moved = [replace(entry, chain="d") for entry in WHOLE]
    assert len(verify_chain(moved, replace(head(WHOLE), chain="d"), KEYS)) == len(WHOLE)


@given(st.permutations(range(6)), st.integers(0, 6))
def test_any_other_order_or_length_is_found(order: list[int], length: int) -> None:
    kept = [WHOLE[at] for at in order][:length]
    assert (verify_chain(kept, head(WHOLE), KEYS) == []) is (kept == WHOLE)


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


def test_a_token_is_one_asker_whatever_sessions_it_names() -> None:
    asked = [(at, f"s-{at}", "cache", ["a"]) for at in range(REPEAT_QUERY)]
    assert kinds(log(*asked)) == []
    (found,) = anomalies(log(*asked, who="token"), 10_000)
    assert (found.kind, found.who, found.session, found.count) == ("repeat-query", "token", None, REPEAT_QUERY)
