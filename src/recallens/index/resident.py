"""A namespace's derived state in memory: columns, segments and vectors that match one number of the store's counter.

A reader's snapshot gives a number. If the version here is older, the rows changed since are applied; if there is none,
the file beside the store is mapped first. Versions are immutable, so a recall keeps the one that fits its snapshot.
"""

from __future__ import annotations

import gc
import hashlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from msgspec import structs

from recallens.config import make_private
from recallens.deadline import without
from recallens.index.columns import INTERNED, Columns
from recallens.index.erasure import erase
from recallens.index.images import (
    BY_ENCODER,
    DamagedIndex,
    Image,
    Stamp,
    checksum,
    exclusively,
    is_of_another_format,
    read_image,
    scan_of,
    write_image,
)
from recallens.index.lexical import LexicalIndex
from recallens.index.segments import Segment, from_entries, merge, silenced, with_segment
from recallens.index.vectors import VECTOR_DTYPE, VectorIndex, block_sums, build_scan, has_scans
from recallens.index.version import SEGMENT_ARRAYS, Version
from recallens.model.verdict import BoolArray, IntArray
from recallens.store.protocols import Reader
from recallens.store.records import NamespaceState

# Below this a namespace is loaded from the store in a few milliseconds, and a file would only be one thing more.
SMALLEST_IMAGE = 2_000
# A tail longer than this, and than this share of the base, is folded into a new base.
LONGEST_TAIL = 4_096
TAIL_SHARE = 0.25
# Rows that are read from the store at once: as objects of Python they take ten times the room that they end in.
ROWS_AT_ONCE = 2_000

Numbers = TypeVar("Numbers", Sequence[int], IntArray)

# Beyond this a file is made anew rather than mended.
MOST_ERASED_IN_PLACE = 1_000
_ERASED_AT = "erased"


