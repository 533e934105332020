"""What turns text into vectors, the key that keeps the vectors of two models apart, and what every encoder shares."""

from __future__ import annotations

import atexit
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from threading import Condition
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from recallens.errors import EncoderFailed, EncoderMissing, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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

    A blank text is the zero vector: it resembles nothing, not even another blank text. One whose model takes a while
    to load at the first text may have a method `load`, to begin sooner. One that can read sentences one after the other
    in far less time than each by itself may have a method `sentence_vectors`, of the form of `encode_documents`; where
    these have fewer numbers, they belong beside the last ones of a question's vector.
    """

    @property
    def key(self) -> EncoderKey: ...

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the model knows, as ISO 639-1 codes; empty for any, or not known."""

    def encode_query(self, text: str) -> Vectors:
        """Of shape (dimension,)."""

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Of shape (n, dimension), in the order of the texts."""


# ── what some model families were trained to see before a query and before a document ──

# The prefix is part of the encoder's key: the same model with another prefix makes other vectors.


class Prefix(Struct, frozen=True):
    name: str
    query: str
    document: str


NONE = Prefix("none", "", "")
# https://huggingface.co/nomic-ai/nomic-embed-text-v1.5 (v1, v1.5 and v2-moe alike)
NOMIC = Prefix("nomic", "search_query: ", "search_document: ")
# Wang et al., 2022, arXiv:2212.03533; multilingual-e5 likewise, arXiv:2402.05672
E5 = Prefix("e5", "query: ", "passage: ")
# https://huggingface.co/intfloat/e5-mistral-7b-instruct: documents carry no instruction
_INSTRUCTION = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
E5_INSTRUCT = Prefix("e5-instruct", _INSTRUCTION, "")

# Tried in order, on the name in lower case: the instruct variants are e5 too, so they come first.
FAMILIES = (
    (re.compile(r"nomic-embed-text"), NOMIC),
    (re.compile(r"\be5-mistral|\be5\b.*instruct"), E5_INSTRUCT),
    (re.compile(r"\be5\b"), E5),
)


def prefix_for(model: str) -> Prefix:
    """By the model's name, whoever serves it: `intfloat/e5-small-v2`, `nomic-embed-text:latest`."""
    name = model.lower().replace("_", "-")
    return next((prefix for family, prefix in FAMILIES if family.search(name)), NONE)


# ── unit rows, blank texts, and packages that are not there ──


def unit_rows(rows: NDArray[Any]) -> Vectors:
    """Each row at length one; a row of zeros stays zero."""
    wide = rows.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    scaled: NDArray[np.float64] = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)
    return scaled.astype(np.float32)


def with_blanks_as_zeros(
    texts: Sequence[str], dimension: int, encode: Callable[[list[str]], Vectors], prefix: str = ""
) -> Vectors:
    """`encode` sees only the texts that say something, each after the prefix; the others are rows of zeros.

    Lone surrogates, which no tokenizer and no JSON reader takes, become question marks.
    """
    filled = [place for place, text in enumerate(texts) if text.strip()]
    vectors = np.zeros((len(texts), dimension), dtype=np.float32)
    if filled:
        vectors[filled] = encode([prefix + texts[at].encode("utf-8", "replace").decode("utf-8") for at in filled])
    return vectors


def require(package: str, *, encoder: str, install: str) -> None:
    if find_spec(package) is None:
        raise EncoderMissing(f"the encoder {encoder} needs the package {package}:", hint=f"pip install {install}")


# A model takes milliseconds for a batch. One that hangs must not keep the process.
LAST_SECONDS = 5.0


class NativeWork:
    """A thread that is in native code when the process ends is torn out of it, and that aborts the process."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0
        self._ending = False

    @contextmanager
    def within(self) -> Iterator[None]:
        """The process waits for what is done here before it ends, and begins no more of it then."""
        with self._changed:
            if self._ending:
                raise EncoderFailed("the process is ending")
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._ending = True
            self._changed.wait_for(lambda: not self._running, LAST_SECONDS)


native_work = NativeWork()
atexit.register(native_work.end)
