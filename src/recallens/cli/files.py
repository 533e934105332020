"""Text from where the user said it is (the command line, standard input, a file), and into a file that they named."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from recallens.errors import InvalidInput
from recallens.ingest.validate import MAX_CONTENT_BYTES

STDIN = "-"

_NAMED = re.compile(r"(?:---|\+\+\+|rename from|rename to) (?P<name>.+)")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_ESCAPED = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


def words(parts: Sequence[str]) -> str:
    """Arguments as one text; a lone `-` is standard input."""
    return read_text(STDIN) if list(parts) == [STDIN] else " ".join(parts)


def read_text(path: str) -> str:
    """All of a UTF-8 text that is short enough to be a memory."""
    with opened(path) as (stream, name):
        data = stream.read(MAX_CONTENT_BYTES + 1)
    if len(data) > MAX_CONTENT_BYTES:
        raise InvalidInput(
            f"{name} holds more than {MAX_CONTENT_BYTES:,} bytes, which is the most a memory can have",
            hint="Nothing was written. Split it into several memories.",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{name} is not UTF-8 text (byte {error.start:,} is {data[error.start]:#04x})",
            hint="Convert it first, for example with iconv.",
        ) from error


def read_lines(path: str, errors: list[str]) -> Iterator[str]:
    """The lines of a UTF-8 text. One that is not UTF-8 is reported, and comes as a blank line."""
    with opened(path) as (stream, _):
        for number, line in enumerate(stream, start=1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                errors.append(f"line {number}: not UTF-8 (byte {error.start + 1} of the line)")
                yield ""


@contextmanager
def opened(path: str) -> Iterator[tuple[BinaryIO, str]]:
    if path == STDIN:
        yield sys.stdin.buffer, "standard input"
        return
    try:
        with Path(path).expanduser().open("rb") as stream:
            yield stream, path
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error


def piped() -> bool:
    """Whether something other than a keyboard is at standard input."""
    return sys.stdin is not None and not sys.stdin.isatty()


def changed_files(path: str) -> list[str]:
    """The files that a unified diff is about, once each, as the repository names them."""
    found: list[str] = []
    anything = False
    old = new = 0  # lines of the hunk that are still to come: a removed `-- x` is no header
    with opened(path) as (stream, name):
        for data in stream:
            line = data.decode("utf-8", "replace").rstrip("\r\n")
            anything = anything or bool(line.strip())
            if old > 0 or new > 0:
                old -= line[:1] in ("-", " ", "")
                new -= line[:1] in ("+", " ", "")
            elif hunk := _HUNK.match(line):
                old, new = (1 if count is None else int(count) for count in hunk.groups())
            elif named := _NAMED.match(line):
                found.append(_repository_name(named["name"], renamed=line.startswith("rename")))
    files = [file for file in dict.fromkeys(found) if file and file != "/dev/null"]
    if anything and not files:
        raise InvalidInput(
            f"{name} names no file; a unified diff has lines that begin with --- and +++",
            hint="`git diff | recallens xray QUERY --diff -` gives one; --files FILE names a file by itself.",
        )
    return files


def _repository_name(said: str, *, renamed: bool) -> str:
    """Without the date after a tab, git's quotes and its a/ or b/."""
    name = said.split("\t")[0]
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = _ESCAPED.sub(_unescaped, name[1:-1].encode()).decode("utf-8", "replace")
    return name if renamed else re.sub(r"^[ab]/", "", name)


def _unescaped(match: re.Match[bytes]) -> bytes:
    """An octal byte, as git writes what is not ASCII, or a letter for a control character."""
    code = match.group(1)
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _ESCAPES.get(code, code)


# ── into a file: all of it or nothing, in a folder that is there ──


def target(option: str, name: str) -> Path:
    """Where to write, checked before anything is asked; `~` is the home folder, and a link is followed."""
    try:
        path = Path(name).expanduser()
        if not path.exists() or path.is_file():
            path = Path(os.path.realpath(path))
    except (RuntimeError, ValueError) as error:
        raise InvalidInput(f"{option} {name!r} is no path ({error})") from error
    if not name or path.is_dir():
        raise InvalidInput(f"{option} {name!r} is a folder", hint=f"Give a file, for example {option} {_inside(name)}.")
    if not path.parent.is_dir():
        raise InvalidInput(f"{option} {name!r}: there is no folder {path.parent}", hint="Make it first: none is made.")
    return path


def _inside(folder: str) -> str:
    return str(Path(folder) / "xray.txt")


def write(path: Path, text: str) -> None:
    """Whoever reads the file at any time reads the old text or the new one, never a part."""
    data = text.encode("utf-8", "backslashreplace")
    try:
        mode = path.stat().st_mode if path.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            path.write_bytes(data)  # a device or a pipe is written to, not replaced
            return
        _replace(path, data, mode)
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror or error}", hint="Nothing was written.") from error


def _replace(path: Path, data: bytes, mode: int | None) -> None:
    beside = path.with_name(f".{path.name[:100]}.{os.getpid()}.part")
    try:
        with beside.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            beside.chmod(stat.S_IMODE(mode))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
