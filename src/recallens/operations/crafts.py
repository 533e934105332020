"""Skills, patterns and gotchas as operations, with the specification's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints

from recallens.errors import NotFound
from recallens.ingest.citations import parse_citation
from recallens.operations.arguments import MOST_ITEMS, Arguments, Citations, Limit, Name, Names, Share, Text, Words
from recallens.operations.operation import READ, WRITE, Answer, Call, Operation
from recallens.render.records import craft_record

if TYPE_CHECKING:
    from recallens.engine import Engine


Long = Annotated[str, StringConstraints(max_length=100_000)]
Texts = Annotated[
    tuple[Annotated[str, StringConstraints(min_length=1, max_length=2_000)], ...], Field(max_length=MOST_ITEMS)
]


class Topic(Arguments):
    topic: Words
    project: Name | None = None
    session: Name | None = None
    task: Name | None = None


class Patterns(Arguments):
    query: Words
    limit: Limit = 10
    project: Name | None = None
    session: Name | None = None
    task: Name | None = None


class Gotchas(Arguments):
    query: Text = ""
    files: Annotated[Names, Field(description="Only those that affect one of these files.")] = ()
    limit: Limit = 10
    project: Name | None = None
    session: Name | None = None
    task: Name | None = None


class AddCraft(Arguments):
    citations: Citations = ()
    project: Name | None = None
    session: Name | None = None
    task: Name | None = None
    tags: Names = ()


class AddSkill(AddCraft):
    topic: Annotated[Words, Field(max_length=500)]
    context: Long = ""
    core_principles: Annotated[Texts, Field(alias="core_principles")] = ()
    pitfalls: Texts = ()
    implementation_guide: Annotated[Long, Field(alias="implementation_guide")] = ""
    confidence: Share = 0.8


class AddPattern(AddCraft):
    title: Annotated[Words, Field(max_length=500)]
    description: Long = ""
    example_code: Annotated[Long | None, Field(alias="example_code")] = None
    success_count: Annotated[int, Field(ge=1, le=1_000_000, alias="success_count")] = 1


class AddGotcha(AddCraft):
    title: Annotated[Words, Field(max_length=500)]
    description: Long = ""
    resolution: Long = ""
    occurrence_count: Annotated[int, Field(ge=1, le=1_000_000, alias="occurrence_count")] = 1
    trigger_conditions: Annotated[Texts, Field(alias="trigger_conditions")] = ()
    files: Names = ()


def get_skill(engine: Engine, call: Call, asked: Topic) -> Answer:
    skill = engine.crafts.skill(**asked.given(), **call.who())
    if skill is None:
        raise NotFound(f"no skill about {asked.topic!r}", hint="Search memory instead, or remember what you learn.")
    return Answer(craft_record(skill))


def search_patterns(engine: Engine, call: Call, asked: Patterns) -> Answer:
    patterns = engine.crafts.patterns(**asked.given(), **call.who())
    return Answer({"results": [craft_record(pattern) for pattern in patterns]})


def search_gotchas(engine: Engine, call: Call, asked: Gotchas) -> Answer:
    gotchas = engine.crafts.gotchas(**asked.given(), **call.who())
    return Answer({"results": [craft_record(gotcha) for gotcha in gotchas]})


def add_skill(engine: Engine, call: Call, given: AddSkill) -> Answer:
    return Answer(craft_record(engine.crafts.record_skill(**_attributes(given, call))))


def add_pattern(engine: Engine, call: Call, given: AddPattern) -> Answer:
    return Answer(craft_record(engine.crafts.record_pattern(**_attributes(given, call))))


def add_gotcha(engine: Engine, call: Call, given: AddGotcha) -> Answer:
    return Answer(craft_record(engine.crafts.record_gotcha(**_attributes(given, call))))


def _attributes(given: AddCraft, call: Call) -> dict[str, Any]:
    citations = tuple(parse_citation(text) for text in given.citations)
    return given.given() | call.written_as() | {"citations": citations, "namespace": call.namespace}


CRAFTS = (
    Operation("get_skill", "Get structured skill profile for a topic.", READ, Topic, get_skill),
    Operation("search_patterns", "Search successful patterns in project history.", READ, Patterns, search_patterns),
    Operation("search_gotchas", "Search known issues and resolutions.", READ, Gotchas, search_gotchas),
    Operation("add_skill", "Record a skill; one of the same topic takes what is new.", WRITE, AddSkill, add_skill),
    Operation("add_pattern", "Record what worked; recorded again, its count grows.", WRITE, AddPattern, add_pattern),
    Operation("add_gotcha", "Record a known issue; recorded again, its count grows.", WRITE, AddGotcha, add_gotcha),
)  # fmt: skip
