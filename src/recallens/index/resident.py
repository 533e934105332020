"""A namespace's derived state in memory: columns, segments and vectors that match one number of the store's counter.

A reader's snapshot gives a number. If the version here is older, the rows changed since are applied; if there is none,
the file beside the store is mapped first. Versions are immutable, so a recall keeps the one that fits its snapshot.
"""

from __future__ import annotations

import gc
import hashlib
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, structs

from recallens.config import make_private
from recallens.deadline import without
from recallens.index.columns import INTERNED, Columns
from recallens.index.erasure import erase
from recallens.index.images import DamagedIndex, Image, Stamp, checksum, exclusively, read_image, write_image
from recallens.index.lexical import LexicalIndex
from recallens.index.segments import Segment, from_entries, merge, silenced, with_segment
from recallens.index.vectors import EXACT_ROWS, VECTOR_DTYPE, VectorIndex, block_sums, build_scan
from recallens.model.verdict import BoolArray
from recallens.store.protocols import Reader
from recallens.store.records import NamespaceState

# Below this a namespace is loaded from the store in a few milliseconds, and a file would only be one thing more.
SMALLEST_IMAGE = 2_000
# A tail longer than this, and than this share of the base, is folded into a new base.
LONGEST_TAIL = 4_096
TAIL_SHARE = 0.25
# Rows that are read from the store at once: as objects of Python they take ten times the room that they end in.
ROWS_AT_ONCE = 10_000

# Beyond this a file is made anew rather than mended.
MOST_ERASED_IN_PLACE = 1_000
_ERASED_AT = "erased"

_SEGMENT_ARRAYS = ("offsets", "forward", "terms", "starts", "rows", "counts")


class Version(Struct, frozen=True, eq=False):
    """Everything the views need, at one number."""

    stamp: Stamp
    columns: Columns
    lexical: LexicalIndex
    vectors: VectorIndex | None
    based: int = 0
    _scoped: list[Mapping[str, BoolArray]] = []  # by scope, once they were read

    def open_to(self, reader: Reader, held: Collection[str]) -> BoolArray | None:
        """The rows that are meant for no context but these; None where all are. It is the same for a version."""
        if not self._scoped:
            nums: dict[str, list[int]] = {}
            for scope, num in reader.memories.scoped():
                nums.setdefault(scope, []).append(num)
            self._scoped.append({scope: self.columns.mask_of(own) for scope, own in nums.items()})
        bound = [rows for scope, rows in self._scoped[0].items() if scope not in held]
        return ~np.logical_or.reduce(bound) if bound else None

    @property
    def tail(self) -> int:
        """Rows and vectors that came after the stored base."""
        vectors = len(self.vectors.tail_rows) if self.vectors is not None else 0
        return max(self.columns.size - self.based, vectors)


class Resident:
    """The derived state of one namespace for one encoder, shared by the threads of a process."""

    def __init__(self, folder: Path | None, encoder: str | None, dimension: int) -> None:
        self._folder = folder
        self._encoder = encoder
        self._dimension = dimension
        self._version: Version | None = None
        self._lock = threading.Lock()

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
            if version.stamp != wanted:
                version = self._advance(reader, version, wanted)
            self._version = version
            return version

    def _advance(self, reader: Reader, version: Version, wanted: Stamp) -> Version:
        since = version.stamp.number
        changes = reader.terms.changes(since)
        columns, first = version.columns, version.columns.size
        if not first:
            columns = Columns.empty(room=len(changes.changed))
        with _uncollected(len(changes.changed) > ROWS_AT_ONCE):
            for part in _parts(changes.changed):
                columns = _with_rows(columns, reader, part)
        columns, _ = columns.next((), changes.removed)
        segments = version.lexical.segments
        if columns.size > first:
            fresh, words = columns["num"][first:], int(columns["length"][first:].sum())
            entries = (reader.terms.entries(part) for part in _parts(fresh.tolist()))
            segments = with_segment(segments, from_entries(first, fresh, entries, words))
        vectors = version.vectors
        if vectors is not None and self._encoder is not None and not first and columns.size > LONGEST_TAIL:
            vectors = _all_vectors(reader, self._encoder, columns, vectors)
        elif vectors is not None and self._encoder is not None:
            # The index holds one vector a memory: its first part.
            changed = [(num, vector) for num, part, vector in reader.vectors.changes(self._encoder, since) if not part]
            if changed or len(vectors.where) < columns.size:
                rows = columns.locate([num for num, _ in changed])
                blobs = b"".join(blob for _, blob in changed)
                matrix = np.frombuffer(blobs, dtype=VECTOR_DTYPE).reshape(len(changed), vectors.base.shape[1])
                vectors = vectors.with_rows(rows[rows >= 0], matrix[rows >= 0], columns.size)
        following = Version(wanted, columns, LexicalIndex(segments, columns), vectors, version.based)
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
            vectors = len(version.vectors) if version.vectors is not None else 0
            behind = version.columns.size - newest.extra["rows"], vectors - newest.extra["vectors"]
            if max(behind) <= LONGEST_TAIL:
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
                        for left in (path, path.with_suffix(".scan")):
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
        if not image.is_sound(apart_from="vectors"):
            raise DamagedIndex
        vectors = None
        arrays, extra = image.arrays, image.extra
        columns = Columns.of(arrays, {name: extra["names"][name] for name in INTERNED})
        segment = Segment(first=0, **{name: arrays[f"segment.{name}"] for name in _SEGMENT_ARRAYS})
        if self._encoder is not None:
            scan = None
            if extra["vectors"] > EXACT_ROWS:
                import turbovec

                assert self._folder is not None
                path = self._folder / f"{_name(image.stamp)}.scan"
                if not path.stat().st_size or _file_sum(path) != extra["scan"]:
                    raise DamagedIndex
                scan = turbovec.TurboQuantIndex.load(str(path))
            elif not image.is_sound():
                raise DamagedIndex  # few enough that all of them are read at once
            sums = None if scan is None else arrays["vector_sums"]
            vectors = VectorIndex.of(arrays["vectors"], arrays["vector_rows"], columns.size, scan, sums)
        return Version(image.stamp, columns, LexicalIndex((segment,), columns), vectors, columns.size)

    def _write(self, version: Version) -> None:
        assert self._folder is not None
        stamp, columns = version.stamp, version.columns
        (segment,) = version.lexical.segments
        arrays = columns.arrays() | {f"segment.{name}": getattr(segment, name) for name in _SEGMENT_ARRAYS}
        vectors = version.vectors
        if vectors is not None:
            arrays |= {"vectors": vectors.base, "vector_rows": vectors.base_rows}
            arrays |= {"vector_sums": block_sums(vectors.base)}
        extra: dict[str, Any] = {
            "names": {name: _names_in_use(columns, name) for name in INTERNED},
            "rows": columns.size,
            "vectors": len(vectors) if vectors is not None else 0,
        }
        # Alone here, so what is half written was left by a process that died.
        older = [path for form in ("*.image", "*.scan", "*.tmp") for path in self._folder.glob(form)]
        stem = self._folder / _name(stamp)
        if vectors is not None and vectors.scan is not None:
            scan = stem.with_suffix(".scan")
            vectors.scan.write(str(scan))
            scan.chmod(0o600)
            extra["scan"] = _file_sum(scan)
        write_image(stem.with_suffix(".image"), Image(stamp, arrays, extra))
        for path in older:
            if path.stem != stem.name:
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
    """Rows come and go by the hundred thousand, none in a cycle: looking for cycles would take a quarter more time."""
    stopped = many and gc.isenabled()
    if stopped:
        gc.disable()
    try:
        yield
    finally:
        if stopped:
            gc.enable()


