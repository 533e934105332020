"""A vault: a folder of notes whose sections are memories, and what a sync of it did."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct, structs

from recallens.model.memory import RelationType

# How long a section is at most, in characters: the specification's chunkTargetChars, and the bounds of what can be set.
CHUNK_CHARACTERS = 1_200
SHORTEST_CHUNK, LONGEST_CHUNK = 200, 20_000


class VaultOptions(Struct, frozen=True):
    """What of the folder belongs to the vault, and how long its sections are. Scopes are kept as they were given: each
    sync judges them anew.
    """

    scopes: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    include_raw: bool = False
    include_operational: bool = False
    project: str | None = None
    chunk: int = CHUNK_CHARACTERS


class Vault(Struct, frozen=True):
    id: int
    namespace: str
    name: str
    root: str
    options: VaultOptions
    created: int
    synced: int | None = None


class Seen(Struct, frozen=True):
    """A file as its folder lists it: as long as this stays the same, the file is not read again."""

    mtime: int
    ctime: int
    size: int


class VaultFile(Struct, frozen=True):
    """A file as it was when it was last read. `error` says why it could not be taken in, `warning` what could not be
    read of it.
    """

    path: str
    document: str
    hash: str
    seen: Seen
    error: str | None = None
    warning: str | None = None
    life: NoteLife | None = None  # what the note says of itself; None leaves what is known


class Link(Struct, frozen=True):
    """A link as it is written: `kind` is wiki or path. What it leads to is found when the target is there."""

    kind: str
    target: str
    fragment: str = ""


class NoteEnding(Struct, frozen=True, omit_defaults=True):
    """What a note says of its own end, or a section of its own: when, where it says so, and what takes its place.
    `if_named`: it may be prose, and is an end only if a note has the name that stands where a successor would."""

    at: int | None = None
    by: tuple[Link, ...] = ()
    if_named: bool = False


class NoteLife(Struct, frozen=True, omit_defaults=True):
    """What a note says of itself beside its text, as it stands in the file; links are resolved when their targets are
    there. Relations have the position of the section that states them.
    """

    names: tuple[str, ...] = ()  # its title and its other names
    ending: NoteEnding | None = None
    section_endings: dict[int, NoteEnding] = {}
    review: str | None = None  # draft or rejected
    supersedes: tuple[Link, ...] = ()
    relations: tuple[tuple[int, RelationType, Link], ...] = ()
    inverse: tuple[tuple[int, RelationType, Link], ...] = ()  # relations in which the note is the target
    starts: int | None = None  # from when it holds, where it says so
    valid_until: int | None = None
    reinforcements: int = 0  # how often it has proved right


class Placed(Struct, frozen=True):
    """Where a section stands in its file, what identifies it, and what it links to.

    `digest` is of everything that its entry in the index is made of, `body` of its text without its headings.
    """

    position: int
    headings: tuple[str, ...]
    anchors: tuple[str, ...]
    digest: str
    body: str = ""
    links: tuple[Link, ...] = ()


class KnownSection(Struct, frozen=True):
    """A section as the store has it."""

    num: int
    id: str
    document: str
    placed: Placed
    content_hash: str
    title: str | None
    created: int


class Problem(Struct, frozen=True):
    """Something that was left out, and why."""

    path: str
    reason: str


class LeftOutFiles(Struct, frozen=True, omit_defaults=True):
    """What a sync did not look into: a folder or a sort of files, how many of them, and how to take them in."""

    what: str
    files: int
    reason: str
    take_in: str = ""


class VaultSync(Struct, frozen=True):
    """What one sync of one vault did. Paths are relative to its root."""

    vault: str
    root: str
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    errors: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    skipped: tuple[Problem, ...] = ()
    left_out: tuple[LeftOutFiles, ...] = ()
    dropped_scopes: tuple[Problem, ...] = ()
    sections_indexed: int = 0
    sections_kept: int = 0
    sections_removed: int = 0

    @property
    def changed_anything(self) -> bool:
        return bool(self.added or self.changed or self.renamed or self.removed)

    def only(self, paths: Collection[str]) -> VaultSync:
        """What it says of these files, and of no other file, folder or context."""
        named = {name: tuple(path for path in getattr(self, name) if path in paths)
                 for name in ("added", "changed", "removed")}  # fmt: skip
        told = {name: tuple(each for each in getattr(self, name) if each.path in paths)
                for name in ("errors", "warnings", "skipped")}  # fmt: skip
        renamed = tuple(both for both in self.renamed if all(path in paths for path in both))
        return structs.replace(self, **named, **told, renamed=renamed, left_out=(), dropped_scopes=())


class SyncReport(Struct, frozen=True):
    """One entry a vault, in the order of their names."""

    vaults: tuple[VaultSync, ...]

    @property
    def changed_anything(self) -> bool:
        return any(one.changed_anything for one in self.vaults)

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for one in self.vaults for problem in one.errors)


class FiledSections(Struct, frozen=True):
    file: VaultFile
    sections: tuple[KnownSection, ...]


class VaultPage(Struct, frozen=True):
    """Some files of a vault with their sections; `total` counts all that match."""

    vault: Vault
    files: tuple[FiledSections, ...]
    total: int
