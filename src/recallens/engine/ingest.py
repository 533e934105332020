"""Writing memories: one, many, or a document. One call is one transaction, durable and searchable when it returns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from msgspec import Struct, structs

from recallens.engine.citations import Citations
from recallens.engine.core import Core
from recallens.engine.encoder import StoreEncoder, texts_of
from recallens.errors import EncoderError, InvalidInput
from recallens.index.columns import Columns
from recallens.index.vectors import to_blob
from recallens.ingest import curation
from recallens.ingest.batch import Outcome, Remembered, Repeat, raced, recognise, write_batch
from recallens.ingest.corrected_rows import OlderStatements
from recallens.ingest.corrections import Correction, corrected, correction_in, may_correct
from recallens.ingest.dedupe import content_hash
from recallens.ingest.draft import Draft, sections
from recallens.ingest.preparation import Unprepared
from recallens.ingest.prepare import kept_text, unread
from recallens.ingest.validate import label, option, reference, text_content
from recallens.model.citation import FileCitation
from recallens.model.memory import PROPOSED, Document, Kind, Memory, Status, Zone, handle_of, minted_at
from recallens.model.state import withheld
from recallens.model.trust import Change, Input, ProposedChange, derived, lowest, rank
from recallens.store.protocols import Reader, Writer
from recallens.store.records import Prepared
from recallens.text.content import quotable

# Rows a transaction on bulk ingest: large enough that the commit is a small part, small enough to lose little.
BATCH_ROWS = 256


class AddedDocument(Struct, frozen=True):
    document: Document
    memories: tuple[str, ...]


class Ingest:
    """Stores what is remembered, with everything derived from its text."""

    def __init__(self, core: Core, encoder: StoreEncoder) -> None:
        self._core = core
        self._encoder = encoder
        self._citations = Citations(core)

    def remember(
        self, draft: Draft | str, *, namespace: str | None = None, dedupe: bool | None = None, **attributes: Any
    ) -> Remembered:
        """Store one memory, durable and searchable when this returns. A text takes a draft's attributes by name."""
        works = self._works([_draft(draft, attributes)], namespace)
        (remembered,) = self._store(works, self._core.preparation.rows(works), dedupe, encode=True)
        return remembered

    def remember_many(
        self, drafts: Iterable[Draft], *, namespace: str | None = None, dedupe: bool | None = None
    ) -> Iterator[list[Remembered]]:
        """Store in batches. What a yielded batch names is on disk; its vectors wait in the backlog for `drain`."""
        remaining = iter(drafts)
        batches = iter(lambda: list(islice(remaining, BATCH_ROWS)), [])
        yield from self.remember_batches(batches, namespace=namespace, dedupe=dedupe)

    def remember_batches(
        self, batches: Iterable[Sequence[Draft]], *, namespace: str | None = None, dedupe: bool | None = None
    ) -> Iterator[list[Remembered]]:
        """The same for drafts in batches, each of them one transaction. A batch is asked for before the one that comes
        before it is written."""
        for works, rows in self._core.preparation.stream(self._works(batch, namespace) for batch in batches):
            yield self._store(works, rows, dedupe) if works else []

    def _store(
        self, works: Sequence[Unprepared], prepared: Sequence[Prepared], dedupe: bool | None, *, encode: bool = False
    ) -> list[Remembered]:
        """One transaction. `encode` is for a single draft, whose vector is stored with it if the encoder answers."""
        rows, supersedes = self._admitted(prepared), [work.draft.supersedes for work in works]
        wanted = self._core.settings.dedupe if dedupe is None else dedupe
        # What supersedes another says something new, however alike the two are.
        deduping = [wanted and old is None for old in supersedes]
        known = self._repeated(rows, deduping)
        if any(known):  # what says it less trusted does not stand for it: then this is new, and has a vector of its own
            with self._core.store.read(rows[0].memory.namespace) as reader:
                known = self._still_known(reader, rows, known)
        key = self._core.encoding.key
        lines = self._citations.taken(rows)
        vectors = self._vectors(rows[0].memory) if encode and key is not None and known[0] is None else []
        with self._core.making(rows[0].memory.namespace, texts=True) as tx:
            written = self.write(tx, rows, known, deduping)
            num, outcome = written[0]
            embedded = outcome is Outcome.CREATED and key == self._core.encoding.key
            if embedded and vectors and key is not None:
                tx.vectors.put(key, [(num, part, vector) for part, vector in enumerate(vectors)])
            tx.citations.put_lines({
                (num, citation): known
                for (num, _), own in zip(written, lines, strict=True) for citation, known in own.items()
            })  # fmt: skip
            by, proposed = self._core.actor, {}
            for replaced, row, (num, how) in zip(supersedes, rows, written, strict=True):
                if replaced is not None and how is Outcome.CREATED:
                    old = self._core.num(tx, replaced)
                    if not curation.supersede(tx, old, num, row.memory.held_from, row.session, by=by.by(row.memory)):
                        proposed[num] = handle_of(old)
            ids = tx.memories.ids([num for num, _ in written])
        if encode:
            self._encoder.later()
        stated = {num for old, (num, _) in zip(supersedes, written, strict=True) if old is not None}
        changing = [
            num
            for row, (num, outcome) in zip(rows, written, strict=True)
            if row.tells_change and outcome is Outcome.CREATED and num not in stated
        ]
        replaceable = self._propose(rows[0].memory.namespace, changing)
        return [
            Remembered(
                ids[num],
                outcome,
                handle_of(num),
                row.redacted,
                embedded and bool(vectors),
                row.suspected,
                proposed.get(num),
                waits=bool(row.suspected) and row.memory.status is Status.PENDING_REVIEW and outcome is Outcome.CREATED,
                may_replace=replaceable.get(num),
            )
            for (num, outcome), row in zip(written, rows, strict=True)
        ]

    def _propose(self, namespace: str, nums: Sequence[int]) -> dict[int, str]:
        """Where a text says what holds instead of something, propose that it supersedes the memory that said so: gives
        the handle of that one."""
        if not nums:
            return {}
        with self._core.store.read(namespace) as reader:
            memories = reader.memories.get(nums)
        told = [(memory, correction_in(memory.content)) for memory in memories.values() if may_correct(memory)]
        pairs = self._corrected(namespace, [(memory, correction) for memory, correction in told if correction])
        if pairs:
            with self._core.changing(namespace) as tx:
                for memory, older, sure in pairs:
                    curation.propose(tx, old=older.num, new=memory.num, at=self._core.clock(), confidence=sure,
                                     by=self._core.actor)  # fmt: skip
        return {memory.num: older.handle for memory, older, _ in pairs}

    def _corrected(
        self, namespace: str, correcting: Sequence[tuple[Memory, Correction]]
    ) -> list[tuple[Memory, Memory, float]]:
        """Each that corrects a memory which who acts may see and which still holds: that memory, and how sure it is."""
        if not correcting:
            return []
        pairs, now = [], self._core.clock()
        with self._core.seen(namespace) as snapshot:
            if snapshot is None:
                return []
            reader, _, version = snapshot
            statements = OlderStatements(reader, version.lexical)
            for memory, correction in correcting:
                nums = statements.like(memory, correction)
                alike = reader.memories.get(nums) if nums else {}
                holding = [each for each in alike.values() if withheld(each) is None and _holds(each, now)]
                if (old := corrected(correction, memory, holding)) is not None:
                    pairs.append((memory, *old))
        return pairs

    def _vectors(self, memory: Memory) -> list[bytes]:
        """Nothing where the encoder fails: the memory is kept all the same, and its vectors wait in the backlog."""
        with suppress(EncoderError):
            encoding = self._core.encoding
            return [to_blob(vector) for vector in encoding.documents(texts_of(encoding, memory))]
        return []

    def add_document(
        self,
        text: str,
        *,
        path: str,
        title: str | None = None,
        project: str | None = None,
        namespace: str | None = None,
    ) -> AddedDocument:
        """A document as text: its sections become memories whose source it is. One of its path is replaced, unless it
        is more trusted than who adds this one."""
        content = text_content(text)
        name, path, title = self._core.namespace(namespace), reference("path", path), kept_text(title)
        digest, at = hashlib.sha256(content.encode()).hexdigest(), self._core.clock()
        project = label("project", project or self._core.settings.project)
        document = Document(self._core.new_id(), name, path, title, digest, at, project)
        whole = Draft("", title=title, kind="note", project=document.project, source="document", document=document.id)
        drafts = [
            structs.replace(
                whole,
                content=section.text,
                citations=(FileCitation(path, section.first_line, section.last_line),),
                position=position,
            )
            for position, section in enumerate(sections(content))
        ]
        rows = self.prepared(drafts, name)
        waits = None
        with self._core.making(name, texts=True) as tx:
            old, by = tx.documents.memories(path), self._core.actor
            if not all(by.may_change(memory) for memory in tx.memories.get(old).values()):
                kept = {"path": path, "title": title, "project": document.project, "text": kept_text(content)}
                proposed = ProposedChange(Change.DOCUMENT, zone=by.zone, owner=by.called, at=at, details=kept)
                waits = curation.wait(tx, proposed, path)
            else:
                if old:
                    self._core.log.erases(tx, old)
                    tx.memories.delete(old)
                tx.documents.put(document)
                self.write(tx, rows)
        if waits is not None:
            raise waits
        with suppress(EncoderError):  # the document is kept all the same; its vectors wait in the backlog
            self._encoder.drain()
        return AddedDocument(document, tuple(row.memory.id for row in rows))

    def prepared(self, drafts: Sequence[Draft], namespace: str | None, within: Reader | None = None) -> list[Prepared]:
        """Rows that are ready to be written, by who acts: in their zone at most. `within` a transaction, drafts are
        complete as they are."""
        works = self._works(drafts, namespace, complete=within is not None)
        return self._admitted(self._core.preparation.rows(works), within)

    def _works(self, drafts: Sequence[Draft], namespace: str | None, *, complete: bool = False) -> list[Unprepared]:
        name, now = self._core.namespace(namespace), self._core.clock()
        settings, by = self._core.settings, self._core.actor
        works = []
        for draft in drafts:
            project = draft.project if complete else draft.project or settings.project
            session = draft.session if complete else draft.session or settings.session
            zone = by.zone if draft.zone is None else lowest((by.zone, option(Zone, draft.zone, "zone")))
            full = structs.replace(draft, project=project, session=session, zone=zone)
            works.append(Unprepared(full, self._core.new_id(), name, now))
        return works

    def _admitted(self, rows: Sequence[Prepared], within: Reader | None = None) -> list[Prepared]:
        """The rows as who acts may write them: a principle may only be proposed, what nobody has read is screened, and
        what is dated in the past by who is not the person has the time at which it was kept as well."""
        by, admitted = self._core.actor, []
        for row in rows:
            if row.memory.kind is Kind.PRINCIPLE and not by.approves:
                row = replace(row, memory=structs.replace(row.memory, review=row.memory.review or PROPOSED))
            kept_at = None if by.dates else minted_at(row.memory.id)
            if kept_at is not None and row.memory.created < kept_at:
                row = replace(row, memory=structs.replace(row.memory, recorded=kept_at))
            admitted.append(row if by.approves else unread(row))
        return (
            admitted
            if by.zone is Zone.TRUSTED or not rows
            else self._unlaundered(rows[0].memory.namespace, admitted, within)
        )

    def _unlaundered(self, namespace: str, rows: list[Prepared], within: Reader | None) -> list[Prepared]:
        """What repeats, whole or in a line, a text that not everybody may read is as restricted as that text: where who
        says it may read it. What they may not read has no part in what becomes of their words: it would tell of it."""
        sight = self._core.actor.sight
        if not sight.everything and not sight.scopes:
            return rows
        pieces = [[content_hash(piece) for piece in quotable(row.memory.content)] for row in rows]
        hashes = [digest for own in pieces for digest in own]
        with self._core.store.read(namespace) if within is None else nullcontext(within) as reader:
            nums = set(reader.memories.by_hash(hashes, held=sight.held, restricted=True).values())
            known = reader.memories.get(sorted(nums)) if nums else {}
        texts = {each.content_hash: each for each in known.values() if withheld(each) is not None}
        quoted = [[texts[digest] for digest in own if digest in texts] for own in pieces]
        return [_restricted(row, own) if own else row for row, own in zip(rows, quoted, strict=True)]

    def _repeated(self, rows: Sequence[Prepared], deduping: Sequence[bool]) -> list[Repeat | None]:
        """What each row repeats, where that is asked for."""
        if not any(deduping):
            return [None] * len(rows)
        name, held = rows[0].memory.namespace, self._core.actor.sight.held
        with self._core.seen(name) as snapshot:
            known = None if snapshot is None else recognise(snapshot[0], snapshot[2].columns, rows, held)
        if known is None:  # a new namespace holds nothing: a batch can only repeat itself
            with self._core.store.read(name) as reader:
                known = recognise(reader, Columns.empty(), rows, held)
        return [repeat if wanted else None for repeat, wanted in zip(known, deduping, strict=True)]

    def write(
        self, tx: Writer, rows: Sequence[Prepared], known: Sequence[Repeat | None] = (), deduping: Sequence[bool] = ()
    ) -> list[tuple[int, Outcome]]:
        """The number of each row, and what became of it. Without `known`, all of them are new."""
        known = self._still_known(tx, rows, known or [None] * len(rows))
        if any(deduping):
            late = raced(tx, rows, known, self._core.actor.sight.held)
            known = [new if wanted else old for new, old, wanted in zip(late, known, deduping, strict=True)]
            known = self._still_known(tx, rows, known)
        written = write_batch(tx, self._core.state(tx), rows, known, now=self._core.clock(), by=self._core.actor)
        new = [
            (num, row.memory.content)
            for (num, outcome), row in zip(written, rows, strict=True)
            if outcome is Outcome.CREATED
        ]
        self._core.await_vectors(tx, [num for num, _ in new], [text for _, text in new])
        return written

    def _still_known(self, tx: Reader, rows: Sequence[Prepared], known: Sequence[Repeat | None]) -> list[Repeat | None]:
        """Another process may have deleted or forgotten what this repeats since it was recognised."""
        present = tx.memories.get([repeat.num for repeat in known if repeat is not None and repeat.num is not None])
        return [
            repeat if repeat is not None and _stands_for(repeat, present, row) else None
            for row, repeat in zip(rows, known, strict=True)
        ]


