"""What a store holds that cannot be derived: every noun, its fields, and what each field may hold.

One table for whoever must know all of it: the export and the import, what an engine refuses to write, what it takes
for a row that cannot be read, and a move from one engine to another. Everything else (words, labels, entries,
vectors, counts, the backlog) is made of this; leases, tombstones and kept answers are of the moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Final, Protocol, get_args, get_origin, get_type_hints

from msgspec import Struct

from recallens.model.memory import EventKind, Kind, Memory, Origin, RelationType, Sector, Status, Tier, Usage, Zone
from recallens.model.times import EARLIEST_MS, LATEST_MS
from recallens.model.trust import Change, InputKind
from recallens.store.records import COLUMNS

LARGEST: Final = 2**63 - 1


class FieldKind(StrEnum):
    """What a field holds."""

    TEXT = "text"
    WHOLE = "whole"  # a whole number
    NUMBER = "number"  # any finite number
    SHARE = "share"  # a number from 0 to 1
    TIME = "time"  # epoch milliseconds
    FLAG = "flag"  # 0 or 1
    LIST = "list"  # JSON
    RECORD = "record"  # JSON
    BYTES = "bytes"
    MEMORY = "memory"  # the number of a memory
    VAULT = "vault"  # the number of a vault
    ROW = "row"  # the row's own number in its table: what came first has the smaller one


_CLOSED: Mapping[str, type[StrEnum]] = {
    options.__name__: options
    for options in (Change, EventKind, InputKind, Kind, Origin, RelationType, Sector, Status, Tier, Usage, Zone)
}
WHOLE_KINDS = frozenset((FieldKind.WHOLE, FieldKind.MEMORY, FieldKind.VAULT, FieldKind.ROW))
JSON_KINDS = frozenset((FieldKind.LIST, FieldKind.RECORD))


class NounField(Struct, frozen=True):
    """A field of a noun, which is a column of its table."""

    column: str
    kind: FieldKind
    optional: bool = False
    options: tuple[str, ...] = ()  # of a closed set
    carried: bool = True  # False: read off the rest, so that a reader meets it and an export does not

    @property
    def name(self) -> str:
        """As a line of an export calls it, whose `type` is the noun."""
        first, *rest = {"num": "memory", "type": "relation"}.get(self.column, self.column).split("_")
        return first + "".join(word.capitalize() for word in rest)

    def wanted(self) -> str:
        """What would be right, in words."""
        if self.options:
            return f"one of: {', '.join(self.options)}"
        return {
            FieldKind.TEXT: "text", FieldKind.NUMBER: "a finite number", FieldKind.SHARE: "a number from 0 to 1",
            FieldKind.TIME: "a time in epoch milliseconds", FieldKind.FLAG: "0 or 1", FieldKind.LIST: "a JSON list",
            FieldKind.RECORD: "a JSON object", FieldKind.BYTES: "base64",
        }.get(self.kind, "a whole number")  # fmt: skip

    def accepts(self, value: Any) -> bool:
        """Whether a plain value (of JSON kinds: the decoded one) can be kept in this field."""
        return (value is None and self.optional) or (_ACCEPTS[self.kind](value) and (
            not self.options or value in self.options
        ))  # fmt: skip


def _whole(value: Any) -> bool:
    return type(value) is int and -LARGEST <= value <= LARGEST


_ACCEPTS: Mapping[FieldKind, Callable[[Any], bool]] = {
    **dict.fromkeys(WHOLE_KINDS, _whole),
    FieldKind.TEXT: lambda value: isinstance(value, str),
    FieldKind.NUMBER: lambda value: type(value) in (int, float) and abs(value) < float("inf"),
    FieldKind.SHARE: lambda value: type(value) in (int, float) and 0 <= value <= 1,
    FieldKind.TIME: lambda value: type(value) is int and EARLIEST_MS <= value <= LATEST_MS,
    FieldKind.FLAG: lambda value: type(value) in (int, bool) and value in (0, 1),
    FieldKind.LIST: lambda value: isinstance(value, list | tuple),
    FieldKind.RECORD: lambda value: isinstance(value, Mapping),
    FieldKind.BYTES: lambda value: isinstance(value, bytes),
}


class Noun(Struct, frozen=True):
    """A kind of row. `of` says whose it is: the store's, a namespace's, a memory's or a vault's; or it is of the log,
    which knows its namespace by name."""

    name: str
    table: str
    fields: tuple[NounField, ...]
    of: str = "namespace"

    @property
    def carried(self) -> tuple[NounField, ...]:
        return tuple(field for field in self.fields if field.carried)


def _noun(name: str, table: str, fields: str, of: str = "namespace") -> Noun:
    """Fields as `column:kind`; a kind that ends in `?` may be missing, one that begins with `~` is not carried."""
    return Noun(name, table, tuple(map(_field, fields.split())), of)


def _field(text: str) -> NounField:
    column, _, kind = text.partition(":")
    bare = kind.strip("~?")
    options = tuple(_CLOSED[bare]) if bare in _CLOSED else ()
    return NounField(
        column, FieldKind.TEXT if options else FieldKind(bare), kind.endswith("?"), options, not kind.startswith("~")
    )


_OF_TYPES = {str: "text", int: "whole", float: "number", bool: "flag", tuple: "list"}
_TIMES = frozenset(("created", "updated", "last_used", "reinforced_at", "valid_from", "valid_until", "recorded"))
_SHARES = frozenset(("importance", "confidence"))
# What stands in a memory's row and is no field of it: how it was counted or read off, but for its session.
_BESIDE = (
    "session:text? gist:~whole chars:~whole tokens:~whole length:~whole days_told:~whole cited:~flag"
    " tasks_with:~whole reward_with:~number"
)


def _memory_fields() -> tuple[NounField, ...]:
    """A memory's columns as the fields of `Memory` say what they hold: a new one needs no line here."""
    hints = get_type_hints(Memory)
    stored = {column.name: column for column in COLUMNS}
    fields = [_field("num:memory")]
    for name in Memory.__struct_fields__:
        if name in stored and name != "num":
            types = get_args(hints[name]) if isinstance(hints[name], UnionType) else (hints[name],)
            sort = get_origin(types[0]) or types[0]
            kind = sort.__name__ if sort in _CLOSED.values() else _OF_TYPES.get(sort, "record")
            kind = "time" if name in _TIMES else "share" if name in _SHARES else kind
            mark = "~" if stored[name].derived else ""
            fields.append(_field(f"{name}:{mark}{kind}{'?' if NoneType in types else ''}"))
    return (*fields, *map(_field, _BESIDE.split()))


