"""The records that pass between a store and those who use it, and the one table of a memory's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from recallens.model.memory import Memory
from recallens.model.trust import Input

if TYPE_CHECKING:  # a store without a vault never loads what a vault is made of
    from recallens.model.vault import Placed

META_ENCODER_SPEC, META_ENCODER_KEY = "encoder-spec", "encoder-key"
# The encoder of which every memory has the vectors of its parts that it should, or waits for them.
META_PARTS = "part-vectors"

OriginKey = tuple[str, str, str | None, str]
"""Where a text came from: source, source id, project, content hash."""

Tie = tuple[int, int, str]
"""What a relation is known by: the numbers of its two memories, and its type."""


class NamespaceState(Struct, frozen=True):
    """A namespace as one transaction sees it."""

    key: int
    name: str
    number: int  # grows with every write to the namespace: a reader that has seen it has seen everything
    epoch: int  # grows when term numbers are given out anew
    tasks_ended: int = 0
    reward_total: float = 0.0
    encoder: str | None = None  # the key of the store's encoder, which every recall needs as well
    second: str | None = None  # the key of the one that reads what that cannot, once that was wanted here
    unread: bool = False  # whether it holds a text that the store's encoder cannot read


# ── the columns of a memory ──


class StoredColumn(NamedTuple):
    """A column of the table of memories: who reads it, and when it is written."""

    name: str
    resident: bool = False  # gates and terms read it, so it is kept in memory (index/columns.py says as what)
    inserted: bool = True  # written with a new memory; the others start from their default
    replaced: bool = False  # written again when a vault's section has new text
    derived: bool = False  # read off the text, so that `reindex` writes it again


def _columns(names: str, **roles: bool) -> list[StoredColumn]:
    return [StoredColumn(name, **roles) for name in names.split()]


COLUMNS = (
    *_columns("num uses reinforcement reinforced_at confirmed tasks_with reward_with", resident=True, inserted=False),
    *_columns("id tier status zone base_salience last_used valid_until recorded", resident=True),
    *_columns("document source task worktree author session reward", resident=True),
    *_columns("project sector kind kind_stated created updated position cited", resident=True, replaced=True),
    *_columns("importance confidence valid_from review", resident=True, replaced=True),
    *_columns("gist chars tokens length days_told", resident=True, replaced=True, derived=True),
    *_columns("content title tags scopes source_id content_hash attributes", replaced=True),
    *_columns("annotations", replaced=True, derived=True),
    *_columns("summary version"),
)
"""Every column but `ns` and `seq`, which each write sets by itself. A new column is a name here, a field of `Memory`, a
step in the migrations and, where it is resident, a type in index/columns.py."""

COLUMN_FIELDS = tuple(column.name for column in COLUMNS if column.resident)
"""The attributes that gates and terms read."""

COLUMN_TEXTS = (
    "project", "sector", "kind", "tier", "status", "zone", "document", "source", "task", "worktree", "author",
    "session", "review",
)  # fmt: skip
"""Those that are texts, of which many memories have the same."""

COLUMN_VALUES = tuple(name for name in COLUMN_FIELDS if name not in COLUMN_TEXTS)

ColumnRow = tuple[Any, ...]
"""What an engine returns of a memory: the columns' values, its number first, and then all its texts as one JSON array:
a million memories are read in two thirds of the time, for most are alike in these."""


class Changes(Struct, frozen=True):
    """The memories that changed since a number of the namespace, in their order, and those that are gone."""

    changed: Sequence[int]
    removed: Sequence[int]


LexicalEntry = tuple[int, bytes]
"""The words of one memory by its number: its term numbers in text order, those of title and tags first."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A memory that is ready to be written, with everything that is derived from its text."""

    memory: Memory
    session: str | None
    head: Sequence[str]
    body: Sequence[str]
    gist: int
    tokens: int
    labels: Sequence[tuple[str, str]]
    days_told: int = 0  # as `text/times.py` packs them
    redacted: tuple[str, ...] = ()
    suspected: tuple[str, ...] = ()  # what a reviewer should know of the text
    inputs: tuple[Input, ...] = ()  # what the text was made of
    tells_change: bool = False  # whether it may correct another memory


class Unencoded(Struct, frozen=True):
    """A memory whose text is still to be encoded."""

    namespace: str
    num: int
    title: str | None
    author: str | None
    content: str


class Listing(Struct, frozen=True):
    """The filters of a list of memories; None means any."""

    project: str | None = None
    sector: str | None = None
    kind: str | None = None
    tier: str | None = None
    statuses: tuple[str, ...] = ()
    tag: str | None = None
    session: str | None = None
    pinned: bool = False
    approved: bool = False  # only what is trusted and waits for no review
    limit: int = 20
    offset: int = 0
    after: tuple[int, str] | None = None  # the time and id of the last memory of the page before


class MemoryPage(Struct, frozen=True):
    """A stretch of a list: `total` counts every memory that the filters admit."""

    memories: Sequence[Memory]
    total: int


class Cleaned(Struct, frozen=True):
    """How many pages of the store were looked at, and how many of them held bytes that belonged to nothing."""

    pages: int
    changed: int


class ReplicaLag(Struct, frozen=True):
    """How far a replica was behind when it answered: 0 where it had replayed all that it had received."""

    seconds: float
    replayed: str | None  # when the last change that it has was made; None before the first

    def told(self) -> dict[str, Any]:
        return {"behindSeconds": round(self.seconds, 3), "lastReplayed": self.replayed}


class Health(Struct, frozen=True):
    """What `doctor` found; an empty `problems` is a clean store."""

    problems: Sequence[str]
    facts: Mapping[str, Any] = {}


# ── the sections of a vault ──


class NewSection(Struct, frozen=True):
    row: Prepared
    placed: Placed


class ReplacedSection(Struct, frozen=True):
    """A section whose text or title changed: the memory stays, its entry in the index is written anew."""

    num: int
    row: Prepared
    placed: Placed
    same_text: bool  # what the encoder reads is as it was, so that the vector stays too


class SectionFacts(Struct, frozen=True):
    """What a note says of itself that each of its sections has."""

    importance: float = 0.5
    confidence: float = 0.8
    valid_from: int | None = None
    review: str | None = None
    scopes: tuple[str, ...] = ()
    source_id: str | None = None


class SectionState(Struct, frozen=True):
    """How a section stands in the store. `settled` is by somebody's decision, which no note overrules."""

    created: int
    updated: int
    status: str
    valid_until: int | None
    stated: tuple[float, int] | None  # how much the note's own count of confirmations reinforces it, and since when
    settled: bool


class MovedSection(Struct, frozen=True):
    """A section that stayed as it was, and may stand elsewhere in its file now."""

    num: int
    placed: Placed
    citation: Mapping[str, Any]
    attributes: Mapping[str, Any]
    created: int | None  # None leaves it as it was
    updated: int
    facts: SectionFacts = SectionFacts()
