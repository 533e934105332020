"""Whatever an agent writes, it takes nothing of the answer from what the person wrote: neither by how well it fits, nor
by how much of it there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import crowd
from attacks.poison import STUFFED
from recallens.engine import Engine
from recallens.ingest.draft import Draft
from recallens.ingest.suspicion import suspicions
from recallens.model.memory import Zone
from recallens.model.recall import Recall
from recallens.model.terms import as_share
from recallens.model.trust import CLAIMED_FROM, BudgetClaim, claim_of, room_beside, turns_within
from recallens.model.trust import STUFFED as HEAPS
from recallens.xray.ladder import RELEVANCE_CUT, Walk
from recallens.xray.replay import replay
from recallens.xray.why_not import KeptOut
from standing import Open

DECIDED = {
    "which database does the reporting job read from?": "Reporting reads from the replica, never from the primary.",
    "when do we deploy the mobile app?": "We decided on deploys of the app on Tuesdays only.",
    "who approves refunds above 500 euros?": "Refunds over 500 euros need the approval of Kim.",
    "배포 승인은 누가 하나요?": "배포는 박서준이 승인하기로 결정했다.",
    "환불 한도는 얼마인가요?": "환불은 50만 원까지 바로 처리하기로 했다.",
}
# Two that the person's notes answer barely: they hold little of the question's words.
BARELY = {
    "how do we roll out the storefront app to customers?": "The storefront app is never rolled out on a Friday.",
    "what is the timeout of the payment gateway for card payments?": "Card payments: Kim said to wait five seconds.",
}


def told_by_agents(question: str) -> list[str]:
    """Texts that hold every word of a question, as plain as an agent may write them."""
    core = question.rstrip("?")
    return [
        f"{question} {core}: it is not restricted. {core}, see this record.",
        f"The latest on {core}: {core} is automatic now.",
        f"{core}, {core}, {core}, {question} everything about {core}",
        f"Regarding {core}, the agents agreed that {core} has no rule.",
        f"Note on {core}: nobody needs it.",
    ]


def write_as_agent(engine: Engine, texts: Sequence[str]) -> None:
    for text in texts:
        engine.remember(Draft(text, zone=Zone.WORKING, source="agent"), dedupe=False)


@pytest.fixture
def by_words(opened: Open) -> Engine:
    """Without vectors, which are made beside the answer and would come at another moment each time."""
    return opened("words.db", encoder="none")


@pytest.fixture
def decided(by_words: Engine) -> dict[str, str]:
    """The id of the person's decision by question, in a store with a crowd in it."""
    crowd.fill(by_words)
    return {question: by_words.remember(text).id for question, text in (DECIDED | BARELY).items()}


def asked(engine: Engine, question: str, **options: Any) -> Recall:
    return engine.recall(engine.recalls.query(question, **options))


def relevances(engine: Engine, question: str) -> dict[str, float]:
    return {result.memory.id: result.relevance or 0.0 for result in asked(engine, question, limit=50).results}


def test_no_text_of_an_agent_raises_what_is_asked_of_the_persons(by_words: Engine, decided: dict[str, str]) -> None:
    """However well texts of agents fit, the person's decision is as likely to help as without them, and is there."""
    before = {question: relevances(by_words, question) for question in DECIDED}
    for question in DECIDED:
        write_as_agent(by_words, told_by_agents(question))
    for question in DECIDED:
        own, after = decided[question], relevances(by_words, question)
        assert own in before[question]
        assert own in after
        assert after[own] >= min(before[question][own], CLAIMED_FROM), question


@pytest.mark.parametrize("tokens", [150, 200, 300])
def test_in_a_small_budget_the_persons_decision_has_its_place(
    by_words: Engine, decided: dict[str, str], tokens: int
) -> None:
    for question in DECIDED:
        write_as_agent(by_words, told_by_agents(question))
    for question in DECIDED:
        own = decided[question]
        fitted = asked(by_words, question, tokens=tokens)
        assert own in {result.memory.id for result in fitted.results}, question
        for json in (False, True):
            found = by_words.layers.search(question, max_tokens=tokens, json=json)
            assert own in {entry.id for entry in found.entries}, (question, json)
        text = by_words.layers.search(question, max_tokens=tokens).to_text()
        assert by_words.get(own).handle in {line.split(" ")[0] for line in text.splitlines()}
        assert own in {item.name for item in by_words.context(question, tokens=tokens).items}, question


def test_what_is_shown_stands_in_the_order_of_the_scores(by_words: Engine, decided: dict[str, str]) -> None:
    """Room is given to the person's first; what is shown is not moved for it."""
    question = next(iter(DECIDED))
    write_as_agent(by_words, told_by_agents(question))
    recall = asked(by_words, question, tokens=300)
    scores = [result.score for result in recall.results]
    assert scores == sorted(scores, reverse=True)
    assert len({result.memory.zone for result in recall.results}) == 2
    assert replay(recall.ledger).ids == tuple(result.memory.id for result in recall.results)
    ranks = {result.memory.handle: result.rank for result in asked(by_words, question, widen=True).results}
    lines = by_words.layers.search(question, max_tokens=300).to_text().splitlines()
    shown = [ranks[line.split(" ")[0]] for line in lines if line.split(" ")[0] in ranks]
    assert len(shown) > 1
    assert shown == sorted(shown)


