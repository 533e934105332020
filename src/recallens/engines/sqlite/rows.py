"""Rows of the tables as values of the model, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from recallens.model.citation import Citation, citation_from_json
from recallens.model.memory import Annotations, Kind, Memory, Sector, Session, Status, Tier, Zone

# In the order of Memory's fields, so that a row is one but for what is packed in it. Citations lie in a table of their
# own: whether there are any stands last, behind the memory's number.
_ELSEWHERE = {"namespace": "n.name", "citations": "NULL"}
MEMORY_SELECT = ", ".join(
    [*(_ELSEWHERE.get(name, f"m.{name}") for name in Memory.__struct_fields__), "m.cited", "m.num"]
)

# A look-up takes a tenth of the time of calling the enum.
_SECTORS = {str(sector): sector for sector in Sector}
_KINDS = {str(kind): kind for kind in Kind}
_TIERS = {str(tier): tier for tier in Tier}
_STATUSES = {str(status): status for status in Status}
_ZONES = {str(zone): zone for zone in Zone}
_NO_ANNOTATIONS = Annotations()

SESSION_SELECT = "s.id, s.started, s.ended, s.project, s.title, s.summary"


def memory_of(row: Sequence[Any], citations: tuple[Citation, ...]) -> Memory:
    """From a row of MEMORY_SELECT. Names would cost as much as all the rest: they are looked for one by one."""
    (
        id, namespace, content, created, updated, project, sector, kind, tier, status, zone, title, summary, tags,
        scopes, annotations, _, importance, confidence, base_salience, source, source_id, document, task, worktree,
        author, position, reward, last_used, uses, reinforcement, reinforced_at, confirmed, valid_from, valid_until,
        content_hash, version, attributes, _, _,
    ) = row  # fmt: skip
    return Memory(
        id, namespace, content, created, updated, project, _SECTORS[sector], _KINDS[kind], _TIERS[tier],
        _STATUSES[status], _ZONES[zone], title, summary, _texts(tags), _texts(scopes), _annotations(annotations),
        citations, importance, confidence, base_salience, source, source_id, document, task, worktree, author,
        position, reward, last_used, uses, reinforcement, reinforced_at, bool(confirmed), valid_from, valid_until,
        content_hash, version, {} if attributes == "{}" else _unpacked(attributes),
    )  # fmt: skip


def _unpacked(packed: str) -> Any:
    """What was packed here, without the look for spaces around it that takes most of the time of `json.loads`."""
    return _FROM_JSON(packed)[0]


_FROM_JSON = json.JSONDecoder().raw_decode


def _texts(packed: str) -> tuple[str, ...]:
    return () if packed == "[]" else tuple(_unpacked(packed))


def _annotations(packed: str) -> Annotations:
    if packed == "{}":
        return _NO_ANNOTATIONS
    return Annotations(**{name: tuple(items) for name, items in _unpacked(packed).items()})


def annotations_json(annotations: Annotations) -> str:
    return json.dumps({k: v for k, v in asdict(annotations).items() if v}, ensure_ascii=False)


def session_of(row: Sequence[Any], namespace: str) -> Session:
    return Session(row[0], namespace, row[1], row[2], row[3], row[4], row[5])


def citation_of(kind: str, data: str) -> Citation:
    fields: Mapping[str, Any] = json.loads(data)
    return citation_from_json({"kind": kind, **fields})
