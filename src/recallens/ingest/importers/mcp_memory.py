"""The memory server of MCP: JSON lines of entities with observations, and of relations between entities.

Each observation is a memory named by its entity, each relation a memory that says it. What the server keeps has no
times: everything has that of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any, Final

from recallens.ingest.draft import Draft
from recallens.ingest.importers import Entry, MemoryLine, RelationLine, SkippedEntry
from recallens.ingest.source_file import SourceFile
from recallens.ingest.transcript import BOOKKEEPING, NO_TEXT, key_of, text_of
from recallens.model.memory import Origin, RelationType

NAME = "mcp-memory"
ABOUT = "memory.json(l) of the MCP memory server"
FOLDERS = ()
PATTERNS = ("memory*.json", "memory*.jsonl")

_NO_ENDS: Final = "a relation without from, to and relationType"


def read(file: SourceFile) -> Iterator[Entry]:
    created = int(file.path.stat().st_mtime * 1000)
    first: dict[str, str] = {}  # the key of each entity's first memory
    for place, record in file.elements(("entities", "relations")):
        if isinstance(record, str):
            yield SkippedEntry(place, record)
        elif record.get("type") == "relation" or "relationType" in record:
            yield from _relation(place, record, first, created)
        elif "name" in record:
            yield from _entity(place, record, first, created)
        else:
            yield SkippedEntry(place, BOOKKEEPING)


def _entity(place: str, record: Mapping[str, Any], first: dict[str, str], created: int) -> Iterator[Entry]:
    name, kind = text_of(record.get("name")).strip(), text_of(record.get("entityType")).strip()
    if not name:
        yield SkippedEntry(place, "an entity without a name")
        return
    observations = record.get("observations") or []
    if not isinstance(observations, list):
        yield SkippedEntry(place, "observations that are no list")
        return
    texts = [text_of(each).strip() for each in observations] or [f"{name} is of the kind {kind}."]
    for text in texts:
        if not text:
            yield SkippedEntry(place, NO_TEXT)
            continue
        line = _memory(f"{name}#{_digest(text)}", text, created, title=name, tags=(kind,) if kind else ())
        first.setdefault(name, str(line.key))
        yield line


def _relation(place: str, record: Mapping[str, Any], first: Mapping[str, str], created: int) -> Iterator[Entry]:
    ends = [text_of(record.get(side)).strip() for side in ("from", "relationType", "to")]
    if not all(ends):
        yield SkippedEntry(place, _NO_ENDS)
        return
    source, verb, target = ends
    text = f"{source} {verb.replace('_', ' ')} {target}"
    yield _memory(f"{source}>{_digest(text)}", text, created)
    if source in first and target in first and source != target:
        yield RelationLine(first[source], first[target], RelationType.RELATED_TO, 1.0, Origin.IMPORT)


def _memory(id: str, text: str, created: int, *, title: str | None = None, tags: tuple[str, ...] = ()) -> MemoryLine:
    key = key_of(NAME, id)
    return MemoryLine(Draft(text, title=title, tags=tags, source=NAME, source_id=key, created=created), key, None)


def _digest(text: str) -> str:
    """The server gives no ids: an observation is known by its words."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
