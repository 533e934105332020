"""Who is not the person may date what they write into the past, and nothing holds then that was not known then."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import postgres
from attacks.test_information_flow import do, mcp, person, token
from recallens.cli import jsonl
from recallens.cli.given import Given
from recallens.engine import Engine
from recallens.ingest.draft import Draft
from recallens.model.memory import IdSource, Zone
from recallens.model.salience import DAY_MS
from recallens.model.times import to_datetime
from recallens.operations import Caller
from standing import START_MS, FixedClock, Open

QUESTION = "what is the rate limit of the API"
LONG_AGO, BETWEEN = START_MS - 300 * DAY_MS, START_MS - 200 * DAY_MS
Agent = Callable[[Engine], Caller]


def day_of(moment: int) -> str:
    return to_datetime(moment).isoformat()


def told(engine: Engine, question: str = QUESTION, **options: Any) -> list[str]:
    return [result.memory.id for result in engine.search(question, record=False, **options).results]


@pytest.fixture(params=["sqlite", "postgres"])
def either(request: pytest.FixtureRequest, opened: Open, clock: FixedClock) -> Any:
    if request.param == "sqlite":
        yield opened()
        return
    with closing(
        Engine.open(postgres.fresh_store(), encoder="hashing", clock=clock, ids=IdSource(clock, lambda bits: 0))
    ) as engine:
        yield engine


@pytest.mark.parametrize("agent", [token, mcp])
def test_what_an_agent_dates_in_the_past_holds_from_when_it_was_recorded(
    either: Engine, clock: FixedClock, agent: Agent
) -> None:
    engine, caller = either, agent(either)
    claimed = do(engine, caller, "remember", content="The rate limit of the API is 5000 requests a second.",
                 created=day_of(LONG_AGO)).record["id"]  # fmt: skip
    assert told(engine) == [claimed]
    assert (engine.get(claimed).created, engine.get(claimed).recorded) == (LONG_AGO, START_MS)
    for form in ({"as_of": BETWEEN}, {"as_of": START_MS - 1}):
        assert told(engine, **form) == []
    clock.advance(days=30)
    assert told(engine, as_of=START_MS) == [claimed]
    engine.core.discard_index("default")
    assert told(engine, as_of=BETWEEN) == []


def test_what_was_known_by_then_is_not_what_only_claims_to_be_of_then(either: Engine, clock: FixedClock) -> None:
    """The question itself names the time: what the person noted stands above what claims to be of then."""
    engine = either
    own = engine.remember("The rate limit of the API is 50 requests a second.", created=LONG_AGO + DAY_MS).id
    claimed = do(engine, token(engine), "remember", content="The rate limit of the API is 5000 requests a second.",
                 created=day_of(BETWEEN - DAY_MS)).record["id"]  # fmt: skip
    recall = engine.search("what was the rate limit of the API as of December 1, 2025", record=False)
    assert next(result.memory.id for result in recall.results) == own
    parts = {result.memory.id: result.parts.get("timeMatch", 0.0) for result in recall.results}
    assert parts[own] > parts.get(claimed, 0.0)


def test_the_persons_own_dates_and_those_of_a_file_that_they_load_count(
    engine: Engine, clock: FixedClock, tmp_path: Path
) -> None:
    own = engine.remember("The rate limit of the API is 50 requests a second.", created=LONG_AGO).id
    lower = engine.remember("The rate limit of the API was asked about.", zone=Zone.WORKING, created=LONG_AGO).id
    said = do(
        engine, person(), "remember", content="The rate limit of the API is per key.", created=day_of(LONG_AGO)
    ).record
    assert sorted(told(engine, as_of=BETWEEN, cut=False)) == sorted([own, lower, said["id"]])
    path = tmp_path / "lines.jsonl"
    path.write_text(json.dumps({"content": "The invoices are due on Mondays", "createdAt": LONG_AGO}) + "\n")
    lines = jsonl.read(str(path), {})
    jsonl.load(engine, lines, jsonl.LineNames(engine, lines), given=Given(json=True), dedupe=None, zone="working")
    results = engine.search("when are the invoices due", record=False, as_of=BETWEEN).results
    said = {result.memory.content: result.memory.zone for result in results}
    assert said["The invoices are due on Mondays"] is Zone.WORKING


def test_an_agent_ends_nothing_before_it_said_so(engine: Engine) -> None:
    """Its own and another agent's: what took its place was not known before, so until then the old one held."""
    one, other = token(engine, "one"), token(engine, "other")
    first = do(engine, one, "remember", content="The rate limit of the API is 50 requests a second.").record["id"]
    engine.core.clock.advance(days=10)  # type: ignore[attr-defined]
    do(engine, other, "remember", content="The rate limit of the API is 5000 requests a second.",
       created=day_of(LONG_AGO), supersedes=first)  # fmt: skip
    assert told(engine, as_of=START_MS + DAY_MS) == [first]
    assert engine.get(first).valid_until == START_MS + 10 * DAY_MS


def test_what_the_person_approves_has_the_date_that_it_says(engine: Engine) -> None:
    claimed = do(engine, token(engine), "remember", content="The rate limit of the API is 5000 requests a second.",
                 created=day_of(LONG_AGO)).record["id"]  # fmt: skip
    engine.memories.review(claimed, approve=True)
    assert engine.get(claimed).zone is Zone.TRUSTED
    assert told(engine, as_of=BETWEEN) == [claimed]


def test_of_what_happened_then_it_is_told_with_its_origin(engine: Engine) -> None:
    claimed = do(engine, token(engine), "remember", content="We moved the rate limiter to another host.",
                 kind="episode", created=day_of(START_MS - 5 * DAY_MS)).record["id"]  # fmt: skip
    (result,) = engine.search("what happened in the last two weeks", record=False).results
    assert (result.memory.id, result.memory.zone) == (claimed, Zone.WORKING)
    assert result.memory.recorded == START_MS


def test_a_recap_that_an_agent_dates_in_the_past_is_known_from_when_it_was_made(engine: Engine) -> None:
    with engine.core.acting(token(engine).actor):
        engine.sessions.start("s", started=LONG_AGO)
        engine.sessions.end("s", ended=LONG_AGO + 1, summary="The rate limit of the API was raised.")
    assert told(engine) != []
    assert told(engine, as_of=BETWEEN) == []


def test_a_draft_of_a_library_that_acts_as_an_agent(engine: Engine) -> None:
    with engine.core.acting(token(engine).actor):
        engine.remember(Draft("The rate limit of the API is 5000 requests a second.", created=LONG_AGO))
    assert told(engine, as_of=BETWEEN) == []
