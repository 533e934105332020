"""The ordered decisions of one recall. It is what ran, so it can be summed, stored, replayed and compared."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, assert_never

import numpy as np

from recallens.model.masks import anywhere
from recallens.model.pool import Pool
from recallens.model.quick import quick
from recallens.model.verdict import (
    ID_DTYPE,
    BoolArray,
    FloatArray,
    Found,
    Gate,
    IdArray,
    IntArray,
    Note,
    Pick,
    Round,
    Term,
    Verdict,
)

LEDGER_FORMAT = 1


@quick
@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One verdict as it was applied. `nanos` is measured and so is outside the digest and every equality."""

    stage: str
    verdict: Verdict
    considered: int
    admitted: int
    nanos: int


@quick
@dataclass(frozen=True, slots=True, eq=False)
class Ledger:
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

    def parts(self, position: int) -> dict[str, float]:
        """The score of one row as its terms; absent terms are left out."""
        return self.parts_of(np.array([position]))[0]

    def parts_of(self, positions: IntArray) -> list[dict[str, float]]:
        """The parts of several rows."""
        terms = [term for term in self.terms() if anywhere(term.computed)]
        if not terms:
            return [{} for _ in positions]
        names = [term.name for term in terms]
        deltas = zip(*(term.delta[positions].tolist() for term in terms), strict=True)
        computed = zip(*(term.computed[positions].tolist() for term in terms), strict=True)
        return [dict(compress(zip(names, row, strict=True), has)) for row, has in zip(deltas, computed, strict=True)]

    def notes(self, name: str) -> list[Mapping[str, Any]]:
        return [e.verdict.data for e in self.entries if isinstance(e.verdict, Note) and e.verdict.name == name]

    def to_json(self, *, measured: bool = True) -> dict[str, Any]:
        """A plain record. Without `measured` it holds nothing that differs between two equal recalls."""
        rows = []
        masks: Masks = {}
        for entry in self.entries:
            row: dict[str, Any] = {"stage": entry.stage, "considered": entry.considered, "admitted": entry.admitted}
            if measured:
                row["nanos"] = entry.nanos
            row["verdict"] = _verdict_to_json(entry.verdict, masks)
            rows.append(row)
        record: dict[str, Any] = {"format": LEDGER_FORMAT, "query": dict(self.query), "entries": rows}
        return record | {"silent": dict(self.silent)} if measured else record

    def canonical(self) -> bytes:
        """The record without what is measured, as JSON with its keys in order and no spaces, written as it is read.

        Most of it is arrays as text that needs no escaping: to make a record first, and to have it searched for what
        might need it, takes a third longer.
        """
        masks: dict[int, str] = {}
        entries = ",".join(
            f'{{"admitted":{entry.admitted},"considered":{entry.considered},"stage":{_quoted(entry.stage)},'
            f'"verdict":{_written(entry.verdict, masks)}}}'
            for entry in self.entries
        )
        return f'{{"entries":[{entries}],"format":{LEDGER_FORMAT},"query":{_in_order(dict(self.query))}}}'.encode()

    def digest(self) -> str:
        return hashlib.sha256(self.canonical()).hexdigest()

    def packed(self) -> bytes:
        """The record as the store keeps it."""
        return zlib.compress(json.dumps(self.to_json(), ensure_ascii=False, separators=(",", ":")).encode(), 1)

    @staticmethod
    def unpacked(data: bytes) -> Ledger:
        return Ledger.from_json(json.loads(zlib.decompress(data)))

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Ledger:
        entries = tuple(
            Entry(
                stage=row["stage"],
                verdict=_verdict_from_json(row["verdict"]),
                considered=row["considered"],
                admitted=row["admitted"],
                nanos=row.get("nanos", 0),
            )
            for row in record["entries"]
        )
        return Ledger(record["query"], entries, record.get("silent", {}))


# Masks as they are recorded, by what they are in memory: a dozen gates share two.
Masks = dict[int, dict[str, Any]]

_in_order = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode
_quoted = json.encoder.encode_basestring
_TRUTH = {True: "true", False: "false"}


def _bits(mask: BoolArray, masks: Masks) -> dict[str, Any]:
    known = masks.get(id(mask))
    if known is None:
        known = masks[id(mask)] = {"n": len(mask), "bits": _base64(np.packbits(mask).tobytes())}
    return known


def _written_bits(mask: BoolArray, masks: dict[int, str]) -> str:
    known = masks.get(id(mask))
    if known is None:
        bits = _base64(np.packbits(mask).tobytes())
        known = masks[id(mask)] = f'{{"bits":"{bits}","n":{len(mask)}}}'
    return known


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _mask(record: Mapping[str, Any]) -> BoolArray:
    packed = np.frombuffer(base64.b64decode(record["bits"]), dtype=np.uint8)
    return np.unpackbits(packed, count=record["n"]).astype(np.bool_)


def _floats(values: FloatArray) -> str:
    """Every bit of them: a record that rounds cannot be replayed."""
    return _base64(np.ascontiguousarray(values, dtype="<f8").tobytes())


