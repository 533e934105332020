"""Two recalls beside each other: the sets are exact, and each change has the cause that was made for it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from laws import taking
from recallens.engine import Engine
from recallens.model.ledger import Ledger
from recallens.model.memory import as_json, minted_at
from recallens.model.trust import Actor
from recallens.xray.diff import (
    Filtered,
    GoneSince,
    Neighbour,
    NewMemory,
    NotProposed,
    SettingChanged,
    TermChanged,
    diff,
)
from recallens.xray.replay import replay
from standing import FixedClock
from worlds import World, populated, questions, worlds

few = taking(25)
Question = dict[str, Any]


def ask(engine: Engine, text: str, **options: Any) -> Ledger:
    return engine.recall(engine.recalls.query(text, **options)).ledger


# ── laws ──


@given(worlds(), questions)
@few
def test_a_recall_does_not_differ_from_itself(world: World, question: Question) -> None:
    with populated(world) as engine:
        ledger = ask(engine, **question)
        found = diff(ledger, Ledger.from_json(ledger.to_json()))
        assert found.empty
        assert found.to_json() == {"entered": [], "left": [], "moved": [], "rescored": [], "settings": []}


@given(worlds(), questions, questions)
@few
def test_entered_left_and_moved_are_exact(world: World, one: Question, two: Question) -> None:
    with populated(world) as engine:
        first, second = ask(engine, **one), ask(engine, **two)
    before, after = replay(first), replay(second)
    rank_before = {id: at + 1 for at, id in enumerate(before.ids)}
    rank_after = {id: at + 1 for at, id in enumerate(after.ids)}
    found = diff(first, second)
    assert {c.memory_id: c.rank for c in found.entered} == {
        id: at for id, at in rank_after.items() if id not in rank_before
    }
    assert {c.memory_id: c.rank for c in found.left} == {
        id: at for id, at in rank_before.items() if id not in rank_after
    }
    assert {c.memory_id: (c.rank_before, c.rank_after) for c in found.moved} == {
        id: (rank_before[id], rank_after[id])
        for id in rank_before.keys() & rank_after.keys()
        if rank_before[id] != rank_after[id]
    }
    for change in found.changes:
        assert change.memory_id in change.sentence
        assert change.sentence.endswith(".")
        assert change.to_json()["cause"]["type"]


@given(worlds(), questions, questions)
@few
def test_the_other_way_round_what_entered_left(world: World, one: Question, two: Question) -> None:
    with populated(world) as engine:
        first, second = ask(engine, **one), ask(engine, **two)
    there, back = diff(first, second), diff(second, first)
    assert {c.memory_id for c in there.entered} == {c.memory_id for c in back.left}
    assert {c.memory_id for c in there.moved} == {c.memory_id for c in back.moved}
    assert {s.setting: (s.before, s.after) for s in there.settings} == {
        s.setting: (s.after, s.before) for s in back.settings
    }


# ── scenes ──


@pytest.fixture
def five(engine: Engine) -> list[str]:
    texts = ("cache one", "cache two two", "cache three three three", "deploy four", "token five")
    return [engine.remember(text, project="p" if at % 2 else "q").id for at, text in enumerate(texts)]


def test_a_higher_limit_is_the_cause_of_what_it_lets_in(engine: Engine, five: list[str]) -> None:
    found = diff(ask(engine, "cache", limit=1), ask(engine, "cache", limit=2))
    assert [change.cause for change in found.entered] == [SettingChanged("limit", 1, 2)]
    # The caller's limit holds in a wider look too.
    assert found.settings == (SettingChanged("limit", 1, 2), SettingChanged("max_results", 1, 2))
    assert found.entered[0].sentence.endswith("entered as 2nd: limit is 2 and was 1.")


def test_a_filter_of_the_caller_is_a_setting(engine: Engine, five: list[str]) -> None:
    found = diff(ask(engine, "cache"), ask(engine, "cache", project="p"))
    setting = SettingChanged("filters.project", None, "p")
    assert {change.memory_id for change in found.left} >= {five[0], five[2]}
    assert {change.cause for change in found.left} == {setting}
    assert found.settings == (setting,)


def test_a_memory_that_was_forgotten_or_superseded_says_so(engine: Engine, clock: FixedClock, five: list[str]) -> None:
    before = ask(engine, "cache")
    clock.advance(days=1)
    engine.forget(five[0])
    forgotten = diff(before, ask(engine, "cache"))
    assert {c.memory_id: c.cause for c in forgotten.left}[five[0]] == GoneSince("forgotten")
    engine.restore(five[0])
    between = ask(engine, "cache")
    engine.supersede(five[0], five[1])
    superseded = diff(between, ask(engine, "cache"))
    assert {c.memory_id: c.cause for c in superseded.left}[five[0]] == GoneSince("superseded", five[1])
    assert f"it is superseded by {five[1]} now" in superseded.left[0].sentence


def test_an_expired_memory_was_filtered(engine: Engine, clock: FixedClock, five: list[str]) -> None:
    short = engine.remember("cache for a day", valid_until=clock() + 1_000).id
    before = ask(engine, "cache")
    clock.advance(days=1)
    found = diff(before, ask(engine, "cache"))
    assert {c.memory_id: c.cause for c in found.left} == {short: Filtered("validity", "outside its validity")}


def test_a_new_memory_entered_and_the_one_that_it_pushed_out_names_it(
    engine: Engine, clock: FixedClock, five: list[str]
) -> None:
    before = ask(engine, "cache", limit=1, preset="classic")
    (first,) = replay(before).ids
    clock.advance(days=1)
    new = engine.remember("cache cache").id
    found = diff(before, ask(engine, "cache", limit=1, preset="classic"))
    assert [(c.memory_id, c.cause) for c in found.entered] == [(new, NewMemory())]
    assert [(c.memory_id, c.cause) for c in found.left] == [(first, Neighbour(new, "above", NewMemory()))]


def test_a_term_that_grew_is_named_with_both_values(engine: Engine, clock: FixedClock) -> None:
    one = engine.remember("alpha cache", salience=0.5).id
    two = engine.remember("omega cache", salience=0.5).id
    before = ask(engine, "cache", preset="classic")
    low = replay(before).ids[-1]
    for number in range(8):
        clock.advance(days=1.5)
        with engine.core.acting(Actor(owner=f"token-{number}")):
            engine.confirm(low)
    after = engine.recall(replace(engine.recalls.query("cache", preset="classic"), now=before.query["now"])).ledger
    assert replay(before).ids == tuple(reversed(replay(after).ids))
    assert {low} < {one, two}
    moved = {c.memory_id: c.cause for c in diff(before, after).moved}
    cause = moved[low]
    assert isinstance(cause, TermChanged)
    assert cause.term == "salience"
    assert cause.after is not None
    assert cause.before is not None
    assert cause.after > cause.before
    other = next(id for id in (one, two) if id != low)
    assert moved[other] == Neighbour(low, "above", cause)


def test_what_no_view_proposes_any_more(engine: Engine) -> None:
    ids = [engine.remember(f"cache {word}").id for word in ("one", "two", "three", "four", "five", "six")]
    keyword = ask(engine, "cache one", mode="keyword")
    narrow = ask(engine, "one", mode="keyword")
    found = diff(keyword, narrow)
    assert {c.memory_id for c in found.left} == set(ids[1:])
    assert {c.cause for c in found.left} == {SettingChanged("text", "cache one", "one")}


def test_a_memory_that_existed_and_was_not_proposed_says_which_view_proposes_it_now(
    engine: Engine, clock: FixedClock
) -> None:
    cause = NotProposed("before", ("semantic",))
    assert str(cause) == "no view proposed it before, semantic did now"
    assert as_json(cause) == {"type": "not-proposed", "when": "before", "views": ["semantic"]}


def test_the_time_in_an_id(clock: FixedClock, engine: Engine) -> None:
    assert minted_at(engine.remember("cache").id) == clock()
    assert minted_at("not an id") is None
