"""The one gate for text: what is withheld reaches no caller but the one who looks after the store, on no surface."""

from __future__ import annotations

from typing import Any

import pytest

from recallens.engine import Engine
from recallens.ingest.draft import Draft
from recallens.mcp import resources
from recallens.mcp.calls import CallContext, Offer
from recallens.mcp.tools import TOOLS
from recallens.model.memory import Status
from recallens.model.state import ONLY_HERE, withheld
from recallens.operations import OPERATIONS, Caller, owner, perform

SECRET = "plover"
REASONS = {
    "forgotten": {},
    "rejected": {"status": "rejected"},
    "quarantined": {"zone": "quarantine"},
    "meant for another context only": {"scopes": (ONLY_HERE,)},
}


@pytest.fixture(params=REASONS)
def planted(engine: Engine, request: pytest.FixtureRequest) -> tuple[Engine, str]:
    """A memory that is withheld, tied to one that is not by every tie that a surface shows."""
    near = [engine.remember(Draft(f"The courier starts at {at}", session="s1", position=at)).id for at in range(3)]
    draft = Draft(f"The courier starts at {SECRET}", session="s1", position=3, task="T", **REASONS[request.param])
    hidden = engine.remember(draft, dedupe=False).id
    engine.relate(hidden, near[0], "CONTRADICTS")
    engine.supersede(near[1], hidden)
    if request.param == "forgotten":
        engine.forget(hidden)
    assert withheld(engine.get(hidden)) == request.param
    return engine, hidden


def asked(engine: Engine, name: str, caller: Caller, **arguments: Any) -> str:
    return perform(OPERATIONS[name], engine, caller, arguments).text


QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "courier starts", "include_superseded": True, "cut": False}),
    ("search_memory", {"query": "courier starts", "include_superseded": True, "cut": False}),
    ("search_memory", {"query": "courier starts", "format": "text", "cut": False}),
    *(("recall_xray", {"query": "courier starts", "format": format, "cut": False}) for format in ("json", "text")),
    ("recall_xray", {"query": "when does the courier start", "format": "brief"}),
    *((name, {key: id}) for name, key in (("get_details", "id"), ("get_timeline", "observation_id"), ("timeline", "id"),
                                           ("get_memory", "id")) for id in ("m1", "m2", "m3", "m4")),
    *(("get_details", {"id": id, "format": "text", "full": True}) for id in ("m1", "m2", "m4")),
    ("list_memories", {"status": list(Status)}),
    ("list_reviews", {}),
    ("get_session", {"id": "s1"}),
    ("get_context", {"task": "when does the courier start"}),
)  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), QUESTIONS, ids=[f"{name} {given}" for name, given in QUESTIONS])
def test_no_answer_holds_what_is_withheld(planted: tuple[Engine, str], name: str, arguments: dict[str, Any]) -> None:
    engine, _ = planted
    assert SECRET not in asked(engine, name, Caller(home="default"), **arguments)


def test_resources_are_named_by_what_may_be_seen(planted: tuple[Engine, str]) -> None:
    engine, hidden = planted
    offer = Offer(lambda: engine, lambda engine, request: Caller(home="default", sees_withheld=True), TOOLS)
    context = CallContext()
    names = [resource["name"] for resource in resources.listed(offer, context)]
    assert names
    assert not any(SECRET in name for name in names)
    read = resources.read(offer, context, f"{resources.MEMORIES}{hidden}")
    assert SECRET not in read
    assert '"withheld"' in read


def test_the_person_who_looks_after_the_store_sees_it(planted: tuple[Engine, str]) -> None:
    engine, hidden = planted
    assert SECRET in asked(engine, "get_memory", owner("default"), id=hidden)
    assert SECRET in asked(engine, "get_details", owner("default"), id=hidden)


def test_what_is_withheld_shows_as_handle_and_reason(planted: tuple[Engine, str]) -> None:
    engine, hidden = planted
    reason = withheld(engine.get(hidden))
    details = asked(engine, "get_details", Caller(home="default"), id="m4", format="text")
    assert details.startswith("m4 2026-06-01T00:00 fact (")
    assert f"withheld: {reason}" in details
    linked = asked(engine, "get_details", Caller(home="default"), id="m2", format="text")
    assert f"superseded by m4 (withheld: {reason})" in linked
