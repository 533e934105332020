"""Operations that keep something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints, WithJsonSchema

from recallens.ingest.citations import parse_citation
from recallens.ingest.draft import Draft
from recallens.ingest.validate import parse_when
from recallens.model.memory import Kind, Sector, Tier
from recallens.operations.access import Call, Right
from recallens.operations.arguments import Arguments, Citations, Name, Names, Share, When
from recallens.operations.operation import Answer, Operation

if TYPE_CHECKING:
    from recallens.engine import Engine

# A memory is a thought, not a file: the server's own bound on bodies is a little more.
MOST_CONTENT = 1_000_000


Content = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MOST_CONTENT, pattern=r"\S"),
    WithJsonSchema(
        {"type": "string", "minLength": 1, "pattern": r"\S", "description": "At most 1,000,000 characters."}
    ),
]


class Remember(Arguments):
    content: Content
    title: Annotated[str, StringConstraints(max_length=500)] | None = None
    project: Name | None = None
    sector: Sector | None = None
    kind: Kind | None = None
    tier: Tier | None = None
    tags: Names = ()
    scopes: Names = ()
    citations: Citations = ()
    importance: Share | None = None
    confidence: Share | None = None
    session: Name | None = None
    task: Name | None = None
    worktree: Name | None = None
    author: Name | None = None
    created: When | None = None
    valid_from: When | None = None
    valid_until: When | None = None
    supersedes: Annotated[Name | None, Field(description="The memory that it replaces.")] = None
    dedupe: bool = True


def remember(engine: Engine, call: Call, given: Remember) -> Answer:
    now = engine.core.clock()
    said = given.model_dump(
        exclude={"namespace", "citations", "dedupe", "created", "valid_from", "valid_until"}, exclude_none=True
    )
    times: dict[str, Any] = {
        name: parse_when(value, now_ms=now)
        for name in ("created", "valid_from", "valid_until")
        if (value := getattr(given, name)) is not None
    }
    draft = Draft(
        **said,
        **times,
        citations=tuple(parse_citation(text) for text in given.citations),
        zone=call.caller.zone,
        source=call.caller.source,
    )
    # What replaces a memory may well say nearly the same as it.
    dedupe = False if given.supersedes is not None or not given.dedupe else None
    return Answer(engine.remember(draft, dedupe=dedupe, namespace=call.namespace).to_json())


KEEPING = (
    Operation("remember", "Keep a memory; one that says the same is not kept twice.", Right.WRITE, Remember, remember),
)
