"""What a token sees of another's sessions and tasks: that a memory which it may see was made in a session, and nothing
else. Which memories a session was given, what it is called and when it ran, and the words of a task are whose they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.testclient import TestClient

from recallens.engine import Engine
from recallens.errors import NotFound, RecallensError
from recallens.http.guard import caller_with
from recallens.ingest.draft import Draft
from recallens.mcp.calls import local_caller
from recallens.model.memory import Session
from recallens.operations import OPERATIONS, Caller, Right, Written, owner, perform
from recallens.server import whole
from standing import FixedClock

ADDRESS = "http://127.0.0.1:8765"
# These words stand in no request: where an answer holds one, it gave away what somebody else did.
PRIVATE = "zzprivate"
TASK = f"{PRIVATE}-task"
HOUR = 3_600_000


class Scene(NamedTuple):
    engine: Engine
    made: str  # in the person's session and task
    given: str  # to the person's session, and used in the task; it was made in none
    other: Caller  # another token, which has a session and a task of its own
    token: Caller
    text: str  # by which the token is let in over HTTP


def do(engine: Engine, caller: Caller, name: str, **given: Any) -> Any:
    answer = perform(OPERATIONS[name], engine, caller, given)
    return answer.body if isinstance(answer, Written) else json.loads(answer.text)


@pytest.fixture
def scene(engine: Engine, clock: FixedClock) -> Scene:
    """Two who do things, and a token that asks about them."""
    started = engine.core.clock()
    told = Session("s-person", "default", started, project=f"{PRIVATE}-project", title=f"{PRIVATE} title",
                   summary=f"{PRIVATE} summary")  # fmt: skip
    engine.sessions.put([told])
    begun = engine.tasks.start(f"{PRIVATE} words", id=TASK, session="s-person", worktree=f"{PRIVATE}-tree")
    clock.advance(ms=HOUR)
    given = engine.remember("The door code is changed every month").id
    made = engine.remember(
        Draft("Lookups are cached for 60 seconds", session="s-person", task=TASK, project="harbor")
    ).id
    clock.advance(ms=HOUR)
    engine.search("how often is the door code changed", session="s-person", task=begun.id)
    engine.tasks.used([given], task=begun.id)
    engine.tasks.log(begun.id, f"{PRIVATE} log")
    engine.sessions.start("s-empty", title=f"{PRIVATE} title of nothing")
    other = caller_with(engine.tokens.create(["default"], right="write", name="other")[0])
    do(engine, other, "start_session", id="s-other", title=f"{PRIVATE} title of another")
    do(engine, other, "start_task", task=f"{PRIVATE} words of another", id=f"{TASK}-2", session="s-other")
    do(engine, other, "remember", content="The ferry leaves at noon", session="s-other")
    do(engine, other, "search", query="how often is the door code changed", session="s-other")
    token, text = engine.tokens.create(["default"], right="write", name="reader")
    return Scene(engine, made, given, other, caller_with(token), text)


def test_another_session_is_what_was_made_in_it(scene: Scene) -> None:
    engine = scene.engine
    memory = engine.get(scene.made)
    stub = {"id": "s-person", "projectId": "harbor", "startedAt": memory.created}
    told = do(engine, scene.token, "get_session", id="s-person")
    assert told["session"] == stub
    links = [(link["usageType"], link["memory"]["id"]) for link in told["memories"]]
    assert links == [("created", scene.made)]
    sessions = do(engine, scene.token, "list_sessions")["sessions"]
    assert {each["id"]: each["memoriesInSession"] for each in sessions} == {"s-person": 1, "s-other": 1}
    assert [each for each in sessions if each["id"] == "s-person"] == [{**stub, "memoriesInSession": 1}]
    context = do(engine, scene.token, "get_memory", id=scene.made)["sessionContext"]
    assert context == {"session": stub, "memoriesInSession": 1, "usageType": "created"}
    assert "sessionContext" not in do(engine, scene.token, "get_memory", id=scene.given)


def test_what_was_made_in_another_session_is_found_by_it_and_what_was_given_to_it_is_not(scene: Scene) -> None:
    engine, question = scene.engine, "door code and cached lookups"
    for session in ("s-person", "s-other"):
        page = do(engine, scene.token, "list_memories", of_session=session)
        assert (page["total"], len(page["memories"])) == (1, 1)
    asked: dict[str, Any] = {"query": question, "inSession": "s-person", "cut": False}
    assert [each["memory"]["id"] for each in do(engine, scene.token, "search", **asked)["results"]] == [scene.made]
    whose = owner("default", record=False)
    everything = {each.memory.id for each in engine.search(question, in_session="s-person", record=False).results}
    assert everything == {scene.made, scene.given}
    assert do(engine, whose, "list_memories", of_session="s-person")["total"] == 2
    for session in ("s-empty", "s-nowhere"):  # the one is there, and nothing that the token may see was made in it
        with pytest.raises(NotFound, match="no session"):
            do(engine, scene.token, "search", **{**asked, "inSession": session})
        with pytest.raises(NotFound, match="no session"):
            do(engine, scene.token, "get_session", id=session)


def test_a_session_in_which_only_withheld_memories_were_made_is_not_there(scene: Scene) -> None:
    engine = scene.engine
    engine.forget(scene.made)
    assert [each["id"] for each in do(engine, scene.token, "list_sessions")["sessions"]] == ["s-other"]
    with pytest.raises(NotFound, match="no session 's-person'"):
        do(engine, scene.token, "get_session", id="s-person")


def test_another_task_is_not_there(scene: Scene) -> None:
    engine = scene.engine
    assert do(engine, scene.token, "list_tasks")["tasks"] == []
    assert do(engine, scene.token, "list_tasks", of_session="s-person")["tasks"] == []
    mine = do(engine, scene.token, "start_task", task="mend the gate", id="t-mine")
    assert do(engine, scene.token, "list_tasks")["tasks"] == [mine]
    reward = {"id": TASK, "reward": 1.0}
    for name, given in {"get_task": {"id": TASK}, "end_task": reward, "get_details": {"id": TASK}}.items():
        errors = []
        for id in (TASK, "t-nowhere"):
            with pytest.raises(NotFound) as raised:
                do(engine, scene.token, name, **{**given, "id": id})
            errors.append(f"{raised.value} {raised.value.hint}".replace(id, "ID"))
        assert errors[0] == errors[1]
        assert PRIVATE not in errors[0]
    details = do(engine, scene.token, "get_details", id=scene.made)
    assert PRIVATE not in json.dumps(details).replace(TASK, "TASK")  # of which task it is, the memory says itself
    stats = do(engine, scene.token, "stats")["totals"]
    assert (stats["tasks"], stats["artifacts"], stats["sessions"]) == (1, 0, 2)


def test_each_sees_what_it_did_itself_and_the_person_and_their_agent_everything(scene: Scene) -> None:
    engine = scene.engine
    own = do(engine, scene.other, "get_session", id="s-other")
    assert own["session"]["title"] == f"{PRIVATE} title of another"
    assert {(link["usageType"], link["memory"]["id"]) for link in own["memories"]} >= {("recalled", scene.given)}
    assert [each["id"] for each in do(engine, scene.other, "list_tasks")["tasks"]] == [f"{TASK}-2"]
    assert do(engine, scene.other, "get_task", id=f"{TASK}-2")["task"] == f"{PRIVATE} words of another"
    for caller in (owner("default"), local_caller(engine.core.settings)):
        whole_session = do(engine, caller, "get_session", id="s-person")
        assert whole_session["session"]["title"] == f"{PRIVATE} title"
        assert "recalled" in {link["usageType"] for link in whole_session["memories"]}
        assert len(do(engine, caller, "list_sessions")["sessions"]) == 3
        assert len(do(engine, caller, "list_tasks")["tasks"]) == 2


def arguments(scene: Scene) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every operation of a token's with each name that it may guess, where it takes one."""
    names = ("s-person", "s-empty", "s-other", scene.made, scene.given, "m1", "m2")
    for name, operation in OPERATIONS.items():
        if operation.needs not in (Right.READ, Right.WRITE):
            continue
        for guess in names:
            yield name, {"id": guess, "observation_id": guess, "memory": guess, "query": "cached lookups",
                         "session": "s-mine", "of_session": guess, "in_session": guess, "inSession": guess,
                         "task": "t-none", "content": "The gate squeaks", "topic": "gate", "title": "gate"}  # fmt: skip


