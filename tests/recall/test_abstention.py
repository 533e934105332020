"""An honest "nothing here answers this": abstained exactly where the cut leaves nothing, with the real encoder."""

from __future__ import annotations

from typing import Any

import pytest

from recallens import Draft, Engine
from recallens.model.recall import Recall
from recallens.recall.certificate import LOOKED_AT
from standing import Open

AIRLINE = "Which airline do we use for the conference in Lisbon?"


def ask(engine: Engine, question: str, **options: Any) -> Recall:
    return engine.search(question, certify=True, record=False, **options)


def doubt(recall: Recall) -> dict[str, Any]:
    found: dict[str, Any] = recall.ledger.notes("certificate")[-1]["abstention"]
    return found


@pytest.fixture
def talk(real: Engine) -> Engine:
    turns = (
        ("Mina", "I painted the old boathouse last weekend, all of it in green."),
        ("Jisoo", "I finally signed up for the pottery course downtown."),
        ("Mina", "My sister is moving to Busan in the spring."),
        ("Jisoo", "The bakery on the corner has closed for good."),
    )
    for at, (author, text) in enumerate(turns):
        real.remember(Draft(text, author=author, session="s", position=at))
    return real


def test_a_question_about_nothing_here_is_abstained_from(talk: Engine) -> None:
    answered, unanswered = ask(talk, "What did Mina paint last weekend, the boathouse?"), ask(talk, AIRLINE)
    assert answered.results
    assert not doubt(answered)["abstain"]
    assert unanswered.results == ()
    assert doubt(unanswered)["abstain"]
    assert doubt(unanswered)["score"] > doubt(answered)["score"]


@pytest.mark.parametrize("question", ["who is moving to Busan?", "boathouse", "which course did Jisoo sign up for"])
def test_in_a_small_store_an_answer_is_not_doubted_away(talk: Engine, question: str) -> None:
    assert not doubt(ask(talk, question))["abstain"]
    assert ask(talk, question).results


def test_what_somebody_else_said_is_less_likely_to_answer(talk: Engine) -> None:
    own, other = (ask(talk, f"Did {name} sign up for the pottery course?") for name in ("Jisoo", "Mina"))
    assert doubt(other)["score"] > doubt(own)["score"]


def test_the_doubt_is_how_likely_it_is_that_the_best_does_not_help(talk: Engine) -> None:
    recall = ask(talk, "Did Jisoo sign up for the pottery course?", cut=False)
    relevance = sorted((result.relevance or 0.0 for result in recall.results), reverse=True)[:LOOKED_AT]
    assert doubt(recall)["relevance"] == pytest.approx(relevance)
    assert doubt(recall)["score"] == pytest.approx(1.0 - relevance[0])


def test_the_threshold_is_where_the_cut_leaves_nothing(talk: Engine) -> None:
    for question in (AIRLINE, "who is moving to Busan?", "pottery", "which pump hums in the cellar"):
        recall = ask(talk, question)
        told = doubt(recall)
        assert told["abstain"] is (max(told["relevance"]) < told["threshold"]) is (recall.results == ())


@pytest.mark.parametrize("limit", [1, 3, 50])
@pytest.mark.parametrize("question", [AIRLINE, "who is moving to Busan?"])
def test_the_doubt_does_not_depend_on_how_many_are_asked_for_or_on_the_cut(
    talk: Engine, question: str, limit: int
) -> None:
    assert doubt(ask(talk, question, limit=limit)) == doubt(ask(talk, question))
    assert doubt(ask(talk, question, limit=limit, cut=False)) == doubt(ask(talk, question))


@pytest.mark.parametrize("encoder", ["real", "none"])
def test_where_nothing_is_found_at_all_the_doubt_is_surest(opened: Open, real: Engine, encoder: str) -> None:
    engine = real if encoder == "real" else opened(encoder="none")
    engine.remember("harbour")
    recall = ask(engine, "zebra crossings")
    assert recall.results == ()
    assert doubt(recall)["abstain"]
    assert doubt(recall)["score"] > 0.9


def test_better_evidence_never_raises_the_doubt(real: Engine) -> None:
    question = "when are the harbour cranes painted"
    doubts = []
    for text in ("The office has a kettle", "The harbour has a crane", "The harbour cranes are painted every spring"):
        real.remember(text)
        doubts.append(doubt(ask(real, question))["score"])
    assert doubts == sorted(doubts, reverse=True)
    assert doubts[-1] < 0.5 < doubts[0]
