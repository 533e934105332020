"""Whether cited things are there: files and symbols below a root, commits in its repository, logs in the store.

Nothing outside the root is opened, whatever a citation says: it was written by whoever wrote the memory.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final, assert_never

from recallens.ingest.repository import commit_standings
from recallens.model.citation import (
    Checked,
    Citation,
    CommitCitation,
    FileCitation,
    LogCitation,
    Standing,
    SymbolCitation,
    TerminalCitation,
)
from recallens.model.memory import ID_LENGTH

# A file that is longer than this is data; whether it has a line or a name is not looked up.
MOST_BYTES: Final = 32 * 1024 * 1024
NO_ROOT: Final = "no workspace was given to look in"
OUTSIDE: Final = "lies outside the workspace"

_STORE_ID: Final = re.compile(rf"[0-9A-HJKMNP-TV-Z]{{{ID_LENGTH}}}")
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_NAME_PARTS: Final = re.compile(r"\w+")

# The kind of each artifact that the store has, by its id.
Artifacts = Mapping[str, str]
Verdict = tuple[Standing, str]
Text = Callable[[Path], str | None]

_VERIFIED: Final[Verdict] = (Standing.VERIFIED, "")


def verify(citations: Iterable[Citation], *, root: Path | None, artifacts: Artifacts) -> dict[Citation, Checked]:
    """A verdict for each distinct citation; each file is read once, and git is asked once for all commits."""
    wanted = list(dict.fromkeys(citations))
    hashes = [each.hash for each in wanted if isinstance(each, CommitCitation)]
    commits = commit_standings(root, hashes) if hashes and root is not None else {}
    held: dict[Path, str | None] = {}

    def text(path: Path) -> str | None:
        if path not in held:
            held[path] = _read(path)
        return held[path]

    base = root.resolve() if root is not None else None
    return {each: Checked(each, *_judge(each, base, commits, artifacts, text)) for each in wanted}


def _judge(
    citation: Citation, root: Path | None, commits: Mapping[str, Verdict], artifacts: Artifacts, text: Text
) -> Verdict:
    match citation:
        case CommitCitation():
            return commits.get(citation.hash, (Standing.UNKNOWN, NO_ROOT))
        case FileCitation():
            return _file(citation, root, text)
        case SymbolCitation():
            return _symbol(citation, root, text)
        case TerminalCitation():
            return _artifact(citation.id, "terminal_snapshot", artifacts)
        case LogCitation():
            return _artifact(citation.pointer, "log", artifacts)
    assert_never(citation)


def artifact_id(pointer: str) -> str:
    """A pointer may lead into an artifact: what stands behind # is a place in it."""
    return pointer.partition("#")[0].strip()


def _artifact(pointer: str, kind: str, artifacts: Artifacts) -> Verdict:
    id = artifact_id(pointer)
    if artifacts.get(id) == kind:
        return _VERIFIED
    if id in artifacts:
        return Standing.STALE, f"{id} is no {kind} but a {artifacts[id]}"
    if _STORE_ID.fullmatch(id):
        return Standing.STALE, f"the store has no {kind} {id} any more"
    return Standing.UNKNOWN, f"{pointer} is not kept in this store"


def _file(citation: FileCitation, root: Path | None, text: Text) -> Verdict:
    found = _located(citation.path, root)
    if not isinstance(found, Path):
        return found
    last = citation.end_line or citation.start_line
    if last is None:
        return _VERIFIED
    content = text(found)
    if content is None:
        return Standing.UNKNOWN, f"{citation.path} cannot be read"
    lines = len(content.splitlines())
    if last > lines:
        return Standing.STALE, f"{citation.path} has {lines} lines, not {last}"
    return _VERIFIED


def _symbol(citation: SymbolCitation, root: Path | None, text: Text) -> Verdict:
    found = _located(citation.file, root)
    if not isinstance(found, Path):
        return found
    content = text(found)
    if content is None:
        return Standing.UNKNOWN, f"{citation.file} cannot be read"
    for name in _NAME_PARTS.findall(citation.name) or [citation.name]:
        if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", content):
            return Standing.STALE, f"{citation.file} does not name {citation.name}"
    return _VERIFIED


def _located(cited: str, root: Path | None) -> Path | Verdict:
    """The regular file that is meant, or what there is to say instead. Only names are looked at until it is inside."""
    if root is None:
        return Standing.UNKNOWN, NO_ROOT
    path = PurePosixPath(cited.replace("\\", "/"))
    elsewhere = path.is_absolute() and not path.is_relative_to(root)
    if elsewhere or ".." in path.parts or path.parts[:1] == ("~",) or _DRIVE.match(cited):
        return Standing.UNKNOWN, f"{cited} {OUTSIDE}"
    try:
        # A link on the way may lead anywhere, so that the place it ends at decides.
        place = (root / path).resolve()
        if not place.is_relative_to(root):
            return Standing.UNKNOWN, f"{cited} {OUTSIDE}"
        mode = place.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return Standing.STALE, f"{cited} does not exist"
    except (OSError, RuntimeError, ValueError) as error:
        return Standing.UNKNOWN, f"{cited} cannot be looked at ({_why(error)})"
    return place if stat.S_ISREG(mode) else (Standing.STALE, f"{cited} is no file")


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError:
        return None
    return None if len(data) > MOST_BYTES else data.decode("utf-8", "replace")


def _why(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
