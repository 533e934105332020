"""Everything that is known of one memory, as a record."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.model.checking import CitationCheck
from recollect.model.memory import Memory, Relation
from recollect.model.recall import SessionContext
from recollect.model.uplift import Uplift
from recollect.render.citing import check_record
from recollect.render.records import Record, context_record, memory_record, relation_record
from recollect.render.tasks import uplift_record


def shown_record(
    memory: Memory,
    *,
    salience: float,
    relations: Sequence[Relation],
    uplift: Uplift | None,
    context: SessionContext | None,
    check: CitationCheck | None,
    successor: Memory | None,
) -> Record:
    record: Record = {
        "memory": memory_record(memory, salience),
        "relations": [relation_record(relation) for relation in relations],
    }
    if uplift is not None:
        record["uplift"] = uplift_record(uplift)
    if context is not None:
        record["sessionContext"] = context_record(context)
    if check is not None:
        record["citationCheck"] = check_record(check)
    if successor is not None:
        record["supersededBy"] = {"id": successor.id, "content": successor.content, "createdAt": successor.created}
    return record
