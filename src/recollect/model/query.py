"""What is asked. A query is a plain value: with a store and a clock it decides every byte of the answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from recollect.model.memory import Kind, Sector, Tier

DEFAULT_NAMESPACE = "default"
DEFAULT_LIMIT = 10
MAX_LIMIT = 1_000


class Mode(StrEnum):
    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    KEYWORD = "keyword"


class Documents(StrEnum):
    """Whether memories that were cut from a document take part."""

    INCLUDE = "include"
    EXCLUDE = "exclude"
    ONLY = "only"


@dataclass(frozen=True, slots=True)
class Filters:
    """The caller's own gates. None means the gate is not asked for."""

    project: str | None = None
    sector: Sector | None = None
    tier: Tier | None = None
    kind: Kind | None = None
    tags: tuple[str, ...] = ()
    min_salience: float = 0.0
    include_superseded: bool = False
    in_session: str | None = None
    documents: Documents = Documents.INCLUDE


@dataclass(frozen=True, slots=True)
class Query:
    """One question, asked at `now`, about what was known at `as_of` (default: now)."""

    text: str
    now: int
    namespace: str = DEFAULT_NAMESPACE
    mode: Mode = Mode.HYBRID
    limit: int = DEFAULT_LIMIT
    preset: str = "default"
    filters: Filters = field(default_factory=Filters)
    session: str | None = None
    as_of: int | None = None

    @property
    def at(self) -> int:
        return self.now if self.as_of is None else self.as_of

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
