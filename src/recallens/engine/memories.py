"""Memories one by one and page by page: looking at them, and every change that a person or an agent makes to one."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import numpy as np

from recallens.engine.core import Core
from recallens.engine.ingest import Ingest
from recallens.errors import InvalidInput, NotFound
from recallens.ingest import curation
from recallens.ingest.batch import Remembered
from recallens.ingest.draft import Draft
from recallens.ingest.validate import option, unit_interval
from recallens.model.memory import PROPOSED, Memory, Origin, Relation, RelationType, Status, handle_of
from recallens.model.salience import SECTOR_ORDER, salience
from recallens.store.records import Listing, MemoryPage

LARGEST_PAGE = 1_000
# How far back a chain of supersessions is followed.
LONGEST_LINEAGE = 50
KEPT_BY_AN_EDIT = (
    "title", "project", "sector", "kind", "tier", "tags", "scopes", "citations", "importance", "confidence", "source",
    "task", "worktree", "author", "attributes",
)  # fmt: skip


class Memories:
    """Reads and curates the memories of a namespace."""

    def __init__(self, core: Core, ingest: Ingest) -> None:
        self._core = core
        self._ingest = ingest
        self.remember_many = ingest.remember_many
        self.add_document = ingest.add_document

    # ── looking at them ──

    def get(self, id: str, *, namespace: str | None = None) -> Memory:
        with self._core.reading(namespace) as reader:
            return self._core.memory(reader, id)[1]

    def many(self, ids: Iterable[str], *, namespace: str | None = None) -> dict[str, Memory]:
        """Many at once, by id; what is not there is left out."""
        with self._core.read(namespace) as reader:
            numbers = reader.memories.find(list(dict.fromkeys(ids)))
            memories = reader.memories.get(list(numbers.values()))
        return {id: memories[num] for id, num in numbers.items() if num in memories}

    def handles(self, ids: Iterable[str], *, namespace: str | None = None) -> dict[str, str]:
        """The short names that people read, by id; what is not there is left out."""
        with self._core.read(namespace) as reader:
            return {id: handle_of(num) for id, num in reader.memories.find(list(dict.fromkeys(ids))).items()}

    def resolve(self, names: Iterable[str], *, namespace: str | None = None) -> dict[str, str]:
        """Memory ids by id, by the beginning of one, or by `source_id`; what fits nothing is left out."""
        wanted = list(dict.fromkeys(names))
        with self._core.read(namespace) as reader:
            numbers = reader.memories.by_source_id(wanted)
            for name in wanted:
                with suppress(NotFound, InvalidInput):
                    numbers[name] = self._core.num(reader, name)
            ids = reader.memories.ids(list(numbers.values()))
        return {name: ids[num] for name, num in numbers.items()}

    def browse(self, listing: Listing, *, namespace: str | None = None) -> MemoryPage:
        if not 1 <= listing.limit <= LARGEST_PAGE or listing.offset < 0:
            raise InvalidInput(f"a page has 1 to {LARGEST_PAGE:,} memories and starts at 0 or later")
        with self._core.read(namespace) as reader:
            return reader.memories.page(listing)

    def awaiting_review(self, *, namespace: str | None = None) -> list[Memory]:
        with self._core.read(namespace) as reader:
            nums = reader.memories.awaiting_review()
            memories = reader.memories.get(nums)
        return [memories[num] for num in nums]

    def relations(self, id: str, *, namespace: str | None = None) -> list[Relation]:
        with self._core.reading(namespace) as reader:
            return reader.relations.of(self._core.num(reader, id))

    def salience(self, memories: Iterable[Memory]) -> dict[str, float]:
        """Each memory's salience now."""
        rows = list(memories)
        if not rows:
            return {}
        values = salience(
            base=np.array([m.base_salience for m in rows]),
            sector=np.array([SECTOR_ORDER.index(m.sector) for m in rows], dtype=np.int8),
            importance=np.array([m.importance for m in rows]),
            last_used=np.array([m.created if m.last_used is None else m.last_used for m in rows], dtype=np.int64),
            uses=np.array([m.uses for m in rows], dtype=np.int64),
            reinforcement=np.array([m.reinforcement for m in rows]),
            reinforced_at=np.array([m.reinforced_at or 0 for m in rows], dtype=np.int64),
            at=self._core.clock(),
        )
        return {memory.id: value for memory, value in zip(rows, values.tolist(), strict=True)}

    def lineage(self, id: str, *, namespace: str | None = None) -> tuple[Memory, ...]:
        """What a memory replaced, itself, and what replaced it, the oldest first."""
        with self._core.reading(namespace) as reader:
            known = {self._core.num(reader, id)}
            edge = list(known)
            while edge and len(known) < LONGEST_LINEAGE:
                ties = [tie for ties in reader.relations.find(edge).values() for tie in ties]
                chain = [tie for tie in ties if tie.type is RelationType.SUPERSEDES]
                ends = {end for tie in chain for end in (tie.source, tie.target)}
                edge = [num for num in reader.memories.find(sorted(ends)).values() if num not in known]
                known |= set(edge)
            memories = reader.memories.get(sorted(known))
        return tuple(sorted(memories.values(), key=lambda memory: (memory.created, memory.id)))

    # ── changing them ──

    def edit(self, id: str, content: str, *, zone: str | None = None, namespace: str | None = None) -> Remembered:
        """A new memory with the new text that supersedes the old and keeps its attributes, but for its zone."""
        old = self.get(id, namespace=namespace)
        kept = {name: getattr(old, name) for name in KEPT_BY_AN_EDIT}
        draft = Draft(content, **kept, supersedes=old.id, zone=zone)
        return self._ingest.remember(draft, namespace=namespace, dedupe=False)

    def supersede(self, old: str, new: str, *, namespace: str | None = None, at: int | None = None) -> None:
        asking = self._core.settings.session
        with self._core.changing(namespace) as tx:
            self._core.ensure_session(tx, asking)
            ended = self._core.clock() if at is None else at
            before, after = self._core.num(tx, old), self._core.num(tx, new)
            curation.supersede(tx, old=before, new=after, at=ended, session=asking)

    def relate(
        self, source: str, target: str, type: str = RelationType.RELATED_TO, *, confidence: float = 1.0,
        origin: str = Origin.USER, namespace: str | None = None,
    ) -> Relation:  # fmt: skip
        kind = option(RelationType, type, "relation")
        if kind is RelationType.SUPERSEDES:
            self.supersede(target, source, namespace=namespace)
            return Relation(source, target, kind, created=self._core.clock())
        sure, by = unit_interval("confidence", confidence), option(Origin, origin, "origin")
        relation = Relation(source, target, kind, sure, by, self._core.clock())
        with self._core.changing(namespace) as tx:
            curation.relate(tx, source=self._core.num(tx, source), target=self._core.num(tx, target), relation=relation)
        return relation

    def forget(self, id: str, *, hard: bool = False, namespace: str | None = None) -> Memory:
        with (self._core.deleting if hard else self._core.changing)(namespace) as tx:
            num, memory = self._core.memory(tx, id)
            if hard:
                tx.memories.delete([num])
            else:
                curation.forget(tx, memory, num, at=self._core.clock())
        return memory

    def restore(self, id: str, *, namespace: str | None = None) -> Status:
        with self._core.changing(namespace) as tx:
            num, memory = self._core.memory(tx, id)
            return curation.restore(tx, memory, num, at=self._core.clock())

    def confirm(self, id: str, *, session: str | None = None, namespace: str | None = None) -> None:
        with self._core.changing(namespace) as tx:
            num = self._core.num(tx, id)
            asking = session or self._core.settings.session
            self._core.ensure_session(tx, asking)
            curation.confirm(tx, num, at=self._core.clock(), session=asking)

    def deemphasise(self, id: str, *, namespace: str | None = None) -> float:
        with self._core.changing(namespace) as tx:
            num, memory = self._core.memory(tx, id)
            return curation.deemphasise(tx, memory, num, at=self._core.clock())

    def review(self, id: str, *, approve: bool, namespace: str | None = None) -> None:
        """Decide on a memory that waits, or on whether a memory supersedes the one that it was proposed to replace."""
        with self._core.changing(namespace) as tx:
            num, memory = self._core.memory(tx, id)
            at = self._core.clock()
            decided = curation.decide(tx, memory, num, accept=approve, at=at)
            if not decided or memory.status is Status.PENDING_REVIEW or memory.review == PROPOSED:
                (curation.approve if approve else curation.reject)(tx, memory, num, at=at)
