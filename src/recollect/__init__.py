"""Recollect: a memory-retrieval engine whose explanations are the cause of its answers.

import recollect

with recollect.open("team.db") as memory:
    memory.remember("We cache tracking lookups for 60 seconds", project="api")
    for result in memory.search("how long are lookups cached").results:
        print(result.score, result.memory.content, dict(result.parts))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.config import Settings
    from recollect.engine import Engine
    from recollect.errors import (
        AccessError,
        EncoderError,
        InvalidInput,
        NotFound,
        RecollectError,
        StoreError,
    )
    from recollect.index.encoders.protocol import Encoder, EncoderKey
    from recollect.ingest.draft import Draft
    from recollect.model.ledger import Ledger
    from recollect.model.memory import (
        CommitCitation,
        FileCitation,
        Kind,
        LogCitation,
        Memory,
        RelationType,
        Sector,
        SymbolCitation,
        TerminalCitation,
        Tier,
    )
    from recollect.model.query import Mode, Query
    from recollect.model.recall import Recall, SearchResult
    from recollect.model.snapshot import Snapshot

__version__ = "0.1.0"

# Loaded when first used: `recollect --help` must not pay for numpy.
_HOMES = {
    "AccessError": "recollect.errors",
    "CommitCitation": "recollect.model.memory",
    "Draft": "recollect.ingest.draft",
    "Encoder": "recollect.index.encoders.protocol",
    "EncoderError": "recollect.errors",
    "EncoderKey": "recollect.index.encoders.protocol",
    "Engine": "recollect.engine",
    "FileCitation": "recollect.model.memory",
    "InvalidInput": "recollect.errors",
    "Kind": "recollect.model.memory",
    "Ledger": "recollect.model.ledger",
    "LogCitation": "recollect.model.memory",
    "Memory": "recollect.model.memory",
    "Mode": "recollect.model.query",
    "NotFound": "recollect.errors",
    "Query": "recollect.model.query",
    "Recall": "recollect.model.recall",
    "RecollectError": "recollect.errors",
    "RelationType": "recollect.model.memory",
    "SearchResult": "recollect.model.recall",
    "Sector": "recollect.model.memory",
    "Settings": "recollect.config",
    "Snapshot": "recollect.model.snapshot",
    "StoreError": "recollect.errors",
    "SymbolCitation": "recollect.model.memory",
    "TerminalCitation": "recollect.model.memory",
    "Tier": "recollect.model.memory",
}

__all__ = [
    "AccessError",
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
    "RecollectError",
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
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def open(store: str | Path | None = None, **options: Any) -> Engine:
    """Open a store: `recollect.open("team.db")`. The same as `Engine.open`."""
    engine: Engine = import_module("recollect.engine").Engine.open(store, **options)
    return engine
