"""Which encoder a store uses, and the query's vector as a view that can fail without taking the recall with it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Final

import numpy as np
from msgspec import Struct

from recallens.errors import EncoderError, EncoderFailed, EncoderMismatch, EncoderMissing
from recallens.index.columns import Columns
from recallens.index.encoders.minilm import MODEL as MINILM
from recallens.index.encoders.protocol import Encoder, EncoderKey, Vectors, unit_rows
from recallens.index.stored import ProposedSemantic, StoredVectors
from recallens.index.vectors import BoundSemantic, Single, VectorIndex
from recallens.index.views import Proposals
from recallens.model.verdict import BoolArray, FloatArray, IntArray
from recallens.text.scripts import is_read, known_share

# A text of several parts has several chances to be near a question, so that a part's cosine counts this much less
# beside that of the whole. Without it beam-100k, most of whose turns have one sentence, lost 0.6 by turn.
PART_HANDICAP: Final = 0.05
# So many questions are asked again, by a page, a diff or an agent, before they are forgotten: 1.5 to 3.5 KB each.
REMEMBERED_QUESTIONS: Final = 256


@dataclass(slots=True)
class Encoding:
    """The store's encoder. `key` is what its vectors are stored under, known even where the encoder is missing."""

    spec: str
    key: str | None
    encoder: Encoder | None = None
    missing: EncoderError | None = None
    dimension: int = field(init=False)
    _asked: OrderedDict[str, Vectors] = field(init=False, default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.dimension = EncoderKey.parse(self.key).dimension if self.key else 0

    @property
    def languages(self) -> tuple[str, ...]:
        return self.encoder.languages if self.encoder is not None else ()

    @property
    def reads_parts(self) -> bool:
        """Whether parts of a text have vectors of their own: measured with the packaged encoder, and not paid for with
        one that answers over a network.
        """
        return self.key is not None and EncoderKey.parse(self.key).model == MINILM

    def available(self) -> Encoder:
        if self.missing is not None:
            raise self.missing
        if self.encoder is None:
            hint = "Choose one with `recallens reindex --encoder minilm`."
            raise EncoderMissing("this store has no encoder", hint=hint)
        if self.key is not None and str(self.encoder.key) != self.key:
            raise EncoderMismatch(
                f"the store's vectors are of {self.key}, but the encoder is {self.encoder.key}",
                hint=f"Go back to it, or run `recallens reindex --encoder {self.spec}` to encode everything anew.",
            )
        return self.encoder

    def load_for(self, text: str) -> None:
        """Begin to load the model beside what else is to be loaded, if the encoder has one that can read the text."""
        load = getattr(self.encoder, "load", None)
        if load is not None and known_share(text, self.languages) > 0:
            # Joined at exit, since a thread that is killed within native code can take the process with it.
            Thread(target=_quietly, args=(load,), name="recallens-encoder").start()

    def question(self, text: str) -> Vectors:
        """The vector of a question: one that was asked lately is not encoded again."""
        encoder = self.available()
        vector = self._asked.pop(text, None)
        if vector is None:
            vector = np.asarray(encoder.encode_query(text))
        self._asked[text] = vector  # the one asked last comes last, so that the first is the one to go
        while len(self._asked) > REMEMBERED_QUESTIONS:
            self._asked.popitem(last=False)
        return vector

    def nearest(self, question: str, sentences: Sequence[str]) -> int | None:
        """Which of the sentences of a text is nearest to the question, apart from what all of them are about; None
        where the encoder does not read sentences.
        """
        read: Callable[[Sequence[str]], Vectors] | None = getattr(self.encoder, "sentence_vectors", None)
        if read is None or not sentences:
            return None
        vectors = read(sentences)
        own = unit_rows(vectors - vectors.mean(axis=0))
        return int((own @ self.question(question)[-own.shape[1] :]).argmax())

    def documents(self, texts: Sequence[str]) -> Vectors:
        vectors = self.available().encode_documents(texts)
        if not np.isfinite(vectors).all():  # it would be like everything, or like nothing
            raise EncoderFailed(f"{self.key} gave a vector that holds a number without a finite value")
        return vectors


def _quietly(load: Callable[[], object]) -> None:
    # What fails here fails again when the text is encoded, where somebody can be told.
    with suppress(Exception):
        load()


class LazySemantic(Struct, eq=False):
    """The semantic view of one query. The text is encoded when the first question is asked."""

    _encoding: Encoding
    _index: VectorIndex | StoredVectors
    _columns: Columns
    _text: str
    _bound: BoundSemantic | ProposedSemantic | None = None
    _failure: Exception | None = None
    name: str = "semantic"

    def asking(self, text: str) -> LazySemantic:
        """The same rows, asked something else."""
        return LazySemantic(self._encoding, self._index, self._columns, text, name=self.name)

    @property
    def encoder(self) -> str | None:
        """The key of the encoder that is asked."""
        return self._encoding.key

    def prepare(self) -> BoundSemantic | ProposedSemantic:
        """Asked once: what failed fails again in the same words, and nobody waits for it twice."""
        if self._failure is not None:
            raise self._failure
        if self._bound is None:
            try:
                query = self._encoding.question(self._text)
            except Exception as failure:
                self._failure = failure
                raise
            handicap = PART_HANDICAP if self._encoding.reads_parts else 0.0
            self._bound = self._index.bind(self._columns, query, handicap)
        return self._bound

    def propose(self, k: int, mask: BoolArray | None = None, beside: IntArray | None = None) -> Proposals:
        return self.prepare().propose(k, mask, beside)

    def score(self, rows: IntArray) -> FloatArray:
        return self.prepare().score(rows)

    def best_parts(self, rows: IntArray) -> IntArray:
        return self.prepare().best_parts(rows)

    def reads(self, text: str) -> bool:
        return is_read(text, self._encoding.languages)

    def nearest(self, sentences: Sequence[str]) -> int | None:
        """Which of the sentences of a text is nearest to what is asked."""
        return self._encoding.nearest(self._text, sentences)

    def vectors(self, rows: IntArray) -> Single:
        """The vectors of rows that have one; not one word need be encoded for that."""
        return self._index.single(rows) if self._bound is None else self._bound.vectors(rows)
