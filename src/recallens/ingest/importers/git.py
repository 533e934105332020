"""git: the history of a checkout, a commit as an episode that cites the commit and the files that it touched."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from recallens.errors import InvalidInput
from recallens.ingest.draft import Draft
from recallens.ingest.importers import Entry, MemoryLine, SkippedEntry
from recallens.ingest.repository import SAFE_GIT, SAFE_LOG
from recallens.ingest.source_file import SourceFile
from recallens.ingest.transcript import key_of, moment
from recallens.model.citation import CommitCitation, FileCitation
from recallens.model.memory import Kind, Sector

NAME = "git"
ABOUT = "the history of a git checkout"
FOLDERS = ()
PATTERNS = ()

# A commit that touches more is a move or a generated change: its first files say as much as all of them.
MOST_FILES: Final = 20
_FIELDS: Final = "%x1e%H%x1f%an%x1f%aI%x1f%P%x1f%B%x1f"


def read(file: SourceFile) -> Iterator[Entry]:
    root = (file.path if file.path.is_dir() else file.path.parent).resolve()
    for record in _log(root):
        fields = record.split("\x1f")
        if len(fields) != 6:
            yield SkippedEntry(f"{root.name} {record[:12]!r}", "not a commit as git writes one")
            continue
        hash, author, at, parents, message, files = fields
        place = f"{root.name} {hash[:12]}"
        paths = [path for path in files.strip("\n").split("\n") if path]
        if not message.strip():
            yield SkippedEntry(place, "a commit without a message")
        elif len(parents.split()) > 1 and not paths:
            yield SkippedEntry(place, "a merge, whose commits are read themselves")
        else:
            yield _commit(root, hash, author, moment(at), message.strip(), paths)


def _commit(root: Path, hash: str, author: str, at: int | None, message: str, paths: list[str]) -> MemoryLine:
    cited = tuple(FileCitation(path) for path in paths[:MOST_FILES])
    key = key_of(NAME, hash)
    draft = Draft(
        message, title=message.splitlines()[0][:200], kind=Kind.EPISODE, sector=Sector.EPISODIC,
        project=root.name or None, citations=(CommitCitation(hash), *cited), created=at, source=NAME,
        source_id=key, attributes={"committedBy": author},
    )  # fmt: skip
    return MemoryLine(draft, key, None)


def _log(root: Path) -> Iterator[str]:
    """Each commit of what is checked out, the oldest first, as git gives it."""
    # Inside a hook, git's variables name another repository than the one that is asked about.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    command = [*SAFE_GIT, "-C", str(root), "-c", "core.quotePath=false", "log", *SAFE_LOG, "--reverse", "--name-only",
               "--no-color", f"--format={_FIELDS}", "HEAD"]  # fmt: skip
    try:
        running = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, encoding="utf-8", errors="replace"
        )
    except OSError as error:
        raise InvalidInput(f"git cannot be run ({error.strerror or error})") from error
    with running:
        assert running.stdout is not None
        assert running.stderr is not None
        record = ""
        for line in running.stdout:
            before, mark, after = line.partition("\x1e")
            record += before
            if mark:
                if record.strip():
                    yield record
                record = after
        if record.strip():
            yield record
        complaint = running.stderr.read().strip()
        if running.wait() != 0:
            if "unknown revision" in complaint:
                raise InvalidInput(f"{root} has no commit yet", hint="Nothing was imported.")
            why = complaint.splitlines()[0] if complaint else f"exit {running.returncode}"
            raise InvalidInput(f"git cannot tell the history of {root}: {why}", hint="PATH is a git checkout.")
