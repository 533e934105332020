"""Everything that the views need of a namespace, at one number of the store's counter: held in memory whole, or only
the columns, where the database holds the words and the vectors and proposes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from msgspec import Struct, structs

from recallens.index.columns import Columns
from recallens.index.images import Stamp
from recallens.index.lexical import LexicalIndex
from recallens.index.segments import Segment
from recallens.index.stored import StoredVectors, StoredWords
from recallens.index.vectors import VectorIndex
from recallens.index.views import distinct
from recallens.model.state import OPEN_SCOPES
from recallens.model.verdict import BoolArray
from recallens.store.candidates import CandidateReader, IndexStanding
from recallens.store.protocols import Reader

# What a segment is made of.
SEGMENT_ARRAYS = ("offsets", "forward", "terms", "starts", "rows", "counts")


class Version(Struct, frozen=True, eq=False):
    """Everything the views need, at one number."""

    stamp: Stamp
    columns: Columns
    lexical: LexicalIndex
    vectors: VectorIndex | StoredVectors | None
    second: VectorIndex | StoredVectors | None = None  # of the encoder that reads what the first cannot, once there
    based: int = 0
    proposed: IndexStanding | None = None  # of the database's index, where that proposes and this holds columns alone
    _scoped: list[Mapping[str, BoolArray]] = []  # by scope, once they were read
    _seen: dict[frozenset[str], Version] = {}  # by the contexts that are held
    _authors: dict[str, int] = {}

    def seen_with(self, reader: Reader, scopes: frozenset[str]) -> Version:
        """The version for who holds these contexts. What is withheld from them is a row that is gone: it is proposed by
        no view, counted in no statistic, and no word is held by it."""
        if scopes not in self._seen:
            hidden, open_rows = self.columns.blocked, self.open_to(reader, OPEN_SCOPES | scopes)
            if open_rows is not None:
                hidden = hidden | ~open_rows
            if (hidden & self.columns["alive"]).any():
                columns = self.columns.without(hidden)
                lexical = LexicalIndex(self.lexical.segments, columns, gone=~columns["alive"])
                left = {scope: rows & columns["alive"] for scope, rows in self._scoped[0].items()}
                scoped: list[Mapping[str, BoolArray]] = [{scope: rows for scope, rows in left.items() if rows.any()}]
                vectors = (self.vectors, self.second)
                self._seen[scopes] = Version(self.stamp, columns, lexical, *vectors, self.based, self.proposed, scoped)
            else:
                self._seen[scopes] = self
        return self._seen[scopes]

    @property
    def authors(self) -> Mapping[str, int]:
        """The authors of what is there, by name."""
        if not self._authors:
            codes, names = self.columns["author"], self.columns.names["author"].texts
            known = distinct(codes[self.columns["alive"]])
            self._authors.update((names[code], code) for code in known.tolist() if code >= 0)
        return self._authors

    def open_to(self, reader: Reader, held: Collection[str]) -> BoolArray | None:
        """The rows that are meant for no context but these; None where all are. It is the same for a version."""
        if not self._scoped:
            nums: dict[str, list[int]] = {}
            for scope, num in reader.memories.scoped():
                nums.setdefault(scope, []).append(num)
            self._scoped.append({scope: self.columns.mask_of(own) for scope, own in nums.items()})
        bound = [rows for scope, rows in self._scoped[0].items() if scope not in held]
        return ~np.logical_or.reduce(bound) if bound else None

    def over(
        self, reader: Reader, candidates: CandidateReader, first: tuple[str, int] | None, second: tuple[str, int] | None
    ) -> Version:
        """The same columns, with the words and the vectors that the database holds of them, for one transaction;
        `first` and `second` are the encoders with their dimensions."""
        columns, held = self.columns, candidates.standing.encoders
        lexical = LexicalIndex((StoredWords(reader, candidates, columns),), columns)
        vectors, others = (
            StoredVectors(reader, candidates, columns, *encoder) if encoder is not None and encoder[0] in held else None
            for encoder in (first, second)
        )
        return structs.replace(self, lexical=lexical, vectors=vectors, second=others, proposed=candidates.standing)

    def without_vector(self) -> int:
        """How many memories in use have no vector of the store's encoder yet."""
        if isinstance(self.vectors, StoredVectors):
            return self.vectors.candidates.waiting(self.vectors.encoder)
        return _lacking(self.vectors, self.columns) if self.vectors is not None else 0

    def with_second(self) -> tuple[int, int]:
        """How many memories in use have a vector of the second encoder, and how many there are."""
        active = int(self.columns.active.sum())
        if isinstance(self.second, StoredVectors):
            return active - self.second.candidates.waiting(self.second.encoder), active
        return (active - _lacking(self.second, self.columns) if self.second is not None else 0), active

    @property
    def tail(self) -> int:
        """Rows and vectors that came after the stored base."""
        added = [len(vectors.tail_rows) for vectors in self.resident_vectors if vectors is not None]
        return max([self.columns.size - self.based, *added])

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The words that are held in memory."""
        return tuple(segment for segment in self.lexical.segments if isinstance(segment, Segment))

    @property
    def resident_vectors(self) -> tuple[VectorIndex | None, VectorIndex | None]:
        """The vectors of either encoder that are held in memory."""
        first, second = (each if isinstance(each, VectorIndex) else None for each in (self.vectors, self.second))
        return first, second

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        arrays = [getattr(segment, name) for segment in self.segments for name in SEGMENT_ARRAYS]
        total: int = sum(array.nbytes for array in (*self.columns.arrays().values(), *arrays))
        return total + sum(vectors.size for vectors in self.resident_vectors if vectors is not None)


def _lacking(vectors: VectorIndex, columns: Columns) -> int:
    has = vectors.where[: columns.size] >= 0
    return int((columns.active & ~has).sum())
