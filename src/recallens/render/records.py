"""Values as plain records for JSON, spelled one way for every surface, as specified. Times are epoch ms."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from recallens.model.citation import citation_to_json
from recallens.model.ledger import Ledger
from recallens.model.memory import Memory, Relation, Session, as_json
from recallens.model.recall import Recall, SearchResult, SessionContext, Timeline
from recallens.xray.ladder import ladder_of

Record = dict[str, Any]


def to_text(record: object) -> str:
    """The one way JSON is written: readable Korean, stable order of fields, no trailing space."""
    return json.dumps(record, ensure_ascii=False, indent=2)


def memory_record(memory: Memory, salience: float | None = None) -> Record:
    record: Record = {
        "id": memory.id,
        "namespace": memory.namespace,
        "projectId": memory.project,
        "sector": memory.sector,
        "kind": memory.kind,
        "tier": memory.tier,
        "status": memory.status,
        "zone": memory.zone,
        "title": memory.title,
        "summary": memory.summary,
        "content": memory.content,
        "tags": list(memory.tags),
        "scopes": list(memory.scopes),
        "entities": list(memory.annotations.entities),
        "citations": [citation_to_json(citation) for citation in memory.citations],
        "importance": memory.importance,
        "confidence": memory.confidence,
        "salience": salience,
        "confirmed": memory.confirmed,
        "source": memory.source,
        "sourceId": memory.source_id,
        "document": memory.document,
        "task": memory.task,
        "worktree": memory.worktree,
        "author": memory.author,
        "position": memory.position,
        "reward": memory.reward,
        "createdAt": memory.created,
        "updatedAt": memory.updated,
        "lastUsedAt": memory.last_used,
        "uses": memory.uses,
        "validFrom": memory.valid_from,
        "validUntil": memory.valid_until,
        "contentHash": memory.content_hash,
        "version": memory.version,
        "attributes": dict(memory.attributes),
    }
    return {name: value for name, value in record.items() if value is not None and value != {}}


def session_record(session: Session) -> Record:
    record = {
        "id": session.id,
        "projectId": session.project,
        "startedAt": session.started,
        "endedAt": session.ended,
        "title": session.title,
        "summary": session.summary,
    }
    return {name: value for name, value in record.items() if value is not None}


def relation_record(relation: Relation) -> Record:
    record = {
        "source": relation.source,
        "target": relation.target,
        "relation": relation.type,
        "confidence": relation.confidence,
        "origin": relation.origin,
        "createdAt": relation.created,
        "validUntil": relation.valid_until,
    }
    return {name: value for name, value in record.items() if value is not None}


def result_record(result: SearchResult) -> Record:
    record: Record = {
        "rank": result.rank,
        "score": result.score,
        "parts": dict(result.parts),
        "matchType": result.match_type,
        "views": list(result.views),
        "memory": memory_record(result.memory, result.salience),
        "highlights": list(result.highlights) or None,
        "sourceSession": session_record(result.source_session) if result.source_session else None,
        "isCited": bool(result.memory.citations),
        "isSuperseded": result.is_superseded,
        "relatedMemoryCount": result.related_count,
    }
    if result.superseded_by is not None:
        after = result.superseded_by
        record["supersededBy"] = {"id": after.id, "content": after.content, "createdAt": after.created}
    return {name: value for name, value in record.items() if value is not None}


def filters_record(ledger: Ledger) -> list[Record]:
    """The ladder as the X-ray shows it: what each filter considered and admitted."""
    rows: list[Record] = as_json(ladder_of(ledger))
    return rows


def certificate_of(ledger: Ledger) -> Record | None:
    """What the last round said of its answer; null where nothing could be required of it."""
    notes = ledger.notes("certificate")
    return {"completenessScore": None, **notes[-1]} if notes else None


def recall_record(recall: Recall) -> Record:
    query = recall.query
    record: Record = {
        "query": query.text,
        "namespace": query.namespace,
        "mode": query.mode,
        "preset": query.preset,
        "encoder": recall.encoder,
        "askedAt": query.now,
        "asOf": query.as_of,
        "session": query.session,
        "recorded": recall.recorded,
        "degraded": dict(recall.degraded) or None,
        "notice": recall.notice,
        "results": [result_record(result) for result in recall.results],
        "lessons": [result_record(result) for result in recall.lessons] or None,
        "filters": filters_record(recall.ledger),
        "certificate": certificate_of(recall.ledger),
    }
    return {name: value for name, value in record.items() if value is not None}


def timeline_record(timeline: Timeline, saliences: Mapping[str, float]) -> Record:
    def records(memories: Sequence[Memory]) -> list[Record]:
        return [memory_record(memory, saliences.get(memory.id)) for memory in memories]

    sessions = {
        session.id: {"id": session.id, "startedAt": session.started}
        | ({"summary": session.summary} if session.summary is not None else {})
        for session in timeline.sessions.values()
    }
    return {
        "anchor": records([timeline.anchor])[0],
        "before": records(timeline.before),
        "after": records(timeline.after),
        "sessions": sessions,
    }


def context_record(context: SessionContext) -> Record:
    return {
        "session": session_record(context.session),
        "memoriesInSession": context.memories_in_session,
        "usageType": context.usage,
    }
