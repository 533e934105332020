"""Values as plain records for JSON, spelled one way for every surface, as specified. Times are epoch ms."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from recallens.model.memory import as_json
from recallens.model.state import EVERYTHING, Sight
from recallens.render.times import time_of
from recallens.text.snippet import END_MARK, MARK

if TYPE_CHECKING:
    from msgspec import Struct

    from recallens.model.citation import CitationCheck
    from recallens.model.craft import Craft
    from recallens.model.ledger import Ledger
    from recallens.model.memory import Artifact, Memory, Relation, Session
    from recallens.model.recall import Recall, SearchResult, SessionContext, Timeline
    from recallens.model.salience import Uplift
    from recallens.model.task import Task, TaskOutcome
    from recallens.model.vault import SyncReport, Vault, VaultSync

Record = dict[str, Any]

_MARKED: Final = re.compile(f"{re.escape(MARK)}(.*?){re.escape(END_MARK)}", re.DOTALL)

# The names of a record in their order, each with the field that it shows.
_MEMORY: Final[Mapping[str, str]] = {
    "id": "id", "handle": "handle", "namespace": "namespace", "projectId": "project", "sector": "sector",
    "kind": "kind", "tier": "tier",
    "status": "status", "zone": "zone", "title": "title", "summary": "summary", "content": "content", "tags": "tags",
    "scopes": "scopes", "entities": "entities", "citations": "citations", "importance": "importance",
    "confidence": "confidence", "salience": "salience", "confirmed": "confirmed", "source": "source",
    "sourceId": "source_id", "document": "document", "task": "task", "worktree": "worktree", "author": "author",
    "position": "position", "reward": "reward", "createdAt": "created", "recordedAt": "recorded",
    "updatedAt": "updated",
    "lastUsedAt": "last_used", "uses": "uses", "validFrom": "valid_from", "validUntil": "valid_until",
    "review": "review", "contentHash": "content_hash", "version": "version", "attributes": "attributes",
}  # fmt: skip
# What is shown of a memory whose text is withheld.
_WITHOUT_TEXT: Final = ("id", "handle", "namespace", "status", "zone", "createdAt")
_SESSION: Final[Mapping[str, str]] = {
    "id": "id", "projectId": "project", "startedAt": "started", "endedAt": "ended", "title": "title",
    "summary": "summary",
}  # fmt: skip
_RELATION: Final[Mapping[str, str]] = {
    "source": "source", "target": "target", "relation": "type", "confidence": "confidence", "origin": "origin",
    "createdAt": "created", "validUntil": "valid_until",
}  # fmt: skip
_TASK: Final[Mapping[str, str]] = {
    "id": "id", "namespace": "namespace", "task": "text", "projectId": "project", "session": "session",
    "worktree": "worktree", "startedAt": "started", "endedAt": "ended", "reward": "reward", "summary": "summary",
    "episode": "episode",
}  # fmt: skip


def to_text(record: object) -> str:
    """The one way JSON is written: readable Korean, stable order of fields, no trailing space."""
    return json.dumps(record, ensure_ascii=False, indent=2)


def to_line(record: object) -> str:
    """JSON on one line: what an agent reads as JSON costs no more than it must."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def present(record: Record) -> Record:
    """Without what is not known."""
    return {name: value for name, value in record.items() if value is not None}


def _spelled(names: Mapping[str, str], value: Struct, **more: object) -> Record:
    fields = {**as_json(value), **more}
    return present({name: fields[field] for name, field in names.items()})


def memory_record(memory: Memory, salience: float | None = None, *, sight: Sight = EVERYTHING) -> Record:
    """Of what is withheld from the caller only that it is."""
    reason = sight.withholds(memory)
    if reason is not None:
        known = _spelled(_MEMORY, memory, handle=memory.handle, salience=salience, entities=[], attributes=None)
        return {**{name: known[name] for name in _WITHOUT_TEXT if name in known}, "withheld": reason}
    entities, attributes = list(memory.annotations.entities), dict(memory.attributes) or None
    return _spelled(_MEMORY, memory, handle=memory.handle, salience=salience, entities=entities, attributes=attributes)


def session_record(session: Session) -> Record:
    return _spelled(_SESSION, session)


def relation_record(relation: Relation) -> Record:
    return _spelled(_RELATION, relation)


# ── a recall ──


def result_record(result: SearchResult) -> Record:
    return present({
        "rank": result.rank,
        "score": result.score,
        "relevance": result.relevance,
        "parts": dict(result.parts),
        "matchType": result.match_type,
        "views": list(result.views),
        "memory": memory_record(result.memory, result.salience),
        "highlights": list(result.highlights) or None,
        "sourceSession": session_record(result.source_session) if result.source_session else None,
        "isCited": bool(result.memory.citations),
        "verified": result.state.verified,
        "isSuperseded": result.is_superseded,
        "relatedMemoryCount": result.related_count,
        "supersededBy": as_json(result.superseded_by),
        "state": as_json(result.state) or None,
    })  # fmt: skip


def filters_record(ledger: Ledger) -> list[Record]:
    """The ladder as the X-ray shows it: what each filter considered and admitted."""
    from recallens.xray.ladder import ladder_of  # late: the engine writes records, and walks no ledger to search

    rows: list[Record] = as_json(ladder_of(ledger))
    return rows


def certificate_of(ledger: Ledger) -> Record | None:
    """What the last round said of its answer; null where nothing could be required of it."""
    notes = ledger.notes("certificate")
    return {"completenessScore": None, **notes[-1]} if notes else None


# What layer 1 has of it beside the specification's numbers; a search in full has what it rests on.
_TOLD = ("verdict", "likelihood", "missing", "reworded", "elsewhere", "suggestion", "unsettled")