class Resident:
    """The derived state of one namespace for its encoders, shared by the threads of a process."""

    def __init__(
        self,
        folder: Path | None,
        encoder: str | None,
        dimension: int,
        second: tuple[str, int] | None = None,
        *,
        columns_alone: bool = False,
    ) -> None:
        """`columns_alone` where the database holds the words and the vectors."""
        self._folder = folder
        self._columns_alone = columns_alone
        self._encoder = encoder
        self._dimension = dimension
        self._second = second
        self._version: Version | None = None
        self._sized: tuple[Version | None, int] = None, 0
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """About how many bytes of memory its version takes."""
        version = self._version
        if version is not self._sized[0]:
            self._sized = version, version.size if version is not None else 0
        return self._sized[1]

    @property
    def is_cold(self) -> bool:
        """Whether the next version must be loaded whole."""
        return self._version is None

    def at(self, reader: Reader, store: str, state: NamespaceState) -> Version | None:
        """The version of the reader's snapshot; None if another thread is past it: begin again."""
        wanted = Stamp(store, state.key, self._encoder or "", state.epoch, state.number)
        with self._lock, without():
            version = self._version
            if version is not None and version.stamp.number > wanted.number and version.stamp.epoch >= wanted.epoch:
                return None
            if version is None or not wanted.fits(version.stamp):
                version = self._load(wanted)
            second = self._second is not None and state.second == self._second[0] and not self._columns_alone
            if version.stamp != wanted or (version.second is None) is second:
                with _uncollected(version.columns.size == 0):
                    version = self._advance(reader, version, wanted, second=second)
            self._version = version
            return version

    def _advance(self, reader: Reader, version: Version, wanted: Stamp, *, second: bool) -> Version:
        since = version.stamp.number
        changes = reader.terms.changes(since)
        columns, first = version.columns, version.columns.size
        if not first:
            columns = Columns.empty(room=len(changes.changed))
        for part in _parts(changes.changed):
            columns = _with_rows(columns, reader, part)
        columns, _ = columns.next((), changes.removed)
        del changes  # a million numbers, while the most memory is needed
        if self._columns_alone:
            return Version(wanted, columns, LexicalIndex((), columns), None, None, columns.size)
        segments = version.segments
        if columns.size > first:
            fresh, words = columns["num"][first:], int(columns["length"][first:].sum())
            entries = (reader.terms.entries(part.tolist()) for part in _parts(fresh))
            segments = with_segment(segments, from_entries(first, fresh, entries, words))
        vectors, others = version.resident_vectors[0], None
        if vectors is not None and self._encoder is not None:
            vectors = _with_vectors(reader, self._encoder, columns, vectors, since)
        if second and self._second is not None:
            known, (key, dimension) = version.resident_vectors[1], self._second
            others = _with_vectors(
                reader, key, columns, known or VectorIndex.empty(dimension), since if known is not None else 0
            )
        following = Version(wanted, columns, LexicalIndex(segments, columns), vectors, others, version.based)
        if following.tail > LONGEST_TAIL and following.tail > TAIL_SHARE * following.based:
            following = compacted(following)
        return following

    def publish(self) -> bool:
        """Write the version as a file for other processes, if it is worth one and nobody else is at it."""
        version = self._version
        if self._folder is None or version is None or version.columns.size < SMALLEST_IMAGE:
            return False
        newest = self._newest(version.stamp)
        if newest is not None:
            vectors = sum(len(each) for each in (version.vectors, version.second) if each is not None)
            stored = newest.extra["vectors"] + newest.extra["second"]
            if max(version.columns.size - newest.extra["rows"], vectors - stored) <= LONGEST_TAIL:
                return False
        try:
            make_private(self._folder)
            with exclusively(self._folder) as alone:
                if not alone or version.stamp.number < self._erased_at():
                    return False  # something has been erased since: what is known here still holds it
                version = compacted(version)
                self._write(version)
        except OSError:
            return False  # a full disk or a read-only folder costs the next start some time, and nothing else
        with self._lock:
            if self._version is not None and self._version.stamp == version.stamp:
                self._version = version
        return True

    def erase(self, nums: Sequence[int], number: int, *, again: bool = False) -> bool:
        """Take memories, deleted at this number, out of every file; False where that was left undone.

        A file that cannot be mended goes as a whole, and `again` also one that was half mended. Nobody publishes what
        they knew before.
        """
        if self._folder is None or not self._folder.is_dir():
            return True
        try:
            with exclusively(self._folder, wait=True):
                (self._folder / _ERASED_AT).write_text(str(max(number, self._erased_at())))
                for path in self._folder.glob("*.tmp"):
                    path.unlink(missing_ok=True)
                for path in self._folder.glob("*.image"):
                    halved = again and not _is_sound(path)
                    if halved or len(nums) > MOST_ERASED_IN_PLACE or not erase(path, nums):
                        for left in (path, *(scan_of(path, name) for name in BY_ENCODER)):
                            left.unlink(missing_ok=True)
        except OSError:
            return False
        return True

    def _erased_at(self) -> int:
        assert self._folder is not None
        try:
            return int((self._folder / _ERASED_AT).read_text())
        except (OSError, ValueError):
            return 0

    def discard(self) -> None:
        """Forget the version and its files: after a deletion no byte of it may stay in them."""
        with self._lock:
            self._version = None
        self._remove_files()

    def _remove_files(self) -> None:
        if self._folder is not None:
            import shutil  # late, as it brings every kind of compression

            shutil.rmtree(self._folder, ignore_errors=True)

    def _newest(self, stamp: Stamp) -> Image | None:
        paths = self._folder.glob(f"{_stem(stamp)}-*.image") if self._folder is not None else ()
        for path in sorted(paths, reverse=True):
            image = read_image(path)
            if image is not None and stamp.fits(image.stamp):
                return image
        return None

    def _load(self, wanted: Stamp) -> Version:
        """The version of the newest file that fits, or an empty one."""
        columns = Columns.empty()
        vectors = VectorIndex.empty(self._dimension) if self._encoder is not None else None
        nothing = Version(structs.replace(wanted, number=0), columns, LexicalIndex((), columns), vectors)
        image = self._newest(wanted)
        try:
            return nothing if image is None else self._of(image)
        except FileNotFoundError:
            return nothing  # another process has just put a newer one in its place
        except DamagedIndex:
            self._remove_files()
            return nothing

    def _of(self, image: Image) -> Version:
        """The version of a file; an error where a byte of it that is read now is not as it was written."""
        # Columns and postings are read at every start. Vectors are most of the file, and checked where they are read.
        if not image.is_sound(apart_from=BY_ENCODER):
            raise DamagedIndex
        arrays, extra = image.arrays, image.extra
        columns = Columns.of(arrays, {name: extra["names"][name] for name in INTERNED})
        segment = Segment(first=0, **{name: arrays[f"segment.{name}"] for name in SEGMENT_ARRAYS})
        vectors = self._vectors_of(image, "vectors", columns.size) if self._encoder is not None else None
        others = None
        if self._second is not None and extra["second_key"] == self._second[0]:
            others = self._vectors_of(image, "second", columns.size)
        return Version(image.stamp, columns, LexicalIndex((segment,), columns), vectors, others, columns.size)

    def _vectors_of(self, image: Image, name: str, size: int) -> VectorIndex:
        arrays, extra, scan = image.arrays, image.extra, None
        if f"{name}_scan" in extra and has_scans():
            import turbovec

            assert self._folder is not None
            path = scan_of(self._folder / f"{_name(image.stamp)}.image", name)
            if not path.stat().st_size or _file_sum(path) != extra[f"{name}_scan"]:
                raise DamagedIndex
            scan = turbovec.TurboQuantIndex.load(str(path))
        elif not image.is_sound(only=name):
            raise DamagedIndex  # all of them are read at once
        sums = None if scan is None else arrays[f"{name}_sums"]
        return VectorIndex.of(arrays[name], arrays[f"{name}_rows"], size, scan, sums)

    def _write(self, version: Version) -> None:
        assert self._folder is not None
        stamp, columns = version.stamp, version.columns
        (segment,) = version.segments
        arrays = columns.arrays() | {f"segment.{name}": getattr(segment, name) for name in SEGMENT_ARRAYS}
        extra: dict[str, Any] = {
            "names": {name: _names_in_use(columns, name) for name in INTERNED},
            "rows": columns.size,
            "second_key": self._second[0] if self._second is not None and version.second is not None else None,
        }
        # Alone here, so what is half written was left by a process that died.
        older = [path for form in ("*.image", "*.scan", "*.tmp") for path in self._folder.glob(form)]
        stem = self._folder / _name(stamp)
        for name, vectors in zip(BY_ENCODER, version.resident_vectors, strict=True):
            extra[name] = len(vectors) if vectors is not None else 0
            if vectors is None:
                continue
            arrays |= {name: vectors.base, f"{name}_rows": vectors.base_rows, f"{name}_sums": block_sums(vectors.base)}
            if vectors.scan is not None:
                scan = scan_of(stem.with_suffix(".image"), name)
                vectors.scan.write(str(scan))
                scan.chmod(0o600)
                extra[f"{name}_scan"] = _file_sum(scan)
        write_image(stem.with_suffix(".image"), Image(stamp, arrays, extra))
        for path in older:
            if not path.name.startswith(f"{stem.name}."):
                path.unlink(missing_ok=True)


