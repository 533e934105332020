"""mem0: its memories as JSON or JSON lines, as `get_all` gives them or an export holds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from recallens.ingest.draft import Draft
from recallens.ingest.importers import Entry, MemoryLine, SkippedEntry
from recallens.ingest.source_file import SourceFile
from recallens.ingest.transcript import NO_TEXT, key_of, moment, text_of

NAME = "mem0"
ABOUT = "memories of mem0, as JSON or JSON lines"
FOLDERS = ()
PATTERNS = ("*.json", "*.jsonl")

_KEPT = ("user_id", "agent_id", "app_id", "metadata")


def read(file: SourceFile) -> Iterator[Entry]:
    for place, record in file.elements(("results", "memories", "data")):
        yield SkippedEntry(place, record) if isinstance(record, str) else _memory(place, record)


def _memory(place: str, record: Mapping[str, Any]) -> Entry:
    payload = record.get("payload")
    fields: Mapping[str, Any] = {**record, **payload} if isinstance(payload, Mapping) else record
    text = text_of(fields.get("memory") or fields.get("data") or fields.get("text") or fields.get("content"))
    if not text.strip():
        return SkippedEntry(place, NO_TEXT)
    id = fields.get("id") or fields.get("memory_id") or fields.get("hash")
    if not id:
        return SkippedEntry(place, "no id, by which a second import would know it")
    if fields.get("state") in ("deleted", "archived"):
        return SkippedEntry(place, f"{fields['state']} in mem0")
    key, tags = key_of(NAME, str(id)), fields.get("categories")
    draft = Draft(
        text, source=NAME, source_id=key, session=text_of(fields.get("run_id")) or None,
        created=moment(fields.get("updated_at")) or moment(fields.get("created_at")),
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        attributes={name: fields[name] for name in _KEPT if fields.get(name)},
    )  # fmt: skip
    return MemoryLine(draft, key, None)
