"""What a caller learns by guessing: no filter, neighbour or count answers whether a withheld memory has a tag, a kind,
a project or a session."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recallens.engine import Engine
from recallens.http.guard import caller_with
from recallens.ingest.draft import Draft
from recallens.mcp.calls import local_caller
from recallens.operations import OPERATIONS, Caller, owner, perform
from standing import FixedClock

WITHHELD: dict[str, dict[str, Any]] = {
    "quarantined": {"zone": "quarantine"},
    "waits for review": {"status": "pending_review"},
    "meant for another context only": {"scopes": ("hr",)},
    "rejected": {"status": "rejected"},
    "forgotten": {},
}
GUESSES: tuple[dict[str, Any], ...] = (
    {"tag": "zephyr"}, {"tag": "#Zephyr"}, {"project": "atlas"}, {"kind": "pattern"}, {"sector": "procedural"},
    {"tier": "session"}, {"of_session": "s-1"}, {"sector": "procedural", "tag": "zephyr"},
)  # fmt: skip
EVERY_STATUS = ["active", "forgotten", "pending_review", "quarantined", "rejected"]


@pytest.fixture(params=WITHHELD)
def hidden(engine: Engine, clock: FixedClock, request: pytest.FixtureRequest) -> str:
    """A memory that is withheld, with everything that a filter asks for, and one beside it that is not."""
    engine.remember(Draft("Lunch is at noon", tags=("food",), project="atlas", session="s-1"))
    clock.advance(ms=1_000)
    told = {"tags": ("zephyr",), "project": "atlas", "kind": "pattern", "sector": "procedural", "tier": "session"}
    draft = Draft("Salaries are paid by hand", session="s-1", **told, **WITHHELD[request.param])
    id = engine.remember(draft, dedupe=False).id
    if request.param == "forgotten":
        engine.forget(id)
    return id


def callers(engine: Engine) -> tuple[Caller, Caller]:
    return caller_with(engine.tokens.create(["default"], right="write")[0]), local_caller(engine.core.settings)


def told(engine: Engine, caller: Caller, name: str, **given: Any) -> Any:
    return json.loads(perform(OPERATIONS[name], engine, caller, given).text)


@pytest.mark.parametrize("guess", GUESSES, ids=str)
def test_no_filter_tells_what_a_withheld_memory_is(engine: Engine, hidden: str, guess: dict[str, Any]) -> None:
    for caller in callers(engine):
        page = told(engine, caller, "list_memories", status=EVERY_STATUS, **guess)
        assert hidden not in {each["id"] for each in page["memories"]}
        assert page["total"] == len(page["memories"])
    page = told(engine, owner("default"), "list_memories", status=EVERY_STATUS, **guess)
    assert hidden in {each["id"] for each in page["memories"]}


def test_a_withheld_memory_is_listed_by_what_withholds_it(engine: Engine, hidden: str) -> None:
    status = engine.get(hidden).status
    for caller in callers(engine):
        page = told(engine, caller, "list_memories", status=[status])
        assert hidden in {each["id"] for each in page["memories"]}
        assert page["total"] == len(page["memories"])


def test_no_neighbour_tells_the_project_or_the_session_of_a_withheld_memory(engine: Engine, hidden: str) -> None:
    handle = engine.get(hidden).handle
    for caller in callers(engine):
        for anchor, others in (("m1", hidden), (handle, "Lunch")):
            assert others not in json.dumps(told(engine, caller, "timeline", id=anchor))
        assert "Lunch" not in json.dumps(told(engine, caller, "get_timeline", observation_id=handle))
        assert hidden not in json.dumps(told(engine, caller, "get_session", id="s-1"))
        (session,) = told(engine, caller, "list_sessions")["sessions"]
        assert session["memoriesInSession"] == 1
