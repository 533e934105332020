"""What one file's new text means for the store: sections to add, to replace, to move and to drop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from recallens.ingest.dedupe import content_hash
from recallens.ingest.prepare import prepare
from recallens.ingest.vault.match import match_sections
from recallens.ingest.vault.notes import Note, draft_of, placed
from recallens.model.citation import citation_to_json
from recallens.model.vault import KnownSection, Seen, Vault
from recallens.store.records import MovedSection, NewSection, ReplacedSection


@dataclass(frozen=True, slots=True)
class Read:
    """A file that was read. `moved_from` is the path it had."""

    path: str
    document: str
    hash: str
    seen: Seen
    note: Note
    moved_from: str | None = None

    @property
    def changed_at(self) -> int:
        return self.seen.mtime // 1_000_000


@dataclass(slots=True)
class Changes:
    """Of any number of files, to be written at once."""

    new: list[NewSection] = field(default_factory=list)
    replaced: list[ReplacedSection] = field(default_factory=list)
    moved: list[MovedSection] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)


def add_changes(
    changes: Changes, vault: Vault, read: Read, old: Sequence[KnownSection], *, new_id: Callable[[], str], now: int
) -> None:
    note, project = read.note, vault.options.project
    places = [placed(note, at, path=read.path, project=project) for at in range(len(note.sections))]
    fresh = [(place, content_hash(section.text)) for place, section in zip(places, note.sections, strict=True)]
    matched = match_sections(old, fresh)
    for at, known in enumerate(matched):
        first_seen = read.changed_at if known is None else known.created
        draft = draft_of(
            note, at, path=read.path, document=read.document, vault=vault.name, project=project, created=first_seen
        )
        if known is not None and known.placed.digest == places[at].digest:
            citation = citation_to_json(draft.citations[0])
            changes.moved.append(
                MovedSection(known.num, places[at], citation, draft.attributes, note.created, read.changed_at)
            )
            continue
        id = new_id() if known is None else known.id
        row = prepare(draft, id=id, namespace=vault.namespace, now=now)
        row = replace(row, memory=replace(row.memory, updated=read.changed_at))
        if known is None:
            changes.new.append(NewSection(row, places[at]))
        else:
            same = known.content_hash == row.memory.content_hash and known.title == row.memory.title
            changes.replaced.append(ReplacedSection(known.num, row, places[at], same))
    kept = {known.num for known in matched if known is not None}
    changes.dropped += [section.num for section in old if section.num not in kept]
