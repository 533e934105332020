"""What turns text into vectors, and the key that keeps the vectors of two models apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from recallens.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

Vectors: TypeAlias = NDArray[np.float32]

KEY_FORM = "MODEL@REVISION/DIMENSION/PREFIX"


@dataclass(frozen=True, slots=True, order=True)
class EncoderKey:
    """Vectors compare only under one key. `str(key)` is its one canonical line; `parse` reads it back."""

    model: str
    revision: str
    dimension: int
    prefix: str = "none"

    def __post_init__(self) -> None:
        # A model's name may hold "/" and "@", because `parse` reads from the right; the other parts may not.
        separate = not set("/@") & set(self.revision + self.prefix)
        parts = (self.model, self.revision, self.prefix)
        written = all(part.isprintable() and part.split() == [part] for part in parts)
        if not (separate and written and self.dimension > 0):
            raise InvalidInput(f"not an encoder key: {self}; the form is {KEY_FORM}, without spaces")

    def __str__(self) -> str:
        return f"{self.model}@{self.revision}/{self.dimension}/{self.prefix}"

    @classmethod
    def parse(cls, line: str) -> Self:
        named, _, rest = line.rpartition("@")
        match rest.split("/"):
            case [revision, dimension, prefix] if dimension.isascii() and dimension.isdecimal():
                key = cls(named, revision, int(dimension), prefix)
                if str(key) == line:
                    return key
        raise InvalidInput(f"not an encoder key: {line!r}; the form is {KEY_FORM}")


class Encoder(Protocol):
    """Unit vectors of float32, so that a dot product is a cosine.

    A blank text is the zero vector: it resembles nothing, not even another blank text.
    """

    @property
    def key(self) -> EncoderKey: ...

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the model knows, as ISO 639-1 codes; empty for any, or not known."""
        ...

    def encode_query(self, text: str) -> Vectors:
        """Of shape (dimension,)."""
        ...

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Of shape (n, dimension), in the order of the texts."""
        ...


@runtime_checkable
class Loads(Encoder, Protocol):
    """An encoder whose model takes a while to load. It loads at the first text, or when it is told to."""

    def load(self) -> None: ...
