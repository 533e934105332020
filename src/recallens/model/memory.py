"""The canonical values: what a store keeps, and nothing that can be derived from it."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Literal

from msgspec import Struct, field, to_builtins

from recallens.model.citation import Citation
from recallens.model.times import to_datetime

# Where what a vault brought says that it is from.
VAULT_SOURCE: Final = "vault"


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


# What a rule made of other memories, until somebody approves or rejects it.
PROPOSED = "proposed"
RULE, TASK = "rule", "task"  # where it came from
# A row that holds what it may not is read as a memory in quarantine; `doctor` says what is wrong with it.
UNREADABLE = "unreadable"


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
    MAY_SUPERSEDE = "MAY_SUPERSEDE"  # a proposal: somebody accepts it, and then it supersedes, or rejects it


class Origin(StrEnum):
    USER = "user"
    RULE = "rule"
    IMPORT = "import"


class EventKind(StrEnum):
    RECALLED = "recalled"
    USED = "used"
    CONFIRMED = "confirmed"
    STATED = "stated"  # a note says of itself how often it was confirmed
    REJECTED = "rejected"
    OUTCOME = "outcome"
    TRIED = "tried"  # it was used in a task that ended, and whoever ended it may say so: it counts
    WRITTEN = "written"  # by an agent, whose it is


class Annotations(Struct, frozen=True, gc=False):
    """What a rule read in the text. The symbolic view serves these exactly; nothing here is guessed."""

    entities: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class Memory(Struct, frozen=True, gc=False):
    """One canonical unit of text. Times are epoch milliseconds, UTC."""

    id: str
    namespace: str
    content: str
    created: int
    updated: int
    project: str | None = None
    sector: Sector = Sector.SEMANTIC
    kind: Kind = Kind.FACT
    kind_stated: bool = False  # by whoever wrote it, and not guessed off its words
    tier: Tier = Tier.PROJECT
    status: Status = Status.ACTIVE
    zone: Zone = Zone.TRUSTED
    # Why somebody should look at it first: a note is a draft or was rejected, or a rule proposed it.
    review: str | None = None
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
    # When it was kept, by the machine's clock, where who is not the person dates it before that.
    recorded: int | None = None
    content_hash: str = ""
    version: int = 1
    attributes: Mapping[str, Any] = field(default_factory=dict)
    num: int = 0  # its number in the store, given once; 0 before it is stored

    @property
    def handle(self) -> str:
        """The short name by which every tool and command takes it."""
        return handle_of(self.num)

    @property
    def held_from(self) -> int:
        """Since when it is known. What nobody trusted has said is known from when it was recorded, whatever it claims;
        once the person has taken it for theirs, so they have its date."""
        claimed = self.recorded is not None and self.zone is not Zone.TRUSTED
        return max(self.created, self.recorded or 0) if claimed else self.created

    @property
    def created_at(self) -> datetime:
        return to_datetime(self.created)

    @property
    def valid_from_at(self) -> datetime | None:
        return None if self.valid_from is None else to_datetime(self.valid_from)

    @property
    def valid_until_at(self) -> datetime | None:
        return None if self.valid_until is None else to_datetime(self.valid_until)

    @property
    def is_turn(self) -> bool:
        """Whether somebody said it in a conversation, where it has its place."""
        return self.author is not None and self.position is not None


def handle_of(num: int) -> str:
    return f"m{num}"


_HANDLE = re.compile(r"[mM]([1-9][0-9]{0,17})")


def number_of(handle: str) -> int | None:
    """The number that a handle names; None for what is no handle."""
    match = _HANDLE.fullmatch(handle)
    return int(match[1]) if match else None


TITLE_CHARACTERS = 80


def title_of(memory: Memory) -> str:
    if memory.title:
        return memory.title
    first = memory.content.strip()[: TITLE_CHARACTERS + 1].splitlines()[0]
    return first if len(first) <= TITLE_CHARACTERS else f"{first[: TITLE_CHARACTERS - 1]}…"


class Relation(Struct, frozen=True, gc=False):
    source: str
    target: str
    type: RelationType
    confidence: float = 1.0
    origin: Origin = Origin.USER
    created: int = 0
    valid_until: int | None = None

    def holds(self, at: int) -> bool:
        return self.valid_until is None or self.valid_until > at


class Session(Struct, frozen=True, gc=False):
    id: str
    namespace: str
    started: int
    ended: int | None = None
    project: str | None = None
    title: str | None = None
    summary: str | None = None
    zone: Zone = Zone.TRUSTED  # the lowest of those who gave it its title and its summary

    @property
    def started_at(self) -> datetime:
        return to_datetime(self.started)

    @property
    def ended_at(self) -> datetime | None:
        return None if self.ended is None else to_datetime(self.ended)


class Document(Struct, frozen=True, gc=False):
    """A text that memories were cut from: a vault file, or a document added as text."""

    id: str
    namespace: str
    path: str
    title: str | None
    hash: str
    mtime: int
    project: str | None = None


class Artifact(Struct, frozen=True, gc=False):
    """Layer 3: a full log or terminal snapshot, kept whole and found by its task."""

    id: str
    namespace: str
    task: str
    kind: Literal["log", "terminal_snapshot"]
    content: str
    created: int
    zone: Zone = Zone.TRUSTED  # of who logged it


class Event(Struct, frozen=True, gc=False):
    namespace: str
    kind: EventKind
    at: int
    memory: str | None = None
    session: str | None = None
    task: str | None = None
    amount: float | None = None
    owner: str | None = None  # who says so; None is the person at the machine


class Survey(Struct, frozen=True):
    """A store as seen from above: how it grew, what it holds, what was asked of it.

    `grown` has the memories made in each month (2026-03), `recalls` the questions of each day (2026-03-01). `saliences`
    counts active memories by tenths of salience, `lengths` by the upper bound of their tokens; the last bound is None.
    """

    memories: int
    active: int
    tokens: int
    grown: Mapping[str, int]
    saliences: tuple[int, ...]
    lengths: Mapping[int | None, int]
    recalls: Mapping[str, int]


def as_json(record: object) -> Any:
    """A record as its JSON is read: plain dictionaries and lists, by the names that its fields have there."""
    return _listed(to_builtins(record, enc_hook=dict))


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _listed(each) for name, each in value.items()}
    return [_listed(each) for each in value] if isinstance(value, list | tuple) else value


# ── ids: 48 bits of milliseconds, 80 bits of chance, in 26 characters of Crockford's base 32 (a ULID) ──

ID_LENGTH = 26
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80
_TIME_DIGITS = 10

Clock = Callable[[], int]


def encode_id(milliseconds: int, chance: int) -> str:
    value = (milliseconds << _RANDOM_BITS) | chance
    return "".join(_ALPHABET[(value >> shift) & 31] for shift in range(125, -1, -5))


def minted_at(id: str) -> int | None:
    """The millisecond in which an id was made; None for what is no such id."""
    if len(id) != ID_LENGTH or any(digit not in _ALPHABET for digit in id):
        return None
    moment = 0
    for digit in id[:_TIME_DIGITS]:
        moment = moment * len(_ALPHABET) + _ALPHABET.index(digit)
    return moment


def recorded_unsaid(id: str, zone: str, source: str | None, created: int) -> int | None:
    """When a memory was recorded of which nobody said so, since it is older than that field: what an agent dated before
    its id was made, by the id. The migrations that add the column say the same in SQL."""
    by_agent = source is not None and (source in ("agent", "mcp") or source.startswith("mcp:"))
    kept = minted_at(id) if by_agent and zone != Zone.TRUSTED else None
    return kept if kept is not None and created < kept else None


class IdSource:
    """Ids that sort in the order they were made, even within one millisecond."""

    def __init__(self, clock: Clock, chance: Callable[[int], int] = secrets.randbits) -> None:
        self._clock = clock
        self._chance = chance
        self._lock = threading.Lock()
        self._last = (0, 0)

    def __call__(self) -> str:
        with self._lock:
            now = self._clock()
            last_time, last_chance = self._last
            if now <= last_time:
                now, chance = last_time, last_chance + 1
            else:
                chance = self._chance(_RANDOM_BITS - 1)
            self._last = (now, chance)
            return encode_id(now, chance)
