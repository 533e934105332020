"""What the audit log says of an agent on the person's machine, without a token: who it is, and all that it did."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from recallens.cli.main import main
from recallens.engine import Engine
from recallens.http.guard import caller_with
from recallens.mcp.calls import CallContext, Offer, local_caller
from recallens.mcp.protocol import ProtocolError, result_of
from recallens.mcp.tools import full_tools
from recallens.model.audit import Agent
from standing import FixedClock

CLIENT = "Claude Code"


def offer_of(engine: Engine) -> Offer:
    return Offer(lambda: engine, lambda engine, request: local_caller(engine.core.settings), full_tools())


def call(engine: Engine, tool: str, client: str | None = CLIENT, **arguments: Any) -> dict[str, Any]:
    asked = CallContext(None, client)
    return result_of(offer_of(engine), "tools/call", {"name": tool, "arguments": arguments}, asked)


def entries(engine: Engine) -> list[tuple[str | None, str, str]]:
    return [(each.act.who, each.act.what, each.act.outcome) for each in reversed(engine.audit.entries(limit=1_000)[1])]


def new(engine: Engine, before: list[Any]) -> list[tuple[str | None, str, str]]:
    return entries(engine)[len(before) :]


@pytest.fixture
def known(engine: Engine) -> str:
    return engine.get(engine.remember("Lookups are cached for 60 seconds").id).handle


def arguments_of(known: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each tool once, as far as its arguments can be said; what is refused leaves an entry all the same."""
    said = {"task_id": known, "query": "how long are lookups cached", "task": "cache the lookups", "id": known,
            "content": "The gate squeaks", "topic": "lookups", "title": "gate", "memory": known, "memory_id": known,
            "outcome": "success", "observation_id": known, "anchor": known, "text": "The gate squeaks"}  # fmt: skip
    for tool in full_tools():
        taken = tool.listed()["inputSchema"]["properties"]
        yield tool.name, {name: value for name, value in said.items() if name in taken}


def test_every_tool_of_an_agent_leaves_an_entry_with_its_name(engine: Engine, known: str) -> None:
    answered = 0
    for tool, arguments in arguments_of(known):
        before = entries(engine)
        answer = call(engine, tool, **arguments)
        made = new(engine, before)
        assert made, tool
        assert {who for who, _, _ in made} == {"stdio:Claude Code"}, tool
        answered += not answer.get("isError")
    assert answered >= 10
    assert not engine.audit.verify().problems


def test_reads_and_writes_alike_name_what_they_gave_and_changed(engine: Engine, known: str) -> None:
    call(engine, "get_details", task_id=known)
    call(engine, "remember", content="The ferry leaves at noon")
    _, (wrote, read) = engine.audit.entries(limit=2)
    named = engine.audit.memories()
    assert (read.act.what, wrote.act.what) == ("get_details", "remember")
    assert [named[mark] for mark in read.marks] == [engine.get(known).id]
    assert [named[mark] for mark in wrote.marks] == [engine.get("m2").id]


def test_what_comes_to_no_tool_and_a_wrong_argument_leave_an_entry(engine: Engine, known: str) -> None:
    with pytest.raises(ProtocolError):
        call(engine, "no_such_tool")
    assert call(engine, "get_details", nonsense=1)["isError"]
    with pytest.raises(ProtocolError):
        result_of(offer_of(engine), "resources/read", {"uri": "recallens://nowhere"}, CallContext(None, None))
    assert [(who, what) for who, what, _ in entries(engine)] == [
        ("stdio:Claude Code", "no tool"), ("stdio:Claude Code", "get_details"), ("stdio:", "no resource"),
    ]  # fmt: skip


def test_the_person_and_the_library_stay_the_person_and_a_token_a_token(engine: Engine, known: str) -> None:
    engine.search("how long are lookups cached")
    assert [who for who, _, _ in entries(engine)] == [None]
    token = engine.tokens.create(["default"])[0]
    offer = Offer(lambda: engine, lambda engine, request: caller_with(token), full_tools())
    given = {"name": "get_details", "arguments": {"task_id": known}}
    result_of(offer, "tools/call", given, CallContext(None, CLIENT))
    assert [who for who, _, _ in entries(engine)] == [None, token.id]


@pytest.mark.parametrize(
    ("client", "line"),
    [
        (CLIENT, 'an agent over stdio "Claude Code"'),
        ("cursor", "an agent over stdio cursor"),
        (None, "an agent over stdio"),
        ("the person at the machine", 'an agent over stdio "the person at the machine"'),
        ('x"\n  by token 0123456789ab', 'an agent over stdio "x\\" by token 0123456789ab"'),
        ("0123456789ab", "an agent over stdio 0123456789ab"),
        ("\ud800 stray", "an agent over stdio stray"),
        ("key ghp_abcdefghijklmnopqrstuvwxyz0123456789", "an agent over stdio"),
    ],
)
def test_no_name_that_an_agent_gives_itself_passes_for_another(
    engine: Engine, known: str, client: str | None, line: str
) -> None:
    call(engine, "get_details", client, task_id=known)
    location = engine.core.store.location
    listed = CliRunner().invoke(main, ["audit", "list", "--store", location])
    assert f"  get_details  by {line}" in listed.output.splitlines()[0]
    assert len(listed.output.splitlines()) == 2
    assert "ghp_" not in listed.output
    record = json.loads(CliRunner().invoke(main, ["audit", "list", "--store", location, "--json"]).output)["entries"][0]
    assert record["agent"] == "stdio"
    assert "token" not in record
    assert not engine.audit.verify().problems


