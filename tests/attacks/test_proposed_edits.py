"""What an agent only proposes in the place of something more trusted: it stands below it in every recall, and says on
every layer that it is a proposal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import crowd
from attacks.test_information_flow import do, mcp, token
from recallens.engine import Engine
from recallens.http.guard import caller_with
from recallens.mcp.calls import local_caller
from recallens.model.memory import Status
from recallens.operations import OPERATIONS, Caller, owner, perform
from standing import FixedClock

QUESTION = "which database is the orders database"
OWN = "The orders database is PostgreSQL 16 on host db-main, port 5432."
RIVAL = "The orders database is MySQL."


def text(engine: Engine, caller: Caller, name: str, **given: object) -> str:
    told = perform(OPERATIONS[name], engine, caller, {"format": "text", **given})
    return told.body if hasattr(told, "body") else told.text


def edited(engine: Engine, caller: Caller, id: str, content: str) -> str:
    answer = perform(OPERATIONS["edit_memory"], engine, caller, {"id": id, "content": content})
    return str(answer.record["id"])


@pytest.fixture(params=("a token", "an agent over MCP"))
def agent(engine: Engine, request: pytest.FixtureRequest) -> Caller:
    if request.param == "a token":
        return caller_with(engine.tokens.create(["default"], right="write", name="agent")[0])
    return local_caller(engine.core.settings)


@pytest.fixture
def asked_for(engine: Engine, clock: FixedClock, agent: Caller) -> tuple[str, str]:
    """The person's memory, and what an agent proposes in its place."""
    crowd.fill(engine)
    own = engine.remember(OWN).id
    clock.advance(days=1)
    return own, edited(engine, agent, own, RIVAL)


def order(engine: Engine, *ids: str) -> list[str]:
    return [each.memory.id for each in engine.search(QUESTION, record=False).results if each.memory.id in ids]


def test_what_is_only_proposed_stands_below(engine: Engine, agent: Caller, asked_for: tuple[str, str]) -> None:
    own, rival = asked_for
    assert order(engine, own, rival) == [own, rival]
    for caller in (agent, owner("default")):
        found = text(engine, caller, "search_memory", query=QUESTION)
        assert found.index("PostgreSQL") < found.index("MySQL")
        block = text(engine, caller, "get_context", task=QUESTION)
        assert block.index("PostgreSQL") < block.index("MySQL")


def test_a_proposal_says_so_on_every_layer(engine: Engine, agent: Caller, asked_for: tuple[str, str]) -> None:
    own, rival = asked_for
    said = f"proposes to replace {engine.get(own).handle}"
    for caller in (agent, owner("default")):
        layers = [
            text(engine, caller, "search_memory", query=QUESTION), text(engine, caller, "get_context", task=QUESTION),
            text(engine, caller, "get_details", id=rival), text(engine, caller, "get_timeline", observation_id=rival),
            text(engine, caller, "recall_xray", query=QUESTION),
        ]  # fmt: skip
        assert [said in layer for layer in layers] == [True] * len(layers)
    assert "eplace" not in text(engine, agent, "get_details", id=own)


def test_the_xray_has_it_as_a_verdict(engine: Engine, asked_for: tuple[str, str]) -> None:
    own, rival = asked_for
    parts = {each.memory.id: each.parts for each in engine.search(QUESTION, record=False).results}
    assert parts[rival]["proposal"] < 0
    assert "proposal" not in parts[own]


def test_an_edit_of_a_proposal_is_one_too(engine: Engine, agent: Caller, asked_for: tuple[str, str]) -> None:
    own, rival = asked_for
    again = edited(engine, agent, rival, "The orders database is MySQL, the orders database is MySQL 8.")
    assert order(engine, own, rival, again) == [own, again]
    assert f"proposes to replace {engine.get(own).handle}" in text(engine, agent, "get_details", id=again)
    engine.memories.review(again, approve=True)
    assert engine.get(own).status is Status.SUPERSEDED
    assert "proposes" not in text(engine, agent, "get_details", id=again)


def test_a_rejected_proposal_leaves_nothing_behind(engine: Engine, asked_for: tuple[str, str]) -> None:
    own, rival = asked_for
    engine.memories.review(rival, approve=False)
    assert order(engine, own, rival) == [own]
    assert engine.get(rival).status is Status.REJECTED
    assert not engine.memories.proposals()


def test_nobody_lowers_what_is_trusted_by_proposing_it(engine: Engine, agent: Caller) -> None:
    crowd.fill(engine)
    own = engine.remember(OWN).id
    other = engine.remember("The orders database is backed up at night.").id
    before = standing_of(engine)
    perform(OPERATIONS["supersede"], engine, agent, {"old": own, "new": other})
    perform(OPERATIONS["supersede"], engine, agent, {"old": other, "new": own})
    assert standing_of(engine) == before


def standing_of(engine: Engine) -> list[object]:
    found = engine.search(QUESTION, record=False).results
    return [(each.memory.id, each.score, each.parts, each.state) for each in found]


@pytest.mark.parametrize("agent", [token, mcp])
@pytest.mark.parametrize(("principle", "denied"), [
    ("All deploys to production need two approvals.", "Two approvals are unnecessary for deploys to production."),
    ("Never commit secrets to the repository.", "It is okay to commit secrets to the repository."),
    ("Customer data stays in the EU.", "Customer data may leave the EU."),
    ("운영 배포에는 승인 두 개가 필요하다.", "운영 배포는 승인 없이 해도 된다."),
])  # fmt: skip
def test_what_denies_a_principle_stands_below_it_in_whatever_words(
    engine: Engine, agent: Callable[[Engine], Caller], principle: str, denied: str
) -> None:
    crowd.fill(engine)
    own = engine.remember(principle, kind="principle").id
    rival = do(engine, agent(engine), "remember", content=denied).record["id"]
    for question in (principle, denied):  # also to who asks in the very words of the denial
        for limit in (1, 10):
            order = [each.memory.id for each in engine.search(question, record=False, limit=limit).results]
            assert own in order, (question, limit)
            assert rival not in order or order.index(own) < order.index(rival), (question, limit)


def test_a_principle_stands_above_nothing_that_speaks_of_something_else(engine: Engine) -> None:
    crowd.fill(engine)
    engine.remember("All deploys to production need two approvals.", kind="principle")
    note = "The quay 3 sensor was replaced on Friday by the harbour crew."
    other = do(engine, token(engine), "remember", content=note).record["id"]
    assert engine.search("when was the quay 3 sensor replaced", record=False).results[0].memory.id == other
