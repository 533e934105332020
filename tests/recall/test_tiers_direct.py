"""The direct answer: its gates in order, each with its word; what it adds, and that it never stops the others."""

from __future__ import annotations

from typing import Any

import pytest

from recallens.engine import Engine
from recallens.model.snapshot import Snapshot, TierExplain, XrayResult
from recallens.model.verdict import Gate

QUERY = "how long do we cache tracking lookups"
TEXT = "we cache tracking lookups for a minute"
DECIDED: dict[str, Any] = {"kind": "decision", "importance": 0.8, "dedupe": False}


def told(snapshot: Snapshot) -> TierExplain:
    assert snapshot.tierExplain is not None
    return snapshot.tierExplain


def result(snapshot: Snapshot, id: str) -> XrayResult:
    return next(result for result in snapshot.results if result.memoryId == id)


def test_a_trusted_decision_answers_and_says_so(engine: Engine) -> None:
    id = engine.remember(TEXT, **DECIDED).id
    engine.remember("the gateway drops idle connections")
    snapshot = engine.xray(QUERY)
    explained = told(snapshot)
    assert (explained.tier, explained.candidatesConsidered, explained.filteredBy) == ("direct-answer", 1, ())
    assert explained.reason.startswith("trusted decision, unambiguous, token-overlap 0.")
    assert explained.latencyMs > 0
    served = result(snapshot, id)
    assert (served.servedBy, served.scoreDecomposition["tierPrior"]) == ("direct-answer", 0.30)


def test_the_gates_come_in_the_settled_order(engine: Engine) -> None:
    engine.remember(TEXT, **DECIDED)
    ledger = engine.recall(engine.recalls.query(QUERY)).ledger
    gates = [entry.verdict.name for entry in ledger.entries if isinstance(entry.verdict, Gate)]
    assert [name.removeprefix("direct-answer:") for name in gates if name.startswith("direct-answer:")] == [
        "active", "trusted-zone", "eligible-kind", "importance", "entity-match", "token-overlap",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("attributes", "query", "options", "word"),
    [
        ({"status": "superseded", "valid_until": 1}, QUERY, {"include_superseded": True}, "not-active"),
        ({"zone": "working"}, QUERY, {}, "not-trusted"),
        ({"kind": "note"}, QUERY, {}, "ineligible-kind"),
        ({"importance": 0.69}, QUERY, {}, "below-importance-floor"),
        ({}, "cache tracking lookups of Harbor Freight", {}, "entity-mismatch"),
        ({}, "cache elephants zebras giraffes", {}, "below-token-overlap-floor"),
    ],
)
def test_each_gate_has_its_word_and_keeps_the_row_as_a_hybrid_result(
    engine: Engine, attributes: dict[str, Any], query: str, options: dict[str, Any], word: str
) -> None:
    id = engine.remember(TEXT, **DECIDED | attributes).id
    snapshot = engine.xray(query, cut=False, **options)
    explained = told(snapshot)
    assert explained.tier == "hybrid"
    assert explained.reason == "no trusted decision answers this directly"
    assert explained.filteredBy == (word,)
    assert result(snapshot, id).servedBy == "hybrid"
    assert "tierPrior" not in result(snapshot, id).scoreDecomposition


def test_only_the_first_gate_that_rejects_is_named(engine: Engine) -> None:
    engine.remember(TEXT, **DECIDED | {"zone": "working", "kind": "note", "importance": 0.0})
    assert told(engine.xray(QUERY)).filteredBy == ("not-trusted",)


def test_what_the_user_confirmed_needs_no_importance(engine: Engine) -> None:
    id = engine.remember(TEXT, **DECIDED | {"importance": 0.1}).id
    assert told(engine.xray(QUERY)).filteredBy == ("below-importance-floor",)
    engine.confirm(id)
    assert told(engine.xray(QUERY)).tier == "direct-answer"


def test_a_name_that_the_memory_holds_is_no_mismatch(engine: Engine) -> None:
    engine.remember("we cache tracking lookups of Harbor Freight", **DECIDED)
    assert told(engine.xray("cache tracking lookups of Harbor Freight")).tier == "direct-answer"


def test_two_that_answer_alike_are_ambiguous_and_neither_gets_a_head_start(engine: Engine) -> None:
    engine.remember(TEXT, **DECIDED)
    engine.remember("we cache tracking lookups for an hour", **DECIDED)
    snapshot = engine.xray(QUERY)
    explained = told(snapshot)
    assert (explained.tier, explained.filteredBy) == ("hybrid", ("ambiguous",))
    assert explained.reason == "ambiguous: 2 candidates, the best two within 0.15"
    assert all("tierPrior" not in result.scoreDecomposition for result in snapshot.results)


def test_one_that_holds_clearly_more_of_the_words_is_not_ambiguous(engine: Engine) -> None:
    id = engine.remember("how long we cache tracking lookups: a minute", **DECIDED).id
    engine.remember("we cache tracking ids", **DECIDED)
    snapshot = engine.xray("how long do we cache tracking lookups")
    assert told(snapshot).tier == "direct-answer"
    assert result(snapshot, id).servedBy == "direct-answer"


def test_it_adds_its_prior_and_never_stops_the_others(engine: Engine) -> None:
    """The same store with the answer one importance below the floor: the same rows, less the head start."""
    answer = engine.remember(TEXT, **DECIDED).id
    for at in range(6):
        engine.remember(f"other fact number {at} about the gateway")
    snapshot = engine.xray(QUERY, cut=False)
    parts = result(snapshot, answer).scoreDecomposition
    assert len(snapshot.results) == 7
    assert {result.servedBy for result in snapshot.results} == {"direct-answer", "hybrid"}
    assert parts["final"] == pytest.approx(sum(part for name, part in parts.items() if name != "final"))
    without = engine.xray(QUERY, weights={"tierPrior": 0.0}, cut=False)
    assert [r.memoryId for r in without.results if r.memoryId != answer] == [
        r.memoryId for r in snapshot.results if r.memoryId != answer
    ]


@pytest.mark.parametrize("options", [{"mode": "keyword"}, {"mode": "semantic"}, {"preset": "classic"}])
def test_one_view_alone_is_asked_without_tiers(engine: Engine, options: dict[str, Any]) -> None:
    engine.remember(TEXT, **DECIDED)
    snapshot = engine.xray(QUERY, cut=False, **options)
    assert snapshot.tierExplain is None
    assert {result.servedBy for result in snapshot.results} == {"hybrid"}
