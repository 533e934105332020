"""Recollect: a memory-retrieval engine whose explanations are the cause of its answers.

import recollect

with recollect.open("team.db") as memory:
    memory.remember("We cache tracking lookups for 60 seconds", project="api")
    for result in memory.search("how long are lookups cached").results:
        print(result.score, result.memory.content, dict(result.parts))
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Loaded when first used: `recollect --help` must not pay for numpy.
_HOMES = {
    "Engine": "recollect.engine",
    "Draft": "recollect.ingest.draft",
    "Settings": "recollect.config",
    "Memory": "recollect.model.memory",
    "Recall": "recollect.model.recall",
    "SearchResult": "recollect.model.recall",
    "Ledger": "recollect.model.ledger",
    "Query": "recollect.model.query",
    "RecollectError": "recollect.errors",
}

__all__ = [
    "Draft",
    "Engine",
    "Ledger",
    "Memory",
    "Query",
    "Recall",
    "RecollectError",
    "SearchResult",
    "Settings",
    "open",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")


def open(store: str | None = None, **options: Any) -> Any:
    """Open a store: `recollect.open("team.db")`. The same as `Engine.open`."""
    return import_module("recollect.engine").Engine.open(store, **options)
