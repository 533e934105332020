"""Rows that are not as they were written, found by their digests and called by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

import apsw

from recallens.model.memory import handle_of
from recallens.store.sqlite.digests import AREAS, HALF, UNREADABLE, Area, Measure, measures, of_rows
from recallens.store.sqlite.migrations import MIGRATIONS

NAMED: Final = 20
Parts = dict[int, int]
EVERY_BIT: Final = -1


def damaged(connection: apsw.Connection, areas: Collection[Area] = AREAS) -> dict[Area, Parts]:
    """In each area the parts whose digest does not fit, with the bits in which it differs."""
    found: dict[Area, Parts] = {}
    for measure in _measures(connection, areas):
        area = measure.area
        order = f" ORDER BY {area.key[0]}" if area.rising else ""
        digests = of_rows(measure, connection.execute(f"SELECT * FROM {area.table}{order}"))
        rows = digests if area.rising else iter(sorted(digests))
        sql = "SELECT part, digest FROM digests WHERE area = ? AND digest <> 0 ORDER BY part"
        differing = _differing(_summed(rows), _kept(connection.execute(sql, (area.number,))))
        parts = {part: bits for part, bits in differing if bits}
        if parts:
            found[area] = parts
    return found


def _measures(connection: apsw.Connection, areas: Collection[Area]) -> Iterator[Measure]:
    return (each for known in measures(connection).values() for each in known if each.area in areas)


def _summed(digests: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """One digest a part, of parts that stand together."""
    last, total = None, 0
    for part, digest in digests:
        if part == UNREADABLE:
            yield UNREADABLE, UNREADABLE
            continue
        if part != last:
            if last is not None:
                yield last, total
            last, total = part, 0
        total ^= digest
    if last is not None:
        yield last, total


def _kept(digests: Iterable[tuple[object, object]]) -> Iterator[tuple[int, int]]:
    """A part that is no number is missing; a digest that is none differs in every bit."""
    for part, digest in digests:
        if isinstance(part, int):
            yield part, digest if isinstance(digest, int) else EVERY_BIT


def _differing(one: Iterator[tuple[int, int]], other: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What two rising lists do not share; neither is held in memory."""
    left, right = next(one, None), next(other, None)
    while left is not None or right is not None:
        if right is None or (left is not None and left[0] < right[0]):
            assert left is not None
            yield left
            left = next(one, None)
        elif left is None or right[0] < left[0]:
            yield right
            right = next(other, None)
        else:
            yield left[0], left[1] ^ right[1]
            left, right = next(one, None), next(other, None)


# ── in words ──


def faults(connection: apsw.Connection) -> Iterator[str]:
    """Each row that is not as it was written, by name; what is derived and what is not begin otherwise."""
    yield from dict.fromkeys(_faults(connection))


def _faults(connection: apsw.Connection) -> Iterator[str]:
    by_area = {measure.area: measure for measure in _measures(connection, AREAS)}
    for area, parts in damaged(connection).items():
        shown = list(_told(connection, by_area[area], dict(list(parts.items())[:NAMED])))
        yield from (f"{'index' if area.derived else 'digest'}: {each}" for each in shown)
        if len(parts) > NAMED:
            yield f"{'index' if area.derived else 'digest'}: {len(parts) - NAMED:,} more of {area.table} are like that"


def _told(connection: apsw.Connection, measure: Measure, parts: Mapping[int, int]) -> Iterator[str]:
    area, names, seen = measure.area, dict[int, str](), {UNREADABLE}
    if not area.rising or UNREADABLE in parts:
        for row, broken in _as_bytes(connection, measure):
            name = f"{area.noun} {_name(measure, row)}"
            if broken:
                yield f"{name}: {broken} is no text, its bytes are no UTF-8"
                seen.add(measure.part(row))
            elif not area.rising and (part := measure.part(row)) in parts:
                names[part] = name
    for part, bits in parts.items():
        if part in seen:
            continue
        halves = bits & ((1 << HALF) - 1), bits >> HALF
        what = " and ".join(name for half, (name, _) in zip(halves, area.groups, strict=False) if half) or "it"
        known = f"{area.noun} {handle_of(part) if area.of_memory else part}" if area.rising else names.get(part)
        verb = "is" if what == "it" else "are"
        yield f"{known}: {what} {verb} not as written" if known else f"a {area.noun} is gone, or called otherwise"


def _name(measure: Measure, row: tuple[Any, ...]) -> str:
    values = measure.key(row)
    if measure.area.of_memory and isinstance(values, int):
        return handle_of(values)
    listed = values if isinstance(values, tuple) else (values,)
    return " ".join(str(value) for name, value in zip(measure.area.key, listed, strict=True) if name != "ns")


def _as_bytes(connection: apsw.Connection, measure: Measure) -> Iterator[tuple[tuple[Any, ...], str | None]]:
    """Every row, and its first column that is no text although SQLite says so."""
    columns = measure.columns
    text = "typeof(\"{0}\") = 'text'"
    read = ", ".join(
        f'{text.format(each)}, iif({text.format(each)}, CAST("{each}" AS BLOB), "{each}")' for each in columns
    )
    for row in connection.execute(f"SELECT {read} FROM {measure.area.table}"):
        values, broken = [], None
        for place, column in enumerate(columns):
            is_text, value = row[2 * place : 2 * place + 2]
            values.append(value.decode("utf-8", "replace") if is_text else value)
            if is_text and broken is None and values[-1].encode() != value:
                broken = column
        yield tuple(values), broken


def schema_faults(connection: apsw.Connection) -> list[str]:
    """Tables and indexes that are not as the steps of the schema make them."""
    true = apsw.Connection(":memory:")
    for _, script in MIGRATIONS:
        true.execute(script)
    listed = "SELECT name, sql FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL"
    wanted, there = dict(true.execute(listed)), dict(connection.execute(listed))
    return [f"file: {name} is not as it is made" for name in wanted if wanted[name] != there.get(name)]
