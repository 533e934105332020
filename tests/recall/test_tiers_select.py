"""What is cut after the scores: repetition, documents, the budget; a weight of zero; watching without taking part."""

from __future__ import annotations

import pytest

from recallens.engine import Engine
from recallens.model.snapshot import Snapshot
from standing import Open

LONG = "cache lookups " + "and so on and on " * 40


def ids(snapshot: Snapshot) -> list[str]:
    return [result.memoryId for result in snapshot.results]


def rung(snapshot: Snapshot, name: str) -> tuple[int, int, str | None]:
    (found,) = (rung for rung in snapshot.filters if rung.name == name)
    return found.considered, found.admitted, found.reason


# ── per-document cap ──


def test_at_most_three_sections_of_one_document(engine: Engine) -> None:
    text = "\n\n".join(f"cache {'lookups ' * at}{'and other things ' * 60}" for at in range(1, 6))
    sections = engine.memories.add_document(text, path="cache.md").memories
    alone = engine.remember("the cache is large").id
    snapshot = engine.xray("cache", budget=100_000, tokens=100_000)
    assert len(set(sections) & set(ids(snapshot))) == 3
    assert alone in ids(snapshot)
    assert rung(snapshot, "per-document-cap") == (6, 4, "more than 3 of one document")
    assert {result.path for result in snapshot.results if result.memoryId in sections} == {"cache.md"}
    assert {miss.keptOutBy for miss in snapshot.nearMisses} == {"per-document-cap"}


# ── mmr ──


def test_a_near_duplicate_gives_way(real: Engine) -> None:
    first = real.remember("we cache tracking lookups for a minute", importance=1.0, dedupe=False).id
    twin = real.remember("we cache tracking lookups for one minute", importance=0.9, dedupe=False).id
    other = real.remember("the tracking cache is cleared on deploy", importance=0.8, dedupe=False).id
    for text in ("lunch is at noon", "the office is in Busan", "invoices are due on friday", "the printer is broken"):
        real.remember(text, importance=0.0)
    every = real.xray("cache tracking lookups", limit=7)
    by_score = {
        each.memoryId: each.scoreDecomposition["final"] - each.scoreDecomposition.get("mmrPenalty", 0.0)
        for each in every.results
    }
    second = max(by_score.keys() - {ids(every)[0]}, key=by_score.__getitem__)
    assert {ids(every)[0], second} == {first, twin}
    penalty = {each.memoryId: each.scoreDecomposition.get("mmrPenalty", 0.0) for each in every.results}
    assert penalty[second] == min(penalty.values())
    assert penalty[second] < penalty[other] < 0


def test_what_was_said_in_another_session_is_another_occasion(real: Engine) -> None:
    texts = ("I went to the film festival in Busan", "I went to the film festival in Jeonju", "we ate noodles after it")
    turns = [
        real.remember(text, author="user", session=session, position=at, dedupe=False).id
        for session in ("spring", "autumn") for at, text in enumerate(texts)
    ]  # fmt: skip
    snapshot = real.xray("which film festival did I go to", limit=6)
    penalty = {each.memoryId: each.scoreDecomposition.get("mmrPenalty", 0.0) for each in snapshot.results}
    festivals = {"spring": turns[:2], "autumn": turns[3:5]}
    paid = {session: sorted(penalty[turn] for turn in own) for session, own in festivals.items()}
    for own in paid.values():  # the better one of each session pays nothing, though it says the same as the other's
        assert own[0] < 0
        assert own[1] == 0


def test_the_order_of_choice_is_the_order_of_final_scores_and_the_first_pays_nothing(real: Engine) -> None:
    for at in range(12):
        real.remember(f"cache {'lookups ' * (at % 4)}number {at}", importance=at / 12, dedupe=False)
    snapshot = real.xray("cache lookups", limit=8)
    finals = [result.scoreDecomposition["final"] for result in snapshot.results]
    assert finals == sorted(finals, reverse=True)
    assert ["mmrPenalty" in result.scoreDecomposition for result in snapshot.results] == [False] + [True] * 7
    considered, kept, words = rung(snapshot, "mmr-diversify")
    assert (kept, words) == (8, "first 8 by score and novelty")
    assert considered > kept