def _draft(draft: Draft | str, attributes: Mapping[str, Any]) -> Draft:
    known = [name for name in Draft.__struct_fields__ if name != "content"]
    unknown = sorted(attributes.keys() - set(known))
    if unknown:
        raise InvalidInput(f"unknown attribute {unknown[0]!r}; the attributes are: {', '.join(known)}")
    return structs.replace(Draft(draft) if isinstance(draft, str) else draft, **attributes)


def _holds(memory: Memory, at: int) -> bool:
    begun = memory.valid_from is None or memory.valid_from <= at
    return begun and (memory.valid_until is None or at < memory.valid_until)


def _restricted(row: Prepared, quoted: Sequence[Memory]) -> Prepared:
    """A row with the restrictions of what it quotes."""
    inputs = [Input.of(each) for each in quoted]
    limits = derived(inputs)
    scopes = tuple(dict.fromkeys((*row.memory.scopes, *limits.scopes)))
    memory = structs.replace(row.memory, zone=lowest((row.memory.zone, limits.zone)), scopes=scopes)
    return replace(row, memory=memory, inputs=(*row.inputs, *inputs))


def _stands_for(repeat: Repeat, present: Mapping[int, Memory], row: Prepared) -> bool:
    """In use, and no less trusted than what repeats it: nobody takes a text over by having said it first. Or there at
    all, where it came back from its own origin: what became of it since is then respected.
    """
    if repeat.num is None:
        return True
    memory = present.get(repeat.num)
    if memory is None or repeat.returned:
        return memory is not None
    in_use = memory.status in (Status.ACTIVE, Status.PENDING_REVIEW)
    return in_use and rank(memory.zone) >= rank(row.memory.zone)
