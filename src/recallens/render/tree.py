"""What a writer writes: sections of rows of fields, where every field is one leaf of the JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from recallens.render.formats import Kind

Path = tuple[str | int, ...]
# Label and text of each field of a row, in order, as a writer shows them.
Shown = Sequence[tuple[str, str]]
Phrase = Callable[[Shown], str]


@dataclass(frozen=True, slots=True)
class Field:
    """One leaf of the JSON: where it stands there, its value, and the format in which readers see it.

    An `implied` field is shown by its neighbour: corrected=superseded says both that it is and how.
    """

    path: Path
    label: str
    value: Any
    kind: Kind = Kind.TEXT
    implied: bool = False

    def shown(self) -> str:
        return self.kind.show(self.value)

    def alone(self) -> str:
        """As it is read in a cell of its own, where a word needs no quotes."""
        return (Kind.TEXT if self.kind is Kind.WORD else self.kind).show(self.value)


def joined(shown: Shown) -> str:
    return ", ".join(text for _, text in shown)


def pairs(shown: Shown) -> str:
    return " ".join(f"{label}={text}" for label, text in shown)


@dataclass(frozen=True, slots=True)
class Row:
    """Fields that are read together, as one phrase. A stacked row has its fields one below the other."""

    label: str
    fields: tuple[Field, ...]
    phrase: Phrase = joined
    stacked: bool = False

    def shown(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if not field.implied)


@dataclass(frozen=True, slots=True)
class Facts:
    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one shape: a line each in text, columns where a writer has them."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Card:
    head: Row
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Cards:
    heading: str
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Nothing:
    """A section that is empty, or null: it is said, not left out."""

    heading: str
    field: Field


Section = Facts | Table | Cards | Nothing


@dataclass(frozen=True, slots=True)
class Document:
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