def _file_sum(path: Path) -> int:
    return checksum(np.memmap(path, mode="r", dtype=np.uint8))


def _stem(stamp: Stamp) -> str:
    return hashlib.sha256(stamp.encoder.encode()).hexdigest()[:12]


def _name(stamp: Stamp) -> str:
    return f"{_stem(stamp)}-{stamp.number:012d}"


def _names_in_use(columns: Columns, name: str) -> list[str]:
    codes = columns[name][columns["alive"]]
    used = np.bincount(codes[codes >= 0], minlength=len(columns.names[name].texts)) > 0
    return [text if known else "" for text, known in zip(columns.names[name].texts, used.tolist(), strict=True)]


@contextmanager
def _uncollected(many: bool) -> Iterator[None]:
    """A whole namespace is read, its rows come and go and none is in a cycle: looking for cycles would take a tenth
    more time."""
    stopped = many and gc.isenabled()
    if stopped:
        gc.disable()
    try:
        yield
    finally:
        if stopped:
            gc.enable()


def _parts(nums: Numbers) -> Iterator[Numbers]:
    for start in range(0, len(nums), ROWS_AT_ONCE):
        yield nums[start : start + ROWS_AT_ONCE]


def _with_vectors(reader: Reader, encoder: str, columns: Columns, known: VectorIndex, since: int) -> VectorIndex:
    """The vectors with those that were written after a number."""
    if not since and columns.size > LONGEST_TAIL:
        return _all_vectors(reader, encoder, columns, known)
    changed = [(num, vector) for num, _, vector in reader.vectors.changes(encoder, since)]
    if not changed and len(known.where) >= columns.size:
        return known
    rows = columns.locate([num for num, _ in changed])
    blobs = b"".join(blob for _, blob in changed)
    matrix = np.frombuffer(blobs, dtype=VECTOR_DTYPE).reshape(len(changed), known.base.shape[1])
    return known.with_rows(rows[rows >= 0], matrix[rows >= 0], columns.size)