# ── budget ──


def test_what_does_not_fit_is_skipped_and_a_later_one_still_fits(engine: Engine) -> None:
    small = engine.remember("cache lookups cache lookups", importance=1.0, dedupe=False).id
    big = engine.remember(LONG, importance=1.0, kind="fact", dedupe=False).id
    last = engine.remember("a cache", importance=0.0, dedupe=False).id
    free = engine.xray("cache lookups", mode="keyword", cut=False)
    assert set(ids(free)) == {small, big, last}
    order = ids(free)
    assert order.index(big) < order.index(last)
    snapshot = engine.xray("cache lookups", mode="keyword", budget=400, cut=False)
    assert ids(snapshot) == [id for id in order if id != big]
    assert rung(snapshot, "budget-fit") == (3, 2, "does not fit the budget")
    assert [miss.memoryId for miss in snapshot.nearMisses] == [big]


@pytest.mark.parametrize(
    "options", [{"budget": size} for size in (1, 90, 200, 400, 1000)] + [{"tokens": 1}, {"tokens": 80}]
)
def test_used_never_exceeds_what_was_given(engine: Engine, options: dict[str, int]) -> None:
    for at in range(8):
        engine.remember(f"cache {'lookups ' * at * 3} number {at}", dedupe=False)
    snapshot = engine.xray("cache", **options)
    budget = snapshot.budget
    assert budget.used is not None
    assert budget.usedTokens is not None
    assert (budget.chars, budget.tokens) == (options.get("budget", budget.used), options.get("tokens"))
    assert budget.used <= budget.chars
    assert budget.tokens is None or budget.usedTokens <= budget.tokens
    assert (budget.used == 0) is (not snapshot.results)
    assert sum(result.chars or 0 for result in snapshot.results) <= budget.used
    for result in snapshot.results:  # whole items
        assert result.chars is not None
        assert result.chars > len(engine.get(result.memoryId).content)


# ── weights ──


@pytest.mark.parametrize("term", ["vector", "bm25", "importance", "salience", "tierPrior"])
def test_a_weight_of_zero_is_zero_and_one_is_no_change(engine: Engine, term: str) -> None:
    engine.remember("we cache tracking lookups for a minute", kind="decision", importance=0.9)
    engine.remember("the cache is large")
    plain, same = engine.xray("cache tracking lookups"), engine.xray("cache tracking lookups", weights={term: 1})
    assert any(result.scoreDecomposition.get(term, 0.0) > 0 for result in plain.results)
    assert [result.scoreDecomposition for result in same.results] == [r.scoreDecomposition for r in plain.results]
    without = engine.xray("cache tracking lookups", weights={term: 0})
    assert {result.scoreDecomposition.get(term, 0.0) for result in without.results} == {0.0}


# ── watch ──


def test_watching_changes_nothing_for_the_others(opened: Open) -> None:
    engine = opened("watch.db", encoder="none")
    kept = [engine.remember(f"cache number {at}", importance=at / 10, dedupe=False).id for at in range(6)]
    gone = engine.remember("cache of old").id
    engine.supersede(gone, kept[0])
    quiet = engine.remember("nothing in common").id
    secret = engine.remember("cache from the web", zone="quarantine").id
    for limit in (2, 10):
        plain = engine.xray("cache", limit=limit)
        for watched in ([quiet], [gone], [secret], [kept[0]], [quiet, gone, secret, "01ARZ3NDEKTSV4RRFFQ69G5FAV"]):
            seen = engine.xray("cache", limit=limit, watch=watched)
            assert seen.results == plain.results
            assert seen.filters == plain.filters
            assert seen.nearMisses == plain.nearMisses
