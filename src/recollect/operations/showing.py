"""Operations that show what is kept, as it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from recollect.model.memory import Kind, RelationType, Sector, Status, Tier
from recollect.operations.access import Call, Right
from recollect.operations.arguments import Arguments, Limit, Name
from recollect.operations.operation import Answer, Operation
from recollect.render.records import memory_record
from recollect.render.showing import shown_record
from recollect.store.protocols import Listing

if TYPE_CHECKING:
    from recollect.engine import Engine


class OneMemory(Arguments):
    id: Annotated[Name, Field(description="A memory's id, or the first six characters of it or more.")]


class Memories(Arguments):
    project: Name | None = None
    sector: Sector | None = None
    kind: Kind | None = None
    tier: Tier | None = None
    status: Status = Status.ACTIVE
    session: Name | None = None
    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    limit: Limit = 20


def get_memory(engine: Engine, call: Call, asked: OneMemory) -> Answer:
    where = {"namespace": call.namespace}
    memory = engine.get(asked.id, **where)
    relations = engine.relations(memory.id, **where)
    after = [one.source for one in relations if one.type is RelationType.SUPERSEDES and one.target == memory.id]
    return Answer(
        shown_record(
            memory,
            salience=engine.salience([memory])[memory.id],
            relations=relations,
            uplift=engine.uplift_of([memory.id], **where).get(memory.id),
            context=engine.session_context(memory.id, **where),
            check=engine.citation_check(memory.id, **where),
            successor=engine.get(after[-1], **where) if after else None,
        )
    )


def list_memories(engine: Engine, call: Call, asked: Memories) -> Answer:
    listing = Listing(
        project=asked.project, sector=asked.sector, kind=asked.kind, tier=asked.tier, statuses=(asked.status,),
        session=asked.session, limit=asked.limit, offset=(asked.page - 1) * asked.limit,
    )  # fmt: skip
    found = engine.browse(listing, namespace=call.namespace)
    saliences = engine.salience(found.memories)
    records = [memory_record(memory, saliences[memory.id]) for memory in found.memories]
    return Answer({"total": found.total, "page": asked.page, "limit": asked.limit, "memories": records})


SHOWING = (
    Operation("get_memory", "One memory in full, with its relations and what is known of it.", Right.READ, OneMemory,
              get_memory),
    Operation("list_memories", "Memories, newest first.", Right.READ, Memories, list_memories),
)  # fmt: skip
