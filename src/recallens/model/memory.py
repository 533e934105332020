"""The canonical values: what a store keeps, and nothing that can be derived from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from recallens.model.quick import quick


class Sector(StrEnum):
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    EMOTIONAL = "emotional"
    REFLECTIVE = "reflective"


class Kind(StrEnum):
    FACT = "fact"
    DECISION = "decision"
    EPISODE = "episode"
    SKILL = "skill"
    PATTERN = "pattern"
    GOTCHA = "gotcha"
    OBSERVATION = "observation"
    NOTE = "note"
    LESSON = "lesson"
    PRINCIPLE = "principle"
    PREFERENCE = "preference"
    SUMMARY = "summary"


class Tier(StrEnum):
    SESSION = "session"
    PROJECT = "project"


class Status(StrEnum):
    ACTIVE = "active"
    PENDING_REVIEW = "pending_review"
    QUARANTINED = "quarantined"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    FORGOTTEN = "forgotten"


class Zone(StrEnum):
    QUARANTINE = "quarantine"
    WORKING = "working"
    TRUSTED = "trusted"


class Usage(StrEnum):
    CREATED = "created"
    RECALLED = "recalled"
    UPDATED = "updated"
    REINFORCED = "reinforced"


class RelationType(StrEnum):
    SUPERSEDES = "SUPERSEDES"
    CONTRADICTS = "CONTRADICTS"
    RELATED_TO = "RELATED_TO"
    BUILDS_ON = "BUILDS_ON"
    CONFIRMS = "CONFIRMS"
    APPLIES_TO = "APPLIES_TO"
    DEPENDS_ON = "DEPENDS_ON"
    ALTERNATIVE_TO = "ALTERNATIVE_TO"
    CAUSED = "CAUSED"
    MENTIONS = "MENTIONS"


class Origin(StrEnum):
    USER = "user"
    RULE = "rule"
    IMPORT = "import"


class EventKind(StrEnum):
    RECALLED = "recalled"
    USED = "used"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    OUTCOME = "outcome"


@dataclass(frozen=True, slots=True)
class CommitCitation:
    hash: str
    kind: Literal["commit"] = "commit"


@dataclass(frozen=True, slots=True)
class FileCitation:
    path: str
    start_line: int | None = None
    end_line: int | None = None
    kind: Literal["file"] = "file"


@dataclass(frozen=True, slots=True)
class SymbolCitation:
    id: str
    name: str
    file: str
    kind: Literal["symbol"] = "symbol"


@dataclass(frozen=True, slots=True)
class TerminalCitation:
    id: str
    kind: Literal["terminal_snapshot"] = "terminal_snapshot"


@dataclass(frozen=True, slots=True)
class LogCitation:
    pointer: str
    kind: Literal["log"] = "log"


Citation = CommitCitation | FileCitation | SymbolCitation | TerminalCitation | LogCitation


@quick
@dataclass(frozen=True, slots=True)
class Annotations:
    """What a rule read in the text. The symbolic view serves these exactly; nothing here is guessed."""

    entities: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@quick
@dataclass(frozen=True, slots=True)
class Memory:
    """One canonical unit of text. Times are epoch milliseconds, UTC."""

    id: str
    namespace: str
    content: str
    created: int
    updated: int
    project: str | None = None
    sector: Sector = Sector.SEMANTIC
    kind: Kind = Kind.FACT
    tier: Tier = Tier.PROJECT
    status: Status = Status.ACTIVE
    zone: Zone = Zone.TRUSTED
    title: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    annotations: Annotations = field(default_factory=Annotations)
    citations: tuple[Citation, ...] = ()
    importance: float = 0.5
    confidence: float = 0.8
    base_salience: float = 1.0
    source: str = "user"
    source_id: str | None = None
    document: str | None = None
    task: str | None = None
    worktree: str | None = None
    author: str | None = None
    position: int | None = None
    reward: float | None = None
    last_used: int | None = None
    uses: int = 0
    reinforcement: float = 0.0
    reinforced_at: int | None = None
    confirmed: bool = False
    valid_from: int | None = None
    valid_until: int | None = None
    content_hash: str = ""
    version: int = 1
    attributes: Mapping[str, Any] = field(default_factory=dict)


@quick
@dataclass(frozen=True, slots=True)
class Relation:
    source: str
    target: str
    type: RelationType
    confidence: float = 1.0
    origin: Origin = Origin.USER
    created: int = 0
    valid_until: int | None = None


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    namespace: str
    started: int
    ended: int | None = None
    project: str | None = None
    title: str | None = None
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class SessionLink:
    session: str
    memory: str
    usage: Usage
    at: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text that memories were cut from: a vault file, or a document added as text."""

    id: str
    namespace: str
    path: str
    title: str | None
    hash: str
    mtime: int
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Artifact:
    """Layer 3: a full log or terminal snapshot, kept whole and found by its task."""

    id: str
    namespace: str
    task: str
    kind: Literal["log", "terminal_snapshot"]
    content: str
    created: int


@dataclass(frozen=True, slots=True)
class Event:
    namespace: str
    kind: EventKind
    at: int
    memory: str | None = None
    session: str | None = None
    task: str | None = None
    amount: float | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    id: str
    namespace: str
    number: int
    at: int
    session: str | None
    query_digest: str
    memories: tuple[str, ...]
    previous: str
    digest: str
