"""Text into a file that the user named: all of it or nothing, in a folder that is there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from recallens.errors import InvalidInput


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