def _array(packed: str) -> FloatArray:
    return np.frombuffer(base64.b64decode(packed), dtype="<f8").astype(np.float64)


def _names(ids: IdArray) -> list[str]:
    return [i.decode() for i in ids.tolist()]


def _verdict_to_json(verdict: Verdict, masks: Masks) -> dict[str, Any]:
    match verdict:
        case Found():
            return {
                "type": "found", "view": verdict.view, "ids": _names(verdict.ids), "raw": _floats(verdict.raw),
                "batch": verdict.batch, "refill": verdict.refill, "pushed": verdict.pushed, "error": verdict.error,
            }  # fmt: skip
        case Gate():
            return {
                "type": "gate", "name": verdict.name, "applies": _bits(verdict.applies, masks),
                "fails": _bits(verdict.fails, masks),
                "exempt": _bits(verdict.exempt, masks), "reason": verdict.reason,
                "pushed": list(verdict.pushed) if verdict.pushed else None,
            }  # fmt: skip
        case Term():
            return {
                "type": "term", "name": verdict.name, "delta": _floats(verdict.delta),
                "computed": _bits(verdict.computed, masks), "stats": dict(verdict.stats),
            }  # fmt: skip
        case Pick():
            return {
                "type": "pick", "name": verdict.name, "chosen": verdict.chosen.tolist(),
                "cost": _floats(verdict.cost), "reason": verdict.reason,
            }  # fmt: skip
        case Note():
            return {"type": "note", "name": verdict.name, "data": dict(verdict.data)}
        case Round():
            return {"type": "round", "number": verdict.number, "reason": verdict.reason}
    assert_never(verdict)


def _written(verdict: Verdict, masks: dict[int, str]) -> str:
    """What `_verdict_to_json` says, as `canonical` writes it."""
    match verdict:
        case Found():
            ids, error = ",".join(map(_quoted, _names(verdict.ids))), verdict.error
            return (
                f'{{"batch":{verdict.batch},"error":{"null" if error is None else _quoted(error)},"ids":[{ids}],'
                f'"pushed":{_TRUTH[verdict.pushed]},"raw":"{_floats(verdict.raw)}","refill":{_TRUTH[verdict.refill]},'
                f'"type":"found","view":{_quoted(verdict.view)}}}'
            )
        case Gate():
            pushed = "null" if not verdict.pushed else f"[{verdict.pushed[0]},{verdict.pushed[1]}]"
            return (
                f'{{"applies":{_written_bits(verdict.applies, masks)},"exempt":{_written_bits(verdict.exempt, masks)},'
                f'"fails":{_written_bits(verdict.fails, masks)},"name":{_quoted(verdict.name)},'
                f'"pushed":{pushed},"reason":{_quoted(verdict.reason)},"type":"gate"}}'
            )
        case Term():
            return (
                f'{{"computed":{_written_bits(verdict.computed, masks)},"delta":"{_floats(verdict.delta)}",'
                f'"name":{_quoted(verdict.name)},"stats":{_in_order(dict(verdict.stats))},"type":"term"}}'
            )
        case Pick():
            chosen = ",".join(map(str, verdict.chosen.tolist()))
            return (
                f'{{"chosen":[{chosen}],"cost":"{_floats(verdict.cost)}",'
                f'"name":{_quoted(verdict.name)},"reason":{_quoted(verdict.reason)},"type":"pick"}}'
            )
        case Note():
            return f'{{"data":{_in_order(dict(verdict.data))},"name":{_quoted(verdict.name)},"type":"note"}}'
        case Round():
            return f'{{"number":{verdict.number},"reason":{_quoted(verdict.reason)},"type":"round"}}'
    assert_never(verdict)


def _verdict_from_json(record: Mapping[str, Any]) -> Verdict:
    match record["type"]:
        case "found":
            ids = np.array([i.encode() for i in record["ids"]], dtype=ID_DTYPE)
            return Found(
                view=record["view"], ids=ids, raw=_array(record["raw"]), rows=np.full(len(ids), -1, dtype=np.int64),
                batch=record["batch"], refill=record["refill"], pushed=record["pushed"], error=record["error"],
            )  # fmt: skip
        case "gate":
            pushed = record["pushed"]
            return Gate(
                name=record["name"], applies=_mask(record["applies"]), fails=_mask(record["fails"]),
                exempt=_mask(record["exempt"]), reason=record["reason"],
                pushed=(pushed[0], pushed[1]) if pushed else None,
            )  # fmt: skip
        case "term":
            return Term(record["name"], _array(record["delta"]), _mask(record["computed"]), record["stats"])
        case "pick":
            chosen = np.array(record["chosen"], dtype=np.int64)
            return Pick(record["name"], chosen, _array(record["cost"]), record["reason"])
        case "note":
            return Note(record["name"], record["data"])
        case "round":
            return Round(record["number"], record["reason"])
        case other:
            raise ValueError(f"unknown verdict type {other!r} in a ledger")
