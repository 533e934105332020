"""Recallens: a memory-retrieval engine whose explanations are the cause of its answers.

import recallens

with recallens.open("team.db") as memory:
    memory.remember("We cache tracking lookups for 60 seconds", project="api")
    for result in memory.search("how long are lookups cached"):
        print(result.score, result.memory.content, dict(result.parts))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from recallens.config import Settings
    from recallens.engine import Engine
    from recallens.engine.asynchronous import AsyncEngine
    from recallens.errors import (
        AccessError,
        EncoderError,
        InvalidInput,
        NotFound,
        RecallensError,
        StoreError,
    )
    from recallens.index.encoders.protocol import Encoder, EncoderKey
    from recallens.ingest.draft import Draft
    from recallens.model.citation import CommitCitation, FileCitation, LogCitation, SymbolCitation, TerminalCitation
    from recallens.model.ledger import Ledger
    from recallens.model.memory import Kind, Memory, RelationType, Sector, Tier
    from recallens.model.query import Mode, Query
    from recallens.model.recall import Recall, SearchResult
    from recallens.model.snapshot import Snapshot

__version__ = "0.1.0"

# Loaded when first used: `recallens --help` must not pay for numpy.
_HOMES = {
    "AccessError": "recallens.errors",
    "AsyncEngine": "recallens.engine.asynchronous",
    "CommitCitation": "recallens.model.citation",
    "Draft": "recallens.ingest.draft",
    "Encoder": "recallens.index.encoders.protocol",
    "EncoderError": "recallens.errors",
    "EncoderKey": "recallens.index.encoders.protocol",
    "Engine": "recallens.engine",
    "FileCitation": "recallens.model.citation",
    "InvalidInput": "recallens.errors",
    "Kind": "recallens.model.memory",
    "Ledger": "recallens.model.ledger",
    "LogCitation": "recallens.model.citation",
    "Memory": "recallens.model.memory",
    "Mode": "recallens.model.query",
    "NotFound": "recallens.errors",
    "Query": "recallens.model.query",
    "Recall": "recallens.model.recall",
    "RecallensError": "recallens.errors",
    "RelationType": "recallens.model.memory",
    "SearchResult": "recallens.model.recall",
    "Sector": "recallens.model.memory",
    "Settings": "recallens.config",
    "Snapshot": "recallens.model.snapshot",
    "StoreError": "recallens.errors",
    "SymbolCitation": "recallens.model.citation",
    "TerminalCitation": "recallens.model.citation",
    "Tier": "recallens.model.memory",
}

__all__ = [
    "AccessError",
    "AsyncEngine",
    "CommitCitation",
    "Draft",
    "Encoder",
    "EncoderError",
    "EncoderKey",
    "Engine",
    "FileCitation",
    "InvalidInput",
    "Kind",
    "Ledger",
    "LogCitation",
    "Memory",
    "Mode",
    "NotFound",
    "Query",
    "Recall",
    "RecallensError",
    "RelationType",
    "SearchResult",
    "Sector",
    "Settings",
    "Snapshot",
    "StoreError",
    "SymbolCitation",
    "TerminalCitation",
    "Tier",
    "open",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'recallens' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def open(store: str | Path | None = None, **options: Any) -> Engine:
    """Open a store: `recallens.open("team.db")`. The same as `Engine.open`."""
    engine: Engine = import_module("recallens.engine").Engine.open(store, **options)
    return engine
