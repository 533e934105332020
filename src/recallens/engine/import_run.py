"""One import while it goes on: entries in batches, each known again by the id that it has where it came from."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace as dataclass_replace
from itertools import islice

from msgspec import Struct, structs

from recallens.engine.core import Core
from recallens.engine.erased import erased_sources
from recallens.engine.ingest import BATCH_ROWS, Ingest
from recallens.engine.memories import Memories
from recallens.engine.sessions import Sessions
from recallens.errors import InvalidInput, RecallensError
from recallens.ingest import curation
from recallens.ingest.batch import Remembered
from recallens.ingest.dedupe import content_hash
from recallens.ingest.draft import Draft, turn_of
from recallens.ingest.findings import Finder
from recallens.ingest.importers import (
    SHOWN_REDACTIONS,
    Entry,
    MemoryLine,
    Redaction,
    RelationLine,
    SessionLine,
    SkippedEntry,
    Source,
)
from recallens.ingest.prepare import check
from recallens.ingest.redact import redact
from recallens.ingest.source_file import SourceFile
from recallens.ingest.transcript import TITLE_CHARACTERS
from recallens.ingest.validate import reference, text_content
from recallens.model.memory import Memory, Relation, RelationType, Session, Status, Zone
from recallens.model.trust import Actor, Input, InputKind, lowest, rank
from recallens.store.records import Tie

MOST_RELATED = 512  # in one transaction

# (kilobytes read, kilobytes to read)
ImportProgress = Callable[[int, int], None]


class Imported(Struct, frozen=True, rename="camel"):
    """What became of every entry: read = imported + already there + skipped."""

    source: str
    files: int
    read: int
    imported: int
    already_there: int
    skipped: tuple[SkippedEntry, ...]
    sessions: int = 0  # of which something was imported
    relations: int = 0
    replaced: int = 0  # of the imported ones, those whose text has changed where they came from
    quarantined: int = 0  # of the imported ones, those that a tool gave
    redacted: int = 0
    found: int = (
        0  # decisions, corrections and commands that worked at last, found in what was said: beside the read ones
    )
    dry_run: bool = False
    vault: str | None = None
    redactions: tuple[Redaction, ...] = ()  # the first of the redacted ones


class _ChosenLines(Struct, frozen=True):
    """Lines that were read together: the new ones as drafts, by their id at the source, and those that are there."""

    read: Sequence[MemoryLine]
    new: Mapping[str, Draft]
    there: Sequence[tuple[MemoryLine, Memory | None]]


def entries_of(source: Source, files: Sequence[SourceFile], progress: ImportProgress) -> Iterator[Entry]:
    """The entries of all files. A file that cannot be read is a skipped entry, unless it is the only one."""
    total, before = sum(file.size for file in files) >> 10, 0
    for file in files:
        told = False
        try:
            for count, entry in enumerate(source.read(file)):
                if count % BATCH_ROWS == 0:
                    progress(before + file.done >> 10, total)
                told = told or not isinstance(entry, SessionLine)
                yield entry
            if not told and file.path.is_file():
                yield SkippedEntry(file.path.name, "there is nothing in it")
        except (InvalidInput, OSError) as error:
            if len(files) == 1:
                raise
            yield SkippedEntry(file.path.name, str(error))
        except (AttributeError, IndexError, KeyError, TypeError) as error:  # a form that no version of it has had yet
            yield SkippedEntry(file.path.name, f"what follows has another form than is known ({error})")
        before += file.size
    progress(total, total)


class ImportRun:
    """Takes entries, and in the end says what became of them."""

    def __init__(
        self, core: Core, ingest: Ingest, memories: Memories, sessions: Sessions, namespace: str, *, zone: Zone,
        project: str | None, dry_run: bool, finder: Finder | None = None, there: Collection[str] = (),
    ) -> None:  # fmt: skip
        self._core = core
        self._ingest = ingest
        self._memories = memories
        self._sessions = sessions
        self._namespace = namespace
        self._zone = zone
        self._project = project
        self._dry_run = dry_run
        self._finder = finder
        self._there = there  # digests of texts that are there by another way
        self._session_lines: dict[str, SessionLine] = {}
        self._grown: dict[str, None] = {}  # the sessions of which something is new, in order
        self._relation_lines: list[RelationLine] = []
        self._ids: dict[str, str] = {}  # of memories, by what the lines call them
        self._taken: set[str] = set()  # the ids at their source of what was imported by this run
        self._read_once: set[str] = set()
        self._seen: dict[str, str] = {}  # what each id said when it was first read, as a digest
        self._waiting: set[str] = set()  # the beginnings of turns that wait for review
        self._erased = erased_sources(core, namespace)
        self._skipped: list[SkippedEntry] = []
        self._redactions: list[Redaction] = []
        self._already = self._replaced = self._quarantined = self._redacted = self._found = 0

    def take_all(self, entries: Iterator[Entry]) -> None:
        """Batch by batch: one is read and prepared while the one before it is written."""
        chosen: deque[_ChosenLines] = deque()

        def drafts() -> Iterator[list[Draft]]:
            while batch := list(islice(entries, BATCH_ROWS)):
                chosen.append(self._chosen(batch))
                yield [] if self._dry_run else list(chosen[-1].new.values())

        for remembered in self._ingest.remember_batches(drafts(), namespace=self._namespace, dedupe=False):
            self._stored(chosen.popleft(), remembered)

    def _usable(self, line: MemoryLine) -> bool:
        try:
            check(line.draft)
            if line.draft.session is not None:
                reference("session id", line.draft.session)
        except InvalidInput as error:
            self._skipped.append(SkippedEntry(str(line.draft.source_id), error.message))
            return False
        return True

    def _chosen(self, entries: Sequence[Entry]) -> _ChosenLines:
        """What of these is to be stored, and the sessions that it belongs to."""
        for entry in entries:
            if isinstance(entry, SessionLine):
                known_line = self._session_lines.get(entry.id)
                self._session_lines[entry.id] = entry if known_line is None else _whole_session(known_line, entry)
        self._relation_lines += [entry for entry in entries if isinstance(entry, RelationLine)]
        self._skipped += [entry for entry in entries if isinstance(entry, SkippedEntry)]
        lines = [entry for entry in entries if isinstance(entry, MemoryLine) and self._usable(entry)]
        known = self._known(lines)
        new: dict[str, Draft] = {}
        there: list[tuple[MemoryLine, Memory | None]] = []
        read: list[MemoryLine] = []
        for line in lines:
            id, said = str(line.draft.source_id), content_hash(line.draft.content)
            old = known.get(id)
            if self._erased.holds(id):
                self._skipped.append(SkippedEntry(id, "it was deleted for good"))
            elif self._seen.setdefault(id, said) != said:
                self._skipped.append(SkippedEntry(id, "another text with the same id was read before it"))
            else:
                if id not in self._read_once:  # said again, by a file that goes on with another, it is nothing new
                    self._read_once.add(id)
                    read.append(line)
                if (
                    id in self._taken
                    or id in new
                    or said in self._there
                    or (old is not None and _stands(old, line.draft))
                ):
                    there.append((line, old))
                else:
                    new[id] = self._filled(line.draft, old)
        begun = {draft.session for draft in new.values() if draft.session is not None} - self._grown.keys()
        if begun and not self._dry_run:
            sessions = [structs.replace(each, title=None, summary=None) for each in self._kept_sessions(sorted(begun))]
            self._sessions.put(sessions, namespace=self._namespace)  # what they are called is known when all was read
        self._grown |= dict.fromkeys(draft.session for draft in new.values() if draft.session is not None)
        self._taken |= new.keys()
        self._replaced += len(known.keys() & new.keys())
        self._quarantined += sum(draft.zone == Zone.QUARANTINE for draft in new.values())
        self._already += len(there)
        return _ChosenLines(read, new, there)

    def _stored(self, batch: _ChosenLines, remembered: Sequence[Remembered]) -> None:
        lines = {str(line.draft.source_id): line for line in reversed(batch.read)}
        for id, stored in zip(batch.new if remembered else (), remembered, strict=True):
            self._redacted += bool(stored.redacted)
            if stored.redacted and len(self._redactions) < SHOWN_REDACTIONS:
                self._redactions.append(Redaction(id, stored.redacted))
            if stored.waits:
                self._waiting.add(lines[id].draft.content[:TITLE_CHARACTERS])
            self._call(lines[id], stored.id)
        for line, old in batch.there:
            self._call(line, old.id if old is not None else self._ids.get(str(line.draft.source_id)))
        if self._finder is not None:
            self._keep_findings(list(self._finder.found_in(batch.read)))

    def _keep_findings(self, found: Sequence[MemoryLine]) -> None:
        """Those that are new. What was said is as trusted as the turn that says it, a command as its session."""
        known = self._known(found)
        new = [line for line in found if not self._erased.holds(str(line.draft.source_id))]
        new = self._not_found_yet(new, known)
        turns = [self._ids.get(_turn_of(line)) for line in new]
        memories = self._memories.many(filter(None, turns), namespace=self._namespace)
        drafts = []
        for line, turn in zip(new, turns, strict=True):
            made_of = Input(InputKind.SESSION, str(line.draft.session), self._zone)
            if turn in memories and line.draft.author is not None:
                made_of = Input.of(memories[turn])
            drafts.append(structs.replace(self._filled(line.draft, None), inputs=(made_of,)))
        self._found += len(drafts)
        if not self._dry_run:
            for _ in self._ingest.remember_many(drafts, namespace=self._namespace, dedupe=False):
                pass

    def _not_found_yet(self, found: Sequence[MemoryLine], known: Mapping[str, Memory]) -> list[MemoryLine]:
        """Those that nothing says which was found in the same turn; what went with an earlier version of its turn may
        come back with a later one."""
        turns = {id for line in found if (id := self._ids.get(_turn_of(line))) is not None}
        with self._core.read(self._namespace) as reader:
            after = reader.relations.successors([memory.num for memory in known.values()], curation.EVER)
            taken_by = reader.memories.get(list(reader.memories.find([each.id for each in after.values()]).values()))
            beside = reader.memories.get(reader.lineage.derived_from(InputKind.MEMORY, sorted(turns), quoting=True))
        versions = {memory.id: memory.source_id for memory in taken_by.values()}
        withdrawn = {
            memory.id for memory in known.values()
            if memory.num in after and versions.get(after[memory.num].id) == turn_of(memory.source_id)
        }  # fmt: skip
        standing = {
            (turn_of(memory.source_id), memory.content_hash)
            for memory in (*known.values(), *beside.values())
            if memory.id not in withdrawn
        }
        return [line for line in found if standing.isdisjoint((_turn_of(line), each) for each in _hashes(line.draft))]

    def _known(self, lines: Sequence[MemoryLine]) -> dict[str, Memory]:
        """What the store has of them, by the id that they have where they came from; ids are bound to their zone."""
        zones = {str(line.draft.source_id): lowest((self._zone, Zone(line.draft.zone or self._zone))) for line in lines}
        with self._core.read(self._namespace) as reader:
            nums = reader.memories.by_source_id(list(zones), zones=zones)
            memories = reader.memories.get(list(nums.values()))
        return {id: memories[num] for id, num in nums.items() if num in memories}

    def _filled(self, draft: Draft, old: Memory | None) -> Draft:
        replaces = None if old is None or old.zone is Zone.QUARANTINE else old.id
        return structs.replace(
            draft, zone=draft.zone or self._zone, project=self._project or draft.project, supersedes=replaces
        )

    def _call(self, line: MemoryLine, id: str | None) -> None:
        if id is not None:
            self._ids |= {name: id for name in (line.key, line.draft.source_id) if name is not None}

    def _kept_sessions(self, ids: Iterable[str]) -> list[Session]:
        now, lines = self._core.clock(), [self._session_lines[id] for id in ids if id in self._session_lines]
        return [
            Session(line.id, self._namespace, now if line.started is None else line.started, None,
                    self._project or line.project, self._shown_title(line), None if self._hides else line.summary)
            for line in lines
        ]  # fmt: skip

    @property
    def _hides(self) -> bool:
        return self._zone is Zone.QUARANTINE

    def _shown_title(self, line: SessionLine) -> str | None:
        """None where it is the beginning of a turn that is not to be read."""
        quoted = line.title is not None and any(said.startswith(line.title) for said in self._waiting)
        return None if self._hides or quoted else line.title

    def finish(self, source: str, files: int) -> Imported:
        """Relations, and the end and recap of every session that grew: they need everything to be there."""
        if self._finder is not None:
            self._keep_findings(self._finder.rest())
        related = 0
        if not self._dry_run:
            told = self._relations()
            while batch := list(islice(told, MOST_RELATED)):
                related += self._relate(batch)
            ending = self._to_end()
            self._sessions.put(self._kept_sessions(line.id for line in ending), namespace=self._namespace)
            self._sessions.end_many({line.id: line.ended for line in ending}, namespace=self._namespace)
        imported = len(self._taken)
        read = imported + self._already + len(self._skipped)
        return Imported(
            source, files, read, imported, self._already, tuple(self._skipped), len(self._grown), related,
            self._replaced, self._quarantined, self._redacted, self._found, self._dry_run,
            redactions=tuple(self._redactions),
        )  # fmt: skip

    def _to_end(self) -> list[SessionLine]:
        """The sessions that grew, and those that an import which was stopped has left without an end. One that is more
        trusted than the file stays as it is."""
        with self._core.read(self._namespace) as reader:
            known = {id: reader.sessions.get(id) for id in self._session_lines}
        most = rank(self._core.actor.zone)
        return [
            line for id, line in self._session_lines.items()
            if (id in self._grown or ((session := known[id]) is not None and session.ended is None))
            and ((session := known[id]) is None or rank(session.zone) <= most)
        ]  # fmt: skip

    def _relate(self, batch: Sequence[Relation]) -> int:
        """Those that are not there yet, in one transaction; gives how many these were. A line that nobody has read has
        no more say over the other memory than it is trusted itself: what it may not say it proposes."""
        plain: dict[Tie, Relation] = {}
        others: list[tuple[Actor, Relation]] = []
        with self._core.changing(self._namespace) as tx:
            nums = tx.memories.find([id for relation in batch for id in (relation.source, relation.target)])
            by, ends = self._core.actor, tx.memories.get(sorted(set(nums.values())))
            free = {num for num, end in ends.items() if by.may_change(end) and by.sight.withholds(end) is None}
            ties = [(nums.get(each.source, 0), nums.get(each.target, 0), str(each.type)) for each in batch]
            known = tx.relations.known(ties)
            for tie, relation in zip(ties, batch, strict=True):
                if tie in known or tie in plain or tie[0] == tie[1]:
                    continue
                line = by.by(ends[tie[0]]) if tie[0] in ends else by
                allowed = free.issuperset(tie[:2]) and line.may_change(ends[tie[1]])
                if relation.type is not RelationType.SUPERSEDES and allowed:
                    plain[tie] = relation
                else:
                    others.append((line, relation))
            if plain:
                tx.relations.put_many(plain)
        related = len(plain)
        for line, relation in others:
            with suppress(RecallensError), self._core.acting(line):
                self._memories.relate(
                    relation.source, relation.target, relation.type, confidence=relation.confidence,
                    origin=relation.origin, namespace=self._namespace,
                )  # fmt: skip
                related += 1
        return related

    def _relations(self) -> Iterator[Relation]:
        """Those whose both ends are there."""
        at = self._core.clock()
        for line in self._relation_lines:
            source, target = self._ids.get(line.source), self._ids.get(line.target)
            if source is not None and target is not None and source != target:
                yield Relation(source, target, line.relation, line.confidence, line.origin, at)


def _whole_session(before: SessionLine, after: SessionLine) -> SessionLine:
    """A session of several files: it begins with the first of them and ends with the last, in whatever order they are
    read."""
    begun = [line for line in (after, before) if line.started is not None]
    first = min(begun, key=lambda line: line.started or 0, default=after)
    ends = [line.ended for line in (before, after) if line.ended is not None]
    return dataclass_replace(
        after, started=first.started, ended=max(ends, default=None),
        title=first.title or after.title or before.title, summary=after.summary or before.summary,
        project=first.project or after.project or before.project,
    )  # fmt: skip


def _turn_of(finding: MemoryLine) -> str:
    return turn_of(finding.draft.source_id)


def _hashes(draft: Draft) -> tuple[str, str]:
    """Of a text as it is, and as it would be kept."""
    text = text_content(draft.content)
    return content_hash(text), content_hash(redact(text)[0])


def _stands(old: Memory, draft: Draft) -> bool:
    """The same text, compared as it would be kept; or one that somebody has taken away, which does not come back."""
    if old.status not in (Status.ACTIVE, Status.PENDING_REVIEW, Status.ARCHIVED):
        return True
    return old.content_hash in _hashes(draft)
