"""A file of another program, read piece by piece: JSON lines, the elements of a JSON list, or the whole.

A piece that cannot be read is given as the reason why, in the place where it stands: one bad line ends no import.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, Final

from recallens.errors import InvalidInput

CHUNK_CHARACTERS: Final = 1 << 20
# A line or an element of this size is no turn of a talk: reading it would only fill the memory.
LONGEST_PIECE: Final = 64 << 20

Piece = tuple[str, Any]  # where it stands; and an object, or the text of what is wrong with it


class SourceFile:
    """One file or folder of a source, how many of its bytes have been read, and how many files that was."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done = 0
        self.files = 1 if path.is_file() else 0  # of a folder, who reads it counts them

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0

    def lines(self) -> Iterator[Piece]:
        """Every line that is not blank, as a JSON object."""
        with self._opened() as stream:
            number = 0
            while line := stream.readline(LONGEST_PIECE):
                number += 1
                self.done += len(line)
                if line.strip():
                    yield f"{self.path.name}:{number}", parsed(line)

    def elements(self, keys: Sequence[str] = ()) -> Iterator[Piece]:
        """The objects of a JSON list, one by one; of an object with some of these keys those of the lists that
        they name; of JSON lines every line; else the one object that the file is."""
        first, whole_line = self._beginning()
        if first == "[":
            yield from self._listed()
        elif whole_line:
            yield from self.lines()
        else:
            whole = self.whole()
            named = [whole[key] for key in keys if isinstance(whole, dict) and key in whole] or [whole]
            objects = [each for listed in named for each in (listed if isinstance(listed, list) else [listed])]
            for number, value in enumerate(objects, start=1):
                yield f"{self.path.name} #{number}", value if isinstance(value, dict | str) else _no_object(value)

    def whole(self) -> Any:
        """The file as one JSON value, or the text of what is wrong with it."""
        return parsed(self.data(), objects_only=False)

    def data(self) -> bytes:
        with self._opened() as stream:
            data = stream.read()
        self.done = len(data)
        return data

    def _opened(self) -> IO[bytes]:
        try:
            return self.path.open("rb")
        except OSError as error:
            raise InvalidInput(f"cannot read {self.path}: {error.strerror or error}") from error

    def _beginning(self) -> tuple[str, bool]:
        """The first character, and whether the first line is a JSON value by itself that is not all there is."""
        with self._opened() as stream:
            line = stream.readline(LONGEST_PIECE)
            while line and not line.strip(b" \t\r\n\xef\xbb\xbf"):
                line = stream.readline(LONGEST_PIECE)
            text = line.decode("utf-8-sig", "replace").strip()
            alone = not stream.read(1).strip()
        return text[:1], not alone and isinstance(parsed(text.encode()), dict)

    def _listed(self) -> Iterator[Piece]:
        decoder, text, number = json.JSONDecoder(), "", 0
        with self._opened() as raw, TextIOWrapper(raw, encoding="utf-8-sig", errors="replace") as stream:
            text = stream.read(CHUNK_CHARACTERS).lstrip()[1:]
            while True:
                text = text.lstrip(" \t\r\n,")
                if text.startswith("]"):
                    return
                try:
                    value, end = decoder.raw_decode(text)
                except (ValueError, RecursionError) as error:
                    more = "" if len(text) > LONGEST_PIECE else stream.read(max(CHUNK_CHARACTERS, len(text)))
                    if more:
                        text += more
                        continue
                    place = f"{self.path.name} #{number + 1}"
                    yield place, f"not JSON from here on ({error}); the file may be cut off"
                    return
                number += 1
                self.done = raw.tell()
                text = text[end:]
                yield f"{self.path.name} #{number}", value if isinstance(value, dict) else _no_object(value)


def parsed(data: bytes, *, objects_only: bool = True) -> Any:
    """A JSON value, or the text of what is wrong."""
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return f"not UTF-8 (byte {error.start:,})"
    except json.JSONDecodeError as error:
        return f"not JSON ({error.msg} at column {error.colno})"
    except (ValueError, RecursionError) as error:
        return f"not JSON that can be read ({error})"
    return value if isinstance(value, dict) or not objects_only else _no_object(value)


def _no_object(value: object) -> str:
    return f"not a JSON object but {type(value).__name__}"
