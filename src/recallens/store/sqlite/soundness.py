"""Rows that hold only what they may: refused by triggers when they are written, named when they are there all the same.

Triggers instead of STRICT tables: those can only be had by copying every row, and know neither closed sets nor ranges.
A row that was written past them (by an older version, or with the triggers dropped) never ends a read: a memory that
cannot be read counts as quarantined, any other row as absent, and `doctor` names each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import apsw
import msgspec

from recallens.model.memory import UNREADABLE, Status, Zone
from recallens.model.times import EARLIEST_MS, LATEST_MS
from recallens.store.nouns import JSON_KINDS, NOUNS, WHOLE_KINDS, FieldKind, Noun, NounField
from recallens.store.sql.rows import decoded

NAMED_FAULTS: Final = 20
LONGEST_SHOWN: Final = 60
REFUSED: Final = "holds what it may not"
_RULES: Mapping[FieldKind, str] = {
    **dict.fromkeys(WHOLE_KINDS, "typeof({0}) = 'integer'"),
    FieldKind.TEXT: "typeof({0}) = 'text'",
    FieldKind.NUMBER: "typeof({0}) IN ('real', 'integer') AND abs({0}) < 9e999",
    FieldKind.SHARE: "typeof({0}) IN ('real', 'integer') AND {0} BETWEEN 0 AND 1",
    FieldKind.TIME: f"typeof({{0}}) = 'integer' AND {{0}} BETWEEN {EARLIEST_MS} AND {LATEST_MS}",
    FieldKind.FLAG: "typeof({0}) = 'integer' AND {0} IN (0, 1)",
    FieldKind.LIST: "typeof({0}) = 'text' AND json_valid({0}) AND json_type({0}) = 'array'",
    FieldKind.RECORD: "typeof({0}) = 'text' AND json_valid({0}) AND json_type({0}) = 'object'",
    FieldKind.BYTES: "typeof({0}) = 'blob'",
}


def _rule(field: NounField, row: str) -> str:
    place = f'{row}."{field.column}"'
    rule = _RULES[field.kind].format(place)
    if field.options:
        listed = ", ".join(f"'{option}'" for option in field.options)
        rule = f"{rule} AND {place} IN ({listed})"
    return f"({place} IS NULL OR {rule})" if field.optional else f"({place} IS NOT NULL AND {rule})"


def sound(noun: Noun, row: str, *, carried: bool = False) -> str:
    """The condition that every field of a row holds what it may."""
    fields = noun.carried if carried else noun.fields
    return "(" + " AND ".join(_rule(field, row) for field in fields) + ")"


def unsound_memories(db: apsw.Connection, namespace: int) -> list[int]:
    """Memories of a namespace that cannot be read."""
    memory = NOUNS["memory"]
    texts = ", ".join(f"m.{field.column}" for field in memory.carried if field.kind in (FieldKind.TEXT, *JSON_KINDS))
    sql = f"SELECT m.num, {texts} FROM memories m WHERE m.ns = ? AND {sound(memory, 'm')}"
    read = {row[0] for row in decoded(db.execute(sql, (namespace,)))}
    every = db.execute("SELECT num FROM memories WHERE ns = ? ORDER BY num", (namespace,))
    return [num for (num,) in every if num not in read]


def mended(db: apsw.Connection, namespace: int, nums: Sequence[int]) -> list[dict[str, Any]]:
    """The columns of these memories, whatever their rows hold. What cannot be read has a neutral value, and the memory
    is in quarantine then."""
    fields = NOUNS["memory"].fields
    # A text may be no UTF-8, which only its bytes survive.
    columns = ", ".join(f"iif(typeof(m.{f.column}) = 'text', CAST(m.{f.column} AS BLOB), m.{f.column})" for f in fields)
    rows = db.execute(
        f"SELECT {columns} FROM json_each(?2) j CROSS JOIN memories m ON m.num = j.value AND m.ns = ?1",
        (namespace, str(list(nums))),
    )
    return [_mended(fields, row) for row in rows]


def _mended(fields: Sequence[NounField], row: Sequence[Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    sound = True
    for field, stored in zip(fields, row, strict=True):
        value, whole = stored, True
        if isinstance(stored, bytes):
            value = stored.decode("utf-8", "replace")
            whole = value.encode() == stored
        fits = field.accepts(_decoded(value) if field.kind in JSON_KINDS else value)
        sound = sound and whole and fits
        values[field.column] = value if fits else _neutral(field)
    if not sound:
        values |= {"status": Status.QUARANTINED.value, "zone": Zone.QUARANTINE.value, "review": UNREADABLE}
    return values


def _decoded(text: Any) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, TypeError):
        return None


def _neutral(field: NounField) -> Any:
    if field.optional:
        return None
    if field.options:
        return field.options[0]
    return {FieldKind.TEXT: "", FieldKind.LIST: "[]", FieldKind.RECORD: "{}"}.get(field.kind, 0)


def faults(db: apsw.Connection) -> Iterator[str]:
    """Each row that holds what it may not: which it is, in which field, and what would be right."""
    for noun in NOUNS.values():
        named = "id" if any(field.column == "id" for field in noun.fields) else noun.fields[0].column
        unsound = f"SELECT {_bytes(named)} FROM {noun.table} x WHERE NOT {sound(noun, 'x')}"
        for (key,) in db.execute(f"{unsound} LIMIT {NAMED_FAULTS}"):
            yield f"row: {noun.name} {_shown(key)}: {_fault(db, noun, named, key)}"


def _fault(db: apsw.Connection, noun: Noun, named: str, key: Any) -> str:
    for field in noun.fields:
        bad = db.execute(
            f"SELECT {_bytes(field.column)} FROM {noun.table} x WHERE {_bytes(named)} IS ? AND NOT {_rule(field, 'x')}",
            (key,),
        ).fetchone()
        if bad is not None:
            return f"{field.column} is {_shown(bad[0])}, not {field.wanted()}"
    return f"a field {REFUSED}"


def _bytes(column: str) -> str:
    """A column, and text as its bytes, which may be no UTF-8."""
    return f"""iif(typeof("{column}") = 'text', CAST("{column}" AS BLOB), "{column}")"""


def _shown(value: Any) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return repr(text) if len(repr(text)) <= LONGEST_SHOWN else f"{repr(text)[:LONGEST_SHOWN]}…"


def _triggers(noun: Noun) -> dict[str, str]:
    triggers = {}
    columns = ", ".join(f'"{field.column}"' for field in noun.fields)
    for event in ("INSERT", "UPDATE"):
        name = f"{noun.table}_sound_{event.lower()}"
        which = "" if event == "INSERT" else f" OF {columns}"
        triggers[name] = (
            f"CREATE TRIGGER {name} BEFORE {event}{which} ON {noun.table} WHEN NOT {sound(noun, 'NEW')}"
            f" BEGIN SELECT RAISE(ABORT, 'a {noun.name} {REFUSED}'); END"
        )
    return triggers


TRIGGERS: Final = {name: statement for noun in NOUNS.values() for name, statement in _triggers(noun).items()}


def is_guarded(db: apsw.Connection) -> bool:
    return dict(db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")) == TRIGGERS


def unguard(db: apsw.Connection) -> None:
    for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f'DROP TRIGGER "{name}"')


def guard(db: apsw.Connection) -> None:
    """Give every table its triggers anew: a newer version may know more options than the one that made them."""
    unguard(db)
    for noun in NOUNS.values():
        there = {row[1] for row in db.execute(f"PRAGMA table_info({noun.table})")}
        if there >= {field.column for field in noun.fields}:  # else the schema is an older one
            for statement in _triggers(noun).values():
                db.execute(statement)
