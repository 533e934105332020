"""What operations answer, where a schema can say it shortly and truly; the rest are objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final


def _object(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "object", "required": [*required], "properties": {**required, **(optional or {})}}


_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}
_FLAG = {"type": "boolean"}
_OBJECTS = {"type": "array", "items": {"type": "object"}}
_TEXTS = {"type": "array", "items": _TEXT}
_XRAY = _object({"snapshotFound": _FLAG}, {"snapshot": {"type": "object", "required": ["schemaVersion", "snapshotId"]}})
_FOUND = _object(
    {"query": _TEXT, "namespace": _TEXT, "recorded": _FLAG, "results": _OBJECTS, "filters": _OBJECTS},
    {"certificate": {"type": "object"}, "degraded": {"type": "object"}, "notice": _TEXT, "lessons": _OBJECTS},
)
_CRAFTS = _object({"results": _OBJECTS})
_MEMORY = _object({"id": _TEXT, "namespace": _TEXT, "content": _TEXT, "status": _TEXT, "createdAt": _WHOLE})
_KEPT = _object(
    {"id": _TEXT, "outcome": {"enum": ["created", "duplicate", "near-duplicate"]}, "redacted": _TEXTS,
     "embedded": _FLAG}
)  # fmt: skip

ANSWERS: Final[Mapping[str, dict[str, Any]]] = {
    "search": _FOUND,
    "search_documents": _FOUND,
    "search_memory": _object({"results": _OBJECTS, "metadata": {"type": "object"}}),
    "retrieve": _object({"query": _TEXT, "context": _TEXT, "lessons": _TEXT, "totalTokensUsed": _WHOLE}),
    "recall_xray": _XRAY,
    "recall_explain": _XRAY,
    "get_snapshot": _XRAY,
    "replay": _object({"reproduced": _FLAG}),
    "get_timeline": _object({"observation_id": _TEXT, "tokens": _WHOLE, "entries": _OBJECTS}),
    "timeline": _object({"anchor": _MEMORY, "before": _OBJECTS, "after": _OBJECTS, "sessions": {"type": "object"}}),
    "get_details": _object({"about": _TEXT, "total": _WHOLE, "entries": _OBJECTS}),
    "search_patterns": _CRAFTS,
    "search_gotchas": _CRAFTS,
    "remember": _KEPT,
    "edit_memory": _KEPT,
    "list_memories": _object({"total": _WHOLE, "memories": {"type": "array", "items": _MEMORY}}, {"next": _TEXT}),
    "get_memory": _object({"memory": _MEMORY, "relations": _OBJECTS}),
    "forget": _object({"forgotten": _TEXTS, "hard": _FLAG}),
    "relations": _object({"relations": _OBJECTS}),
    "feedback": _object({"verdict": _TEXT, "memories": _TEXTS}),
    "add_document": _object({"document": _TEXT, "path": _TEXT, "memories": _TEXTS}),
    "verify_certificate": _object({"valid": _FLAG, "altered": _FLAG, "stale": {"type": "object"}}),
    "list_sessions": _object({"sessions": _OBJECTS}, {"next": _TEXT}),
    "get_session": _object({"session": {"type": "object"}, "memories": _OBJECTS}),
    "list_tasks": _object({"tasks": _OBJECTS}, {"next": _TEXT}),
    "list_vaults": _object({"vaults": _OBJECTS}),
    "sync_vault": _object({"vaults": _OBJECTS}),
    "vault_sections": _object({"vault": _TEXT, "sections": _OBJECTS}, {"next": _TEXT}),
    "list_runs": _object({"sets": _TEXTS, "runs": _OBJECTS}),
    "namespaces": _object({"namespaces": _OBJECTS}),
    "stats": _object({"namespace": _TEXT, "totals": {"type": "object"}, "by": {"type": "object"}}),
}
