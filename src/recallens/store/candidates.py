"""What a database that has an index of its own proposes of a namespace: which memories hold a word, and which are
nearest to a vector. Only an engine on a server has one, and only of namespaces that are too large to be held in
memory.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Protocol

from msgspec import Struct

from recallens.model.times import day

# A block of a word's postings is about the memories whose numbers share all but so many bits.
BLOCK_BITS = 13

# Of a graph of so many vectors one more is looked at, and at least so many: the further a graph goes on, the fewer of
# the nearest it leaves out. At a million, 97.9% of the ten nearest were among the first 1,000 and 99.2% among 8,000.
LOOKED_AT_SHARE, LEAST_LOOKED_AT, MOST_LOOKED_AT = 125, 400, 20_000


def looked_at(memories: int) -> int:
    """How many vectors of a namespace of this size are looked at along its graph."""
    return min(max(memories // LOOKED_AT_SHARE, LEAST_LOOKED_AT), MOST_LOOKED_AT)


Block = tuple[int, int, bytes]
"""A word, the number of a block, and its entries: the low bits of a memory's number and how often it holds the word, in
16 bits each. A word below 0 stands for the first two words of a memory, see `beginning`."""


def beginning(first: int, second: int) -> int:
    """Two words with which memories begin, as the word under which the index lists them."""
    return -1 - ((first << 32) | second)


class IndexStanding(Struct, frozen=True):
    """The index of one namespace: of how many memories it was when it was last measured, and what it was found to
    leave out."""

    memories: int
    encoders: tuple[str, ...]  # whose vectors it holds
    ready: bool = False
    recall: float | None = None  # of the ten nearest by exact comparison, the share that the index gave
    sampled: int = 0  # on how many questions that was measured
    measured: int = 0  # and when, in epoch milliseconds

    def told(self) -> dict[str, Any]:
        """As the X-ray says that the database proposed, and what it may have left out."""
        found = {} if self.recall is None else {"recallAtTen": round(self.recall, 4)}
        return {"from": "database", **found, "sampled": self.sampled, "measured": day(self.measured)}


class CandidateReader(Protocol):
    @property
    def standing(self) -> IndexStanding: ...

    def postings(self, words: Sequence[int]) -> list[Block]:
        """The blocks of these words, by word and block."""

    def nearest(self, encoder: str, query: bytes, *, exactly: bool = False) -> Generator[tuple[int, float]]:
        """The numbers of memories whose vectors are near to one in half precision, about the nearest first, and how far
        each is; one with several vectors may come several times. `exactly` compares all of them."""

    def nearest_among(self, encoder: str, query: bytes, nums: Sequence[int], limit: int) -> list[int]:
        """The same among a few memories, each of which is looked at."""

    def nearer(self, encoder: str, query: bytes, score: float) -> int:
        """How many memories have a vector whose product with this one is above a score; each is looked at."""

    def waiting(self, encoder: str) -> int:
        """How many memories have no vector yet."""

    def put_measure(self, memories: int, recall: float | None, sampled: int, at: int) -> None:
        """What the index was found to leave out, in a transaction that writes; from now on it answers."""
