"""What is erased for good: how a text is known again in what was made of it, and the receipt."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from msgspec import Struct, to_builtins

# So many words in a row are nobody else's by chance.
RUN = 5
# Shorter ones stand in any text.
LEAST_WORD = 4
_WORD = re.compile(r"\w+")
_HAS_DIGIT = re.compile(r"\d").search


class Traces(Struct, frozen=True):
    """By what texts that are to go are known again: runs of their words, and words that nothing else has."""

    runs: frozenset[str]
    words: frozenset[str]

    @staticmethod
    def of(texts: Iterable[str], words: Collection[str] = ()) -> Traces:
        runs = frozenset(run for text in texts for run in _runs(text))
        return Traces(runs, frozenset(word for word in words if len(word) >= LEAST_WORD))

    def joined(self, other: Traces) -> Traces:
        return Traces(self.runs | other.runs, self.words | other.words)

    def in_text(self, text: str | None, words: Collection[str] = ()) -> bool:
        """Whether a text says part of it; `words` are that text's own, as the dictionary has them."""
        if not text:
            return False
        shared = self.words.intersection(words)
        # One number that nobody else has is enough; of other words two, since a small store has most of them once.
        if len(shared) > 1 or any(map(_HAS_DIGIT, shared)) or not self.runs.isdisjoint(_runs(text)):
            return True
        spaced = f" {' '.join(_words(text))} "
        return any(f" {run} " in spaced for run in self.runs if run.count(" ") < RUN - 1)

    def in_bytes(self, data: bytes) -> bool:
        """Whether a record that was stored names one of the words."""
        lowered = data.lower()
        return any(word.encode() in lowered for word in self.words)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _runs(text: str) -> set[str]:
    """Every so many words in a row; a text that is shorter is one run."""
    words = _words(text)
    if len(words) < RUN:
        whole = " ".join(words)
        return {whole} if len(whole) >= LEAST_WORD else set()
    return {" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


class Erased(Struct, frozen=True, rename="camel"):
    """One thing that is gone, by name, and why it went."""

    kind: str
    name: str
    why: str


class Receipt(Struct, frozen=True, rename="camel"):
    """What an erasure did. `kept` is what still says part of it and was not derived from it; `outside` lies in other
    files. `pending` says what is still to be done, and is None once every byte was looked for and is gone."""

    erased: tuple[Erased, ...]
    remade: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    words: int = 0
    pages: int = 0
    pending: str | None = None
    beyond: str | None = None  # where a server may keep bytes of it, out of reach; absent where none can be

    def to_json(self) -> dict[str, Any]:
        return _reachable(self)


class PendingErasure(Struct, frozen=True):
    """What is deleted and still lies in a file. It has numbers and no text.

    `rows` are the memories by namespace, None where all of it went; `pages` those of the store that were touched, as
    far as they are known; `numbers` those of the deletions.
    """

    rows: dict[str, list[int] | None] = {}
    numbers: dict[str, int] = {}
    pages: list[int] = []
    unknown: bool = True  # whether further pages were touched

    def joined(self, other: PendingErasure) -> PendingErasure:
        rows = dict(self.rows)
        for key, nums in other.rows.items():
            known = rows.get(key, [])
            rows[key] = None if nums is None or known is None else [*known, *nums]
        pages = sorted({*self.pages, *other.pages})
        return PendingErasure(rows, self.numbers | other.numbers, pages, self.unknown or other.unknown)


class Trace(Struct, frozen=True, rename="camel"):
    """Where bytes of a text were found."""

    file: str
    count: int


class Proof(Struct, frozen=True, rename="camel"):
    """What a look at every byte of the store found; `finished` is False where deleted bytes are left."""

    files: int
    bytes: int
    pages: int
    finished: bool
    traces: tuple[Trace, ...] = ()
    holders: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    beyond: str | None = None  # as in a receipt

    def to_json(self) -> dict[str, Any]:
        return _reachable(self)


def _reachable(record: Receipt | Proof) -> dict[str, Any]:
    """As JSON; of a store that is a file nothing is beyond reach."""
    fields: dict[str, Any] = to_builtins(record)
    return {name: value for name, value in fields.items() if name != "beyond" or value is not None}


def forms(texts: Sequence[str]) -> list[bytes]:
    """The ways in which texts are written in files, in small letters: as they are, and inside JSON."""
    import json

    spelt = [spelling for text in texts for spelling in (text.lower(), text.casefold())]
    inside = [json.dumps(text, ensure_ascii=ascii)[1:-1] for text in spelt for ascii in (True, False)]
    octets = [text.encode("utf-8", "surrogatepass").lower() for text in (*texts, *spelt, *inside) if text.strip()]
    return sorted(set(octets))


def occurrences(data: bytes, needles: Sequence[bytes]) -> int:
    lowered = data.lower()
    return sum(lowered.count(needle) for needle in needles)
