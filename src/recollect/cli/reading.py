"""Text from where the user said it is: the command line, standard input or a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from recollect.errors import InvalidInput
from recollect.ingest.validate import MAX_CONTENT_BYTES

STDIN = "-"


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
