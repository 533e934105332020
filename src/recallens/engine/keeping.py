"""Writing: remember, sessions, and every change that curation makes. One call is one transaction."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

from recallens.engine.core import Core
from recallens.errors import EncoderError, InvalidInput, NotFound
from recallens.index.columns import Columns
from recallens.index.vectors import to_blob
from recallens.ingest import curate
from recallens.ingest.chunk import sections
from recallens.ingest.draft import Draft
from recallens.ingest.prepare import encoded_text, kept_text, prepare
from recallens.ingest.remembering import Known, Outcome, Remembered, raced, recognise, write_batch
from recallens.ingest.validate import label, option, text_content, unit_interval
from recallens.model.memory import (
    Document,
    FileCitation,
    Memory,
    Origin,
    Relation,
    RelationType,
    Session,
    Status,
    Usage,
)
from recallens.store.protocols import Writer
from recallens.store.records import NamespaceState, Prepared
from recallens.text.normalize import clean

# Rows a transaction on bulk ingest: large enough that the commit is a small part, small enough to lose little.
BATCH_ROWS = 256
# Texts an encoding step takes from the backlog; a stop loses at most this much work.
BACKLOG_ROWS = 256
BACKLOG_LEASE = "backlog"
LEASE_SECONDS = 120

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class AddedDocument:
    document: Document
    memories: tuple[str, ...]


class Keeping(Core):
    # ── remembering ──

    def remember(
        self, draft: Draft | str, *, namespace: str | None = None, dedupe: bool | None = None, **attributes: Any
    ) -> Remembered:
        """Store one memory, durable and searchable when this returns. A text takes a draft's attributes by name."""
        draft = _draft(draft, attributes)
        (row,) = self._prepared([draft], namespace)
        known = self._recognised([row], [draft], dedupe)
        blob, key = None, self.encoding.key
        if known[0] is None and key is not None:
            try:
                memory = row.memory
                text = encoded_text(memory.title, memory.author, memory.content)
                blob = to_blob(self.encoding.documents([text])[0])
            except EncoderError:
                blob = None  # the memory is kept all the same; its vector waits in the backlog
        with self.store.write(row.memory.namespace) as tx:
            self.settle_encoding(tx)
            state = tx.ensure(self.clock())
            ((num, outcome),) = self._write(tx, state, [row], known, self._deduping([draft], dedupe))
            embedded = outcome is Outcome.CREATED and blob is not None and key == self.encoding.key
            if embedded and blob is not None and key is not None:
                tx.vectors.put(key, [(num, 0, blob)])
            if draft.supersedes is not None:
                old = self._num(tx, draft.supersedes)
                curate.supersede(tx, old=old, new=num, at=row.memory.created, session=row.session)
            id = tx.memories.get([num])[num].id
        return Remembered(id, outcome, row.redacted, embedded=embedded)

    def remember_many(
        self, drafts: Iterable[Draft], *, namespace: str | None = None, dedupe: bool | None = None
    ) -> Iterator[list[Remembered]]:
        """Store in batches. What a yielded batch names is on disk; its vectors wait in the backlog for `drain`."""
        remaining = iter(drafts)
        while batch := list(islice(remaining, BATCH_ROWS)):
            rows = self._prepared(batch, namespace)
            known = self._recognised(rows, batch, dedupe)
            with self.store.write(rows[0].memory.namespace) as tx:
                self.settle_encoding(tx)
                state = tx.ensure(self.clock())
                written = self._write(tx, state, rows, known, self._deduping(batch, dedupe))
                ids = tx.memories.ids([num for num, _ in written])
                for draft, row, (num, _) in zip(batch, rows, written, strict=True):
                    if draft.supersedes is not None:
                        old = self._num(tx, draft.supersedes)
                        curate.supersede(tx, old=old, new=num, at=row.memory.created, session=row.session)
            yield [
                Remembered(ids[num], outcome, row.redacted) for (num, outcome), row in zip(written, rows, strict=True)
            ]

    def _prepared(self, drafts: Sequence[Draft], namespace: str | None) -> list[Prepared]:
        name, now, settings = self.namespace(namespace), self.clock(), self.settings
        return [
            prepare(
                replace(
                    draft,
                    project=draft.project or settings.project,
                    session=draft.session or settings.session,
                ),
                id=self.new_id(),
                namespace=name,
                now=now,
            )
            for draft in drafts
        ]

    def _recognised(self, rows: Sequence[Prepared], drafts: Sequence[Draft], dedupe: bool | None) -> list[Known | None]:
        """What each row repeats. One that supersedes another says something new, however alike the two are."""
        wanted = self._deduping(drafts, dedupe)
        if not any(wanted):
            return [None] * len(rows)
        known = self._repeated(rows)
        return [one if deduped else None for one, deduped in zip(known, wanted, strict=True)]

    def _deduping(self, drafts: Sequence[Draft], dedupe: bool | None) -> list[bool]:
        wanted = self.settings.dedupe if dedupe is None else dedupe
        return [wanted and draft.supersedes is None for draft in drafts]

    def _repeated(self, rows: Sequence[Prepared]) -> list[Known | None]:
        with self.snapshot(rows[0].memory.namespace) as snapshot:
            if snapshot is not None:
                reader, _, version = snapshot
                return recognise(reader, version.columns, rows)
        with self.store.read(rows[0].memory.namespace) as reader:  # a new namespace: a batch can only repeat itself
            return recognise(reader, Columns.empty(), rows)

    def _write(
        self,
        tx: Writer,
        state: NamespaceState,
        rows: Sequence[Prepared],
        known: Sequence[Known | None],
        deduping: Sequence[bool],
    ) -> list[tuple[int, Outcome]]:
        # Another process may have deleted or forgotten what this repeats since it was recognised.
        present = tx.memories.get([one.num for one in known if one is not None and one.num is not None])
        known = [one if one is not None and _still_known(one, present) else None for one in known]
        if any(deduping):
            late = raced(tx, rows, known)
            known = [new if deduped else old for new, old, deduped in zip(late, known, deduping, strict=True)]
        written = write_batch(tx, state, rows, known, now=self.clock())
        if self.encoding.key is not None:
            tx.vectors.enqueue(self.encoding.key, [num for num, outcome in written if outcome is Outcome.CREATED])
        return written

    def drain(self, progress: Progress = lambda done: None, *, limit: int | None = None) -> int:
        """Encode what waits in the backlog, a step at a time; a stop loses one step. One process at a time does it."""
        key = self.encoding.key
        if key is None:
            return 0
        with self.store.read_all() as reader:
            if not reader.backlog_size(key):
                return 0
        holder, done = f"{os.getpid()}-{uuid.uuid4().hex}", 0
        try:
            while limit is None or done < limit:
                if not self.store.lease(BACKLOG_LEASE, holder, LEASE_SECONDS):
                    break
                with self.store.read_all() as reader:
                    waiting = reader.backlog(key, BACKLOG_ROWS)
                if not waiting:
                    break
                texts = [encoded_text(one.title, one.author, one.content) for one in waiting]
                found = list(zip(waiting, self.encoding.documents(texts), strict=True))
                with self.store.write_all() as whole:
                    for name in sorted({one.namespace for one in waiting}):
                        own = [(one.num, 0, to_blob(vector)) for one, vector in found if one.namespace == name]
                        tx = whole.at(name)
                        if tx.state is not None:  # it may have been removed while its texts were being encoded
                            tx.vectors.put(key, own)
                done += len(waiting)
                progress(len(waiting))
        finally:
            self.store.release(BACKLOG_LEASE, holder)
        return done

    def add_document(
        self,
        text: str,
        *,
        path: str,
        title: str | None = None,
        project: str | None = None,
        zone: str | None = None,
        namespace: str | None = None,
    ) -> AddedDocument:
        """A document as text: its sections become memories whose source it is."""
        content = text_content(text)
        name, path, title = self.namespace(namespace), clean(path), kept_text(title)
        digest = hashlib.sha256(content.encode()).hexdigest()
        document = Document(self.new_id(), name, path, title, digest, self.clock(), project or self.settings.project)
        drafts = [
            Draft(
                section.text,
                title=title,
                kind="note",
                project=document.project,
                source="document",
                zone=zone,
                document=document.id,
                citations=(FileCitation(path, section.first_line, section.last_line),),
                position=at,
            )
            for at, section in enumerate(sections(content))
        ]
        rows = self._prepared(drafts, name)
        with self.store.write(name) as tx:
            self.settle_encoding(tx)
            state = tx.ensure(self.clock())
            old = tx.documents.memories(path)
            if old:
                tx.memories.delete(old)
            tx.documents.put(document)
            self._write(tx, state, rows, [None] * len(rows), [False] * len(rows))
        with suppress(EncoderError):  # the document is kept all the same; its vectors wait in the backlog
            self.drain()
        return AddedDocument(document, tuple(row.memory.id for row in rows))

    # ── curation ──

    def get(self, id: str, *, namespace: str | None = None) -> Memory:
        with self.store.read(self.namespace(namespace)) as reader:
            self._state(reader)
            return self._memory(reader, id)[1]

    def resolve(self, names: Iterable[str], *, namespace: str | None = None) -> dict[str, str]:
        """Memory ids by id, by the beginning of one, or by `source_id`; what fits nothing is left out."""
        wanted = list(dict.fromkeys(names))
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            if state is None or not wanted:
                return {}
            numbers = reader.memories.by_source_id(wanted)
            for name in wanted:
                with suppress(NotFound, InvalidInput):
                    numbers[name] = self._num(reader, name)
            ids = reader.memories.ids(list(numbers.values()))
        return {name: ids[num] for name, num in numbers.items()}

    def edit(self, id: str, content: str, *, zone: str | None = None, namespace: str | None = None) -> Remembered:
        """A new memory with the new text that supersedes the old and keeps its attributes, but for its zone."""
        old = self.get(id, namespace=namespace)
        draft = Draft(
            content, title=old.title, project=old.project, sector=old.sector, kind=old.kind, tier=old.tier,
            tags=old.tags, scopes=old.scopes, citations=old.citations, importance=old.importance,
            confidence=old.confidence, source=old.source, task=old.task, worktree=old.worktree, author=old.author,
            supersedes=old.id, attributes=old.attributes, zone=zone,
        )  # fmt: skip
        return self.remember(draft, namespace=namespace, dedupe=False)

    def supersede(self, old: str, new: str, *, namespace: str | None = None, at: int | None = None) -> None:
        asking = self.settings.session
        with self._changing(namespace) as tx:
            if asking is not None:
                self._ensure_session(tx, Session(asking, self.namespace(namespace), self.clock()))
            curate.supersede(
                tx, old=self._num(tx, old), new=self._num(tx, new), at=self.clock() if at is None else at,
                session=asking,
            )  # fmt: skip

    def relate(
        self, source: str, target: str, type: str = RelationType.RELATED_TO, *, confidence: float = 1.0,
        origin: str = Origin.USER, namespace: str | None = None,
    ) -> Relation:  # fmt: skip
        kind = option(RelationType, type, "relation")
        if kind is RelationType.SUPERSEDES:
            self.supersede(target, source, namespace=namespace)
            return Relation(source, target, kind, created=self.clock())
        relation = Relation(
            source,
            target,
            kind,
            unit_interval("confidence", confidence),
            option(Origin, origin, "origin"),
            self.clock(),
        )
        with self._changing(namespace) as tx:
            curate.relate(tx, source=self._num(tx, source), target=self._num(tx, target), relation=relation)
        return relation

    def forget(self, id: str, *, hard: bool = False, namespace: str | None = None) -> Memory:
        with self._changing(namespace) as tx:
            num, memory = self._memory(tx, id)
            if not hard:
                curate.forget(tx, memory, num, at=self.clock())
                return memory
            derived = self.resident(self._state(tx).key)
            tx.memories.delete([num])
        derived.discard()
        self.store.compact()
        return memory

    def restore(self, id: str, *, namespace: str | None = None) -> Status:
        with self._changing(namespace) as tx:
            num, memory = self._memory(tx, id)
            return curate.restore(tx, memory, num, at=self.clock())

    def confirm(self, id: str, *, session: str | None = None, namespace: str | None = None) -> None:
        with self._changing(namespace) as tx:
            num = self._num(tx, id)
            asking = session or self.settings.session
            if asking is not None:
                self._ensure_session(tx, Session(asking, self.namespace(namespace), self.clock()))
            curate.confirm(tx, num, at=self.clock(), session=asking)

    def deemphasise(self, id: str, *, namespace: str | None = None) -> float:
        with self._changing(namespace) as tx:
            num, memory = self._memory(tx, id)
            return curate.deemphasise(tx, memory, num, at=self.clock())

    def review(self, id: str, *, approve: bool, namespace: str | None = None) -> None:
        with self._changing(namespace) as tx:
            num, memory = self._memory(tx, id)
            (curate.approve if approve else curate.reject)(tx, memory, num, at=self.clock())

    # ── sessions ──

    def start_session(
        self, id: str | None = None, *, project: str | None = None, title: str | None = None,
        started: int | None = None, namespace: str | None = None,
    ) -> Session:  # fmt: skip
        name = self.namespace(namespace)
        session = Session(
            id or f"s-{self.new_id().lower()}", name, self.clock() if started is None else started,
            project=project or self.settings.project, title=title,
        )  # fmt: skip
        session = _kept(session)
        with self.store.write(name) as tx:
            tx.ensure(self.clock())
            tx.sessions.put(session)
        return session

    def end_session(
        self, id: str, *, summary: str | None = None, ended: int | None = None, namespace: str | None = None
    ) -> Session:
        with self._changing(namespace) as tx:
            session = tx.sessions.get(clean(id))
            if session is None:
                raise NotFound(f"no session {id!r}", hint="`recallens session list` shows those that exist.")
            finished = replace(
                session, ended=self.clock() if ended is None else ended, summary=summary or session.summary
            )
            finished = _kept(finished)
            tx.sessions.put(finished)
        return finished

    def put_sessions(self, sessions: Iterable[Session], *, namespace: str | None = None) -> None:
        """Sessions as they were elsewhere; one that is known takes what it did not have."""
        with self.store.write(self.namespace(namespace)) as tx:
            tx.ensure(self.clock())
            for session in sessions:
                tx.sessions.put(_kept(session))

    def link(self, session: str, memory: str, usage: str, *, namespace: str | None = None) -> None:
        session = clean(session)
        with self._changing(namespace) as tx:
            self._ensure_session(tx, Session(session, self.namespace(namespace), self.clock()))
            tx.sessions.link(session, [self._num(tx, memory)], option(Usage, usage, "usage"), self.clock())

    @contextmanager
    def _changing(self, namespace: str | None) -> Iterator[Writer]:
        with self.store.write(self.namespace(namespace)) as tx:
            self._state(tx)
            yield tx


def _kept(session: Session) -> Session:
    """A session as it may be stored: its words are redacted as a memory's are."""
    return replace(
        session,
        id=clean(session.id),
        project=label("project", session.project),
        title=kept_text(session.title),
        summary=kept_text(session.summary),
    )


def _draft(given: Draft | str, attributes: Mapping[str, Any]) -> Draft:
    known = [each.name for each in fields(Draft) if each.name != "content"]
    unknown = sorted(attributes.keys() - set(known))
    if unknown:
        raise InvalidInput(f"unknown attribute {unknown[0]!r}; the attributes are: {', '.join(known)}")
    return replace(Draft(given) if isinstance(given, str) else given, **attributes)


def _still_known(one: Known, present: Mapping[int, Memory]) -> bool:
    """In use; or there at all, where it came back from its own origin: what became of it since is then respected."""
    if one.num is None:
        return True
    memory = present.get(one.num)
    return memory is not None and (one.returned or memory.status in (Status.ACTIVE, Status.PENDING_REVIEW))
