"""The only place that opens a vault's files. Nothing outside the root can be read, whatever changes meanwhile.

The root is held open as a descriptor, and every step below it is taken relative to the last, never following a link
(O_NOFOLLOW). So a name with `..`, a link out of the root, and a link swapped in between the look and the read all end
in an error for that file. A link that stays inside is not followed either: its target is read in its own place.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from recallens.errors import InvalidInput, NotFound
from recallens.ingest.validate import without_secrets
from recallens.ingest.vault.links import NOTE_SUFFIXES
from recallens.model.vault import Problem, Seen

LARGEST_FILE: Final = 4 * 1024 * 1024
_READ_AGAIN: Final = 3
# A second name of a file may lead out of the vault as a link does, and nobody can tell where to. Notes have one name;
# what copies folders by hard links copies backups, not the folder that is lived in.
HARD_LINK: Final = "it is a hard link, which may lead out of the vault: copy it, and it is read"
SECRET_NAME: Final = "its name holds a secret: rename it, and it is read"
# A file that was changed a moment ago may change again within the same tick of the file system's clock.
RACY_NS: Final = 20_000_000

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a pipe would wait for somebody to write to it.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class NoteFile(Struct, frozen=True):
    path: str
    seen: Seen


class Closed(Struct, frozen=True):
    """A folder that could not be looked into: what was known below it is not gone, only out of sight."""

    path: str
    reason: str


class OtherFile(Struct, frozen=True):
    """A file that is no note, by its name."""

    path: str


class Unentered(Struct, frozen=True):
    """A folder that was not looked into."""

    path: str


Sight = NoteFile | Closed | OtherFile | Unentered | Problem


def is_note(name: str) -> bool:
    return name.lower().endswith(NOTE_SUFFIXES)


class Root:
    """A vault's folder, held open."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise NotFound(
                f"the vault's folder {path} cannot be opened ({error.strerror})",
                hint="Nothing was changed. Mount or restore it, or run `recallens vault remove`.",
            ) from error

    def __enter__(self) -> Root:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def walk(self, enters: Callable[[str], bool], under: str = "") -> Iterator[Sight]:
        """Every note in and below a folder that `enters` lets in, by looking at folders alone."""
        try:
            with self._folder(under) as fd:
                yield from self._walk(fd, under, enters)
        except OSError as error:
            yield Closed(under, _reason(error))

    def look(self, path: str, enters: Callable[[str], bool]) -> Iterator[Sight]:
        """What is at a path now: a note, a folder of notes, or nothing."""
        folder, _, name = path.rpartition("/")
        if not path:
            yield from self.walk(enters)
            return
        parents = [path[:at] for at, character in enumerate(path) if character == "/"]
        if not all(enters(parent) for parent in parents):
            return
        try:
            with self._folder(folder) as fd:
                status = os.stat(name, dir_fd=fd, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                yield Closed(path, _reason(error))
            return
        if stat.S_ISDIR(status.st_mode):
            if enters(path):
                yield from self.walk(enters, path)
        elif is_note(name):
            yield self._sight(path, status)

    def _walk(self, fd: int, folder: str, enters: Callable[[str], bool]) -> Iterator[Sight]:
        with os.scandir(fd) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            text = path.encode("utf-8", "replace").decode()
            if text != path:
                yield Problem(text, "its name is not UTF-8")
            elif entry.is_dir(follow_symlinks=False):
                if enters(path):
                    yield from self._enter(fd, entry.name, path, enters)
                else:
                    yield Unentered(path)
            elif is_note(entry.name) or (entry.is_symlink() and entry.is_dir()):
                try:
                    yield self._sight(path, entry.stat(follow_symlinks=False))
                except OSError as error:
                    if error.errno != errno.ENOENT:
                        yield Problem(path, _reason(error))
            else:
                yield OtherFile(path)

    def _enter(self, fd: int, name: str, path: str, enters: Callable[[str], bool]) -> Iterator[Sight]:
        try:
            inner = os.open(name, _FOLDER, dir_fd=fd)
        except OSError as error:
            if error.errno != errno.ENOENT:
                yield Closed(path, _reason(error))
            return
        try:
            yield from self._walk(inner, path, enters)
        finally:
            os.close(inner)

    def _sight(self, path: str, status: os.stat_result) -> Sight:
        if stat.S_ISLNK(status.st_mode):
            inside = Path(os.path.realpath(os.path.join(self.path, path))).is_relative_to(os.path.realpath(self.path))
            leads = "; its target is read in its own place" if inside else " that leads out of the vault"
            return Problem(path, f"a link{leads}")
        if not stat.S_ISREG(status.st_mode):
            return Problem(path, "it is not a regular file")
        return NoteFile(path, _seen(status))

    def read(self, path: str) -> tuple[bytes, Seen]:
        """A file's bytes, and how it looked when they were read."""
        folder, _, name = path.rpartition("/")
        if without_secrets(path) != path:
            raise InvalidInput(SECRET_NAME)
        try:
            with self._folder(folder) as inside:
                fd = os.open(name, _FILE, dir_fd=inside)
            try:
                return _read(fd)
            finally:
                os.close(fd)
        except FileNotFoundError as error:
            raise NotFound(_reason(error)) from error
        except OSError as error:
            raise InvalidInput(_reason(error)) from error

    @contextmanager
    def _folder(self, path: str) -> Iterator[int]:
        fd = os.dup(self._fd)
        try:
            for part in path.split("/") if path else ():
                if part in ("", ".", ".."):
                    raise OSError(errno.EINVAL, "a path of a vault has no such part")
                inner = os.open(part, _FOLDER, dir_fd=fd)
                os.close(fd)
                fd = inner
            yield fd
        finally:
            os.close(fd)


def _read(fd: int) -> tuple[bytes, Seen]:
    """Read again where the file changed meanwhile: half of an old text and half of a new one is neither."""
    for _ in range(_READ_AGAIN):
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            raise InvalidInput("it is not a regular file")
        if before.st_nlink > 1:
            raise InvalidInput(HARD_LINK)
        if before.st_size > LARGEST_FILE:
            raise InvalidInput(f"it is {before.st_size:,} bytes; the limit is {LARGEST_FILE:,}")
        os.lseek(fd, 0, os.SEEK_SET)
        data = b""
        while len(data) <= LARGEST_FILE and (part := os.read(fd, LARGEST_FILE + 1 - len(data))):
            data += part
        after = os.fstat(fd)
        if _seen(before) == _seen(after) and len(data) == after.st_size:
            return data, _seen(after)
    raise InvalidInput("it changed while it was read; the next sync takes it")


def _seen(status: os.stat_result) -> Seen:
    return Seen(status.st_mtime_ns, status.st_ctime_ns, status.st_size)


def settled(seen: Seen, now_ns: int) -> Seen:
    """What to remember of a file: one that changed just now fits no later look, so that it is read once more."""
    return seen if now_ns - seen.mtime > RACY_NS else Seen(seen.mtime, 0, seen.size)


def _reason(error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):  # the second for a link in place of a folder
        return "a link stands where a file or folder was"
    if error.errno == errno.ENOENT:
        return "it is gone"
    return (error.strerror or str(error)).lower()
