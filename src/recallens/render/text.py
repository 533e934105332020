"""The X-ray for a terminal, in the specified layout: its lines first, in its order, what goes past it after them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from recallens.render.formats import visible
from recallens.render.tree import Cards, Facts, Nothing, Row, Table, XrayDocument

_INDENT = "    "


def write(document: XrayDocument) -> str:
    return "\n".join(_lines(document))


def _lines(document: XrayDocument) -> Iterator[str]:
    yield f"=== {document.title} ==="
    if not document.sections:
        yield "(no snapshot)"
    for section in document.sections:
        if section.heading:
            yield ""
            yield f"--- {section.heading} ---"
        match section:
            case Facts():
                for row in section.rows:
                    yield from _fact(row)
            case Table():
                yield from (f"- {_phrase(row)}" for row in section.rows)
            case Cards():
                for card in section.cards:
                    yield _phrase(card.head)
                    yield from (f"{_INDENT}{line}" for row in card.rows for line in _fact(row))
            case Nothing():
                yield section.field.shown()
            case _:
                assert_never(section)


def _fact(row: Row) -> Iterator[str]:
    label = visible(row.label)
    if row.stacked:
        yield f"{label}:"
        yield from (f"  - {field.shown()}" for field in row.shown())
    elif row.shown():
        yield f"{label}: {_phrase(row)}"


def _phrase(row: Row) -> str:
    return row.phrase([(visible(field.label), field.shown()) for field in row.shown()])