# In the order in which they are written: what refers to a row comes after it.
NOUNS: Mapping[str, Noun] = {noun.name: noun for noun in (
    _noun("setting", "meta", "key:text value:text", of="store"),
    _noun("token", "tokens", "id:text name:text digest:text namespaces:list right:text created:time expires:time?"
          " revoked:time? scopes:list", of="store"),
    _noun("namespace", "namespaces", "name:text created:time"),
    _noun("session", "sessions", "id:text started:time ended:time? project:text? title:text? summary:text?"
          " zone:Zone"),
    _noun("session-owner", "session_owners", "session:text owner:text"),
    _noun("document", "documents", "id:text path:text title:text? hash:text mtime:whole project:text?"),
    Noun("memory", "memories", _memory_fields()),
    _noun("citation", "citations", "num:memory position:whole kind:text data:record", of="memory"),
    _noun("cited-lines", "cited_lines", "num:memory kind:text data:record print:record", of="memory"),
    _noun("citation-check", "citation_checks",
          "num:memory root:text branch:text commit:text at:time verdicts:list", of="memory"),
    _noun("relation", "relations", "id:row source:memory target:memory type:RelationType confidence:share"
          " origin:Origin created:time valid_until:time?", of="memory"),
    _noun("lineage", "lineage", "num:memory kind:InputKind input:text zone:Zone replaced:flag", of="memory"),
    _noun("proposal", "proposals", "id:row num:memory? change:Change other:memory? zone:Zone owner:text at:time"
          " details:record decided:time? accepted:flag?"),
    _noun("session-memory", "session_memories", "id:row session:text num:memory usage:Usage at:time"),
    _noun("task", "tasks", "id:text text:text started:time wording:text session:text? project:text? worktree:text?"
          " ended:time? reward:number? summary:text? zone:Zone owner:text? episode:memory?"),
    _noun("log", "artifacts", "id:text task:text kind:text content:text created:time zone:Zone"),
    _noun("event", "events",
          "id:row kind:EventKind at:time num:memory? session:text? task:text? amount:number? owner:text?"),
    _noun("vault", "vaults", "id:vault name:text root:text options:record created:time synced:time?"),
    _noun("vault-file", "vault_files", "vault:vault path:text document:text hash:text mtime:whole ctime:whole"
          " size:whole error:text? warning:text? life:record", of="vault"),
    _noun("vault-section", "vault_sections", "num:memory vault:vault document:text position:whole headings:list"
          " anchors:list digest:text body:text links:list", of="memory"),
    _noun("audit-entry", "audit", "number:whole at:time who:text? what:text outcome:text session:text? question:bytes"
          " marks:bytes total:whole key:text previous:bytes digest:bytes", of="log"),
    _noun("audit-head", "audit_heads", "chain:text number:whole digest:bytes", of="log"),
    _noun("audit-mark", "audit_marks", "num:memory salt:bytes mark:bytes", of="memory"),
    _noun("ledger", "snapshots", "number:row id:text session:text at:time ledger:bytes audit:record owner:text?"),
    _noun("vector", "vectors", "num:memory encoder:text part:whole vector:bytes", of="memory"),
)}  # fmt: skip


# ── rows on their way out of a store and into another ──

Row = tuple[Any, ...]


class PortableReader(Protocol):
    """Everything that cannot be derived, as plain rows: noun by noun, the carried fields of each in
    their order, JSON as it is written. What cannot be read is counted and left out. `whole.portable` has the nouns of
    the store, `reader.portable` those of a namespace. Rows come one by one; none waits in memory for another.
    """

    def count(self, noun: str) -> int: ...
    def unreadable(self, noun: str) -> int: ...
    def rows(self, noun: str) -> Iterable[Row]: ...


class PortableWriter(PortableReader, Protocol):
    """The same rows back, in the order of the nouns. It starts with `begin` and ends with `settle`."""

    def begin(self, namespace: Row) -> None: ...
    def load(self, noun: str, rows: Sequence[Row]) -> None: ...
    def after(self, num: int, limit: int) -> list[int]: ...
    def settle(self) -> None: ...


class StorePortableReader(PortableReader, Protocol):
    def numbers(self) -> dict[str, int]: ...


class StorePortableWriter(StorePortableReader, Protocol):
    def load(self, noun: str, rows: Sequence[Row]) -> None: ...
    def keep_numbers(self, highest: Mapping[str, int]) -> None: ...
