"""Where things stand in a picture. Templates write the SVG; sizes are attributes, since no style may stand inline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count, repeat
from typing import Any

from msgspec import Struct

from recallens.model.snapshot import FilterTrace
from recallens.model.terms import WORDS

WIDTH = 1000.0
# Between two pieces of a bar, where both are wide enough to spare it.
GAP = 2.0
NODE_TOP, STEP = 16, 58
_ORDER = {name: place for place, name in enumerate(WORDS)}


class Piece(Struct, frozen=True):
    name: str
    value: float
    x: float
    width: float


class Bar(Struct, frozen=True):
    """The parts of one score: what adds runs to the right of `zero`, what takes off to its left."""

    pieces: tuple[Piece, ...]
    zero: float


class Scale(Struct, frozen=True):
    """One for all bars of a page, so that their lengths compare."""

    low: float
    span: float

    def place(self, value: float) -> float:
        return (value - self.low) / self.span * WIDTH


def scale_of(rows: Iterable[Mapping[str, float]]) -> Scale:
    sums = [(sum(v for v in parts.values() if v < 0), sum(v for v in parts.values() if v > 0)) for parts in rows]
    low, high = min((low for low, _ in sums), default=0.0), max((high for _, high in sums), default=1.0)
    return Scale(low, (high - low) or 1.0)


def bar(parts: Mapping[str, float], scale: Scale) -> Bar:
    """In one order everywhere, so that the same part is looked for in the same place."""
    right = left = 0.0
    pieces = []
    for name in ordered(parts):
        value = parts[name]
        if value > 0:
            start, right = right, right + value
        elif value < 0:
            left += value
            start = left
        else:
            continue
        width = abs(value) / scale.span * WIDTH
        spare = GAP if width > 2 * GAP else 0.0
        pieces.append(Piece(name, value, round(scale.place(start), 2), round(width - spare, 2)))
    return Bar(tuple(pieces), round(scale.place(0.0), 2))


def ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (_ORDER.get(name, len(_ORDER)), name))


def funnel(filters: Sequence[FilterTrace]) -> list[tuple[FilterTrace, str]]:
    """Each filter with the corners of a slice that narrows from what it considered to what it let through."""
    half = WIDTH / 2
    widest = max((trace.considered for trace in filters), default=1) or 1
    slices = []
    for trace in filters:
        top, bottom = (count / widest * half for count in (trace.considered, trace.admitted))
        corners = ((half - top, 0), (half + top, 0), (half + bottom, 100), (half - bottom, 100))
        slices.append((trace, " ".join(f"{x:.1f},{y}" for x, y in corners)))
    return slices


class Column(Struct, frozen=True):
    label: str
    count: int
    x: float
    y: float
    width: float
    height: float


class Chart(Struct, frozen=True):
    columns: tuple[Column, ...]
    highest: int

    @property
    def ends(self) -> tuple[str, ...]:
        """The labels that stand below: the first, the middle, the last."""
        labels = tuple(column.label for column in self.columns)
        return labels if len(labels) < 3 else (labels[0], labels[len(labels) // 2], labels[-1])


def chart(counts: Mapping[str, int]) -> Chart:
    highest = max(counts.values(), default=0)
    step = WIDTH / (len(counts) or 1)
    room = min(step * 0.18, 12.0)
    columns = []
    for place, (label, number) in enumerate(counts.items()):
        height, x = 100.0 * number / (highest or 1), round(place * step + room / 2, 2)
        columns.append(Column(label, number, x, 100 - height, round(step - room, 2), height))
    return Chart(tuple(columns), highest)


def share(part: float, whole: float) -> float:
    """A length on a meter, which is full at most."""
    return round(min(part / whole, 1.0) * WIDTH, 2) if whole > 0 else 0.0


class Path(Struct, frozen=True):
    """A walk along relations, drawn from top to bottom so that it fits any width."""

    nodes: Sequence[tuple[str, int]]  # a memory's id, and how far down it stands
    edges: Sequence[tuple[str, float | None, int]]  # relation, confidence, and where the edge begins

    @property
    def height(self) -> int:
        return NODE_TOP * 2 + STEP * (len(self.nodes) - 1)


def path(record: Mapping[str, Sequence[Any]] | None) -> Path | None:
    """A path as the graph view left it in the ledger."""
    if not record or len(record.get("nodes", ())) < 2:
        return None
    confidences = (value if isinstance(value, float) else None for value in record.get("confidences", ()))
    edges = zip(record.get("relations", ()), chain(confidences, repeat(None)), count(NODE_TOP, STEP), strict=False)
    return Path(list(zip(record["nodes"], count(NODE_TOP, STEP), strict=False)), list(edges))