def _parts(nums: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(nums), ROWS_AT_ONCE):
        yield nums[start : start + ROWS_AT_ONCE]


def _all_vectors(reader: Reader, encoder: str, columns: Columns, none: VectorIndex) -> VectorIndex:
    """Every vector of a namespace, straight into the place where it stays."""
    base = np.empty((columns.size, none.base.shape[1]), dtype=VECTOR_DTYPE)
    rows = np.empty(columns.size, dtype=np.int32)
    held = 0
    for part in _parts(columns["num"].tolist()):
        vectors = reader.vectors.of(encoder, part)
        blobs = np.frombuffer(b"".join([blob for _, blob in vectors]), dtype=VECTOR_DTYPE)
        place = slice(held, held + len(vectors))
        base[place] = blobs.reshape(len(vectors), base.shape[1])
        rows[place] = columns["num"].searchsorted([num for num, _ in vectors])
        held = place.stop
    base, rows = base[:held], rows[:held]
    return VectorIndex.of(base, rows, columns.size, build_scan(base) if held > EXACT_ROWS else None)


def _with_rows(columns: Columns, reader: Reader, nums: Sequence[int]) -> Columns:
    """The columns with these memories; what a row holds that it may not is read as neutral, and it is in quarantine."""
    try:
        return columns.next(reader.terms.columns(nums), ())[0]
    except (ValueError, KeyError, TypeError, OverflowError):
        return columns.next(reader.terms.columns(nums, repaired=True), ())[0]


def compacted(version: Version) -> Version:
    """One segment, one block of vectors with its scan, and nothing of what is no longer there."""
    columns, segments = version.columns, version.lexical.segments
    vectors, gone = version.vectors, ~columns["alive"]
    if gone.any():
        columns = columns.silenced(gone)
        if vectors is not None and (vectors.where[: columns.size][gone] >= 0).any():
            vectors = vectors.dropped(gone)
    merged = (silenced(merge(segments), gone),) if segments else ()
    if vectors is not None and (len(vectors.tail_rows) or vectors.outdated):
        vectors = vectors.compacted(columns.size)
    return Version(version.stamp, columns, LexicalIndex(merged, columns), vectors, columns.size)


def verify_images(folder: Path) -> list[str]:
    """Read every file in full against its checksums; what is damaged is named."""
    if not folder.is_dir():
        return []
    return [
        f"index file {path.name} of {path.parent.name} is damaged; `recallens reindex` makes it anew"
        for path in sorted(folder.glob("*/*.image"))
        # One that another process replaced while it was being read is not damaged: it is gone.
        if not _is_sound(path) and path.exists()
    ]


def _is_sound(path: Path) -> bool:
    image = read_image(path)
    if image is None or not image.is_sound():
        return False
    try:
        return "scan" not in image.extra or _file_sum(path.with_suffix(".scan")) == image.extra["scan"]
    except (OSError, ValueError):
        return False
