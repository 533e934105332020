"""Rows of the tables as values of the model, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from recollect.model.citation import citation_from_json
from recollect.model.memory import (
    Annotations,
    Citation,
    Kind,
    Memory,
    Sector,
    Session,
    Status,
    Tier,
    Zone,
)

MEMORY_COLUMNS = (
    "num", "id", "project", "sector", "kind", "tier", "status", "zone", "content", "summary", "title", "tags",
    "scopes", "annotations", "importance", "confidence", "base_salience", "source", "source_id", "document", "task",
    "worktree", "author", "position", "reward", "created", "updated", "last_used", "uses", "reinforcement",
    "reinforced_at", "confirmed", "valid_from", "valid_until", "content_hash", "version", "attributes",
)  # fmt: skip
MEMORY_SELECT = ", ".join(f"m.{name}" for name in MEMORY_COLUMNS)

SESSION_SELECT = "s.id, s.started, s.ended, s.project, s.title, s.summary"


def memory_of(row: Sequence[Any], namespace: str, citations: tuple[Citation, ...]) -> Memory:
    values: dict[str, Any] = dict(zip(MEMORY_COLUMNS, row, strict=True))
    del values["num"]
    return Memory(
        **values
        | {
            "namespace": namespace,
            "sector": Sector(values["sector"]),
            "kind": Kind(values["kind"]),
            "tier": Tier(values["tier"]),
            "status": Status(values["status"]),
            "zone": Zone(values["zone"]),
            "tags": _texts(values["tags"]),
            "scopes": _texts(values["scopes"]),
            "annotations": _annotations(values["annotations"]),
            "confirmed": bool(values["confirmed"]),
            "attributes": {} if values["attributes"] == "{}" else json.loads(values["attributes"]),
            "citations": citations,
        }
    )


def _texts(packed: str) -> tuple[str, ...]:
    return () if packed == "[]" else tuple(json.loads(packed))


def _annotations(packed: str) -> Annotations:
    if packed == "{}":
        return Annotations()
    return Annotations(**{name: tuple(items) for name, items in json.loads(packed).items()})


def annotations_json(annotations: Annotations) -> str:
    return json.dumps({k: v for k, v in asdict(annotations).items() if v}, ensure_ascii=False)


def session_of(row: Sequence[Any], namespace: str) -> Session:
    return Session(row[0], namespace, row[1], row[2], row[3], row[4], row[5])


def citation_of(kind: str, data: str) -> Citation:
    fields: Mapping[str, Any] = json.loads(data)
    return citation_from_json({"kind": kind, **fields})