def test_no_operation_tells_a_token_what_another_did(scene: Scene) -> None:
    answered = 0
    for name, given in arguments(scene):
        asked = {field: given[field] for field in OPERATIONS[name].arguments.__struct_encode_fields__ if field in given}
        try:
            told = perform(OPERATIONS[name], scene.engine, scene.token, asked)
            text, answered = (told.body if isinstance(told, Written) else told.text), answered + 1
        except RecallensError as error:
            text = f"{error} {error.hint}"
        assert PRIVATE not in text.replace(TASK, "TASK"), (name, given)
    assert answered > 100


def test_no_page_tells_a_token_what_another_did(scene: Scene) -> None:
    with TestClient(whole(scene.engine), base_url=ADDRESS) as client:
        client.post("/sign-in", data={"token": scene.text}, headers={"Origin": ADDRESS})
        seen = []
        for path in (f"/memories/{scene.made}", f"/memories/{scene.given}", f"/timeline/{scene.made}", "/", "/stats",
                     "/?q=cached+lookups", "/xray?q=cached+lookups", "/review", "/snapshots"):  # fmt: skip
            page = client.get(path)
            seen.append(page.status_code)
            assert PRIVATE not in page.text.replace(TASK, "TASK"), path
        assert seen.count(200) >= 6
        assert "s-person" in client.get(f"/timeline/{scene.made}").text


