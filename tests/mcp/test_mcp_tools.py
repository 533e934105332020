"""What the tools say of themselves, and that it is so."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from mcp import MCPError
from mcp_scene import Desk, in_this_process
from msgspec.structs import fields

from recallens import Engine
from recallens.cli.commands.connect import COMPATS
from recallens.cli.main import main
from recallens.config import load
from recallens.errors import InvalidInput
from recallens.mcp.calls import CallContext, Offer, called, local_caller
from recallens.mcp.tools import ADDING, COMPATIBLE, DESTROYS, LEFT_OUT, RECORDING, TOOLS, WITHHELD, aliased, full_tools
from recallens.model.memory import Kind
from recallens.model.plan import INTENT_ALIASES, Intent
from recallens.operations import OPERATIONS, Right, perform
from recallens.text.token_count import count_tokens

pytestmark = pytest.mark.slow

SPECIFIED = [
    "search_memory", "get_timeline", "get_details", "get_skill", "search_patterns", "search_gotchas", "recall_xray",
]  # fmt: skip
NAMES = ["begin_work", *SPECIFIED, "remember", "forget", "finish_work"]
MOST_TOOLS = 11
MOST_TOKENS = 2_000
HINTS = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}


def listing(desk: Desk) -> list[dict[str, object]]:
    listed = desk.do("list_tools")
    return json.loads(listed.model_dump_json(by_alias=True, exclude_none=True))["tools"]


# ── the list ──


def test_the_list_is_short_complete_and_always_the_same(desk: Desk) -> None:
    tools = listing(desk)
    assert [tool["name"] for tool in tools] == NAMES
    assert len(NAMES) <= MOST_TOOLS
    assert listing(desk) == tools
    # Counted as the client receives it, and once more with the blanks that some clients put in.
    for separators in ((",", ":"), (", ", ": ")):
        assert count_tokens(json.dumps({"tools": tools}, ensure_ascii=False, separators=separators)) < MOST_TOKENS
    for tool in tools:
        assert tool["annotations"].keys() == HINTS
        assert all(isinstance(value, bool) for value in tool["annotations"].values())
        assert "outputSchema" not in tool  # what it answers is text
        assert tool["title"]
        assert not tool["description"].endswith(tool["title"])
        Draft202012Validator.check_schema(tool["inputSchema"])
        assert tool["inputSchema"]["type"] == "object"


def test_the_specified_names_are_there_to_the_letter(desk: Desk) -> None:
    takes = {tool.name: {*tool.takes, *tool.unlisted} for tool in TOOLS}
    listed = {tool["name"]: tool["inputSchema"]["properties"].keys() for tool in listing(desk)}
    for name in ("alpha", "beta"):  # for who knows them: taken everywhere, listed in the full set
        assert name not in listed["search_memory"]
        assert desk.ask("search_memory", query="gateway", **{name: 0.5})["results"]
    (whole,) = (tool for tool in full_tools() if tool.name == "search_memory")
    assert {"alpha", "beta"} <= whole.listed()["inputSchema"]["properties"].keys()
    required = {tool["name"]: tool["inputSchema"].get("required") for tool in listing(desk)}
    assert takes["search_memory"] >= {"query", "intent", "alpha", "beta", "limit"}
    assert takes["get_timeline"] >= {"observation_id", "window"}
    assert takes["get_details"] >= {"task_id"}
    assert takes["get_skill"] >= {"topic"}
    assert takes["search_patterns"] >= {"query", "limit"}
    assert takes["search_gotchas"] >= {"query", "files", "limit"}
    assert takes["recall_xray"] >= {"query", "sessionKey", "namespace", "budget"}
    assert required["recall_xray"] == ["query"]


def test_a_search_can_ask_as_of_a_day_that_is_gone(desk: Desk) -> None:
    before = desk.ask("remember", content="The tide gauge is read by Ana")
    since = desk.ask("remember", content="The tide gauge is read by Bea", supersedes=before["id"])
    now = desk.ask("search_memory", query="who reads the tide gauge")
    assert [row["id"] for row in now["results"]] == [since["id"]]
    (listed,) = (tool for tool in listing(desk) if tool["name"] == "search_memory")
    assert "asOf" in listed["inputSchema"]["properties"]
    assert desk.ask("search_memory", query="who reads the tide gauge", asOf="2001-01-01")["results"] == []


def test_every_tool_takes_only_what_its_operation_takes() -> None:
    for tool in TOOLS:
        arguments = fields(OPERATIONS[tool.operation].arguments)
        known = {field.encode_name for field in arguments}
        assert {tool.renamed.get(name, name) for name in tool.takes} <= known, tool.name
        needed = {field.encode_name for field in arguments if field.required}
        assert needed <= {tool.renamed.get(name, name) for name in tool.required}, tool.name


def test_the_closed_sets_are_the_engines() -> None:
    takes = {tool.name: tool.takes for tool in TOOLS}
    assert set(takes["search_memory"]["intent"]["enum"]) == {*Intent, *INTENT_ALIASES}
    assert takes["remember"]["kind"]["enum"] == [*Kind]


def test_the_full_list_holds_every_operation_that_an_agent_can_use() -> None:
    tools = full_tools()
    assert [tool.name for tool in tools][: len(NAMES)] == NAMES
    names = {tool.name for tool in tools}
    assert {"search", "why_not", "replay", "diff", "recall_explain", "get_context", "get_memory"} <= names
    assert {"relate", "supersede", "forget", "feedback", "start_task", "log_task", "end_task"} <= names
    assert not {"review", "add_vault", "run_set"} & names  # for the person at the machine
    assert RECORDING | ADDING | LEFT_OUT | WITHHELD.keys() <= OPERATIONS.keys()
    (forget,) = (tool for tool in tools if tool.name == "forget")
    assert (set(forget.takes), forget.effect) == ({"id", "namespace", "format"}, DESTROYS)
    with pytest.raises(InvalidInput, match="unknown argument 'hard'"):
        forget.given({"id": "m1", "hard": True})
    for tool in tools:
        assert OPERATIONS[tool.operation].needs in (Right.READ, Right.WRITE)
        Draft202012Validator.check_schema(tool.listed()["inputSchema"])
        assert "$ref" not in json.dumps(tool.listed())


def test_full_tools_and_aliases_answer(filled: Path) -> None:
    with in_this_process(filled, "full", "remnic") as desk:
        names = [tool["name"] for tool in listing(desk)]
        assert len(names) == len(set(names)) == 3 * len(full_tools())
        assert {"engram.recall_xray", "remnic.recall_xray", "engram.search_memory", "remnic.remember"} <= set(names)
        own, alias, older = (
            desk.ask(f"{prefix}recall_xray", query="gateway", budget=500)["snapshot"]["results"]
            for prefix in ("", "remnic.", "engram.")
        )
        assert (
            [one["memoryId"] for one in own] == [one["memoryId"] for one in alias] == [one["memoryId"] for one in older]
        )
        found = desk.ask("search", query="gateway", limit=2)["results"]
        assert len(found) == 2
        answer = desk.ask("why_not", query="게이트웨이", memory=found[0]["memory"]["id"])
        assert answer
        assert "Frankfurt" in json.dumps(desk.ask("get_context", task="gateway cluster"))


def test_aliases_are_there_only_when_asked_for() -> None:
    assert aliased(TOOLS, None) == TOOLS
    assert [tool.name for tool in aliased(TOOLS, "remnic")][11:13] == ["engram.begin_work", "engram.search_memory"]


# ── the hints are true ──


# That an agent called is written down in the audit log whatever it calls, and changes nothing else.
LOG = ("audit", "audit_heads", "audit_marks", "digests", "sqlite_sequence")


class Watch:
    """Whether anyone else has committed a change to the store since the last look, beside the audit log."""

    def __init__(self, store: Path) -> None:
        self.connection = sqlite3.connect(store)
        self.seen = self.rows()

    def rows(self) -> dict[str, list[tuple[object, ...]]]:
        named = self.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: self.connection.execute(f"SELECT * FROM {name}").fetchall() for (name,) in named if name not in LOG
        }

    def changed(self) -> bool:
        before, self.seen = self.seen, self.rows()
        return before != self.seen


CALLS: dict[str, dict[str, object]] = {
    "search_memory": {"query": "gateway"},
    "get_skill": {"topic": "gateway rollback"},
    "search_patterns": {"query": "roll back"},
    "search_gotchas": {"query": "pods"},
    "recall_xray": {"query": "gateway"},
    "get_details": {"task_id": "earlier"},
    "remember": {"content": "The rollback drill is on Thursdays."},
    "begin_work": {"task": "Roll back the gateway"},
}
# That a search is recorded is bookkeeping: nothing changes that the user sees.
RECORDED = {"search_memory", "get_skill", "search_patterns", "search_gotchas"}


@pytest.mark.parametrize("recorded", ["true", "false"])
def test_what_is_read_only_writes_nothing_and_the_rest_does(filled: Path, recorded: str) -> None:
    with in_this_process(filled, record=recorded == "true") as desk:
        hints = {tool["name"]: tool["annotations"] for tool in listing(desk)}
        searching = {name for name, hint in hints.items() if hint["readOnlyHint"]}
        assert searching == {*SPECIFIED}
        first = desk.ask("search_memory", query="gateway")["results"][0]["id"]
        watch = Watch(filled)
        for name, arguments in {**CALLS, "get_timeline": {"observation_id": first}}.items():
            desk.ask(name, **arguments)
            writes = not hints[name]["readOnlyHint"] or (name in RECORDED and recorded == "true")
            assert watch.changed() is writes, name
        assert hints["remember"] == {
            "readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False,
        }  # fmt: skip
        watch.connection.close()


def test_the_reads_of_the_full_list_write_down_only_what_they_say(filled: Path) -> None:
    settings = load({"store": str(filled), "encoder": "hashing:64"})
    with Engine.open(settings=settings) as engine:
        id = engine.search("gateway", session="full").results[0].memory.id
        engine.search("rollback", session="full")
        second, first = (one.id for one in engine.recalls.recent(limit=2))
        reads: dict[str, dict[str, object]] = {
            "search": {"query": "gateway"}, "retrieve": {"query": "gateway"}, "search_documents": {"query": "gateway"},
            "get_context": {"task": "gateway"}, "recall_explain": {"session": "full"}, "get_snapshot": {"id": first},
            "why_not": {"query": "cluster", "memory": id}, "replay": {"id": first},
            "diff": {"before": first, "after": second}, "timeline": {"id": id}, "list_memories": {},
            "get_memory": {"id": id}, "relations": {"id": id},
            "list_reviews": {}, "list_sessions": {}, "get_session": {"id": "full"}, "list_tasks": {},
            "get_task": {"id": "earlier"}, "stats": {}, "namespaces": {}, "list_vaults": {},
        }  # fmt: skip
        assert reads.keys() >= RECORDING
        effects = {tool.name: tool.effect for tool in full_tools()}
        watch = Watch(filled)
        for name, given in reads.items():
            perform(OPERATIONS[name], engine, local_caller(settings), given)
            if name == "search_documents":  # there are none here, and what finds nothing records nothing
                assert effects[name].recording
                continue
            assert watch.changed() is effects[name].recording, name
        watch.connection.close()


def test_where_nothing_fits_a_tool_says_so_in_a_line(desk: Desk) -> None:
    asked = {"search_patterns": "query", "search_gotchas": "query", "get_skill": "topic", "begin_work": "task"}
    for tool, name in asked.items():
        told = desk.told(tool, **{name: "how to bake bread"})
        assert re.search("No pattern|No known issue|No skill|Nothing in memory", told), tool
        assert "gateway" not in told.lower()
        assert count_tokens(told) <= 60


# ── errors ──


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("recall_xray", {}, "query is missing. recall_xray takes: query (required), sessionKey, namespace, budget"),
        ("recall_xray", {"query": " "}, "query: expected `str` matching regex '\\\\S', not ' '"),
        ("recall_xray", {"query": "x", "budget": 0}, "budget: expected `int` >= 1, not 0"),
        ("recall_xray", {"query": "x", "budget": "ten"}, "budget: expected `int | null`, not 'ten'"),
        ("recall_xray", {"query": "x", "sessionKey": 7}, "sessionKey: expected `str | null`, not 7"),
        ("recall_xray", {"query": "x", "session": "s"}, "unknown argument 'session'. recall_xray takes: query"),
        ("recall_xray", {"query": "x", "format": "pdf"}, "unknown format 'pdf'; use one of: json, brief, text"),
        ("recall_xray", {"query": "x", "namespace": "a b/c"}, "namespace"),
        ("search_memory", {"query": "x", "intent": "guess"}, "use one of: how_to_do, what_happened"),
        ("search_memory", {"query": "x", "limit": 100_000}, "limit: expected `int` <= 1000, not 100000"),
        ("get_timeline", {"observation_id": "NOPE00"}, "no memory 'NOPE00' in this namespace"),
        ("get_details", {"task_id": 5}, "task_id: expected `str`, not 5"),
        ("get_details", {"task_id": "nothing"}, "no task and no memory 'nothing'"),
        ("get_skill", {"topic": "basket weaving", "format": "json"}, "no skill about 'basket weaving'. Search memory"),
        ("begin_work", {"task": "x", "tokens": 10}, "tokens"),
        ("finish_work", {"task": "t-none", "outcome": "success"}, "no task 't-none' in this namespace."),
        ("finish_work", {"task": "earlier"}, "outcome is missing. finish_work takes: task (required), outcome"),
        ("finish_work", {"task": "earlier", "outcome": "fine"}, "success, partial, failure"),
        ("finish_work", {"task": "earlier", "outcome": "success", "used": ["m999"]}, "no memory 'm999'"),
        ("forget", {"id": "m999"}, "no memory 'm999' in this namespace"),
        ("remember", {"content": "x", "kind": "rumour"}, "unknown kind 'rumour'; use one of: fact, decision"),
        ("remember", {"content": "x", "citations": ["nonsense"]}, "citation"),
    ],
)  # fmt: skip
def test_a_wrong_call_says_what_was_wrong_and_what_would_be_right(
    desk: Desk, tool: str, arguments: dict[str, object], said: str
) -> None:
    assert said in desk.refused(tool, **arguments)


def test_what_a_text_may_replace_is_told_with_how_that_is_accepted(desk: Desk) -> None:
    old = desk.told("remember", content="A bowl of the red glaze costs 38 euros").split()[-1].rstrip(".")
    told = desk.told("remember", content="A bowl of the red glaze now costs 52 euros")
    new = told.split()[2].rstrip(".")
    assert told.strip() == (
        f"Kept as {new}. It may replace {old} (A bowl of the red glaze costs 38 euros), which holds too until"
        f" `recallens review approve {new}` accepts it."
    )


def test_an_unknown_tool_is_answered_with_the_list(desk: Desk) -> None:
    with pytest.raises(MCPError, match=r"unknown tool 'serch'; the tools are: begin_work, search_memory"):
        desk.call("serch")


def test_an_unusable_store_is_a_tool_error_until_it_is_mended(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    store.write_text("this is no database, however long one looks at it " * 100)
    with in_this_process(store) as desk:
        assert "store" in desk.refused("search_memory", query="gateway")
        store.unlink()
        assert desk.ask("remember", content="The store is well again.")["outcome"] == "created"


def test_the_unexpected_has_a_trace_id_that_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> object:
        raise ZeroDivisionError("a secret path")

    offer = Offer(engine=broken, caller=lambda engine, request: None, tools=TOOLS)  # type: ignore[arg-type]
    result = called(offer, TOOLS[0], {"task": "x"}, CallContext())
    assert result["isError"]
    said = result["content"][0]["text"]
    assert "unexpected ZeroDivisionError in begin_work" in said
    assert "secret" not in said
    trace = said.rpartition("trace ")[2].rstrip(".")
    assert trace in caplog.text
    assert "a secret path" in caplog.text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tools", "all"], "unknown set of tools 'all'; use one of: default, full"),
        (["--compat", "mem0"], "unknown compat 'mem0'; use one of: remnic"),
    ],
)
def test_wrong_options_are_told_before_anything_is_served(options: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["mcp", *options])
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert set(COMPATS) == set(COMPATIBLE)
