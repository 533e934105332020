"""The lines of an export: a header, a line for each row of each noun, and an end that has their digest.

docs/export.md describes them. A line is a JSON object whose `type` is a noun of `store/nouns.py`; the lines after a
`namespace` line are of that namespace. A field that is null is left out, unless one that is left out says something:
when a memory was recorded is not in exports that are older than that field, and is read off the rest of their lines.
"""

from __future__ import annotations

import binascii
import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

import msgspec
from msgspec import Raw, Struct

from recallens.errors import InvalidInput
from recallens.model.memory import recorded_unsaid
from recallens.store.nouns import JSON_KINDS, NOUNS, FieldKind, Noun, NounField, Row

FORMAT: Final = "recallens-export"
VERSION: Final = 1
# The longest text that a memory or a log can have, escaped, and what else a line has.
LONGEST_LINE: Final = 64 * 1024 * 1024
# The one field that came after the first exports, and what it is read off where a line has none.
_MEMORY: Final = NOUNS["memory"]
_PLACES: Final = {field.column: place for place, field in enumerate(_MEMORY.carried)}
_LATER: Final = _PLACES["recorded"]
_READ_OFF: Final = tuple(_PLACES[column] for column in ("id", "zone", "source", "created"))
_encode = msgspec.json.Encoder().encode
_decode_line = msgspec.json.Decoder(dict[str, Raw]).decode
_decode = msgspec.json.Decoder().decode


class Header(Struct, frozen=True, tag=FORMAT, forbid_unknown_fields=True):
    """`counts` are the lines of each type in each namespace, "" is the store; `numbers` the highest ever given out."""

    version: int
    namespaces: tuple[str, ...]
    counts: Mapping[str, Mapping[str, int]]
    numbers: Mapping[str, int]


class End(Struct, frozen=True, tag="end", forbid_unknown_fields=True):
    """`lines` are all but this one, `sha256` is of their bytes."""

    lines: int
    sha256: str


class LineWriter:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self.lines = 0

    def header(self, header: Header) -> None:
        self._write(_encode(header))

    def row(self, noun: Noun, row: Row) -> None:
        record: dict[str, Any] = {"type": noun.name}
        for field, value in zip(noun.carried, row, strict=True):
            if value is not None:
                record[field.name] = _written(field, value)
        if noun is _MEMORY and row[_LATER] is None and _unsaid(row) is not None:
            record[noun.carried[_LATER].name] = None
        self._write(_encode(record))

    def end(self) -> None:
        self._stream.write(_encode(End(self.lines, self._digest.hexdigest())) + b"\n")

    def _write(self, line: bytes) -> None:
        line += b"\n"
        self._digest.update(line)
        self._stream.write(line)
        self.lines += 1


def _unsaid(row: Row) -> int | None:
    """What the later field of a memory's row is, where its line does not name it."""
    return recorded_unsaid(*(row[place] for place in _READ_OFF))


def _written(field: NounField, value: Any) -> Any:
    if field.kind in JSON_KINDS and "\n" not in value:
        return Raw(value.encode())
    return b64encode(value).decode() if field.kind is FieldKind.BYTES else value


