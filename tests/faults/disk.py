"""A disk between SQLite and the file: it notes every write and every sync, and can fail at any of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw

SECTOR = 512  # what a disk writes whole, or not at all


class Step(NamedTuple):
    """What reached the disk: bytes at a place, an end that was cut, or the promise that all before is kept."""

    kind: str  # "write", "truncate", "sync"; "ack" is the caller's own
    file: str = ""
    at: int = 0
    data: bytes = b""


class Disk(apsw.VFS):
    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.steps: list[Step] = []
        self.failing: dict[str, tuple[int, type[Exception]]] = {}  # by kind: after how many, and with what
        super().__init__("recallens-test-disk", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _File(self, name, flags)

    def note(self, step: Step) -> None:
        left = self.failing.get(step.kind)
        if left is not None:
            self.failing[step.kind] = (left[0] - 1, left[1])
            if left[0] <= 0:
                raise left[1](f"the disk failed at this {step.kind}")
        self.steps.append(step)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        own = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._disk = disk
        self._name = own.removeprefix(disk.path) if own and own.startswith(disk.path) else None
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        if self._name is not None:
            self._disk.note(Step("write", self._name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        if self._name is not None:
            self._disk.note(Step("truncate", self._name, size))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        if self._name is not None:
            self._disk.note(Step("sync", self._name))
        super().xSync(flags)


@contextmanager
def disk_under(path: Path) -> Iterator[Disk]:
    """Every store that is opened meanwhile goes through it."""
    disk = Disk(path)
    try:
        yield disk
    finally:
        disk.unregister()


class Files:
    """The files as they stood at the beginning, and what the steps since have made of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        read = {suffix: Path(f"{path}{suffix}") for suffix in ("", "-wal")}
        self.written = {suffix: bytearray(file.read_bytes()) for suffix, file in read.items() if file.exists()}
        self.kept = {suffix: bytes(content) for suffix, content in self.written.items()}
        self._since: dict[str, list[Step]] = {}

    def apply(self, step: Step) -> None:
        if step.kind == "sync":
            self.kept[step.file] = bytes(self.written.get(step.file, b""))
            self._since[step.file] = []
        elif step.kind != "ack":
            _apply(self.written.setdefault(step.file, bytearray()), step)
            self._since.setdefault(step.file, []).append(step)

    def after_a_crash(self, folder: Path) -> Path:
        """The process died: all that it wrote is there."""
        return _put(folder, self.written)

    def after_a_power_cut(self, folder: Path, chance: random.Random) -> Path:
        """What was not synced is there or not, sector by sector."""
        files = {suffix: bytearray(content) for suffix, content in self.kept.items()}
        for suffix, steps in self._since.items():
            content = files.setdefault(suffix, bytearray())
            for step in steps:
                for start in range(0, len(step.data), SECTOR):
                    if chance.random() < 0.5:
                        _apply(content, Step("write", suffix, step.at + start, step.data[start : start + SECTOR]))
                if step.kind == "truncate" and chance.random() < 0.5:
                    _apply(content, step)
        return _put(folder, files)


def _apply(content: bytearray, step: Step) -> None:
    if step.kind == "truncate":
        del content[step.at :]
        return
    if len(content) < step.at:
        content.extend(bytes(step.at - len(content)))
    content[step.at : step.at + len(step.data)] = step.data


def _put(folder: Path, files: dict[str, Any]) -> Path:
    folder.mkdir()
    for suffix, content in files.items():
        (folder / f"store.db{suffix}").write_bytes(content)
    return folder / "store.db"
