"""The constants of an ONNX file, by name, read without any library: a file is nested fields, each a number and a value.

https://protobuf.dev/programming-guides/encoding/ and onnx.proto, of which only these fields are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

_GRAPH, _INITIALIZER = 7, 5
_DIMENSIONS, _TYPE, _NAME, _RAW = 1, 2, 8, 9
_TYPES: Final = {1: "<f4", 3: "i1", 7: "<i8"}  # of those that occur


def weights(model: bytes) -> dict[str, NDArray[np.generic]]:
    whole = memoryview(model)
    graph = next(value for number, value in _fields(whole) if number == _GRAPH and not isinstance(value, int))
    tensors = (value for number, value in _fields(graph) if number == _INITIALIZER and not isinstance(value, int))
    return dict(filter(None, map(_tensor, tensors)))


def _tensor(data: memoryview) -> tuple[str, NDArray[np.generic]] | None:
    name, kind, shape, raw = "", 0, list[int](), memoryview(b"")
    for number, value in _fields(data):
        if number == _DIMENSIONS:
            shape += [value] if isinstance(value, int) else _numbers(value)
        elif number == _TYPE and isinstance(value, int):
            kind = value
        elif number == _NAME and not isinstance(value, int):
            name = bytes(value).decode("utf-8")
        elif number == _RAW and not isinstance(value, int):
            raw = value
    return (name, np.frombuffer(raw, _TYPES[kind]).reshape(shape)) if kind in _TYPES and len(raw) else None


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        match key & 7:
            case 0:
                value, at = _number(data, at)
                yield key >> 3, value
                continue
            case 2:
                length, at = _number(data, at)
            case 5:
                length = 4
            case _:
                length = 8
        yield key >> 3, data[at : at + length]
        at += length


def _number(data: memoryview, at: int) -> tuple[int, int]:
    """Seven bits a byte, the lowest first; the last byte is below 128."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if byte < 128:
            return value, at


def _numbers(data: memoryview) -> list[int]:
    values, at = [], 0
    while at < len(data):
        value, at = _number(data, at)
        values.append(value)
    return values
