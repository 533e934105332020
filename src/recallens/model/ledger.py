"""The ordered decisions of one recall. It is what ran, so it can be summed, stored, replayed and compared."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from recallens.model.pool import Pool
from recallens.model.verdict import (
    ID_DTYPE,
    BoolArray,
    FloatArray,
    IdArray,
    IntArray,
    Note,
    Round,
    Term,
    Verdict,
)

LEDGER_FORMAT = 1


class Entry(Struct, frozen=True, eq=False, kw_only=True):
    """One verdict as it was applied. `nanos` is measured and so is outside the digest and every equality."""

    stage: str
    considered: int
    admitted: int
    nanos: int = 0
    verdict: Verdict


class Ledger(Struct, frozen=True, eq=False):
    """Everything that one recall decided, in order, with the query it decided for.

    `silent` is measured too: the nanoseconds, by stage, in which nothing was decided, as in a walk that led nowhere.
    """

    query: Mapping[str, Any]
    entries: tuple[Entry, ...]
    silent: Mapping[str, int] = field(default_factory=dict)

    def replay(self) -> Pool:
        """Apply the recorded verdicts again, from nothing."""
        pool = Pool()
        for entry in self.entries:
            pool = pool.apply(entry.verdict)
        return pool

    def last_round(self) -> tuple[Entry, ...]:
        """The entries whose terms and picks count: those after the last new beginning."""
        for at in range(len(self.entries) - 1, -1, -1):
            if isinstance(self.entries[at].verdict, Round):
                return self.entries[at + 1 :]
        return self.entries

    def terms(self) -> Iterator[Term]:
        return (entry.verdict for entry in self.last_round() if isinstance(entry.verdict, Term))

    def parts_of(self, positions: IntArray) -> list[dict[str, float]]:
        """The score of each row as its terms; absent terms are left out."""
        parts: list[dict[str, float]] = [{} for _ in positions]
        for term in self.terms():
            deltas, computed = term.delta[positions].tolist(), term.computed[positions].tolist()
            for row, delta, has in zip(parts, deltas, computed, strict=True):
                if has:
                    row[term.name] = delta
        return parts

    def notes(self, name: str) -> list[Mapping[str, Any]]:
        return [e.verdict.data for e in self.entries if isinstance(e.verdict, Note) and e.verdict.name == name]

    def to_json(self) -> dict[str, Any]:
        """A plain record, from which `from_json` makes the same ledger."""
        record: dict[str, Any] = msgspec.to_builtins(self, enc_hook=_plain)
        return {"format": LEDGER_FORMAT, **record}

    def canonical(self) -> bytes:
        """What the digest is made of: the record without what is measured, as JSON with sorted keys and no spaces.

        Python's own writer makes it, whose spelling of a float is the one that every stored digest rests on.
        """
        return _canonical(self.to_json())

    def digest(self) -> str:
        return hashlib.sha256(self.canonical()).hexdigest()

    def packed(self) -> bytes:
        """The record as the store keeps it."""
        return zlib.compress(msgspec.json.encode(self.to_json()), 1)

    def kept(self) -> tuple[str, bytes]:
        """The digest and the record as the store keeps it, from one look at every verdict."""
        record = self.to_json()
        packed = zlib.compress(msgspec.json.encode(record), 1)
        return hashlib.sha256(_canonical(record)).hexdigest(), packed

    @staticmethod
    def unpacked(data: bytes) -> Ledger:
        return _read(lambda: _READER.decode(zlib.decompress(data)))

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Ledger:
        return _read(lambda: msgspec.convert(record, Ledger, dec_hook=_array))


def _canonical(record: dict[str, Any]) -> bytes:
    del record["silent"]
    for entry in record["entries"]:
        del entry["nanos"]
    return _CANONICAL.encode(record).encode()


# ── arrays in a record: masks as bits, scores with every bit (one that rounds cannot be replayed), ids as text ──


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        match value.dtype.kind:
            case "b":
                return {"n": len(value), "bits": base64.b64encode(np.packbits(value).tobytes()).decode()}
            case "f":
                return base64.b64encode(np.asarray(value, dtype="<f8").tobytes()).decode()
            case "S":
                return [id.decode() for id in value.tolist()]
            case _:
                return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(f"a ledger holds no {type(value).__name__}")


def _mask(record: Mapping[str, Any]) -> BoolArray:
    packed = np.frombuffer(base64.b64decode(record["bits"]), dtype=np.uint8)
    return np.unpackbits(packed, count=record["n"]).astype(np.bool_)


_ARRAYS: Final[Mapping[Any, Callable[[Any], NDArray[Any]]]] = {
    IdArray: lambda ids: np.array([id.encode() for id in ids], dtype=ID_DTYPE),
    IntArray: lambda numbers: np.array(numbers, dtype=np.int64),
    BoolArray: _mask,
    FloatArray: lambda packed: np.frombuffer(base64.b64decode(packed), dtype="<f8").astype(np.float64),
}


def _array(kind: Any, value: Any) -> NDArray[Any]:
    return _ARRAYS[kind](value)


def _read(read: Callable[[], Ledger]) -> Ledger:
    try:
        return read()
    except msgspec.ValidationError as error:
        raise ValueError(f"it cannot be read as a ledger: {error}") from error


_CANONICAL: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
_READER: Final = msgspec.json.Decoder(Ledger, dec_hook=_array)
