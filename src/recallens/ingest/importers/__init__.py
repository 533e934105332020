"""Files as drafts. Each module of this package reads one format: a new importer is a new file, and nothing else.

A module says in `SUFFIXES` which files it reads, where "" is every file that no longer suffix claims, and its
`read_lines` checks a file in full before the first line of it is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast

from recallens.ingest.draft import Draft
from recallens.model.memory import Origin, RelationType


@dataclass(frozen=True, slots=True)
class SessionLine:
    id: str
    project: str | None
    title: str | None
    summary: str | None
    started: int | None
    ended: int | None


@dataclass(frozen=True, slots=True)
class MemoryLine:
    draft: Draft
    key: str | None
    supersedes: str | None


@dataclass(frozen=True, slots=True)
class RelationLine:
    source: str
    target: str
    relation: RelationType
    confidence: float
    origin: Origin


@dataclass(frozen=True, slots=True)
class TaskLine:
    """`logs` are (kind, content) pairs; `used` names memories as a relation does."""

    id: str
    text: str
    project: str | None
    session: str | None
    worktree: str | None
    started: int | None
    ended: int | None
    reward: float | None
    summary: str | None
    logs: tuple[tuple[str, str], ...]
    used: tuple[str, ...]


@dataclass(slots=True)
class Import:
    """What a file holds. `errors` names each bad line; with any, nothing should be written."""

    sessions: list[SessionLine] = field(default_factory=list)
    memories: list[MemoryLine] = field(default_factory=list)
    relations: list[RelationLine] = field(default_factory=list)
    tasks: list[TaskLine] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class Importer(Protocol):
    SUFFIXES: tuple[str, ...]

    def read_lines(self, lines: Iterable[str], *, now: int) -> Import: ...


def importer_of(path: str) -> Importer:
    """The importer that claims the longest ending of the file's name."""
    claims = [(len(suffix), importer) for suffix, importer in _importers() if path.lower().endswith(suffix)]
    return max(claims, key=lambda claim: claim[0])[1]


@cache
def _importers() -> tuple[tuple[str, Importer], ...]:
    modules = [cast(Importer, import_module(f"{__name__}.{module.name}")) for module in iter_modules(__path__)]
    return tuple((suffix, importer) for importer in modules for suffix in importer.SUFFIXES)
