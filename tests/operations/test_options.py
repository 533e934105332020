"""One table says what can be asked: every surface offers what the table says it does, and nothing beside it."""

from __future__ import annotations

from operator import attrgetter

import click
import pytest
from msgspec.structs import fields

from recallens.cli.commands.explain import xray
from recallens.cli.commands.search import search
from recallens.cli.commands.why_not import why_not
from recallens.cli.question import flags_of
from recallens.config import Settings
from recallens.engine import Engine
from recallens.engine.question import question
from recallens.http.openapi import document
from recallens.mcp.tools import TOOLS, full_tools
from recallens.model.query import ASKED, NEUTRAL, OPTIONS, Check, Filters, Query, Situation, about, json_name, place_of
from recallens.operations.arguments import Question
from recallens.web.visit import SAID

SAMPLE = {
    Check.LABEL: "a", Check.NAMESPACE: "a", Check.TEXTS: ("a",), Check.TAGS: ("a",), Check.COMMANDS: ("a",),
    Check.INTENT: "environment", Check.PRESET: "bm25", Check.LIMIT: 3, Check.SIZE: 3, Check.COUNT: 0,
    Check.SHARE: 0.9, Check.FLAG: True, Check.MOMENT: 1, Check.EDGE: 1, Check.FACTORS: {"bm25": 2.0},
}  # fmt: skip
# Of a command, what is no option of its question.
BESIDE = {"query", "memory", "diff", "no_record", "verbose", "why", "brief", "max_tokens", "xray", "format", "out",
          "sensitivity", "ledger", "trace_id", "namespace", "store", "json", "no_color", "help"}  # fmt: skip
# Of a tool, what is no option of its question.
OF_A_TOOL = {"query", "namespace", "maxTokens", "memory", "format", "contextBudget", "brainFileLimit",
             "mediumTermLimit", "includeRaw", "actionabilityWeights", "hierarchicalWeights"}  # fmt: skip


def test_every_option_has_a_place_and_every_field_an_option() -> None:
    places = {place_of(name) for name in OPTIONS} | {place for one in OPTIONS.values() for place in one.parts.values()}
    own = {each.name for each in fields(Query)} - {"text", "filters", "situation"}
    inner = {f"filters.{each.name}" for each in fields(Filters)} | {
        f"situation.{each.name}" for each in fields(Situation)
    }
    assert places - {""} == own | inner


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_that_is_given_stands_in_the_query(name: str) -> None:
    option = OPTIONS[name]
    neutral = question("words", {}, Settings(), lambda: 5)
    if option.parts:
        for part, place in option.parts.items():
            asked = question("words", {name: {part: 0.9}}, Settings(), lambda: 5)
            record, _, field = place.partition(".")
            assert getattr(getattr(asked, record), field) == 0.9
    elif place_of(name):
        given = [*option.choices][-1] if option.check is Check.CHOICE and option.choices else SAMPLE[option.check]
        if name == "scope":
            given = "project"
        if NEUTRAL[name] is True:
            given = False
        asked = question("words", {name: given} | ({"project": "p"} if name == "scope" else {}), Settings(), lambda: 5)
        changed = {one for one in OPTIONS if place_of(one) and _at(asked, one) != _at(neutral, one)}
        follows = {
            "widen": {"certify"},
            "limit": {"max_results"},
            "max_results": {"limit"},
            "scope": {"project"},
            "preset": {"limit"},
        }
        assert name in changed
        assert changed - {name} <= follows.get(name, set())
    assert Query.from_json(neutral.to_json()) == neutral


def _at(query: Query, name: str) -> object:
    value: object = query
    for part in place_of(name).split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("command", [search, xray, why_not], ids=lambda command: command.name)
def test_a_command_has_every_option_as_a_flag(command: click.Command) -> None:
    flags = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
    assert {flag for name in ASKED for flag in flags_of(name)} <= flags
    assert {parameter.name for parameter in command.params} - BESIDE == set(ASKED) - {"scope"}


def test_http_takes_every_option_and_describes_it() -> None:
    assert set(Question.__struct_fields__) - {"namespace", "query"} == set(ASKED)
    parameters = {one["name"]: one for one in document()["paths"]["/v1/search"]["get"]["parameters"]}
    for name in ASKED:
        assert parameters[json_name(name)]["description"] == about(name) or ASKED[name].check is Check.MOMENT


def test_no_tool_names_an_option_that_there_is_not() -> None:
    known = {json_name(name) for name in ASKED} | OF_A_TOOL
    questions = [tool for tool in (*TOOLS, *full_tools()) if "requiresCitations" in tool.takes]
    assert {tool.name for tool in questions} >= {"search_memory", "search", "why_not", "retrieve", "search_documents"}
    for tool in questions:
        assert set(tool.takes) <= known, tool.name
        assert tool.name == "search_memory" or {json_name(name) for name in ASKED} <= set(tool.takes), tool.name


def test_the_page_says_options_of_the_table() -> None:
    assert set(SAID) == {json_name(name) for name, option in ASKED.items() if option.on_page}
    assert set(SAID) <= set(Question.__struct_encode_fields__)


@pytest.mark.parametrize(
    "method",
    ["search", "retrieve", "xray", "why_not", "recalls.query", "recalls.question", "recalls.search_documents",
     "recalls.sensitivity", "layers.search"],
)  # fmt: skip
def test_the_engine_names_every_option_in_its_signature(engine: Engine, method: str) -> None:
    assert "SearchOptions" in str(attrgetter(method)(engine).__annotations__["options"])


def test_an_unknown_option_is_answered_with_all_of_them(engine: Engine) -> None:
    with pytest.raises(
        Exception, match="unknown search option 'colour'; the options are: " + ", ".join(sorted(OPTIONS))
    ):
        engine.search("words", colour="red")  # type: ignore[call-arg]
