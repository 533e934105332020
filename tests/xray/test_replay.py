"""The stored decisions give the same answer; a ledger that was altered is refused; the live store says what differs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace

from laws import taking
from recallens import Draft
from recallens.engine import Engine
from recallens.model.ledger import Entry, Ledger
from recallens.model.query import Query
from recallens.model.verdict import Bond, Gate, Pick, Term
from recallens.xray.diff import Entered, GoneSince, Left, Neighbour, NewMemory
from recallens.xray.ladder import query_from_record
from recallens.xray.replay import compare_live, replay
from standing import FixedClock
from worlds import World, populated, questions, worlds

few = taking(30)
TEXTS = (
    "we cache tracking lookups for a minute",
    "the cache is cleared on every deploy",
    "deploys go out on tuesday",
    "login tokens live for an hour",
    "the gateway drops idle connections",
)


def rerun(engine: Engine) -> Callable[[Query], Ledger]:
    return lambda query: engine.recall(query).ledger


def stored(ledger: Ledger) -> Ledger:
    return Ledger.from_json(json.loads(json.dumps(ledger.to_json(), ensure_ascii=False)))


def asked(engine: Engine, text: str = "cache deploy", **options: Any) -> Ledger:
    for each in TEXTS:
        engine.remember(each)
    return engine.recall(engine.recalls.query(text, **options)).ledger


def with_entry(ledger: Ledger, at: int, entry: Entry) -> Ledger:
    return Ledger(ledger.query, (*ledger.entries[:at], entry, *ledger.entries[at + 1 :]))


def place_of(ledger: Ledger, kind: type) -> int:
    return next(at for at, entry in enumerate(ledger.entries) if isinstance(entry.verdict, kind))


# ── the same answer ──


@given(worlds(), st.lists(questions, min_size=1, max_size=3))
@few
def test_a_stored_ledger_gives_the_same_ids_order_and_scores(world: World, asked: list[dict[str, Any]]) -> None:
    with populated(world) as engine:
        for question in asked:
            recall = engine.recall(engine.recalls.query(**question))
            again = replay(stored(recall.ledger), digest=recall.ledger.digest())
            assert again.ids == tuple(result.memory.id for result in recall.results)
            assert again.scores == tuple(result.score for result in recall.results)
            assert again.considered == len(recall.ledger.replay())


@given(worlds(), questions)
@few
def test_the_live_store_as_it_was_differs_in_nothing(world: World, question: dict[str, Any]) -> None:
    with populated(world) as engine:
        ledger = engine.recall(engine.recalls.query(**question)).ledger
        assert compare_live(stored(ledger), rerun(engine)) == []


@given(questions)
@few
def test_a_query_comes_back_from_its_record(question: dict[str, Any]) -> None:
    with populated(World((), (), (), (), ())) as engine:
        query = replace(
            engine.recalls.query(**question), weights={"bm25": 2.0}, watch=("X",), files=("a.py",), scopes=("s",)
        )
        assert query_from_record(json.loads(json.dumps(query.to_json()))) == query


def test_a_recorded_field_that_is_not_known_is_refused(engine: Engine) -> None:
    record = engine.recalls.query("cache").to_json() | {"mood": "calm"}
    with pytest.raises(ValueError, match="'mood'"):
        query_from_record(record)


def test_a_recall_of_nothing_replays_to_nothing(engine: Engine) -> None:
    assert replay(engine.recall(engine.recalls.query("cache")).ledger).to_json()["results"] == []


# ── altered ──


@pytest.mark.parametrize("preset", ["default", "classic"])
def test_an_altered_count_is_named(engine: Engine, preset: str) -> None:
    ledger = asked(engine, preset=preset)
    at = place_of(ledger, Gate)
    entry = ledger.entries[at]
    altered = with_entry(ledger, at, structs.replace(entry, admitted=entry.admitted - 1))
    with pytest.raises(ValueError, match=rf"entry {at + 1} \(gates, namespace-scope\) records \d+ considered"):
        replay(altered)


@pytest.mark.parametrize("preset", ["default", "classic"])
def test_results_in_another_order_are_refused(engine: Engine, preset: str) -> None:
    ledger = asked(engine, preset=preset)
    at = place_of(ledger, Pick)
    pick = ledger.entries[at].verdict
    assert isinstance(pick, Pick)
    turned = structs.replace(pick, chosen=pick.chosen[::-1].copy())
    with pytest.raises(ValueError, match="is not in the order of the scores"):
        replay(with_entry(ledger, at, structs.replace(ledger.entries[at], verdict=turned)))


def test_what_belongs_beside_a_row_is_a_verdict_that_the_cut_is_held_to(engine: Engine) -> None:
    for at in range(30):
        engine.remember(f"Notes of meeting {at} on gardens and paint")
    old, new = engine.remember(TEXTS[0]), engine.remember("It is ninety seconds now, agreed with Mina")
    engine.relate(new.id, old.id, "MAY_SUPERSEDE", confidence=0.001)
    recall = engine.recall(engine.recalls.query("how long do we cache tracking lookups"))
    assert {result.memory.id for result in recall.results} == {old.id, new.id}
    ledger, at = stored(recall.ledger), place_of(recall.ledger, Bond)
    bond = ledger.entries[at].verdict
    assert isinstance(bond, Bond)
    assert set(replay(ledger).ids) == {old.id, new.id}
    for verdict, problem in (
        (structs.replace(bond, name="none", beside=bond.relevant), "does not cut where the relevance says"),
        (structs.replace(bond, beside=bond.beside + 1_000), "ties a row to none"),
    ):
        with pytest.raises(ValueError, match=problem):
            replay(with_entry(ledger, at, structs.replace(ledger.entries[at], verdict=verdict)))


def test_a_row_that_a_gate_rejected_cannot_be_chosen(engine: Engine) -> None:
    ledger = asked(engine)
    gone = engine.memories.resolve([replay(ledger).ids[-1]])
    engine.forget(next(iter(gone)))
    after = engine.recall(engine.recalls.query("cache deploy")).ledger
    masked = np.flatnonzero(~after.replay().live)
    at = place_of(after, Pick)
    pick = after.entries[at].verdict
    assert isinstance(pick, Pick)
    assert len(masked)
    slipped = structs.replace(pick, chosen=np.append(pick.chosen, masked[0]), cost=np.append(pick.cost, 1.0))
    entry = structs.replace(after.entries[at], verdict=slipped, admitted=after.entries[at].admitted + 1)
    with pytest.raises(ValueError, match="chooses a row that was not there to choose"):
        replay(with_entry(after, at, entry))


def test_a_score_that_was_raised_shows_in_the_order(engine: Engine) -> None:
    ledger = asked(engine, preset="classic", limit=2)
    at = place_of(ledger, Term)
    term = ledger.entries[at].verdict
    assert isinstance(term, Term)
    last = int(ledger.replay().ranked()[-1])
    delta = term.delta.copy()
    delta[last] += 10.0
    raised = structs.replace(term, delta=delta, computed=np.ones_like(term.computed))
    admitted = ledger.entries[at].considered
    with pytest.raises(ValueError, match="altered"):
        replay(with_entry(ledger, at, structs.replace(ledger.entries[at], verdict=raised, admitted=admitted)))


@given(worlds(most=8), questions, st.data())
@few
def test_any_altered_leaf_breaks_the_digest(world: World, question: dict[str, Any], data: st.DataObject) -> None:
    with populated(world) as engine:
        ledger = engine.recall(engine.recalls.query(**question)).ledger
    record = json.loads(json.dumps(ledger.to_json()))
    numbers = [(entry, name) for entry in record["entries"] for name in ("considered", "admitted", "stage")]
    holder, name = data.draw(st.sampled_from(numbers))
    holder[name] = holder[name] + 1 if isinstance(holder[name], int) else "elsewhere"
    with pytest.raises(ValueError, match="altered"):
        replay(Ledger.from_json(record), digest=ledger.digest())


@given(worlds(most=8), questions, st.data())
@few
def test_any_altered_count_is_refused_without_a_digest(
    world: World, question: dict[str, Any], data: st.DataObject
) -> None:
    with populated(world) as engine:
        ledger = engine.recall(engine.recalls.query(**question)).ledger
    at = data.draw(st.integers(0, len(ledger.entries) - 1))
    entry, by = ledger.entries[at], data.draw(st.sampled_from((-1, 1, 7)))
    name = data.draw(st.sampled_from(("considered", "admitted")))
    altered = structs.replace(entry, **{name: getattr(entry, name) + by})
    with pytest.raises(ValueError, match=f"entry {at + 1} "):
        replay(with_entry(ledger, at, altered))


@given(worlds(most=8), questions)
@few
def test_a_dropped_pick_entry_or_row_is_refused(world: World, question: dict[str, Any]) -> None:
    with populated(world) as engine:
        ledger = engine.recall(engine.recalls.query(**question)).ledger
    for at, entry in enumerate(ledger.entries):
        if isinstance(entry.verdict, Pick) and len(entry.verdict.chosen):
            pick = entry.verdict
            fewer = structs.replace(pick, chosen=pick.chosen[1:], cost=pick.cost[1:])
            with pytest.raises(ValueError, match="altered"):
                replay(with_entry(ledger, at, structs.replace(entry, verdict=fewer)))


# ── against the live store ──


def test_what_was_forgotten_left_and_what_is_new_entered(engine: Engine, clock: FixedClock) -> None:
    ledger = asked(engine, limit=3)
    first = replay(ledger).ids[0]
    clock.advance(days=1)
    engine.forget(first)
    new = engine.remember("cache deploy cache deploy").id
    found = compare_live(stored(ledger), rerun(engine))
    causes = {one.memory_id: one.cause for one in found}
    assert causes[first] == GoneSince("forgotten")
    assert causes[new] == NewMemory()
    assert [type(one) for one in found if one.memory_id in (first, new)] == [Entered, Left]


def test_one_pushed_out_by_a_new_memory_names_it(engine: Engine, clock: FixedClock) -> None:
    ledger = asked(engine, limit=2, preset="classic")
    last = replay(ledger).ids[-1]
    clock.advance(days=1)
    new = engine.remember("cache deploy cache deploy").id
    cause = next(one.cause for one in compare_live(stored(ledger), rerun(engine)) if one.memory_id == last)
    assert cause == Neighbour(new, "above", NewMemory())


def test_a_recall_that_is_read_after_later_writes_tells_what_it_saw(engine: Engine) -> None:
    first = engine.remember(Draft("Payments retry after 30 seconds at most.")).id
    engine.remember(Draft("Payments retry after 45 seconds at most, says the runbook."))
    read, unread = (
        engine.recall(engine.recalls.query("how long until payments retry", now=engine.core.clock())) for _ in range(2)
    )
    before = read.ledger.canonical()
    assert read.ledger.notes("conflicts")[0]["rows"]
    engine.edit(first, "Something else altogether.")
    engine.forget(first)
    assert unread.ledger.canonical() == before
    assert [dict(result.parts) for result in unread.results] == [dict(result.parts) for result in read.results]