def test_the_times_and_the_order_of_sessions_are_those_of_what_was_made_in_them(
    engine: Engine, clock: FixedClock, tmp_path: Path
) -> None:
    """Of two sessions the one that began first is listed last, for the person; a token goes by the memories."""
    engine.sessions.start("s-early")
    clock.advance(ms=HOUR)
    engine.sessions.start("s-late")
    engine.remember(Draft("The mast is 30 meters high", session="s-late"))
    clock.advance(ms=HOUR)
    engine.remember(Draft("Ann owns billing", session="s-early"))
    reader = caller_with(engine.tokens.create(["default"])[0])
    assert [each["id"] for each in do(engine, owner("default"), "list_sessions")["sessions"]] == ["s-late", "s-early"]
    assert [each["id"] for each in do(engine, reader, "list_sessions")["sessions"]] == ["s-early", "s-late"]


WAYS: dict[str, dict[str, Any]] = {
    "begin_session": {"id": "main", "title": f"{PRIVATE} title", "project": f"{PRIVATE}-project"},
    "search": {"query": "how often is the door code changed", "session": "main"},
    "remember": {"content": "The mast is 30 meters high", "session": "main"},
    "finish_session": {"id": "main", "summary": f"{PRIVATE} summary"},
    "start_task": {"task": f"{PRIVATE} words", "session": "main"},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_session_that_a_token_has_named_is_the_persons_from_when_they_act_in_it(scene: Scene, way: str) -> None:
    """Each act is the first, the others follow it: what a token sees then is what it sees of another's."""
    engine, token = scene.engine, scene.token
    do(engine, token, "start_session", id="main")
    mine = do(engine, token, "remember", content="The gate squeaks", session="main")["id"]
    do(engine, token, "get_session", id="main")
    assert engine.tokens.owns_session("main", str(token.owner))
    do(engine, owner("default"), way, **WAYS[way])
    assert not engine.tokens.owns_session("main", str(token.owner), claim=True)
    for other in WAYS:
        do(engine, owner("default"), other, **WAYS[other])
    told = do(engine, token, "get_session", id="main")
    assert {link["usageType"] for link in told["memories"]} == {"created"}
    assert mine in {link["memory"]["id"] for link in told["memories"]}
    assert PRIVATE not in json.dumps([told["session"], do(engine, token, "list_sessions")])
    for name, given in (("search", {"query": "gate"}), ("remember", {"content": "The lamp is out"})):
        with pytest.raises(NotFound, match="no session 'main' of yours"):
            do(engine, token, name, session="main", **given)
    whole_session = do(engine, owner("default"), "get_session", id="main")
    assert "recalled" in {link["usageType"] for link in whole_session["memories"]}


def test_what_a_token_does_in_its_session_leaves_it_to_the_token(scene: Scene) -> None:
    """And so does what the person does with a memory of it without acting in the session."""
    engine, token = scene.engine, scene.token
    do(engine, token, "start_session", id="main", title="of mine")
    made = do(engine, token, "remember", content="The gate squeaks", session="main")["id"]
    do(engine, token, "search", query="how often is the door code changed", session="main")
    engine.confirm(made)
    engine.search("gate", owner=token.owner, session="main")
    do(engine, token, "end_session", id="main", summary="it was mended")
    told = do(engine, token, "get_session", id="main")
    assert (told["session"]["title"], told["session"]["summary"]) == ("of mine", "it was mended")
    assert "recalled" in {link["usageType"] for link in told["memories"]}
