"""What is still the same after a change (sections of an edited note, notes that were moved), and what a file's new text
means for the store: sections to add, to replace, to move and to drop.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from msgspec import Struct, structs

from recallens.ingest.dedupe import content_hash
from recallens.ingest.draft import Draft
from recallens.ingest.preparation import Unprepared
from recallens.ingest.validate import epoch_ms
from recallens.ingest.vault.notes import VaultNote, draft_of, placed
from recallens.model.citation import citation_to_json
from recallens.model.vault import KnownSection, Placed, Seen, Vault
from recallens.store.records import MovedSection, NewSection, Prepared, ReplacedSection, SectionFacts

# git calls two files a rename from 50 %; notes share headings and boilerplate, so a little more is asked.
RENAME_SIMILARITY: Final = 0.6

Fresh = tuple[Placed, str]
"""Where a new section stands, and the hash of its text."""

_SAMENESS: Final[tuple[Callable[[Fresh], Hashable], ...]] = (
    lambda section: section[0].digest,
    lambda section: section[1],
    lambda section: section[0].body,
    lambda section: section[0].headings,
)


class Read(Struct, frozen=True):
    """A file that was read. `moved_from` is the path it had."""

    path: str
    document: str
    hash: str
    seen: Seen
    note: VaultNote
    moved_from: str | None = None

    @property
    def changed_at(self) -> int:
        stated = self.note.facts.updated
        return self.seen.mtime // 1_000_000 if stated is None else stated


class FreshSection(Struct, frozen=True):
    """A section whose text is to be prepared: a new one, or one that continues what is known."""

    known: KnownSection | None
    place: Placed
    work: Unprepared
    changed_at: int


class VaultChanges(Struct):
    """Of any number of files, to be written at once."""

    fresh: list[FreshSection] = []
    moved: list[MovedSection] = []
    dropped: list[int] = []

    def prepared(self, rows: Sequence[Prepared]) -> tuple[list[NewSection], list[ReplacedSection]]:
        """The fresh sections with their rows, one for each."""
        new, replaced = list[NewSection](), list[ReplacedSection]()
        for section, row in zip(self.fresh, rows, strict=True):
            row = replace(row, memory=structs.replace(row.memory, updated=section.changed_at))
            if (known := section.known) is None:
                new.append(NewSection(row, section.place))
            else:
                same = known.content_hash == row.memory.content_hash and known.title == row.memory.title
                replaced.append(ReplacedSection(known.num, row, section.place, same))
        return new, replaced


def add_changes(
    changes: VaultChanges, vault: Vault, read: Read, old: Sequence[KnownSection], *, new_id: Callable[[], str], now: int
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
                MovedSection(
                    known.num, places[at], citation, draft.attributes, note.created, read.changed_at, _facts(draft)
                )
            )
            continue
        id = new_id() if known is None else known.id
        work = Unprepared(draft, id, vault.namespace, now)
        changes.fresh.append(FreshSection(known, places[at], work, read.changed_at))
    kept = {known.num for known in matched if known is not None}
    changes.dropped += [section.num for section in old if section.num not in kept]


def _facts(draft: Draft) -> SectionFacts:
    unstated = SectionFacts()
    return SectionFacts(
        unstated.importance if draft.importance is None else draft.importance,
        unstated.confidence if draft.confidence is None else draft.confidence,
        epoch_ms("valid_from", draft.valid_from), draft.review, tuple(draft.scopes), draft.source_id,
    )  # fmt: skip


def match_sections(old: Sequence[KnownSection], new: Sequence[Fresh]) -> list[KnownSection | None]:
    """For each new section the old one it continues.

    Unchanged first; then of the same text, of the same text under another heading, and last under the same headings.
    """
    continued: list[KnownSection | None] = [None] * len(new)
    left = sorted(old, key=lambda section: section.placed.position)
    for key in _SAMENESS:
        waiting: dict[Hashable, list[KnownSection]] = defaultdict(list)
        for section in reversed(left):
            waiting[key((section.placed, section.content_hash))].append(section)
        for at, fresh in enumerate(new):
            if continued[at] is None and (wanted := key(fresh)) != "" and waiting.get(wanted):
                continued[at] = waiting[wanted].pop()
        taken = {section.num for section in continued if section is not None}
        left = [section for section in left if section.num not in taken]
    return continued


def renames(
    gone: Mapping[str, str],
    fresh: Mapping[str, str],
    *,
    old_text: Callable[[Sequence[str]], Mapping[str, str]],
    new_text: Callable[[str], str],
) -> dict[str, str]:
    """New path → the path it had. `gone` and `fresh` are paths with the hashes of their files.

    The same bytes first; then, of what is left, the pairs that share most of their lines.
    """
    by_hash: dict[str, list[str]] = defaultdict(list)
    for path in sorted(gone, reverse=True):
        by_hash[gone[path]].append(path)
    moved = {path: by_hash[digest].pop() for path, digest in sorted(fresh.items()) if by_hash.get(digest)}
    rest = sorted(gone.keys() - set(moved.values()))
    unknown = sorted(fresh.keys() - moved.keys())
    if not rest or not unknown:
        return moved
    texts = old_text(rest)
    before = {path: weighed(texts.get(path, "")) for path in rest}
    holders: dict[str, list[str]] = defaultdict(list)
    for path, lines in before.items():
        for line in lines:
            holders[line].append(path)
    pairs = []
    for path in unknown:
        after = weighed(new_text(path))
        near = Counter(other for line in after for other in holders.get(line, ()))
        pairs += [(similarity(before[other], after), other, path) for other in near]
    for share, other, path in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if share >= RENAME_SIMILARITY and path not in moved and other in rest:
            moved[path] = other
            rest.remove(other)
    return moved


def weighed(text: str) -> Counter[str]:
    """Each line and how much of the text it is; blank lines are nothing."""
    counts = Counter(stripped for line in text.split("\n") if (stripped := line.strip()))
    return Counter({line: count * len(line) for line, count in counts.items()})


def similarity(a: Mapping[str, int], b: Mapping[str, int]) -> float:
    """The share of the larger text that both have, by lines."""
    larger = max(sum(a.values()), sum(b.values()))
    shared = sum(min(size, b.get(line, 0)) for line, size in a.items())
    return shared / larger if larger else 0.0