def test_an_agent_is_one_asker_whatever_sessions_it_names(engine: Engine, known: str, clock: FixedClock) -> None:
    for number in range(6):
        call(engine, "search_memory", query="how long are lookups cached", session=f"s-{number}")
        clock.advance(ms=1_000)
    assert {(each.kind, each.who, each.count) for each in engine.audit.anomalies()} == {
        ("repeat-query", "stdio:Claude Code", 6)
    }
    told = CliRunner().invoke(main, ["audit", "anomalies", "--store", engine.core.store.location]).output
    assert told == 'repeat-query: 6 the same question within ten minutes, an agent over stdio "Claude Code"\n'


def test_no_log_begins_under_a_name_that_no_namespace_has(engine: Engine, known: str) -> None:
    for name in ("nowhere", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "no such!"):
        assert call(engine, "list_memories", namespace=name) is not None
    with engine.core.store.read_all() as reader:
        assert set(reader.audit_heads()) == {"default"}
    call(engine, "remember", content="Ferries leave at noon", namespace="fresh")
    with engine.core.store.read_all() as reader:
        assert set(reader.audit_heads()) == {"default", "fresh"}


# ── where it cannot be written down ──


def _no_key(engine: Engine) -> None:
    engine.core.log.__dict__.pop("key", None)
    engine.core.log._key_file = Path("/proc/no/such/place/audit.key")


def _no_anchor(engine: Engine) -> None:
    engine.core.log._anchor_file = Path("/proc/no/such/place/anchor")


def _no_room(engine: Engine) -> None:
    engine.core.store.connection.execute("PRAGMA query_only = ON")  # type: ignore[attr-defined]


@pytest.mark.parametrize("broken", [_no_room, _no_key, _no_anchor])
def test_without_an_entry_an_agent_is_answered_with_a_notice_and_changes_nothing(
    engine: Engine, known: str, broken: Callable[[Engine], None]
) -> None:
    engine.sessions.start("s-1")
    broken(engine)
    for tool, arguments in (
        ("get_details", {"task_id": known}), ("search_memory", {"query": "how long are lookups cached"}),
        ("list_memories", {}), ("get_context", {"task": "how long are lookups cached"}),
        ("get_memory", {"id": known}),
    ):  # fmt: skip
        answer = call(engine, tool, **arguments)
        assert not answer.get("isError"), (tool, answer)
        text = json.dumps(answer, ensure_ascii=False)
        assert "cached for 60 seconds" in text, tool
        assert "Notice: this call is not in the audit log: " in text, tool
    before = _everything(engine)
    task = {"task": "cache the lookups"}
    for tool, arguments in (
        ("remember", {"content": "The ferry leaves at noon"}), ("begin_work", task), ("start_task", task),
        ("forget", {"id": known}), ("end_session", {"id": "s-1"}), ("start_session", {"id": "s-2"}),
    ):  # fmt: skip
        answer = call(engine, tool, **arguments)
        assert answer["isError"], (tool, answer)
    assert _everything(engine) == before


def _everything(engine: Engine) -> dict[str, list[Any]]:
    tables = ("memories", "events", "sessions", "tasks", "artifacts", "relations", "proposals", "audit", "snapshots")
    connection = engine.core.store.connection  # type: ignore[attr-defined]
    return {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables}


def test_an_agent_reads_a_store_that_nobody_can_write_to(engine: Engine, known: str) -> None:
    engine.core.store.read_only = True
    answer = call(engine, "get_details", task_id=known)
    assert "cached for 60 seconds" in json.dumps(answer)
    assert "Notice" not in json.dumps(answer)
    assert call(engine, "remember", content="The ferry leaves at noon")["isError"]
    assert entries(engine) == []


def test_a_read_of_an_agent_costs_one_write(engine: Engine, known: str) -> None:
    call(engine, "get_details", task_id=known)
    commits: list[int] = []
    engine.core.store.after_commit = lambda: commits.append(1)
    for tool, arguments in (
        ("get_details", {"task_id": known}),
        ("list_memories", {}),
        ("search_memory", {"query": "cached lookups"}),
    ):
        commits.clear()
        call(engine, tool, **arguments)
        assert len(commits) == 1, tool


def test_a_server_over_stdio_writes_down_who_called(tmp_path: Path) -> None:
    """The program itself, with a client that says its name."""
    store = tmp_path / "s.db"
    with Engine.open(store, encoder="hashing:64") as engine:
        engine.remember("Lookups are cached for 60 seconds")
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": CLIENT, "version": "1"}}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "get_details", "arguments": {"task_id": "m1"}}},
    ]  # fmt: skip
    sent = "".join(json.dumps(message) + "\n" for message in messages)
    ran = subprocess.run(
        [sys.executable, "-m", "recallens", "mcp", "--store", str(store)], input=sent, capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    assert "cached for 60 seconds" in ran.stdout
    with Engine.open(store, encoder="hashing:64") as engine:
        assert entries(engine) == [(Agent("stdio", CLIENT).who, "get_details", "")]
        assert not engine.audit.verify().problems
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