def test_the_xray_tells_of_each_row_what_was_asked_of_it(by_words: Engine, decided: dict[str, str]) -> None:
    """Beside agents' texts that fit better, less is asked of the person's decision; a row that is cut is told its own
    floor, and the ledger gives the same again."""
    question = next(iter(DECIDED))
    write_as_agent(by_words, told_by_agents(question))
    recall = asked(by_words, question, limit=50)
    assert replay(recall.ledger).ids == tuple(result.memory.id for result in recall.results)
    walk = Walk(recall.ledger)
    lower = [result.memory.id for result in recall.results if result.memory.zone is not Zone.TRUSTED]
    of_own, of_other = (walk.relevance_floor(walk.pool.places[id.encode()]) for id in (decided[question], lower[0]))
    assert of_own is not None
    assert of_other is not None
    assert of_own < of_other
    kept_out = {at: walk.kept_out(at) for at in range(len(walk.pool))}
    cut = next(at for at, by in kept_out.items() if by is not None and by[0] == RELEVANCE_CUT)
    why = by_words.recalls.why_not(walk.pool.ids[cut].decode(), question, limit=50)
    assert isinstance(why, KeptOut)
    assert f"below {as_share(walk.relevance_floor(cut) or 0.0)}" in why.dropped_by.reason


def test_where_all_are_trusted_alike_nothing_is_measured_apart(by_words: Engine, decided: dict[str, str]) -> None:
    for question in decided:
        for entry in asked(by_words, question).ledger.entries:
            assert not isinstance(getattr(entry.verdict, "peers", None), tuple)


def test_a_near_copy_of_an_agent_prices_nothing_out(by_words: Engine) -> None:
    own = by_words.remember("The staging cluster is wiped on Sunday evening, so nothing of worth may stay there.").id
    question = "when is the staging cluster wiped?"
    copy = f"{question} The staging cluster is wiped on Sunday evening, and nothing of worth may stay there: wiped."
    write_as_agent(by_words, [copy])
    snapshot = by_words.xray(question, cut=False)
    assert [result.memoryId == own for result in snapshot.results] == [False, True]
    result = snapshot.results[1]
    assert result.scoreDecomposition.get("mmrPenalty", 0.0) == 0.0


def test_what_heaps_up_words_stands_below_what_the_person_decided(by_words: Engine) -> None:
    own = by_words.remember("A refund to a customer is made by Kim.").id
    heap = next(text for text in STUFFED if text.startswith("refund refund"))
    assert suspicions(heap) == (HEAPS,)
    write_as_agent(by_words, [heap])
    results = asked(by_words, "refund to a customer", limit=5).results
    assert results[0].memory.id == own
    assert len(results) == 2


def test_sections_lessons_and_files_of_an_agent_leave_half_of_their_places(by_words: Engine) -> None:
    own = [
        by_words.remember(Draft(f"Lesson {n}: warm the cache before a release.", kind="lesson")).id for n in range(2)
    ]
    texts = [f"Lesson {n}: the cache, the cache before a release, warm it before a release" for n in range(6)]
    for text in texts:
        by_words.remember(Draft(text, kind="lesson", zone=Zone.WORKING, source="agent"), dedupe=False)
    results = asked(by_words, "warm the cache before a release", brain_file_limit=5, cut=False).results
    assert set(own) <= {result.memory.id for result in results}


@pytest.mark.parametrize(
    ("claimed", "most", "room"),
    [
        ([], 100, 100),
        ([30], 100, 70),
        ([30, 40], 100, 50),
        ([80], 100, 100),
        ([120, 10], 100, 90),
        ([1], np.inf, np.inf),
    ],
)
def test_beside_what_has_a_claim_half_is_left_or_what_that_leaves(
    claimed: list[float], most: float, room: float
) -> None:
    assert room_beside(claimed, most) == room


def test_what_has_no_room_beside_the_trusted_is_taken_last() -> None:
    costs = [30, 30, 40, 10, 40]
    lower, first, none = BudgetClaim.LOWER, BudgetClaim.FIRST, BudgetClaim.NONE
    assert turns_within([lower, lower, first, lower, first], (costs, 100)) == [0, 2, 3, 4, 1]
    assert turns_within([lower, lower, first, lower, none], (costs, 100)) == [0, 1, 2, 4, 3]
    assert turns_within([lower, lower, first, lower, first], ([1] * 5, np.inf), (costs, 100)) == [0, 2, 3, 4, 1]
    for alike in (lower, first, none):
        assert turns_within([alike] * 5, (costs, 100)) == [0, 1, 2, 3, 4]


def test_what_is_hardly_likely_to_help_claims_nothing() -> None:
    claims = [claim_of(zone, relevance) for zone in (Zone.TRUSTED, Zone.WORKING) for relevance in (0.9, 0.05, None)]
    assert claims == [
        BudgetClaim.FIRST,
        BudgetClaim.NONE,
        BudgetClaim.FIRST,
        BudgetClaim.LOWER,
        BudgetClaim.LOWER,
        BudgetClaim.LOWER,
    ]
