"""Writing memories: one, many, or a document. One call is one transaction, durable and searchable when it returns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from msgspec import structs

from recallens.engine.core import Core
from recallens.engine.encoder import StoreEncoder
from recallens.errors import EncoderError, InvalidInput
from recallens.index.columns import Columns
from recallens.index.vectors import to_blob
from recallens.ingest import curation
from recallens.ingest.batch import Outcome, Remembered, Repeat, raced, recognise, write_batch
from recallens.ingest.draft import Draft, sections
from recallens.ingest.prepare import encoded_text, kept_text
from recallens.ingest.validate import text_content
from recallens.model.citation import FileCitation
from recallens.model.memory import Document, Memory, Status
from recallens.store.protocols import Writer
from recallens.store.records import NamespaceState, Prepared
from recallens.text.normalize import clean

# Rows a transaction on bulk ingest: large enough that the commit is a small part, small enough to lose little.
BATCH_ROWS = 256


@dataclass(frozen=True, slots=True)
class AddedDocument:
    document: Document
    memories: tuple[str, ...]


class Ingest:
    """Stores what is remembered, with everything derived from its text."""

    def __init__(self, core: Core, encoder: StoreEncoder) -> None:
        self._core = core
        self._encoder = encoder

    def remember(
        self, draft: Draft | str, *, namespace: str | None = None, dedupe: bool | None = None, **attributes: Any
    ) -> Remembered:
        """Store one memory, durable and searchable when this returns. A text takes a draft's attributes by name."""
        draft = _draft(draft, attributes)
        (row,) = self.prepared([draft], namespace)
        known = self._recognised([row], [draft], dedupe)
        blob, key = None, self._core.encoding.key
        if known[0] is None and key is not None:
            try:
                memory = row.memory
                text = encoded_text(memory.title, memory.author, memory.content)
                blob = to_blob(self._core.encoding.documents([text])[0])
            except EncoderError:
                blob = None  # the memory is kept all the same; its vector waits in the backlog
        with self._core.store.write(row.memory.namespace) as tx:
            self._core.settle_encoding(tx)
            state = tx.ensure(self._core.clock())
            ((num, outcome),) = self.write(tx, state, [row], known, self._deduping([draft], dedupe))
            embedded = outcome is Outcome.CREATED and blob is not None and key == self._core.encoding.key
            if embedded and blob is not None and key is not None:
                tx.vectors.put(key, [(num, 0, blob)])
            if draft.supersedes is not None:
                old = self._core.num(tx, draft.supersedes)
                curation.supersede(tx, old=old, new=num, at=row.memory.created, session=row.session)
            id = tx.memories.get([num])[num].id
        return Remembered(id, outcome, row.redacted, embedded=embedded)

    def remember_many(
        self, drafts: Iterable[Draft], *, namespace: str | None = None, dedupe: bool | None = None
    ) -> Iterator[list[Remembered]]:
        """Store in batches. What a yielded batch names is on disk; its vectors wait in the backlog for `drain`."""
        remaining = iter(drafts)
        while batch := list(islice(remaining, BATCH_ROWS)):
            rows = self.prepared(batch, namespace)
            known = self._recognised(rows, batch, dedupe)
            with self._core.store.write(rows[0].memory.namespace) as tx:
                self._core.settle_encoding(tx)
                state = tx.ensure(self._core.clock())
                written = self.write(tx, state, rows, known, self._deduping(batch, dedupe))
                ids = tx.memories.ids([num for num, _ in written])
                for draft, row, (num, _) in zip(batch, rows, written, strict=True):
                    if draft.supersedes is not None:
                        old = self._core.num(tx, draft.supersedes)
                        curation.supersede(tx, old=old, new=num, at=row.memory.created, session=row.session)
            yield [
                Remembered(ids[num], outcome, row.redacted) for (num, outcome), row in zip(written, rows, strict=True)
            ]

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
        name, path, title = self._core.namespace(namespace), clean(path), kept_text(title)
        digest = hashlib.sha256(content.encode()).hexdigest()
        document = Document(
            self._core.new_id(), name, path, title, digest, self._core.clock(), project or self._core.settings.project
        )
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
        rows = self.prepared(drafts, name)
        with self._core.store.write(name) as tx:
            self._core.settle_encoding(tx)
            state = tx.ensure(self._core.clock())
            old = tx.documents.memories(path)
            if old:
                tx.memories.delete(old)
            tx.documents.put(document)
            self.write(tx, state, rows, [None] * len(rows), [False] * len(rows))
        with suppress(EncoderError):  # the document is kept all the same; its vectors wait in the backlog
            self._encoder.drain()
        return AddedDocument(document, tuple(row.memory.id for row in rows))

    def prepared(self, drafts: Sequence[Draft], namespace: str | None) -> list[Prepared]:
        name, now, settings = self._core.namespace(namespace), self._core.clock(), self._core.settings
        return [
            self._core.prepare(
                structs.replace(
                    draft, project=draft.project or settings.project, session=draft.session or settings.session
                ),
                id=self._core.new_id(),
                namespace=name,
                now=now,
            )
            for draft in drafts
        ]

    def _recognised(
        self, rows: Sequence[Prepared], drafts: Sequence[Draft], dedupe: bool | None
    ) -> list[Repeat | None]:
        """What each row repeats. One that supersedes another says something new, however alike the two are."""
        wanted = self._deduping(drafts, dedupe)
        if not any(wanted):
            return [None] * len(rows)
        known = self._repeated(rows)
        return [one if deduped else None for one, deduped in zip(known, wanted, strict=True)]

    def _deduping(self, drafts: Sequence[Draft], dedupe: bool | None) -> list[bool]:
        wanted = self._core.settings.dedupe if dedupe is None else dedupe
        return [wanted and draft.supersedes is None for draft in drafts]

    def _repeated(self, rows: Sequence[Prepared]) -> list[Repeat | None]:
        with self._core.snapshot(rows[0].memory.namespace) as snapshot:
            if snapshot is not None:
                reader, _, version = snapshot
                return recognise(reader, version.columns, rows)
        # A new namespace holds nothing: a batch can only repeat itself.
        with self._core.store.read(rows[0].memory.namespace) as reader:
            return recognise(reader, Columns.empty(), rows)

    def write(
        self,
        tx: Writer,
        state: NamespaceState,
        rows: Sequence[Prepared],
        known: Sequence[Repeat | None],
        deduping: Sequence[bool],
    ) -> list[tuple[int, Outcome]]:
        # Another process may have deleted or forgotten what this repeats since it was recognised.
        present = tx.memories.get([one.num for one in known if one is not None and one.num is not None])
        known = [one if one is not None and _still_known(one, present) else None for one in known]
        if any(deduping):
            late = raced(tx, rows, known)
            known = [new if deduped else old for new, old, deduped in zip(late, known, deduping, strict=True)]
        written = write_batch(tx, state, rows, known, now=self._core.clock())
        if self._core.encoding.key is not None:
            tx.vectors.enqueue(self._core.encoding.key, [num for num, outcome in written if outcome is Outcome.CREATED])
        return written


def _draft(given: Draft | str, attributes: Mapping[str, Any]) -> Draft:
    known = [name for name in Draft.__struct_fields__ if name != "content"]
    unknown = sorted(attributes.keys() - set(known))
    if unknown:
        raise InvalidInput(f"unknown attribute {unknown[0]!r}; the attributes are: {', '.join(known)}")
    return structs.replace(Draft(given) if isinstance(given, str) else given, **attributes)


def _still_known(one: Repeat, present: Mapping[int, Memory]) -> bool:
    """In use; or there at all, where it came back from its own origin: what became of it since is then respected."""
    if one.num is None:
        return True
    memory = present.get(one.num)
    return memory is not None and (one.returned or memory.status in (Status.ACTIVE, Status.PENDING_REVIEW))