class LineReader:
    """Reads an export once, in order. What is wrong is raised with the number of its line."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self.number = 0
        self.size = 0  # of the last line

    def header(self) -> Header:
        line = self._next()
        try:
            version = _decode(line).get("version")
            if version != VERSION and isinstance(version, int):
                raise InvalidInput(
                    f"this export is of version {version}, and version {VERSION} can be read",
                    hint="Use the Recallens that made it, or a newer one.",
                )
            header = msgspec.json.decode(line, type=Header)
        except (msgspec.MsgspecError, AttributeError, UnicodeDecodeError) as error:
            raise InvalidInput(
                f"line 1: this is no export of Recallens ({error})",
                hint="`recallens export FILE` makes one; `recallens remember --jsonl FILE` takes lines of memories.",
            ) from error
        self._digest.update(line)
        return header

    def rows(self) -> Iterator[tuple[Noun, Row]]:
        """Every row up to the end, whose digest has to fit."""
        while True:
            line = self._next()
            record = self._record(line)
            if record.get("type") == b'"end"':
                self._check(line)
                return
            self._digest.update(line)
            yield self._row(record)

    def _next(self) -> bytes:
        self.number += 1
        line = self._stream.readline(LONGEST_LINE)
        self.size = len(line)
        if not line.endswith(b"\n"):
            if len(line) >= LONGEST_LINE:
                raise self.wrong(f"longer than {LONGEST_LINE:,} bytes, which no line of an export is")
            raise self.wrong("the file ends here, without its last line: it was cut off")
        return line

    def wrong(self, what: str) -> InvalidInput:
        return InvalidInput(f"line {self.number:,}: {what}", hint="Nothing was imported.")

    def _record(self, line: bytes) -> dict[str, bytes]:
        try:
            return {name: bytes(value) for name, value in _decode_line(line).items()}
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self.wrong(f"not a JSON object ({error})") from error

    def _row(self, record: dict[str, bytes]) -> tuple[Noun, Row]:
        name = _plain(record.pop("type", b"null"))
        noun = NOUNS.get(name) if isinstance(name, str) else None
        if noun is None:
            raise self.wrong(f"unknown type {name!r}; use one of: {', '.join(NOUNS)}")
        is_older = noun is _MEMORY and noun.carried[_LATER].name not in record
        values = tuple(self._value(noun, field, record.pop(field.name, None)) for field in noun.carried)
        if is_older:
            values = (*values[:_LATER], _unsaid(values), *values[_LATER + 1 :])
        if record:
            names = ", ".join(field.name for field in noun.carried)
            raise self.wrong(f"unknown field {next(iter(record))!r}; a {noun.name} has: {names}")
        return noun, values

    def _value(self, noun: Noun, field: NounField, written: bytes | None) -> Any:
        value = None if written is None else _plain(written)
        if value is None and not field.optional:
            raise self.wrong(f"a {noun.name} needs {field.name!r}: {field.wanted()}")
        if field.kind is FieldKind.BYTES and isinstance(value, str):
            try:
                value = b64decode(value, validate=True)
            except binascii.Error:
                value = ""
        kept = value
        if field.kind in JSON_KINDS and written is not None:
            # A JSON text of several lines is written as a text, so that a line stays one.
            kept = value if isinstance(value, str) else written.decode()
            value = _plain(kept.encode())
        if not field.accepts(value):
            raise self.wrong(f"{field.name} of a {noun.name} is {_short(written)}; it must be {field.wanted()}")
        return int(kept) if field.kind is FieldKind.FLAG and kept is not None else kept

    def _check(self, line: bytes) -> None:
        try:
            end = msgspec.json.decode(line, type=End)
        except msgspec.MsgspecError as error:
            raise self.wrong(f"the last line is not as it should be ({error})") from error
        if (end.lines, end.sha256) != (self.number - 1, self._digest.hexdigest()):
            raise self.wrong("the lines are not those that were written: their digest differs")
        if self._stream.read(1):
            self.number += 1
            raise self.wrong("something follows the last line of the export")


def _plain(written: bytes) -> Any:
    try:
        return _decode(written)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _short(written: bytes | None) -> str:
    text = (written or b"null").decode("utf-8", "replace")
    return text if len(text) <= 60 else f"{text[:59]}…"


def moved(noun: Noun, row: Row, bases: Mapping[str, int]) -> Row:
    """The row with its numbers moved past those that are taken: what refers to a row still refers to it."""
    places = {FieldKind.MEMORY: "memory", FieldKind.VAULT: "vault", FieldKind.ROW: noun.name}
    return tuple(
        value if value is None or field.kind not in places else value + bases.get(places[field.kind], 0)
        for field, value in zip(noun.carried, row, strict=True)
    )


def named(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
