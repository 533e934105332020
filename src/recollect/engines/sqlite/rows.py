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

# A look-up takes a tenth of the time of calling the enum.
_SECTORS = {str(sector): sector for sector in Sector}
_KINDS = {str(kind): kind for kind in Kind}
_TIERS = {str(tier): tier for tier in Tier}
_STATUSES = {str(status): status for status in Status}
_ZONES = {str(zone): zone for zone in Zone}
_NO_ANNOTATIONS = Annotations()

SESSION_SELECT = "s.id, s.started, s.ended, s.project, s.title, s.summary"


def memory_of(row: Sequence[Any], namespace: str, citations: tuple[Citation, ...]) -> Memory:
    """The names stand in the order of MEMORY_COLUMNS; by way of a dict it would take half as long again."""
    (
        _, id, project, sector, kind, tier, status, zone, content, summary, title, tags,
        scopes, annotations, importance, confidence, base_salience, source, source_id, document, task,
        worktree, author, position, reward, created, updated, last_used, uses, reinforcement,
        reinforced_at, confirmed, valid_from, valid_until, content_hash, version, attributes,
    ) = row  # fmt: skip
    return Memory(
        id=id, namespace=namespace, content=content, created=created, updated=updated, project=project,
        sector=_SECTORS[sector], kind=_KINDS[kind], tier=_TIERS[tier], status=_STATUSES[status], zone=_ZONES[zone],
        title=title, summary=summary, tags=_texts(tags), scopes=_texts(scopes), annotations=_annotations(annotations),
        citations=citations, importance=importance, confidence=confidence, base_salience=base_salience, source=source,
        source_id=source_id, document=document, task=task, worktree=worktree, author=author, position=position,
        reward=reward, last_used=last_used, uses=uses, reinforcement=reinforcement, reinforced_at=reinforced_at,
        confirmed=bool(confirmed), valid_from=valid_from, valid_until=valid_until, content_hash=content_hash,
        version=version, attributes={} if attributes == "{}" else json.loads(attributes),
    )  # fmt: skip


def _texts(packed: str) -> tuple[str, ...]:
    return () if packed == "[]" else tuple(json.loads(packed))


def _annotations(packed: str) -> Annotations:
    if packed == "{}":
        return _NO_ANNOTATIONS
    return Annotations(**{name: tuple(items) for name, items in json.loads(packed).items()})


def annotations_json(annotations: Annotations) -> str:
    return json.dumps({k: v for k, v in asdict(annotations).items() if v}, ensure_ascii=False)


def session_of(row: Sequence[Any], namespace: str) -> Session:
    return Session(row[0], namespace, row[1], row[2], row[3], row[4], row[5])


def citation_of(kind: str, data: str) -> Citation:
    fields: Mapping[str, Any] = json.loads(data)
    return citation_from_json({"kind": kind, **fields})
