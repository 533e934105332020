"""The store's file as pages: which of them a transaction touched, and which of their bytes belong to nothing.

SQLite overwrites what it deletes. Where it has moved a row to the next page it may leave the old bytes behind, in the
room between a page's directory and its rows: that room is found here and filled with zeros.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import apsw
import numpy as np
from msgspec import Struct

from recallens.model.verdict import IntArray

_WAL_HEADER = 32
_FRAME_HEADER = 24
_INTERIOR, _LEAF = (2, 5), (10, 13)
_FIRST_PAGE_HEADER = 100
# A row that was moved lies in one of the next pages of its tree; they have split three times at most since then.
NEIGHBOURS = 8


class PageFile(Struct):
    """The file, opened as SQLite opens it: closing it otherwise would drop the locks of this process."""

    _file: apsw.VFSFile
    size: int
    usable: int

    @staticmethod
    def open(path: Path, *, write: bool = False) -> PageFile:
        mode = apsw.SQLITE_OPEN_READWRITE if write else apsw.SQLITE_OPEN_READONLY
        file = apsw.VFSFile("", str(path.absolute()), [apsw.SQLITE_OPEN_MAIN_DB | mode, 0])
        head = file.xRead(_FIRST_PAGE_HEADER, 0)
        size = int.from_bytes(head[16:18], "big")
        size = 65_536 if size == 1 else size
        return PageFile(file, size, size - head[20])

    def __enter__(self) -> PageFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.xClose()

    @property
    def length(self) -> int:
        return self._file.xFileSize()

    def read(self, number: int) -> bytes:
        return self._file.xRead(self.size, (number - 1) * self.size)

    def chunks(self, size: int, overlap: int) -> Iterator[tuple[int, bytes]]:
        """The whole file in pieces that overlap, each with its place."""
        for at in range(0, self.length, size):
            yield at, self._file.xRead(min(size + overlap, self.length - at), at)

    # ── what belongs to nothing ──

    def void(self, number: int, page: bytes) -> list[tuple[int, int]]:
        """The stretches of a page of a tree that no row lies in; none for any other page."""
        head = _FIRST_PAGE_HEADER if number == 1 else 0
        kind = page[head]
        if kind not in _INTERIOR + _LEAF:
            return []
        rows, start = _short(page, head + 3), _short(page, head + 5) or 65_536
        directory = head + (12 if kind in _INTERIOR else 8) + 2 * rows
        void = [(directory, start)]
        block = _short(page, head + 1)
        while block and block + 4 <= self.usable:  # each says where the next is and how long it is itself
            void.append((block + 4, min(block + _short(page, block + 2), self.usable)))
            block = _short(page, block)
        return [(first, last) for first, last in void if first < last <= self.usable]

    def soiled(self, numbers: Iterable[int]) -> list[int]:
        """The pages with bytes that belong to nothing."""
        return [number for number in numbers if any(self._dirt(number))]

    def scrub(self, numbers: Iterable[int]) -> int:
        """Fill what belongs to nothing with zeros; gives how many pages it changed.

        Only for whoever holds the write lock while the log is empty: then nobody else changes a page.
        """
        changed = 0
        for number in numbers:
            dirt = list(self._dirt(number))
            for first, last in dirt:
                self._file.xWrite(bytes(last - first), (number - 1) * self.size + first)
            changed += bool(dirt)
        self._file.xSync(apsw.SQLITE_SYNC_FULL)
        return changed

    def scrub_free(self) -> int:
        """The same for pages that no tree has; gives how many of them were not empty."""
        changed, trunk = 0, int.from_bytes(self._file.xRead(4, 32), "big")
        while trunk:
            page = self.read(trunk)
            following, count = (int.from_bytes(page[at : at + 4], "big") for at in (0, 4))
            free = np.frombuffer(page, dtype=">u4", count=count, offset=8).tolist()
            spans = [(trunk, 8 + 4 * count, self.size), *((number, 0, self.size) for number in free)]
            for number, first, last in spans:
                if self.read(number)[first:last].strip(b"\0"):
                    self._file.xWrite(bytes(last - first), (number - 1) * self.size + first)
                    changed += 1
            trunk = following
        return changed

    def _dirt(self, number: int) -> Iterator[tuple[int, int]]:
        page = self.read(number)
        return (span for span in self.void(number, page) if page[span[0] : span[1]].strip(b"\0"))

    # ── which pages lie beside each other ──

    def beside(self, roots: Iterable[int], touched: Collection[int]) -> set[int]:
        """The leaves near those that were touched, in the order of each tree; it reads no leaf that is not near."""
        near: set[int] = set()
        for root in roots:
            leaves = self._leaves(root)
            for at in np.flatnonzero(np.isin(leaves, list(touched))).tolist():
                near.update(leaves[max(at - NEIGHBOURS, 0) : at + NEIGHBOURS + 1].tolist())
        return near

    def _leaves(self, root: int) -> IntArray:
        level = np.array([root], dtype=np.int64)
        while self.read(int(level[0]))[_FIRST_PAGE_HEADER if level[0] == 1 else 0] in _INTERIOR:
            level = np.concatenate([self._children(int(number)) for number in level])
        return level

    def _children(self, number: int) -> IntArray:
        page, head = self.read(number), _FIRST_PAGE_HEADER if number == 1 else 0
        octets = np.frombuffer(page, dtype=np.uint8).astype(np.int64)
        rows = np.frombuffer(page, dtype=">u2", count=_short(page, head + 3), offset=head + 12).astype(np.int64)
        at = np.append(rows, head + 8)  # the last child stands in the header
        children: IntArray = (octets[at] << 24) | (octets[at + 1] << 16) | (octets[at + 2] << 8) | octets[at + 3]
        return children


def logged(wal: Path) -> set[int]:
    """The numbers of the pages that the log holds."""
    try:
        data = wal.read_bytes()
    except FileNotFoundError:
        return set()
    size = int.from_bytes(data[8:12], "big")
    step, salt = size + _FRAME_HEADER, data[16:24]
    starts = range(_WAL_HEADER, len(data) - step + 1, step) if size else ()
    return {int.from_bytes(data[at : at + 4], "big") for at in starts if data[at + 8 : at + 16] == salt}


def _short(page: bytes, at: int) -> int:
    return int.from_bytes(page[at : at + 2], "big")
