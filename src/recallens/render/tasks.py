"""Tasks, details, skills, patterns and gotchas as JSON; what the specification names is spelled as there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from recallens.model.citation import Citation, citation_to_json
from recallens.model.craft import Craft, Gotcha, Pattern, Skill
from recallens.model.memory import Artifact
from recallens.model.salience import Uplift
from recallens.model.task import DetailEntry, Details, Task, TaskOutcome
from recallens.render.records import Record


def task_record(task: Task) -> Record:
    record = {
        "id": task.id,
        "namespace": task.namespace,
        "task": task.text,
        "projectId": task.project,
        "session": task.session,
        "worktree": task.worktree,
        "startedAt": task.started,
        "endedAt": task.ended,
        "reward": task.reward,
        "summary": task.summary,
        "episode": task.episode,
        "attemptOf": task.wording if task.wording != task.id else None,
    }
    return {name: value for name, value in record.items() if value is not None}


def outcome_record(outcome: TaskOutcome) -> Record:
    promoted = [
        {"kind": one.kind, "id": one.id, "created": one.created, "count": one.count} for one in outcome.promoted
    ]
    return {**task_record(outcome.task), "promoted": promoted}


def artifact_record(artifact: Artifact) -> Record:
    return {
        "id": artifact.id, "task": artifact.task, "kind": artifact.kind, "createdAt": artifact.created,
        "chars": len(artifact.content),
    }  # fmt: skip


def uplift_record(uplift: Uplift) -> Record:
    return {"value": uplift.value, "confidence": uplift.confidence, "tasks": uplift.tasks}


def detail_record(entry: DetailEntry) -> Record:
    record: Record = {
        "id": entry.id,
        "full_content": entry.full_content,
        "metadata": dict(entry.metadata),
        "citations": _citations(entry.citations),
        "relatedEntries": list(entry.related),
        "tokens": entry.tokens,
        "truncated": entry.truncated,
    }
    return record | ({"omittedTokens": entry.omitted_tokens} if entry.truncated else {})


def details_record(details: Details) -> Record:
    record: Record = {"about": details.about, "total": details.total}
    if details.task is not None:
        record["task"] = task_record(details.task)
    return record | {"entries": [detail_record(entry) for entry in details.entries]}


def craft_record(craft: Craft) -> Record:
    match craft:
        case Skill():
            return {
                "id": craft.id, "topic": craft.topic, "context": craft.context,
                "core_principles": list(craft.core_principles), "pitfalls": list(craft.pitfalls),
                "implementation_guide": craft.implementation_guide, "confidence": craft.confidence,
                "citations": _citations(craft.citations),
            }  # fmt: skip
        case Pattern():
            record: Record = {"id": craft.id, "title": craft.title, "description": craft.description}
            if craft.example_code is not None:
                record["example_code"] = craft.example_code
            return record | {"success_count": craft.success_count, "citations": _citations(craft.citations)}
        case Gotcha():
            return {
                "id": craft.id, "title": craft.title, "description": craft.description, "resolution": craft.resolution,
                "occurrence_count": craft.occurrence_count, "trigger_conditions": list(craft.trigger_conditions),
                "files": list(craft.files), "citations": _citations(craft.citations),
            }  # fmt: skip
        case _:
            assert_never(craft)


def _citations(citations: Sequence[Citation]) -> list[Record]:
    return [citation_to_json(citation) for citation in citations]