def _all_vectors(reader: Reader, encoder: str, columns: Columns, none: VectorIndex) -> VectorIndex:
    """Every vector of a namespace, straight into the place where it stays."""
    count = reader.vectors.count(encoder)
    base = np.empty((count, none.base.shape[1]), dtype=VECTOR_DTYPE)
    rows = np.empty(count, dtype=np.int32)
    held = 0
    for part in _parts(columns["num"]):
        vectors = reader.vectors.of(encoder, part.tolist())
        blobs = np.frombuffer(b"".join([blob for _, blob in vectors]), dtype=VECTOR_DTYPE)
        place = slice(held, held + len(vectors))
        base[place] = blobs.reshape(len(vectors), base.shape[1])
        rows[place] = columns["num"].searchsorted([num for num, _ in vectors])
        held = place.stop
    base, rows = base[:held], rows[:held]
    return VectorIndex.of(base, rows, columns.size, build_scan(base))


def _with_rows(columns: Columns, reader: Reader, nums: Sequence[int]) -> Columns:
    """The columns with these memories; what a row holds that it may not is read as neutral, and it is in quarantine."""
    try:
        return columns.next(reader.terms.columns(nums), ())[0]
    except (ValueError, KeyError, TypeError, OverflowError):
        return columns.next(reader.terms.columns(nums, repaired=True), ())[0]


def compacted(version: Version) -> Version:
    """One segment, one block of vectors with its scan, and nothing of what is no longer there."""
    columns, segments = version.columns, version.segments
    gone = ~columns["alive"]
    if gone.any():
        columns = columns.silenced(gone)
    merged = (silenced(merge(segments), gone),) if segments else ()
    vectors, second = (_compacted(each, columns.size, gone) for each in version.resident_vectors)
    return Version(version.stamp, columns, LexicalIndex(merged, columns), vectors, second, columns.size)


def _compacted(vectors: VectorIndex | None, size: int, gone: BoolArray) -> VectorIndex | None:
    if vectors is None:
        return None
    if (vectors.where[:size][gone] >= 0).any():
        vectors = vectors.dropped(gone)
    return vectors.compacted(size) if len(vectors.tail_rows) or vectors.outdated else vectors


def verify_images(folder: Path) -> list[str]:
    """Read every file in full against its checksums; what is damaged is named. One that another version wrote is not:
    nothing reads it, and the next that is published takes its place."""
    if not folder.is_dir():
        return []
    return [
        f"index file {path.name} of {path.parent.name} is damaged; `recallens reindex` makes it anew"
        for path in sorted(folder.glob("*/*.image"))
        # One that another process replaced while it was being read is not damaged: it is gone.
        if not is_of_another_format(path) and not _is_sound(path) and path.exists()
    ]


def _is_sound(path: Path) -> bool:
    image = read_image(path)
    if image is None or not image.is_sound():
        return False
    try:
        sums = {name: image.extra[f"{name}_scan"] for name in BY_ENCODER if f"{name}_scan" in image.extra}
        return all(_file_sum(scan_of(path, name)) == scan for name, scan in sums.items())
    except (OSError, ValueError):
        return False
