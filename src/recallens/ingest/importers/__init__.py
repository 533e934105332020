"""Files as drafts. Each module of this package reads one format: a new importer is a new file, and nothing else.

There are two sorts. A module with `SUFFIXES` reads lines that were written for Recallens (`remember --jsonl`): "" is
every file that no longer suffix claims, and `read_lines` checks a file in full before the first line is written. A
module with `NAME` reads what another program keeps (`import --from NAME`): `read` gives one entry after another, and
what it cannot use is an entry too, so that the counts add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Final, Protocol, cast

from recallens.errors import NotFound, UnknownOption
from recallens.ingest.draft import Draft
from recallens.ingest.source_file import SourceFile
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
    """`number` is that of the line of a file of JSON lines."""

    draft: Draft
    key: str | None
    supersedes: str | None
    number: int | None = None


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


@dataclass(frozen=True, slots=True)
class SkippedEntry:
    """Something that was read and is not imported: where it stands, and why."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text that was stored without its secrets: where it stands, and the kinds of them."""

    place: str
    kinds: tuple[str, ...]


# So many of them are named in a report.
SHOWN_REDACTIONS: Final = 10

Entry = MemoryLine | SessionLine | RelationLine | SkippedEntry


class Source(Protocol):
    """What another program keeps. `FOLDERS` are where it keeps that below a home folder, `PATTERNS` its files' names;
    without a pattern the folder itself is read. One with `IS_VAULT = True` is kept as a vault; in one with
    `IS_WORK = True` people decide and correct, and commands fail and work: that is looked for."""

    NAME: str
    ABOUT: str
    FOLDERS: tuple[str, ...]
    PATTERNS: tuple[str, ...]

    def read(self, file: SourceFile) -> Iterator[Entry]: ...


def importer_of(path: str) -> Importer:
    """The importer that claims the longest ending of the file's name."""
    claims = [(len(suffix), importer) for suffix, importer in _importers() if path.lower().endswith(suffix)]
    return max(claims, key=lambda claim: claim[0])[1]


def source_named(name: str) -> Source:
    if name not in sources():
        raise UnknownOption("source to import from", name, sources())
    return sources()[name]


def files_of(source: Source, path: Path) -> list[Path]:
    """The files of a program at a path: the file itself, or those in its own folders below it, or anywhere below it."""
    if not path.exists():
        raise NotFound(f"there is no file or folder {path}", hint="Nothing was imported.")
    if path.is_file() or not source.PATTERNS:
        return [path]
    own = [path / folder for folder in source.FOLDERS if (path / folder).is_dir()] or [path]
    return sorted({
        file for folder in own for pattern in source.PATTERNS for file in folder.rglob(pattern) if file.is_file()
    })  # fmt: skip


@cache
def sources() -> Mapping[str, Source]:
    """By name, in alphabetical order."""
    named = [cast(Source, module) for module in _modules() if hasattr(module, "NAME")]
    return {source.NAME: source for source in sorted(named, key=lambda source: source.NAME)}


@cache
def _importers() -> tuple[tuple[str, Importer], ...]:
    modules = [cast(Importer, module) for module in _modules() if hasattr(module, "SUFFIXES")]
    return tuple((suffix, importer) for importer in modules for suffix in importer.SUFFIXES)


def _modules() -> tuple[ModuleType, ...]:
    return tuple(import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
