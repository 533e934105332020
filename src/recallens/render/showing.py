"""Everything that is known of one memory, as a record."""

from __future__ import annotations

from collections.abc import Sequence

from recallens.model.citation import CitationCheck
from recallens.model.memory import Memory, Relation
from recallens.model.recall import SessionContext
from recallens.model.salience import Uplift
from recallens.render.citing import check_record
from recallens.render.records import Record, context_record, memory_record, relation_record
from recallens.render.tasks import uplift_record


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
