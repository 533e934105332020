"""What the encoders behind HTTP share: batches, prefixes, and a dimension that never changes."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from recallens.errors import EncoderFailed, EncoderMismatch, InvalidInput
from recallens.index.encoders.prefixes import prefix_for
from recallens.index.encoders.protocol import EncoderKey, Vectors
from recallens.index.encoders.vectors import unit_rows, with_blanks_as_zeros

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

BATCH_TEXTS = 64
BATCH_CHARACTERS = 200_000  # OpenAI takes 300,000 tokens a request; a token may be one Korean character
PROBE = "dimension"


class RemoteEncoder:
    """`ask` sends one batch and returns one list of numbers a text, in the order of the texts.

    Without a `dimension`, the first look at `key` asks the server once, with a single word.
    """

    languages: tuple[str, ...] = ()

    def __init__(
        self,
        model: str,
        *,
        revision: str,
        host: str,
        dimension: int | None,
        ask: Callable[[list[str]], list[Any]],
    ) -> None:
        if dimension is not None and dimension < 1:
            raise InvalidInput(f"the dimension must be 1 or more, not {dimension}")
        self._model = model
        self._revision = revision
        self._prefix = prefix_for(model)
        self._host = host
        self._ask = ask
        self._lock = Lock()
        self._key = None if dimension is None else self._key_of(dimension)

    @property
    def key(self) -> EncoderKey:
        with self._lock:
            if self._key is None:
                self._key = self._key_of(self._answer([self._prefix.document + PROBE]).shape[1])
            return self._key

    def encode_query(self, text: str) -> Vectors:
        return self._encode([text], self._prefix.query).reshape(-1)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return self._encode(texts, self._prefix.document)

    def _encode(self, texts: Sequence[str], prefix: str) -> Vectors:
        def encode(said: list[str]) -> Vectors:
            return np.vstack([self._checked(batch) for batch in _batches([prefix + text for text in said])])

        return with_blanks_as_zeros(texts, self.key.dimension, encode)

    def _checked(self, batch: list[str]) -> Vectors:
        rows = self._answer(batch)
        if rows.shape[1] != self.key.dimension:
            raise EncoderMismatch(
                f"{self._host} gave vectors of {rows.shape[1]} numbers, which do not belong to {self.key}",
                hint="Check the model's name and the dimension.",
            )
        return unit_rows(rows)

    def _answer(self, batch: list[str]) -> Vectors:
        answer = self._ask(batch)
        try:
            rows = np.asarray(answer, dtype=np.float32)
        except (TypeError, ValueError, OverflowError) as error:
            raise EncoderFailed(f"{self._host} gave vectors that are not lists of numbers") from error
        if rows.ndim != 2 or rows.shape[1] == 0 or len(rows) != len(batch):
            raise EncoderFailed(f"{self._host} was sent {len(batch)} texts and gave {len(answer)} vectors")
        if not np.isfinite(rows).all():
            raise EncoderFailed(f"{self._host} gave a vector that holds a number without a finite value")
        return rows

    def _key_of(self, dimension: int) -> EncoderKey:
        return EncoderKey(self._model, self._revision, dimension, self._prefix.name)


def _batches(texts: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == BATCH_TEXTS or characters + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    yield batch
