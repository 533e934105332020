"""What a caller gives, before anything is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recallens.model.citation import Citation


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory to be. What is None is decided by rule; times are epoch milliseconds."""

    content: str
    title: str | None = None
    summary: str | None = None
    project: str | None = None
    sector: str | None = None
    kind: str | None = None
    tier: str | None = None
    status: str | None = None
    zone: str | None = None
    tags: Sequence[str] = ()
    scopes: Sequence[str] = ()
    citations: Sequence[Citation] = ()
    importance: float | None = None
    confidence: float | None = None
    salience: float | None = None
    source: str | None = None
    source_id: str | None = None
    document: str | None = None
    session: str | None = None
    task: str | None = None
    worktree: str | None = None
    author: str | None = None
    position: int | None = None
    reward: float | None = None
    created: int | None = None
    valid_from: int | None = None
    valid_until: int | None = None
    supersedes: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
