"""The specification's plan: intents, complexity, dynamic k, strategies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens import Draft, Engine
from recallens.errors import InvalidInput, UnknownOption
from recallens.model.plan import Factors, Intent, Level, Plan, Strategy
from recallens.model.query import Query
from recallens.recall.intents import wish_of
from recallens.recall.plan import make_plan
from recallens.recall.question import (
    complexity_of,
    dynamic_k,
    estimated_tokens,
    level_of,
    strategy_of,
    weighted,
)
from standing import START_MS

SIMPLE = "JWT란?"
COMPLEX = "이 프로젝트의 인증 시스템 전체 아키텍처와 최근 3개월간 변경 이력"


def plan(text: str) -> Plan:
    return make_plan(Query(text, START_MS))


def test_the_specified_two_worked_examples_of_k() -> None:
    assert dynamic_k(0.1) == 13
    assert dynamic_k(0.8) == 34


def test_the_specified_two_example_queries_are_on_their_sides_of_the_thresholds() -> None:
    assert plan(SIMPLE).complexity.score < 0.3
    assert plan(SIMPLE).strategy is Strategy.SIMPLE
    assert plan(COMPLEX).complexity.score == pytest.approx(0.8)
    assert plan(COMPLEX).strategy is Strategy.COMPLEX


def test_each_factor_weighs_as_specified() -> None:
    nothing = Factors(0.0, 0.0, temporal=False, multi_hop=False, broad=False)
    assert weighted(nothing) == 0
    assert weighted(Factors(1.0, 0.0, temporal=False, multi_hop=False, broad=False)) == 0.2
    assert weighted(Factors(0.0, 1.0, temporal=False, multi_hop=False, broad=False)) == 0.25
    assert weighted(Factors(0.0, 0.0, temporal=True, multi_hop=False, broad=False)) == 0.2
    assert weighted(Factors(0.0, 0.0, temporal=False, multi_hop=True, broad=False)) == 0.25
    assert weighted(Factors(0.0, 0.0, temporal=False, multi_hop=False, broad=True)) == 0.1


def test_length_and_entities_are_shares_of_twenty_and_five() -> None:
    factors = complexity_of("word " * 10, 2, dated=False).factors
    assert (factors.length, factors.entity_count) == (0.5, 0.4)
    assert complexity_of("word " * 50, 9, dated=False).factors.length == 1.0


@pytest.mark.parametrize(
    ("score", "strategy"),
    [(0.0, "simple"), (0.29, "simple"), (0.3, "standard"), (0.69, "standard"), (0.7, "complex"), (1.0, "complex")],
)
def test_the_thresholds_of_the_strategies(score: float, strategy: str) -> None:
    assert strategy_of(score) == strategy


@given(st.floats(0, 1))
def test_k_stays_between_five_and_fifty_and_grows(score: float) -> None:
    assert 10 <= dynamic_k(score) <= 40
    assert dynamic_k(score, base=1, delta=0.1) == 5
    assert dynamic_k(score, base=60) == 50


def test_tokens_are_estimated_by_the_detail_that_is_needed() -> None:
    assert estimated_tokens(13, 0.1) == 1_300
    assert estimated_tokens(34, 0.8) == 17_000
    assert estimated_tokens(3, 0.5) == 300


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("How do I deploy to staging?", "how_to_do"),
        ("스테이징에 배포하는 방법", "how_to_do"),
        ("What happened to the login page last week?", "what_happened"),
        ("지난주에 무슨 일이 있었지", "what_happened"),
        ("known issues with the upload worker", "known_issues"),
        ("업로드 오류", "known_issues"),
        ("what version of postgres is installed", "environment"),
        ("현재 설정은", "environment"),
        ("where is the rate limiter implemented?", "code_structure"),
        ("어느 파일에 있나", "code_structure"),
    ],
)
def test_the_intent_is_read_from_the_question(text: str, intent: str) -> None:
    assert wish_of(text).intent == intent


def test_most_questions_want_no_kind_of_answer_in_particular() -> None:
    assert wish_of("the colour of the harbour cranes").intent is None


def test_the_level_of_a_question() -> None:
    assert level_of("why do we cache at all") is Level.PRINCIPLE
    assert level_of("what does `parse_config` return") is Level.IMPLEMENTATION
    assert level_of("the billing service") is Level.CONCEPT


def test_a_simple_question_is_not_expanded_and_a_harder_one_is() -> None:
    assert plan(SIMPLE).expansions == {}
    assert "authentication" in plan(COMPLEX).expansions["인증"]


def test_the_two_intent_enums_are_one(engine: Engine) -> None:
    assert engine.recalls.query("x", intent="how_to").intent is Intent.HOW_TO_DO
    assert engine.recalls.query("x", intent="gotchas").intent is Intent.KNOWN_ISSUES
    with pytest.raises(UnknownOption, match="how_to_do, what_happened, known_issues, environment, code_structure"):
        engine.recalls.query("x", intent="why")


def test_a_callers_limit_overrides_the_dynamic_k(engine: Engine) -> None:
    assert engine.recalls.query(COMPLEX).limit == 34
    assert engine.recalls.query(COMPLEX, limit=3).limit == 3
    assert engine.recalls.query(COMPLEX, max_results=7).limit == 7
    assert engine.recalls.query(COMPLEX, preset="classic").limit == 10


def test_a_scope_needs_to_know_whose_it_is(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="scope task needs the task"):
        engine.recalls.query("x", scope="task")
    with pytest.raises(UnknownOption, match="task, worktree, project, org"):
        engine.recalls.query("x", scope="everything")


def test_weights_are_between_nothing_and_all(engine: Engine) -> None:
    assert (engine.recalls.query("x").alpha, engine.recalls.query("x").beta) == (0.7, 0.2)
    with pytest.raises(InvalidInput, match="alpha"):
        engine.recalls.query("x", alpha=1.5)


# ── the specification's literal mapping ──


def views_asked(engine: Engine, text: str) -> set[str]:
    ledger = engine.recall(engine.recalls.query(text, preset="adaptive")).ledger
    return {entry.stage for entry in ledger.entries if entry.stage.startswith(("gather:", "graph"))}


def test_adaptive_asks_the_views_of_its_strategy(engine: Engine) -> None:
    token = engine.remember("인증 시스템은 JWT 토큰을 쓴다")
    fillers = [Draft(f"parcel {number} 인증 left depot {number * 7919}") for number in range(200)]
    numbers = [row.id for batch in engine.memories.remember_many(fillers) for row in batch]
    far = engine.remember("Sessions end after an hour").id
    for near in [token.id, *numbers]:
        engine.relate(near, far, "BUILDS_ON")
    assert views_asked(engine, SIMPLE) == {"gather:semantic"}
    assert views_asked(engine, "why does the login test fail on CI?") == {"gather:semantic", "gather:lexical"}
    assert views_asked(engine, COMPLEX) == {"gather:semantic", "gather:lexical", "graph"}
