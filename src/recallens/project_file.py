"""The project file: where it is looked for, what it may set by itself, and what its reader has to trust first.

A checkout brings its project file along, so that whoever wrote the checkout wrote the file. It may say which project
this is; it may not choose where memories go, which key is sent to whom, or which file every context begins with.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from recallens import renamed
from recallens.errors import InvalidInput, NotFound

NAME = ".recallens.toml"
FREE = ("project", "namespace", "limit", "preset")
"""What a project file may set without being trusted."""
MOST_BYTES = 16_384
MOST_KEY_PARTS = 8
_DOTTED = re.compile(rf"(?<![\w\"'-])(?:[\w\"'-]+\s*\.\s*){{{MOST_KEY_PARTS}}}")


def read(path: Path) -> str:
    """The text of a file of settings. Whoever wrote a checkout wrote its file, so that no more is read than a file of
    settings can have, and none is given to the parser whose keys go deeper than any setting."""
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InvalidInput(f"{path} is longer than the {MOST_BYTES:,} bytes that a file of settings may have")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text (byte {error.start:,})", hint="Save it as UTF-8.") from error
    if _DOTTED.search(text):
        raise InvalidInput(f"{path} has a key of more than {MOST_KEY_PARTS} parts, which no setting has")
    return text


def find(folder: Path, home: Path) -> Path | None:
    """The nearest project file, from this folder up to the root of its repository, or to the home folder.

    A file that another user owns is passed over: a shared parent folder belongs to everybody.
    """
    here = folder.resolve()
    for candidate in (here, *here.parents):
        old, new = candidate / renamed.PROJECT_FILE, candidate / NAME
        if _is_ours(new):
            return new
        if _is_ours(old):
            renamed.refuse_old_file(old, new)
        if candidate == home or (candidate / ".git").exists():
            return None
    return None


def refuse_untrusted(path: Path, text: str, names: Iterable[str], trusted: Path) -> None:
    """An error where the file sets more than it may and nobody has trusted it as it stands."""
    bound = [name for name in names if name not in FREE]
    if bound and _known(trusted).get(str(path)) != _digest(text):
        raise InvalidInput(
            f"{path} sets {', '.join(bound)}, which a project file may do only if you trust it",
            hint=f"Read it, then run `recallens trust {path}`; without trust it may set {', '.join(FREE)}.",
        )


def trust(path: Path, trusted: Path) -> str:
    """Trust the file as it stands, until its text changes. Gives the text that was trusted."""
    if not os.path.isfile(path):  # unlike Path.is_file it calls a name that is too long no file
        raise NotFound(f"no project file at {path}", hint=f"Name a {NAME}, or the folder that holds it.")
    if not _is_ours(path):
        raise InvalidInput(f"{path} belongs to another user, and is never read", hint="Make a copy of your own.")
    text = read(path)
    _write(trusted, {**_known(trusted), str(path.resolve()): _digest(text)})
    return text


def distrust(path: Path, trusted: Path) -> bool:
    """Take the trust back. Tells whether there was any."""
    known = _known(trusted)
    had = known.pop(str(path.resolve()), None) is not None
    if had:
        _write(trusted, known)
    return had


def _is_ours(path: Path) -> bool:
    """Whether the file, and a link that leads to it, belong to whoever runs this."""
    try:
        owners = {path.lstat().st_uid, path.stat().st_uid}
    except OSError:
        return False
    return path.is_file() and (not hasattr(os, "getuid") or owners == {os.getuid()})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _known(trusted: Path) -> dict[str, str]:
    """What was trusted: the digest of each file's text by its path. An unreadable list trusts nothing."""
    try:
        known = json.loads(trusted.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _write(trusted: Path, known: Mapping[str, str]) -> None:
    trusted.parent.mkdir(parents=True, exist_ok=True)
    fresh = trusted.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(known, file, indent=1, sort_keys=True)
    fresh.replace(trusted)
