"""An honest "nothing here answers this", with the real encoder."""

from __future__ import annotations

from typing import Any

from recallens import Draft, Engine
from recallens.recall.certificate import COEFFICIENTS, answerability


def doubt(engine: Engine, question: str) -> dict[str, Any]:
    notes = engine.search(question, certify=True, record=False).ledger.notes("certificate")
    found: dict[str, Any] = notes[-1]["abstention"]
    return found


def talk(engine: Engine) -> None:
    turns = (
        ("Mina", "I painted the old boathouse last weekend, all of it in green."),
        ("Jisoo", "I finally signed up for the pottery course downtown."),
        ("Mina", "My sister is moving to Busan in the spring."),
        ("Jisoo", "The bakery on the corner has closed for good."),
    )
    for at, (author, text) in enumerate(turns):
        engine.remember(Draft(text, author=author, session="s", position=at))


def test_a_question_about_nothing_here_is_abstained_from(real: Engine) -> None:
    talk(real)
    answered = doubt(real, "What did Mina paint last weekend, the boathouse?")
    unanswered = doubt(real, "Which airline did Mina book for the conference in Lisbon?")
    assert not answered["abstain"]
    assert unanswered["abstain"]
    assert unanswered["score"] > unanswered["threshold"] > answered["score"]


def test_in_a_small_store_an_answer_is_not_doubted_away(real: Engine) -> None:
    talk(real)
    assert not doubt(real, "who is moving to Busan?")["abstain"]
    assert doubt(real, "Which airline do we use for the conference in Lisbon?")["abstain"]


def test_what_somebody_else_said_is_no_answer(real: Engine) -> None:
    talk(real)
    own = doubt(real, "Did Jisoo sign up for the pottery course?")
    other = doubt(real, "Did Mina sign up for the pottery course?")
    assert other["features"]["stranger"] == 1.0
    assert own["features"]["stranger"] == 0.0
    assert other["score"] > own["score"]


def test_an_empty_store_is_surest(real: Engine) -> None:
    real.remember("harbour")
    assert doubt(real, "zebra crossings")["abstain"]


def test_better_evidence_never_raises_the_doubt() -> None:
    weak = {name: 0.0 for name in COEFFICIENTS if name != "bias"}
    for name in ("namedCoverage", "score", "words"):
        assert answerability({**weak, name: 1.0}) > answerability(weak)
    assert answerability({**weak, "stranger": 1.0}) < answerability(weak)