def brief_certificate(certificate: Mapping[str, Any], handles: Mapping[str, str], *, whole: bool) -> Record:
    """By handle, without what the results say already; where there is little room, its numbers."""
    numbers = present({name: certificate.get(name) for name in ("completenessScore", "redundancyRatio")})
    if not whole:
        return numbers
    told = {name: certificate[name] for name in _TOLD if certificate.get(name)}
    return {**numbers, **told, "minimalSet": [handles.get(id, id) for id in certificate["minimalSet"]]}


def recall_record(recall: Recall) -> Record:
    query = recall.query
    return present({
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
        "silence": as_json(recall.silence),
        "ended": as_json(recall.ended) if recall.ended is not None else None,
        "time": time_of(recall.ledger),
        "filters": filters_record(recall.ledger),
        "certificate": certificate_of(recall.ledger),
    })  # fmt: skip


def marked(excerpt: str) -> Iterator[tuple[str, bool]]:
    """An excerpt in pieces, and whether each was asked for. The marks themselves are gone."""
    at = 0
    for match in _MARKED.finditer(excerpt):
        yield excerpt[at : match.start()], False
        yield match.group(1), True
        at = match.end()
    yield excerpt[at:], False


def timeline_record(timeline: Timeline, saliences: Mapping[str, float], *, sight: Sight = EVERYTHING) -> Record:
    def record(memory: Memory) -> Record:
        state = timeline.states.get(memory.id)
        state = as_json(state and sight.stands(memory, state))
        whole = memory_record(memory, saliences.get(memory.id), sight=sight)
        return {**whole, "state": state} if state else whole

    return {
        "anchor": record(timeline.anchor),
        "before": list(map(record, timeline.before)),
        "after": list(map(record, timeline.after)),
        "sessions": {
            session.id: present({"id": session.id, "startedAt": session.started, "summary": session.summary})
            for session in timeline.sessions.values()
        },
    }


# ── one memory, with all that is known of it ──


def check_record(check: CitationCheck) -> Record:
    citations = as_json(check.checked)
    place = present({"root": check.worktree.root or None, "branch": check.worktree.branch or None,
                     "commit": check.worktree.commit or None})  # fmt: skip
    return {"id": check.memory, "checkedAt": check.at, "verdict": check.standing, **place, "citations": citations}


def shown_record(
    memory: Memory,
    *,
    salience: float,
    relations: Sequence[Relation],
    uplift: Uplift | None,
    context: SessionContext | None,
    check: CitationCheck | None,
    successor: Memory | None,
    sight: Sight = EVERYTHING,
) -> Record:
    after = successor and memory_record(successor, sight=sight)
    if sight.withholds(memory) is not None:
        context = check = uplift = None
    return present({
        "memory": memory_record(memory, salience, sight=sight),
        "relations": [relation_record(relation) for relation in relations],
        "uplift": as_json(uplift),
        "sessionContext": context and {
            "session": session_record(context.session), "memoriesInSession": context.memories_in_session,
            "usageType": context.usage,
        },
        "citationCheck": check and check_record(check),
        "supersededBy": after and {
            name: after[name] for name in ("id", "handle", "content", "createdAt", "withheld") if name in after
        },
    })  # fmt: skip


# ── tasks, and skills, patterns and gotchas ──


def task_record(task: Task) -> Record:
    record = _spelled(_TASK, task)
    return record if task.wording == task.id else {**record, "attemptOf": task.wording}


def outcome_record(outcome: TaskOutcome) -> Record:
    return {
        **task_record(outcome.task),
        "promoted": as_json(outcome.promoted),
        "credited": as_json(outcome.credited),
        **({"waiting": list(outcome.waiting)} if outcome.waiting else {}),
    }


def artifact_record(artifact: Artifact) -> Record:
    return {
        "id": artifact.id, "task": artifact.task, "kind": artifact.kind, "createdAt": artifact.created,
        "chars": len(artifact.content),
    }  # fmt: skip


def craft_record(craft: Craft) -> Record:
    return present({"id": craft.id, **as_json(craft), "marks": list(craft.marks) or None})


# ── vaults ──


def report_record(report: SyncReport) -> Record:
    return {"vaults": [_sync_record(sync) for sync in report.vaults]}


def _sync_record(sync: VaultSync) -> Record:
    return {
        "name": sync.vault, "root": sync.root, "added": list(sync.added), "changed": list(sync.changed),
        "renamed": [{"from": old, "to": new} for old, new in sync.renamed], "removed": list(sync.removed),
        "unchanged": sync.unchanged, "errors": as_json(sync.errors), "warnings": as_json(sync.warnings),
        "skipped": as_json(sync.skipped),
        "leftOut": [present({"what": left.what, "files": left.files, "reason": left.reason,
                             "takeIn": left.take_in or None}) for left in sync.left_out],
        "droppedScopes": [{"scope": problem.path, "reason": problem.reason} for problem in sync.dropped_scopes],
        "sections": {"indexed": sync.sections_indexed, "kept": sync.sections_kept, "removed": sync.sections_removed},
    }  # fmt: skip


def vault_record(vault: Vault, counts: tuple[int, int]) -> Record:
    options = as_json(vault.options)
    return present({
        "name": vault.name, "root": vault.root, "files": counts[0], "sections": counts[1],
        **{name: options[name] for name in ("project", "scopes", "include", "exclude")},
        "includeRaw": options["include_raw"], "includeOperational": options["include_operational"],
        "chunk": options["chunk"],
        "createdAt": vault.created, "syncedAt": vault.synced,
    })  # fmt: skip
