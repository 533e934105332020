"""Skills, patterns and gotchas as operations, with the seed's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from recollect.errors import NotFound
from recollect.operations.access import Call, Right
from recollect.operations.arguments import Arguments, Limit, Name, Names, Text, Words
from recollect.operations.operation import Answer, Operation
from recollect.render.tasks import craft_record

if TYPE_CHECKING:
    from recollect.engine import Engine


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


def _asker(asked: Topic | Patterns | Gotchas, call: Call) -> dict[str, object]:
    who = asked.model_dump(include={"project", "session", "task"}, exclude_none=True)
    return who | {"namespace": call.namespace, "record": call.caller.records}


def get_skill(engine: Engine, call: Call, asked: Topic) -> Answer:
    found = engine.get_skill(asked.topic, **_asker(asked, call))
    if found is None:
        raise NotFound(f"no skill about {asked.topic!r}", hint="Search memory instead, or remember what you learn.")
    return Answer(craft_record(found))


def search_patterns(engine: Engine, call: Call, asked: Patterns) -> Answer:
    found = engine.search_patterns(asked.query, asked.limit, **_asker(asked, call))
    return Answer({"results": [craft_record(one) for one in found]})


def search_gotchas(engine: Engine, call: Call, asked: Gotchas) -> Answer:
    found = engine.search_gotchas(asked.query, asked.files, asked.limit, **_asker(asked, call))
    return Answer({"results": [craft_record(one) for one in found]})


CRAFTS = (
    Operation("get_skill", "Get structured skill profile for a topic.", Right.READ, Topic, get_skill),
    Operation("search_patterns", "Search successful patterns in project history.", Right.READ, Patterns,
              search_patterns),
    Operation("search_gotchas", "Search known issues and resolutions.", Right.READ, Gotchas, search_gotchas),
)  # fmt: skip
