"""What a writer writes: sections of rows of fields, where every field is one leaf of the JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from recallens.render.formats import ValueKind

Path = tuple[str | int, ...]
# Label and text of each field of a row, in order, as a writer shows them.
Shown = Sequence[tuple[str, str]]
Phrase = Callable[[Shown], str]


class Field(Struct, frozen=True):
    """One leaf of the JSON: where it stands there, its value, and the format in which readers see it.

    An `implied` field is shown by its neighbour: corrected=superseded says both that it is and how.
    """

    path: Path
    label: str
    value: Any
    kind: ValueKind = ValueKind.TEXT
    implied: bool = False

    def shown(self) -> str:
        return self.kind.show(self.value)

    def alone(self) -> str:
        """As it is read in a cell of its own, where a word needs no quotes."""
        return (ValueKind.TEXT if self.kind is ValueKind.WORD else self.kind).show(self.value)


def joined(shown: Shown, by: str = ", ") -> str:
    return by.join(text for _, text in shown)


def pairs(shown: Shown) -> str:
    return " ".join(f"{label}={text}" for label, text in shown)


class Row(Struct, frozen=True):
    """Fields that are read together, as one phrase. A stacked row has its fields one below the other."""

    label: str
    fields: tuple[Field, ...]
    phrase: Phrase = joined
    stacked: bool = False

    def shown(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if not field.implied)


class Facts(Struct, frozen=True):
    heading: str
    rows: tuple[Row, ...]


class Table(Struct, frozen=True):
    """Rows of one shape: a line each in text, columns where a writer has them."""

    heading: str
    rows: tuple[Row, ...]


class Card(Struct, frozen=True):
    head: Row
    rows: tuple[Row, ...]


class Cards(Struct, frozen=True):
    heading: str
    cards: tuple[Card, ...]


class Nothing(Struct, frozen=True):
    """A section that is empty, or null: it is said, not left out."""

    heading: str
    field: Field


Section = Facts | Table | Cards | Nothing


class XrayDocument(Struct, frozen=True):
    """No sections at all means that there is no snapshot."""

    title: str
    sections: tuple[Section, ...] = ()

    def fields(self) -> Iterator[Field]:
        """Every leaf, in the order in which it is read."""
        for section in self.sections:
            match section:
                case Facts() | Table():
                    for row in section.rows:
                        yield from row.fields
                case Cards():
                    for card in section.cards:
                        for row in (card.head, *card.rows):
                            yield from row.fields
                case Nothing():
                    yield section.field
