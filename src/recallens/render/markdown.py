"""The X-ray as GitHub markdown: the sections of the text as headings and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, assert_never

from recallens.render.formats import visible
from recallens.render.tree import Cards, Facts, Field, Nothing, Row, Table, XrayDocument

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
# A pipe ends a cell even inside a code span, and dialects disagree on how to escape it there.
_PIPE: Final = "&#124;"


def write(document: XrayDocument) -> str:
    return "\n".join(_lines(document))


def _lines(document: XrayDocument) -> Iterator[str]:
    yield f"# {document.title}"
    if not document.sections:
        yield from ("", "(no snapshot)")
    for section in document.sections:
        if section.heading:
            yield from ("", f"## {section.heading.capitalize()}")
        yield ""
        match section:
            case Facts():
                yield from _facts(section.rows)
            case Table():
                yield from _table(section.rows)
            case Cards():
                for place, card in enumerate(section.cards):
                    yield from [""] * bool(place)
                    yield from (f"### {_phrase(card.head)}", "")
                    yield from _facts(card.rows)
            case Nothing():
                yield section.field.shown()
            case _:
                assert_never(section)


def _facts(rows: tuple[Row, ...]) -> Iterator[str]:
    yield from ("| field | value |", "| --- | --- |")
    for row in rows:
        if row.shown():
            yield f"| {_label(row.label)} | {_phrase(row)} |"


def _table(rows: tuple[Row, ...]) -> Iterator[str]:
    labels = list(dict.fromkeys(field.label for row in rows for field in row.shown()))
    yield f"| {' | '.join(labels)} |"
    yield f"|{' --- |' * len(labels)}"
    for row in rows:
        cells = {field.label: _mark(field, field.alone()) for field in row.shown()}
        yield f"| {' | '.join(cells.get(label, '') for label in labels)} |"


def _phrase(row: Row) -> str:
    return row.phrase([(_label(field.label), _mark(field, field.shown())) for field in row.shown()])


def _mark(field: Field, text: str) -> str:
    return code(text) if isinstance(field.value, str) else text


def _label(label: str) -> str:
    return label if _PLAIN.fullmatch(label) else code(visible(label))


def code(text: str) -> str:
    """Text as code, where nothing is markup: no link, no mention, no heading, no html."""
    return _PIPE.join(_span(piece) if piece else "" for piece in text.split("|"))


def _span(text: str) -> str:
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    touching = text.startswith("`") or text.endswith("`")
    stripped = text.startswith(" ") and text.endswith(" ") and bool(text.strip())
    return f"{fence} {text} {fence}" if touching or stripped else f"{fence}{text}{fence}"
