"""Derived state as files beside the store: mapped, not read, and replaced whole by an atomic rename.

A file is a line of JSON (what it is an image of, and where each array lies), then the arrays. It is stamped with the
store, the namespace, the encoder and the namespace's number; one that does not fit is ignored and made anew.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

FORMAT = 10
# The arrays of vectors: of the store's encoder, and of the one that reads what that cannot.
BY_ENCODER = ("vectors", "second")
_ALIGNMENT = 64
_ROOM_FOR_A_SUM = 24
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


class DamagedIndex(Exception):
    """A byte of an index file differs from what was written. Whoever asked makes the index anew and asks again."""


class Image(Struct, frozen=True, eq=False):
    """`sums` has the checksum of each array as it was written."""

    stamp: Stamp
    arrays: Mapping[str, NDArray[Any]]
    extra: Mapping[str, Any]
    sums: Mapping[str, int] = {}

    def is_sound(self, *, apart_from: Sequence[str] = (), only: str | None = None) -> bool:
        """Whether every array, or only one, is as it was written; it reads each of them in full."""
        names = [name for name in self.arrays if name not in apart_from] if only is None else [only]
        return all(checksum(self.arrays[name]) == self.sums[name] for name in names)


def scan_of(image: Path, name: str) -> Path:
    """The file of the quantised vectors that belongs to an image."""
    return image.with_suffix(".scan" if name == BY_ENCODER[0] else f".{name}.scan")


def checksum(values: NDArray[Any]) -> int:
    """The sum of the array's bytes as 64-bit words: any changed byte changes it, and it is read as fast as memory is.

    A cyclic redundancy check takes eight times as long, which at a million memories is most of a cold start.
    """
    octets = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    whole = len(octets) // 8 * 8
    rest = int.from_bytes(octets[whole:].tobytes(), "little")
    return (int(np.add.reduce(octets[:whole].view(np.uint64), dtype=np.uint64)) + rest) % 2**64


def write_image(path: Path, image: Image) -> None:
    layout: list[dict[str, Any]] = []
    offset = 0
    for name, values in image.arrays.items():
        offset = -(-offset // _ALIGNMENT) * _ALIGNMENT
        shape = list(values.shape)
        layout.append({"name": name, "dtype": values.dtype.str, "shape": shape, "at": offset, "sum": checksum(values)})
        offset += values.nbytes
    stamp = structs.asdict(image.stamp)
    record = {"format": FORMAT, "stamp": stamp, "arrays": layout, "bytes": offset, "extra": image.extra}
    header = json.dumps(record, ensure_ascii=False).encode()
    header += b" " * (_ROOM_FOR_A_SUM * (len(layout) + 1))  # so that it can be written again in its place
    start = _start(len(header))
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(_framed(header))
            for place, values in zip(layout, image.arrays.values(), strict=True):
                file.seek(start + place["at"])
                file.write(np.ascontiguousarray(values).data)
            file.truncate(start + offset)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _framed(header: bytes) -> bytes:
    return f"{len(header):08x}{zlib.crc32(header):08x}".encode() + header


def _start(header_length: int) -> int:
    return -(-(_HEADER_ROOM + header_length) // _ALIGNMENT) * _ALIGNMENT


def _header(path: Path) -> tuple[int, Any]:
    """The length of an image's header, and what it says; a ValueError where it is not as it was written."""
    with path.open("rb") as file:
        room = file.read(_HEADER_ROOM)
        length, crc = int(room[:8], 16), int(room[8:], 16)
        header = file.read(length)
    if zlib.crc32(header) != crc:
        raise ValueError(f"the header of {path} is damaged")
    return length, json.loads(header)


def is_of_another_format(path: Path) -> bool:
    """Whether another version of Recallens wrote the image: it is not read here, and the next writer makes it anew."""
    try:
        return bool(_header(path)[1]["format"] != FORMAT)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def read_image(path: Path) -> Image | None:
    """The image, mapped; None if the file is not a whole one. Its arrays have not been read yet."""
    try:
        length, record = _header(path)
        if record["format"] != FORMAT or path.stat().st_size != _start(length) + record["bytes"]:
            return None
        arrays = {place["name"]: _mapped(path, place, _start(length)) for place in record["arrays"]}
        sums = {place["name"]: int(place["sum"]) for place in record["arrays"]}
        return Image(Stamp(**record["stamp"]), arrays, record["extra"], sums)
    except (OSError, ValueError, KeyError, TypeError):
        return None


class OpenImage:
    """An image whose bytes are overwritten where they lie, and its checksums with them. Whoever has it mapped sees it.

    A reader that comes in between finds a checksum that does not fit, and makes the index anew.
    """

    def __init__(self, path: Path) -> None:
        """A ValueError where the file is not a whole image."""
        image = read_image(path)
        if image is None:
            raise ValueError(f"{path} is no whole image")
        self._octets = np.memmap(path, mode="r+", dtype=np.uint8)
        self._length = int(bytes(self._octets[:8]), 16)
        self._record = json.loads(bytes(self._octets[_HEADER_ROOM : _HEADER_ROOM + self._length]))
        self._places = {place["name"]: place for place in self._record["arrays"]}
        self.stamp, self.arrays = image.stamp, image.arrays
        self.extra: dict[str, Any] = self._record["extra"]

    def put(self, name: str, at: int, values: NDArray[Any]) -> None:
        """Overwrite a stretch of an array, from its element or row `at` on."""
        place = self._places[name]
        whole = self.arrays[name]
        width = whole.itemsize * int(np.prod(whole.shape[1:], dtype=np.int64))
        new = np.ascontiguousarray(values, dtype=whole.dtype).reshape(-1).view(np.uint8)
        first = at * width
        # The sum is of words of eight bytes, so that of the words around the stretch tells by how much it changes.
        low, high = first // 8 * 8, min(-(-(first + len(new)) // 8) * 8, whole.nbytes)
        start = _start(self._length) + place["at"]
        words = self._octets[start + low : start + high]
        before = checksum(words)
        words[first - low : first - low + len(new)] = new
        place["sum"] = (int(place["sum"]) - before + checksum(words)) % 2**64

    def close(self) -> bool:
        """Write the header again and wait for the disk; False where it has outgrown its room."""
        header = json.dumps(self._record, ensure_ascii=False).encode()
        fits = len(header) <= self._length
        if fits:
            framed = _framed(header.ljust(self._length))
            self._octets[: len(framed)] = np.frombuffer(framed, dtype=np.uint8)
        self._octets.flush()
        return fits


def _mapped(path: Path, place: Mapping[str, Any], start: int) -> NDArray[Any]:
    shape, dtype = tuple(place["shape"]), np.dtype(place["dtype"])
    if 0 in shape:
        return np.empty(shape, dtype=dtype)
    return np.memmap(path, mode="r", dtype=dtype, shape=shape, offset=start + place["at"]).view(np.ndarray)


@contextmanager
def exclusively(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Whether this process is the one that may replace the files in the folder; else it waits only if told to."""
    try:
        import fcntl
    except ImportError:  # no advisory locks here: renames are atomic all the same, the work may be done twice
        yield True
        return
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            yield False
            return
        yield True
