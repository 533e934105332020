"""Skills, patterns and gotchas as operations, with the specification's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from recallens.errors import NotFound
from recallens.ingest.citations import parse_citation
from recallens.operations.arguments import (
    MOST_ITEMS,
    AnswerFormat,
    Arguments,
    Citations,
    Limit,
    Name,
    Names,
    Share,
    Text,
    Words,
)
from recallens.operations.operation import Answer, Call, Operation, Right, Written, answered
from recallens.render.context import crafts_text
from recallens.render.records import Record, craft_record

if TYPE_CHECKING:
    from recallens.engine import Engine
    from recallens.model.craft import Craft

_NO_SKILL = "Search memory instead, or remember what you learn."

Heading = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]
Long = Annotated[str, Meta(max_length=100_000)]
Texts = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=2_000)], ...], Meta(max_length=MOST_ITEMS)]


class Topic(Arguments, frozen=True, kw_only=True):
    topic: Words
    project: Name | None = None
    session: Name | None = None
    task: Name | None = None
    format: AnswerFormat = "json"


class Patterns(Arguments, frozen=True, kw_only=True):
    query: Text
    limit: Limit = 10
    project: Name | None = None
    session: Name | None = None
    task: Name | None = None
    format: AnswerFormat = "json"


class Gotchas(Arguments, frozen=True):
    query: Text = ""
    files: Annotated[Names, Meta(description="Only those that affect one of these files.")] = ()
    limit: Limit = 10
    project: Name | None = None
    session: Name | None = None
    task: Name | None = None
    format: AnswerFormat = "json"


class AddCraft(Arguments, frozen=True, rename="lower"):
    citations: Citations = ()
    project: Name | None = None
    session: Name | None = None
    task: Name | None = None
    tags: Names = ()


class AddSkill(AddCraft, frozen=True, kw_only=True):
    topic: Heading
    context: Long = ""
    core_principles: Texts = ()
    pitfalls: Texts = ()
    implementation_guide: Long = ""
    confidence: Share = 0.8


class AddPattern(AddCraft, frozen=True, kw_only=True):
    title: Heading
    description: Long = ""
    example_code: Long | None = None
    success_count: Annotated[int, Meta(ge=1, le=1_000_000)] = 1


class AddGotcha(AddCraft, frozen=True, kw_only=True):
    title: Heading
    description: Long = ""
    resolution: Long = ""
    occurrence_count: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    trigger_conditions: Texts = ()
    files: Names = ()


def _asker(asked: Topic | Patterns | Gotchas, call: Call) -> dict[str, Any]:
    return asked.beside("topic", "query", "files", "limit", "format") | call.who() | {"scopes": call.held()}


def get_skill(engine: Engine, call: Call, asked: Topic) -> Answer | Written:
    found = engine.crafts.skill(asked.topic, **_asker(asked, call))
    if found is None:
        if asked.format == "text":
            return Written("text", f"No skill that is kept here is about this. {_NO_SKILL}")
        at_the_command = call.caller.right is Right.OWNER
        raise NotFound(
            f"no skill about {asked.topic!r}",
            hint="`recallens skill add` records one." if at_the_command else _NO_SKILL,
        )
    return answered(asked.format, lambda: craft_record(found), lambda: crafts_text([found]), [found])


def search_patterns(engine: Engine, call: Call, asked: Patterns) -> Answer | Written:
    found = engine.crafts.patterns(asked.query, limit=asked.limit, **_asker(asked, call))
    return _found(asked.format, found, "No pattern that is kept here is likely to help with this.")


def search_gotchas(engine: Engine, call: Call, asked: Gotchas) -> Answer | Written:
    found = engine.crafts.gotchas(asked.query, files=asked.files, limit=asked.limit, **_asker(asked, call))
    return _found(asked.format, found, "No known issue that is kept here is likely to be about this.")


def _found(format: str, found: Sequence[Craft], nothing: str) -> Answer | Written:
    def record() -> Record:
        return {"results": [craft_record(craft) for craft in found]}

    return answered(format, record, lambda: crafts_text(found) or nothing, found)


def add_skill(engine: Engine, call: Call, given: AddSkill) -> Answer:
    return _recorded(engine, call, engine.crafts.record_skill(given.topic, **_kept(engine, given, call, "topic")))


def add_pattern(engine: Engine, call: Call, given: AddPattern) -> Answer:
    return _recorded(engine, call, engine.crafts.record_pattern(given.title, **_kept(engine, given, call, "title")))


def add_gotcha(engine: Engine, call: Call, given: AddGotcha) -> Answer:
    return _recorded(engine, call, engine.crafts.record_gotcha(given.title, **_kept(engine, given, call, "title")))


def _recorded(engine: Engine, call: Call, craft: Craft) -> Answer:
    """An agent's words in the place of what is more trusted wait: they are kept apart until somebody accepts them."""
    by, open_ones = call.caller.actor, engine.memories.proposals(namespace=call.namespace)
    waits = [each.memory for each in open_ones if each.other == craft.id and each.owner == by.called]
    told = {"proposed": True, "proposes": waits[0]} if waits else {}
    return Answer(craft_record(craft) | told, value=[craft], proposed=bool(waits))


def _kept(engine: Engine, given: AddCraft, call: Call, name: str) -> dict[str, Any]:
    if given.task is not None:
        engine.tasks.refuse_anothers(given.task, namespace=call.namespace)
    return given.beside("citations", name) | {
        "citations": tuple(parse_citation(text) for text in given.citations),
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
