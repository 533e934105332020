"""Skills, patterns and gotchas as operations, with the specification's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints

from recallens.errors import NotFound
from recallens.ingest.citations import parse_citation
from recallens.operations.arguments import MOST_ITEMS, Arguments, Citations, Limit, Name, Names, Share, Text, Words
from recallens.operations.operation import Answer, Call, Operation, Right
from recallens.render.records import craft_record

if TYPE_CHECKING:
    from recallens.engine import Engine
    from recallens.model.craft import Craft

_NO_SKILL = "Search memory instead, or remember what you learn."

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


def _asker(asked: Topic | Patterns | Gotchas, call: Call) -> dict[str, Any]:
    who = asked.model_dump(include={"project", "session", "task"}, exclude_none=True)
    return who | call.who()


def get_skill(engine: Engine, call: Call, asked: Topic) -> Answer:
    found = engine.crafts.skill(asked.topic, **_asker(asked, call))
    if found is None:
        at_the_command = call.caller.right is Right.OWNER
        raise NotFound(
            f"no skill about {asked.topic!r}",
            hint="`recallens skill add` records one." if at_the_command else _NO_SKILL,
        )
    return Answer(craft_record(found), value=[found])


def search_patterns(engine: Engine, call: Call, asked: Patterns) -> Answer:
    found = engine.crafts.patterns(asked.query, limit=asked.limit, **_asker(asked, call))
    return Answer({"results": [craft_record(one) for one in found]}, value=found)


def search_gotchas(engine: Engine, call: Call, asked: Gotchas) -> Answer:
    found = engine.crafts.gotchas(asked.query, files=asked.files, limit=asked.limit, **_asker(asked, call))
    return Answer({"results": [craft_record(one) for one in found]}, value=found)


def add_skill(engine: Engine, call: Call, given: AddSkill) -> Answer:
    return _recorded(engine.crafts.record_skill(given.topic, **_kept(given, call, "topic")))


def add_pattern(engine: Engine, call: Call, given: AddPattern) -> Answer:
    return _recorded(engine.crafts.record_pattern(given.title, **_kept(given, call, "title")))


def add_gotcha(engine: Engine, call: Call, given: AddGotcha) -> Answer:
    return _recorded(engine.crafts.record_gotcha(given.title, **_kept(given, call, "title")))


def _recorded(craft: Craft) -> Answer:
    return Answer(craft_record(craft), value=[craft])


def _kept(given: AddCraft, call: Call, name: str) -> dict[str, Any]:
    fields = given.model_dump(exclude={"namespace", "citations", name}, exclude_none=True)
    return fields | {
        "citations": tuple(parse_citation(text) for text in given.citations),
        "zone": call.caller.zone,
        "source": call.caller.source,
        "namespace": call.namespace,
    }


CRAFTS = (
    Operation("get_skill", "Get structured skill profile for a topic.", Right.READ, Topic, get_skill),
    Operation("search_patterns", "Search successful patterns in project history.", Right.READ, Patterns,
              search_patterns),
    Operation("search_gotchas", "Search known issues and resolutions.", Right.READ, Gotchas, search_gotchas),
    Operation("add_skill", "Record a skill; one of the same topic takes what is new.", Right.WRITE, AddSkill,
              add_skill),
    Operation("add_pattern", "Record what worked; recorded again, its count grows.", Right.WRITE, AddPattern,
              add_pattern),
    Operation("add_gotcha", "Record a known issue; recorded again, its count grows.", Right.WRITE, AddGotcha,
              add_gotcha),
)  # fmt: skip
