"""Which term decides each rank: computed here by hand from the ledger, and told in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from laws import taking
from recallens.engine import Engine
from recallens.model.ledger import Entry, Ledger
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import ID_DTYPE, Found, Pick, Term, Verdict
from recallens.xray.sensitivity import sensitivity
from worlds import World, populated, questions, worlds

few = taking(30)
NAMES = tuple(f"{letter * 26}" for letter in "ABCDE")


def told(limit: int, **terms: list[float]) -> Ledger:
    """A recall of as many rows as the terms have values, in the order of their sums."""
    pool, entries = Pool(), []
    size = len(next(iter(terms.values())))
    ids = np.array([name.encode() for name in NAMES[:size]], dtype=ID_DTYPE)

    def say(stage: str, verdict: Verdict) -> None:
        nonlocal pool
        _, considered, admitted = pool.step(verdict)
        entries.append(Entry(stage=stage, verdict=verdict, considered=considered, admitted=admitted))
        pool = pool.apply(verdict)

    say("gather:lexical", Found("lexical", ids, np.ones(size), np.arange(size)))
    for name, values in terms.items():
        say("terms", Term(name, np.array(values), np.ones(size, dtype=np.bool_)))
    order = np.argsort(-pool.score, kind="stable")[:limit]
    say("select", Pick("limit", order, np.ones(len(order))))
    return Ledger(Query("q", 0, limit=limit).to_json(), tuple(entries))


def test_the_term_without_which_it_falls_furthest_decides() -> None:
    first, second = sensitivity(told(2, bm25=[5.0, 1.0, 0.9, 0.8], vector=[0.0, 0.5, 0.4, 0.3]))
    assert (first.memory_id, first.rank, first.standing) == (NAMES[0], 1, 1)
    assert first.without == {"bm25": 4, "vector": 1}
    assert first.deciding == "bm25"
    assert first.sentence == (
        "1st because of the exact words (bm25): without it, it would be 4th, outside the results."
    )
    assert second.without == {"bm25": 1, "vector": 2}
    assert second.deciding is None
    assert second.sentence == "2nd: no single term decides it."


def test_a_fall_inside_the_results_is_not_outside_them() -> None:
    first, *_ = sensitivity(told(3, vector=[3.0, 1.0, 0.5], recency=[0.0, 0.1, 0.2]))
    assert first.sentence == "1st because of what it means (vector): without it, it would be 3rd."
    assert first.to_json() == {
        "memoryId": NAMES[0], "rank": 1, "standing": 1, "without": {"vector": 3, "recency": 1},
        "deciding": "vector", "sentence": first.sentence,
    }  # fmt: skip


def test_an_absent_term_is_not_weighed(engine: Engine) -> None:
    engine.remember("deploys go out with src/app.py")
    engine.remember("nothing of the kind")
    results = sensitivity(engine.recall(engine.recalls.query("src/app.py", cut=False)).ledger)
    assert "symbolic" in results[0].without
    assert "symbolic" not in results[-1].without


def test_the_exact_words_decide_in_a_real_store(real: Engine) -> None:
    """By meaning the gate itself comes first, for its name is like nothing else; two words of three stand elsewhere."""
    for text in (
        "our release pipeline ships on tuesdays",
        "the gateway turns away callers whose certificate has expired",
        "a proxy lets nobody in without a valid certificate",
        "zyxgate listens on port 8443",
    ):
        real.remember(text)
    first, *_ = sensitivity(real.recall(real.recalls.query("zyxgate gateway callers")).ledger)
    assert (first.standing, first.deciding) == (1, "bm25")
    assert first.without["bm25"] == max(first.without.values()) > 1
    assert first.sentence.startswith("1st because of the exact words (bm25)")


@given(worlds(), questions)
@few
def test_every_place_is_the_rank_by_the_remaining_terms(world: World, question: dict[str, Any]) -> None:
    with populated(world) as engine:
        ledger = engine.recall(engine.recalls.query(**question)).ledger
    picking = next((at for at, entry in enumerate(ledger.entries) if isinstance(entry.verdict, Pick)), None)
    if picking is None:
        assert sensitivity(ledger) == ()
        return
    pool = Ledger(ledger.query, ledger.entries[:picking]).replay()
    terms = {term.name: term for term in ledger.terms()}
    for one in sensitivity(ledger):
        at = int(np.flatnonzero(pool.ids == one.memory_id.encode())[0])
        for name, place in one.without.items():
            rest = pool.score - np.where(terms[name].computed, terms[name].delta, 0.0)
            above = int((pool.live & (rest > rest[at])).sum())
            level = int((pool.live & (rest == rest[at])).sum())
            assert above < place <= above + level
        assert one.deciding is None or one.without[one.deciding] == max(one.without.values())
        if one.deciding is None:
            assert max(one.without.values(), default=0) <= one.standing


def test_no_results_no_sentences(engine: Engine) -> None:
    assert sensitivity(engine.recall(engine.recalls.query("cache")).ledger) == ()


@pytest.mark.parametrize("preset", ["default", "classic"])
def test_one_for_each_result_in_order(engine: Engine, preset: str) -> None:
    for word in ("one", "two", "three"):
        engine.remember(f"cache {word}")
    recall = engine.recall(engine.recalls.query("cache two", preset=preset))
    assert [one.memory_id for one in sensitivity(recall.ledger)] == [result.memory.id for result in recall.results]
