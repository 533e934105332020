"""Memories: rows as values of the model and back, and the transaction that keeps what belongs to them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter
from types import NoneType
from typing import Any

from msgspec import Struct, structs

from recallens.model.citation import Citation
from recallens.model.memory import Annotations, Kind, Memory, Sector, Status, Tier, Zone
from recallens.model.trust import rank
from recallens.store.nouns import NOUNS, FieldKind
from recallens.store.protocols import NO_ZONES
from recallens.store.records import COLUMNS, Listing, MemoryPage, OriginKey, Prepared
from recallens.store.sql.connection import BLOCKED, NamespaceConnection, shown
from recallens.store.sql.lineage import SqlLineage
from recallens.store.sql.relations import SqlCitations
from recallens.store.sql.rows import NO_LIMIT, UNREADABLE_ERRORS, Row, packed, packed_record
from recallens.store.sql.tasks import SqlTasks
from recallens.store.sql.terms import AFTER_EVERY_TERM, SqlTerms
from recallens.store.sql.trail import SqlTrail

UPDATABLE = frozenset(
    ("status", "zone", "importance", "confidence", "base_salience", "valid_until", "updated", "last_used", "uses",
     "confirmed", "review", "version")
)  # fmt: skip

# ── a row as a memory ──

# In the order of Memory's fields. Citations lie in a table of their own: whether there are any stands behind the
# fields, and the memory's number last.
_FIELDS = Memory.__struct_fields__
_ELSEWHERE = ("namespace", "citations")
_SELECT = ", ".join([*("NULL" if name in _ELSEWHERE else f"m.{name}" for name in _FIELDS), "m.cited", "m.num"])
_NAMESPACE, _CITATIONS = map(_FIELDS.index, _ELSEWHERE)
_NO_ANNOTATIONS = Annotations()
# Without the look for spaces around it, which takes most of the time of `json.loads`.
_from_json = json.JSONDecoder().raw_decode


def _texts(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(_from_json(text)[0])


def _annotations(text: str) -> Annotations:
    if text == "{}":
        return _NO_ANNOTATIONS
    return Annotations(**{name: tuple(items) for name, items in _from_json(text)[0].items()})


# A look-up takes a tenth of the time of calling the enum.
_OPTIONS = {"sector": Sector, "kind": Kind, "tier": Tier, "status": Status, "zone": Zone}
_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    **{name: {str(option): option for option in options}.__getitem__ for name, options in _OPTIONS.items()},
    "tags": _texts,
    "scopes": _texts,
    "annotations": _annotations,
    "confirmed": bool,
    "kind_stated": bool,
    "attributes": lambda text: {} if text == "{}" else _from_json(text)[0],
}
# SQLite keeps whatever it was given, and a time that is text would fail only where it is reckoned with.
_TYPES = {
    FieldKind.TIME: (int,),
    FieldKind.WHOLE: (int,),
    FieldKind.NUMBER: (int, float),
    FieldKind.SHARE: (int, float),
}
_TYPED = tuple(
    (_FIELDS.index(field.column), (*_TYPES[field.kind], *((NoneType,) if field.optional else ())))
    for field in NOUNS["memory"].carried
    if field.kind in _TYPES
)
_DECODED = tuple((_FIELDS.index(name), decode) for name, decode in _DECODERS.items())


def _memory_of(row: Row, namespace: str, citations: tuple[Citation, ...]) -> Memory:
    values = list(row[:-2])
    values[_NAMESPACE], values[_CITATIONS] = namespace, citations
    for place, types in _TYPED:
        if type(values[place]) not in types:
            raise ValueError(f"{_FIELDS[place]} is {values[place]!r}")
    for place, decode in _DECODED:
        values[place] = decode(values[place])
    return Memory(*values)


# ── a memory as a row ──

_ENCODERS: Mapping[str, Callable[[Prepared], Any]] = {
    "tags": lambda row: packed(row.memory.tags),
    "scopes": lambda row: packed(row.memory.scopes),
    "annotations": lambda row: packed_record(
        {name: items for name, items in structs.asdict(row.memory.annotations).items() if items}
    ),
    "attributes": lambda row: packed_record(dict(row.memory.attributes)),
    "session": attrgetter("session"),
    # Integers in a database are signed: the upper half of 64 bits becomes negative and comes back as it was.
    "gist": lambda row: row.gist - (1 << 64) if row.gist >= 1 << 63 else row.gist,
    "chars": lambda row: len(row.memory.content),
    "tokens": attrgetter("tokens"),
    "days_told": attrgetter("days_told"),
    "length": lambda row: len(row.head) + len(row.body),
    "cited": lambda row: int(bool(row.memory.citations)),
}


class _ColumnValues:
    """The columns of one role, and how their values are read off a prepared memory."""

    def __init__(self, role: str) -> None:
        self.names = [column.name for column in COLUMNS if getattr(column, role)]
        self._encoders = [_ENCODERS.get(name) or attrgetter(f"memory.{name}") for name in self.names]

    def values(self, row: Prepared) -> list[Any]:
        return [encode(row) for encode in self._encoders]


_INSERTED, _DERIVED, REPLACED = map(_ColumnValues, ("inserted", "derived", "replaced"))

_INSERT = (
    f"INSERT INTO memories (ns, seq, {', '.join(_INSERTED.names)})"
    f" VALUES ({', '.join(f'?{place}' for place in range(1, len(_INSERTED.names) + 3))}) RETURNING num"
)


# How far each zone is trusted; one that cannot be read is trusted as little as none.
_RANKS = {str(zone): rank(zone) for zone in Zone}


def _bound_to(zone: Zone | None, versions: Sequence[Row]) -> int:
    """Of the numbers, zones and states of what has had one id, the number of what a text of a zone is compared with."""
    if zone is None:
        return int(versions[-1][0])
    own = [version for version in versions if version[1] == zone]
    if own and own[-1][2] != Status.SUPERSEDED:
        return int(own[-1][0])
    return int(max(versions, key=lambda each: (_RANKS.get(each[1], -1), each[0]))[0])


_IN_USE = "m.status IN ('active', 'pending_review')"
# The oldest of the most trusted: numbers stay below 2^40.
_MOST_TRUSTED = "min(CASE WHEN m.zone = 'trusted' THEN m.num ELSE 1099511627776 + m.num END) % 1099511627776"


class SqlMemories(Struct, frozen=True):
    """A memory, its words, its labels and its citations are written together or not at all."""

    _here: NamespaceConnection
    _citations: SqlCitations
    _terms: SqlTerms
    _tasks: SqlTasks
    _trail: SqlTrail
    _lineage: SqlLineage

    def get(self, nums: Sequence[int]) -> dict[int, Memory]:
        """One that cannot be read is in quarantine."""
        try:
            return self._memories_of(
                self._here.every(
                    f"SELECT {_SELECT} FROM NUMBERS(?2) j CROSS JOIN memories m ON m.num = j.value AND m.ns = ?1"
                    " SORTED BY j.key",
                    packed(nums),
                )
            )
        except UNREADABLE_ERRORS:
            rows = self._here.db.mended(self._here.key, nums)
            return self._memories_of([tuple(row.get(name) for name in (*_FIELDS, "cited", "num")) for row in rows])

    def _memories_of(self, rows: Sequence[Row]) -> dict[int, Memory]:
        cited = self._citations.cited([row[-1] for row in rows if row[-2]])
        name = self._here.name
        return {row[-1]: _memory_of(row, name, cited.get(row[-1], ())) for row in rows}

    def ids(self, nums: Sequence[int]) -> dict[int, str]:
        return self._here.mapping(
            "SELECT m.num, m.id FROM NUMBERS(?2) j CROSS JOIN memories m ON m.num = j.value"
            " AND m.ns = ?1 SORTED BY j.key",
            packed(nums),
        )

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        return self._here.mapping(
            "SELECT m.id, m.num FROM TEXTS(?2) j CROSS JOIN memories m ON m.id = j.value"
            " WHERE +m.ns = ?1 SORTED BY j.key",
            packed(ids),
        )

    def find_prefix(self, prefix: str) -> list[int]:
        return self._here.first(
            "SELECT num FROM memories WHERE id >= ?2 AND id < ?2 || ?3 AND +ns = ?1 ORDER BY id LIMIT 10",
            prefix,
            AFTER_EVERY_TERM,
        )

    def by_hash(
        self, hashes: Sequence[str], *, held: Collection[str] | None = None, restricted: bool = False
    ) -> dict[tuple[str, str | None], int]:
        """The oldest and most trusted memory in use with each text in each project, but for parts of documents; or the
        oldest that not everybody may read. Where it says which are `held`, of those that may be shown.
        """
        where = f"({BLOCKED} OR m.scopes <> '[]')" if restricted else f"{_IN_USE} AND m.document IS NULL"
        where += f" AND {shown('?3')}" if held is not None else ""
        rows = self._here.all(
            f"SELECT m.content_hash, m.project, {_MOST_TRUSTED} FROM TEXTS(?2) j CROSS JOIN memories m"
            f" ON m.ns = ?1 AND m.content_hash = j.value WHERE {where} GROUP BY m.content_hash, m.project",
            packed(hashes), *([packed(sorted(held))] if held is not None else []),
        )  # fmt: skip
        return {(digest, project): num for digest, project, num in rows}

    def by_origin(self, origins: Sequence[OriginKey]) -> dict[OriginKey, int]:
        """The first memory with each text from each origin, whatever has become of it since."""
        rows = self._here.all(
            "SELECT m.source, m.source_id, m.project, m.content_hash, min(m.num) FROM RECORDS(?2) j"
            " CROSS JOIN memories m ON m.ns = ?1 AND m.content_hash = (j.value ->> 3) WHERE m.source = (j.value ->> 0)"
            " AND m.source_id = (j.value ->> 1) AND m.project IS NOT DISTINCT FROM (j.value ->> 2) GROUP BY 1, 2, 3, 4",
            packed([list(origin) for origin in origins]),
        )
        return {(source, id, project, text): num for source, id, project, text, num in rows}

    def by_source_id(self, source_ids: Sequence[str], *, zones: Mapping[str, Zone] = NO_ZONES) -> dict[str, int]:
        """The newest memory that had each id where it came from. Where an id has a zone here, it is the memory that a
        text of that zone is a later version of: an id is bound to its zone, so that whoever uses the id of something
        more trusted takes none of its updates. What the zone has not, or no longer, is compared with what is most
        trusted."""
        rows = self._here.all(
            "SELECT source_id, num, zone, status FROM memories WHERE ns = ?1"
            " AND source_id IN (SELECT value FROM TEXTS(?2)) ORDER BY num",
            packed(source_ids),
        )
        versions: dict[str, list[Row]] = {}
        for id, *version in rows:
            versions.setdefault(id, []).append(tuple(version))
        return {id: _bound_to(zones.get(id), known) for id, known in versions.items()}

    def numbers(self) -> list[int]:
        return self._here.first("SELECT num FROM memories WHERE ns = ?1 ORDER BY num")

    def with_status(self, statuses: Sequence[str]) -> list[int]:
        return self._here.first(
            "SELECT num FROM memories WHERE ns = ?1 AND status IN (SELECT value FROM TEXTS(?2)) ORDER BY num",
            packed(statuses),
        )

    def awaiting_review(self) -> list[int]:
        """What waits for a decision; for who sees everything also what an agent says and a blocked memory says too."""
        again = (
            " OR (zone = 'working' AND content_hash IN (SELECT content_hash FROM memories m"
            f" WHERE m.ns = ?1 AND ({BLOCKED})))"
        )
        return self._here.first(
            "SELECT num FROM memories WHERE ns = ?1 AND (status IN ('pending_review', 'quarantined')"
            " OR (status = 'active' AND (zone = 'quarantine' OR review = 'proposed'"
            " OR num IN (SELECT source FROM relations WHERE ns = ?1 AND type = 'MAY_SUPERSEDE'"
            " AND valid_until IS NULL UNION ALL SELECT other FROM proposals WHERE ns = ?1 AND change = 'supersede'"
            f" AND decided IS NULL){again if self._here.sight.everything else ''}))) ORDER BY created, id"
        )

    def scoped(self) -> list[tuple[str, int]]:
        """Every scope of every memory that has any."""
        return self._here.all(
            "SELECT s.value, m.num FROM memories m, TEXTS(SCOPES(m.scopes)) s WHERE m.ns = ?1 AND m.scopes <> '[]'"
            " SORTED BY m.num, s.key"
        )

    def crafts(self, kind: str, project: str | None) -> list[tuple[int, str]]:
        """The skills, patterns or gotchas in use of a project, by number and title, the newest first."""
        return self._here.all(
            "SELECT num, title FROM memories INDEXED BY memories_by_craft WHERE ns = ?1 AND kind = ?2"
            " AND project IS NOT DISTINCT FROM ?3 AND title IS NOT NULL AND kind IN ('skill', 'pattern', 'gotcha')"
            " AND status IN ('active', 'pending_review') ORDER BY num DESC",
            kind, project,
        )  # fmt: skip

    def page(self, listing: Listing) -> MemoryPage:
        """What is withheld from who reads is found by its status alone: a filter on anything else would tell whoever
        guesses what it says."""
        filters = {
            **{f"m.{column} = {{}}": getattr(listing, column) for column in ("project", "sector", "kind", "tier")},
            "m.num IN (SELECT num FROM labels WHERE ns = ?1 AND kind = 'tag' AND value = {})": listing.tag,
            "m.num IN (SELECT l.num FROM session_memories l WHERE l.ns = ?1 AND l.session = {}"
            f"{self._here.linked('l')})": listing.session,
        }
        wanted = {where: value for where, value in filters.items() if value is not None}
        narrowed = [self._here.open] if self._here.open and (wanted or listing.approved or listing.pinned) else []
        if listing.approved:
            narrowed.append("m.zone = 'trusted' AND m.review IS NULL")
        if listing.pinned:  # a key of the attributes: in a text every quotation mark has a backslash before it
            narrowed.append("""m.attributes LIKE '%"pinned":%'""")
        if listing.statuses:
            wanted["m.status IN (SELECT value FROM TEXTS({}))"] = packed(listing.statuses)
        placed = [where.format(f"?{place}") for place, where in enumerate(wanted, start=2)]
        condition, values = " AND ".join(["m.ns = ?1", *placed, *narrowed]), list(wanted.values())
        (total,) = self._here.first(f"SELECT count(*) FROM memories m WHERE {condition}", *values)
        if listing.after is not None:
            at, id = f"?{len(values) + 2}", f"?{len(values) + 3}"
            condition += f" AND (m.created < {at} OR (m.created = {at} AND m.id > {id}))"
            values += listing.after
        nums = self._here.first(
            f"SELECT m.num FROM memories m WHERE {condition} ORDER BY m.created DESC, m.id"
            f" LIMIT ?{len(values) + 2} OFFSET ?{len(values) + 3}",
            *values, listing.limit if listing.limit >= 0 else NO_LIMIT, listing.offset,
        )  # fmt: skip
        memories = self.get(nums)
        return MemoryPage([memories[num] for num in nums], total)

    def around(self, num: int, before: int, after: int) -> tuple[list[int], list[int]]:
        """The neighbours of a memory in its project by (created, id), each side in the order of time. What is withheld
        from who reads is nobody's neighbour, and has none: they would tell its project."""
        same = (
            "m.ns = ?1 AND m.project IS NOT DISTINCT FROM (SELECT project FROM memories WHERE num = ?2 AND ns = ?1)"
            " AND m.status <> 'forgotten' AND m.status <> 'rejected' AND m.status <> 'quarantined'"
            " AND m.zone <> 'quarantine'"
            f"{self._here.seen('?2')}" + (f" AND {self._here.open}" if self._here.open else "")
        )
        key = "(SELECT created, id FROM memories WHERE num = ?2 AND ns = ?1)"
        return self._nearest(same, "<", key, num, before)[::-1], self._nearest(same, ">", key, num, after)

    def window(self, num: int, span: int, limit: int, held: Collection[str]) -> tuple[list[int], list[int]]:
        """The nearest neighbours of a memory in its project within `span` ms, each side in the order of time; what is
        withheld from who reads has none."""
        anchor = self._here.one(
            f"SELECT created, id, project FROM memories WHERE num = ?2 AND ns = ?1{self._here.seen('?2')}", num
        )
        if anchor is None:
            return [], []
        created, id, project = anchor
        values, key = (created, id, project, packed(held)), "(?2, ?3)"
        same = f"m.ns = ?1 AND m.project IS NOT DISTINCT FROM ?4 AND {shown('?5')}"
        earlier = self._nearest(f"{same} AND m.created >= ?6", "<", key, *values, created - span, limit)
        return earlier[::-1], self._nearest(f"{same} AND m.created <= ?6", ">", key, *values, created + span, limit)

    def _nearest(self, where: str, side: str, key: str, *values: Any) -> list[int]:
        """The memories nearest to a place in time, on the side `<` or `>` of it; the last value is how many."""
        order = " DESC" if side == "<" else ""
        return self._here.first(
            f"SELECT m.num FROM memories m WHERE {where} AND (m.created, m.id) {side} {key}"
            f" ORDER BY m.created{order}, m.id{order} LIMIT ?{len(values) + 1}",
            *values,
        )

    def insert(self, rows: Sequence[Prepared]) -> list[int]:
        seq = self._here.number()
        nums: list[int] = [self._here.change(_INSERT, seq, *_INSERTED.values(row))[0][0] for row in rows]
        self._citations.put(nums, [row.memory for row in rows])
        for num, row in zip(nums, rows, strict=True):
            if row.inputs:
                self._lineage.put(num, row.inputs)
        numbered = zip(nums, rows, strict=True)
        self._here.change_many(
            "INSERT INTO session_memories (ns, session, num, usage, at) VALUES (?1, ?2, ?3, 'created', ?4)"
            " ON CONFLICT DO NOTHING",
            [(row.session, num, row.memory.created) for num, row in numbered if row.session is not None],
        )
        self._terms.put(nums, rows)
        return nums

    def update(self, num: int, changes: Mapping[str, Any]) -> None:
        unknown = changes.keys() - UPDATABLE
        if unknown:
            raise ValueError(f"content is immutable: {sorted(unknown)} cannot be updated")
        sets = "".join(f", {column} = ?{place}" for place, column in enumerate(changes, start=4))
        self._here.change(
            f"UPDATE memories SET seq = ?2{sets} WHERE num = ?3 AND ns = ?1",
            self._here.number(), num, *changes.values(),
        )  # fmt: skip

    def put_attributes(self, num: int, attributes: Mapping[str, Any], at: int) -> None:
        """Counts and the like beside an unchanged text."""
        self._here.change(
            "UPDATE memories SET attributes = ?2, updated = ?3, version = version + 1, seq = ?4"
            " WHERE num = ?5 AND ns = ?1",
            packed_record(dict(attributes)), at, self._here.number(), num,
        )  # fmt: skip

    def rederive(self, nums: Sequence[int], rows: Sequence[Prepared]) -> None:
        """Write anew whatever a memory's row and entries hold that was read off its text."""
        sets = ", ".join(f"{name} = ?{place}" for place, name in enumerate(_DERIVED.names, start=3))
        self._here.change_many(
            f"UPDATE memories SET {sets} WHERE num = ?2 AND ns = ?1",
            [(num, *_DERIVED.values(row)) for num, row in zip(nums, rows, strict=True)],
        )
        self._here.change("DELETE FROM labels WHERE +ns = ?1 AND num IN (SELECT value FROM NUMBERS(?2))", packed(nums))
        self._terms.put(nums, rows)
        self._here.db.made_anew("read off", nums)

    def reinforce(self, values: Sequence[tuple[int, float]], at: int) -> None:
        """Store each memory's new reinforcement; the caller has computed it from the old one."""
        if values:
            self._here.change(
                "UPDATE memories SET reinforcement = CAST(j.value ->> 1 AS DOUBLE PRECISION),"
                " reinforced_at = ?2, seq = ?3"
                " FROM RECORDS(?4) j WHERE memories.num = CAST(j.value ->> 0 AS BIGINT) AND +memories.ns = ?1",
                at, self._here.number(), packed([list(pair) for pair in values]),
            )  # fmt: skip

    def merge(self, num: int, row: Prepared) -> None:
        """A duplicate keeps the text that was there, and adds the tags and citations it did not have."""
        stored = self._here.one("SELECT tags FROM memories WHERE num = ?2 AND ns = ?1", num)
        assert stored is not None
        tags = list(dict.fromkeys([*json.loads(stored[0]), *row.memory.tags]))
        self._terms.label((value, kind, num) for value, kind in row.labels if kind == "tag")
        cited = self._citations.add(num, row.memory.citations)
        self._here.change(
            "UPDATE memories SET tags = ?2, cited = ?3, seq = ?4 WHERE num = ?5 AND ns = ?1",
            packed(tags), int(cited), self._here.number(), num,
        )  # fmt: skip

    def delete(self, nums: Sequence[int], words: Sequence[str] | None = None) -> None:
        """Gone for good, with the words that only these memories held: those that are named, else as a look at every
        memory tells, and then the recorded recalls go too.
        """
        self._tasks.forget_words(nums)
        self.bury(nums)
        if words is None:
            self._trail.drop_ledgers()
            self._terms.drop_unused()
        else:
            self._terms.drop_words(words)

    def bury(self, nums: Sequence[int]) -> None:
        """The rows go and leave a tombstone each, by which an index learns of it."""
        wanted = packed(nums)
        self._here.db.losing_words(self._here, nums)
        self._here.change(
            "DELETE FROM lineage WHERE ns = ?1 AND kind = 'memory' AND input IN"
            " (SELECT m.id FROM NUMBERS(?2) j CROSS JOIN memories m ON m.num = j.value AND m.ns = ?1)",
            wanted,
        )
        self._here.change(
            "INSERT INTO tombstones (ns, seq, num) SELECT ?1, ?2, value FROM NUMBERS(?3) WHERE true"
            " ON CONFLICT DO NOTHING",
            self._here.number(), wanted,
        )  # fmt: skip
        self._here.change(
            "UPDATE tasks SET episode = NULL WHERE ns = ?1 AND episode IN (SELECT value FROM NUMBERS(?2))", wanted
        )
        self._here.change("DELETE FROM memories WHERE +ns = ?1 AND num IN (SELECT value FROM NUMBERS(?2))", wanted)
