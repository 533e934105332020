"""Obsidian: a vault is kept as a vault, so that links, lives of notes and later edits are read as well.

`read` tells a dry run what a sync would find.
"""

from __future__ import annotations

from collections.abc import Iterator

from recallens.errors import InvalidInput
from recallens.ingest.draft import Draft
from recallens.ingest.importers import Entry, MemoryLine, SkippedEntry
from recallens.ingest.source_file import SourceFile
from recallens.ingest.vault.choice import choose
from recallens.ingest.vault.files import NoteFile, Root
from recallens.ingest.vault.notes import breadcrumb, read_note
from recallens.model.vault import Problem, VaultOptions

NAME = "obsidian"
ABOUT = "a vault of Obsidian, which stays a vault and can be synced"
FOLDERS = ()
PATTERNS = ()
IS_VAULT = True


def read(file: SourceFile) -> Iterator[Entry]:
    choice = choose(str(file.path), VaultOptions())
    with Root(str(file.path)) as root:
        for sight in root.walk(choice.enters):
            if isinstance(sight, Problem):
                yield SkippedEntry(sight.path, sight.reason)
            elif isinstance(sight, NoteFile) and choice.omits(sight.path) is None:
                yield from _sections(file, root, sight.path)


def _sections(file: SourceFile, root: Root, path: str) -> Iterator[Entry]:
    file.files += 1
    try:
        note = read_note(path, root.read(path)[0], now=0)
    except (InvalidInput, OSError) as error:
        yield SkippedEntry(path, str(error))
        return
    for number, section in enumerate(note.sections):
        key = f"{NAME}:{path}#{number}"
        yield MemoryLine(Draft(section.text, title=breadcrumb(note, section), source_id=key), key, None)
