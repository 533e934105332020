"""Derived state as files beside the store: mapped, not read, and replaced whole by an atomic rename.

A file is a line of JSON (what it is an image of, and where each array lies), then the arrays. It is stamped with the
store, the namespace, the encoder and the namespace's number; one that does not fit is ignored and made anew.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

FORMAT = 3
_ALIGNMENT = 64
_HEADER_ROOM = 16  # the header's length and its checksum, as eight hexadecimal digits each


class Stamp(Struct, frozen=True):
    store: str
    namespace: int
    encoder: str
    epoch: int
    number: int

    def fits(self, other: Stamp) -> bool:
        """Whether an image with the other stamp is an earlier or equal state of the same thing."""
        return structs.replace(other, number=self.number) == self and other.number <= self.number


class Image(Struct, frozen=True, eq=False):
    stamp: Stamp
    arrays: Mapping[str, NDArray[Any]]
    extra: Mapping[str, Any]


def write_image(path: Path, image: Image) -> None:
    layout: list[dict[str, Any]] = []
    offset = 0
    for name, values in image.arrays.items():
        offset = -(-offset // _ALIGNMENT) * _ALIGNMENT
        crc = zlib.crc32(np.ascontiguousarray(values).view(np.uint8).reshape(-1).data) if values.size else 0
        layout.append({"name": name, "dtype": values.dtype.str, "shape": list(values.shape), "at": offset, "crc": crc})
        offset += values.nbytes
    stamp = structs.asdict(image.stamp)
    record = {"format": FORMAT, "stamp": stamp, "arrays": layout, "bytes": offset, "extra": image.extra}
    header = json.dumps(record, ensure_ascii=False).encode()
    start = _start(len(header))
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(f"{len(header):08x}{zlib.crc32(header):08x}".encode())
            file.write(header)
            for place, values in zip(layout, image.arrays.values(), strict=True):
                file.seek(start + place["at"])
                file.write(np.ascontiguousarray(values).data)
            file.truncate(start + offset)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _start(header_length: int) -> int:
    return -(-(_HEADER_ROOM + header_length) // _ALIGNMENT) * _ALIGNMENT


def read_image(path: Path, *, verify: bool = False) -> Image | None:
    """The image, mapped; None if the file is not a whole one. `verify` reads every byte against its checksum."""
    try:
        with path.open("rb") as file:
            room = file.read(_HEADER_ROOM)
            length, crc = int(room[:8], 16), int(room[8:], 16)
            header = file.read(length)
        if zlib.crc32(header) != crc:
            return None
        record = json.loads(header)
        if record["format"] != FORMAT or path.stat().st_size != _start(length) + record["bytes"]:
            return None
        arrays = {}
        for place in record["arrays"]:
            arrays[place["name"]] = _mapped(path, place, _start(length))
            if verify and zlib.crc32(arrays[place["name"]].tobytes()) != place["crc"]:
                return None
        return Image(Stamp(**record["stamp"]), arrays, record["extra"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _mapped(path: Path, place: Mapping[str, Any], start: int) -> NDArray[Any]:
    shape, dtype = tuple(place["shape"]), np.dtype(place["dtype"])
    if 0 in shape:
        return np.empty(shape, dtype=dtype)
    return np.memmap(path, mode="r", dtype=dtype, shape=shape, offset=start + place["at"]).view(np.ndarray)


@contextmanager
def exclusively(folder: Path) -> Iterator[bool]:
    """Whether this process is the one that may replace the files in the folder; it never waits."""
    try:
        import fcntl
    except ImportError:  # no advisory locks here: renames are atomic all the same, the work may be done twice
        yield True
        return
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
