"""Looking after a store: what is in it, whether it is sound, and making what is derived anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recallens.engine.core import Core
from recallens.errors import EncoderError, InvalidInput, NotFound, StoreReadOnly
from recallens.index.encoding import Encoding
from recallens.index.resident import verify_images
from recallens.ingest import curate
from recallens.ingest.prepare import reannotated
from recallens.model.memory import Memory, Relation, Session, Status, Usage
from recallens.model.salience import SECTOR_ORDER, salience
from recallens.store.protocols import Reader
from recallens.store.records import META_ENCODER_KEY, META_ENCODER_SPEC, Health, Listing, MemoryPage

# Memories read at a time while the lexical view is written anew.
REBUILD_ROWS = 1_000
LARGEST_PAGE = 1_000

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class SessionReport:
    session: Session
    links: tuple[tuple[Memory, Usage, int], ...]


class Tending(Core):
    # ── what is in it ──

    def browse(self, listing: Listing, *, namespace: str | None = None) -> MemoryPage:
        if not 1 <= listing.limit <= LARGEST_PAGE or listing.offset < 0:
            raise InvalidInput(f"a page has 1 to {LARGEST_PAGE:,} memories and starts at 0 or later")
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            return reader.memories.page(listing) if state else MemoryPage([], 0)

    def review_list(self, *, namespace: str | None = None) -> list[Memory]:
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            if state is None:
                return []
            nums = reader.memories.awaiting_review()
            found = reader.memories.get(nums)
        return [found[num] for num in nums]

    def relations(self, id: str, *, namespace: str | None = None) -> list[Relation]:
        with self.store.read(self.namespace(namespace)) as reader:
            self._state(reader)
            return reader.relations.of(self._num(reader, id))

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
            at=self.clock(),
        )
        return {memory.id: value for memory, value in zip(rows, values.tolist(), strict=True)}

    def sessions(self, *, limit: int = 20, offset: int = 0, namespace: str | None = None) -> list[tuple[Session, int]]:
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            return reader.sessions.latest(limit, offset) if state else []

    def session_report(self, id: str, *, namespace: str | None = None) -> SessionReport:
        with self.store.read(self.namespace(namespace)) as reader:
            self._state(reader)
            session = reader.sessions.get(id)
            if session is None:
                raise NotFound(f"no session {id!r}", hint="`recallens session list` shows those that exist.")
            links = reader.sessions.links(id)
            memories = reader.memories.get([num for num, _, _ in links])
        return SessionReport(session, tuple((memories[num], usage, at) for num, usage, at in links))

    def namespaces(self) -> list[tuple[str, int]]:
        with self.store.read_all() as reader:
            return [(state.name, count) for state, count in reader.namespaces()]

    def stats(self, *, namespace: str | None = None) -> dict[str, Any]:
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            counts = reader.statistics() if state else {"totals": {}, "by": {}}
        return {
            "store": self.store.location, "storeId": self.store.id, "namespace": self.namespace(namespace),
            "encoder": self.encoding.key, "encoderSpec": self.encoding.spec, "readOnly": self.store.read_only, **counts,
        }  # fmt: skip

    # ── whether it is sound ──

    def doctor(self) -> Health:
        """Check the file, every derived thing, the index files and the encoder. Changes nothing."""
        health = self.store.check(self.encoding.key)
        problems = list(health.problems)
        folder = self.index_folder()
        if folder is not None:
            problems += verify_images(folder)
        try:
            encoder = self.encoding.available() if self.encoding.key is not None else None
            verify = getattr(encoder, "verify", None)
            if verify is not None:
                verify()
        except EncoderError as error:
            problems.append(f"encoder: {error}")
        waiting = 0
        if self.encoding.key is not None and not any(problem.startswith("file:") for problem in problems):
            with self.store.read_all() as reader:
                waiting = reader.backlog_size(self.encoding.key)
        return Health(problems, {**health.facts, "encoder": self.encoding.key, "backlog": waiting})

    def reindex(
        self, *, encoder: str | None = None, vectors: bool = False, progress: Progress = lambda done: None
    ) -> dict[str, int]:
        """Write everything derived anew from the memories; with an encoder, or `vectors`, encode all texts again."""
        if self.store.read_only:
            raise StoreReadOnly(f"{self.store.location} cannot be written to", hint="Check its permissions.")
        if encoder is not None:
            self._change_encoder(encoder)
        entries = 0
        with self.store.write_all() as whole:
            namespaces = [state for state, _ in whole.namespaces()]
            for state in namespaces:
                tx = whole.at(state.name)
                tx.terms.clear()
                nums = tx.memories.numbers()
                for start in range(0, len(nums), REBUILD_ROWS):
                    part = nums[start : start + REBUILD_ROWS]
                    memories = tx.memories.get(part)
                    tx.memories.rederive(part, [reannotated(memories[num], None) for num in part])
                    entries += len(part)
                    progress(len(part))
                tx.tasks.recount()
            queued = 0
            if self.encoding.key is not None:
                if vectors:
                    whole.drop_vectors(self.encoding.key)
                queued = whole.enqueue_missing(self.encoding.key)
        for state in namespaces:
            self.resident(state.key).discard()
        return {"entries": entries, "queued": queued}

    def _change_encoder(self, spec: str) -> None:
        """Vectors of the old one stay until the new one's are there: two models are never mixed, and none is lost."""
        found = self.open_encoder(spec)
        key = str(found.key) if found is not None else None
        with self.store.write_all() as tx:
            tx.set_meta(META_ENCODER_SPEC, spec)
            if key is not None:
                tx.set_meta(META_ENCODER_KEY, key)
            else:
                tx.drop_meta(META_ENCODER_KEY)
        self.settings = replace(self.settings, encoder=spec)
        self._given_encoder = None
        self._encoding = Encoding(spec, key, found)

    def publish(self, namespace: str | None = None) -> bool:
        """Leave the derived state as a file, so that the next process starts at once."""
        with self.snapshot(self.namespace(namespace)) as snapshot:
            if snapshot is None:
                return False
            key = snapshot[1].key
        return self.resident(key).publish()

    def backup(self, target: str) -> None:
        self.store.backup(target)

    # ── what may go ──

    def prune(
        self,
        *,
        older_than_days: int,
        superseded: bool = False,
        dry_run: bool = True,
        namespace: str | None = None,
    ) -> list[Memory]:
        """Delete for good what has been forgotten or rejected for longer than the retention."""
        if older_than_days < 0:
            raise InvalidInput("the retention is a number of days from 0")
        statuses = (Status.FORGOTTEN, Status.REJECTED, *((Status.SUPERSEDED,) if superseded else ()))

        def due(reader: Reader) -> dict[int, Memory]:
            memories = reader.memories.get(reader.memories.with_status(statuses))
            going = curate.prunable(
                list(memories.values()), older_than_days=older_than_days, now=self.clock(), superseded=superseded
            )
            wanted = {memory.id for memory in going}
            return {num: memory for num, memory in memories.items() if memory.id in wanted}

        name = self.namespace(namespace)
        if dry_run:
            with self.store.read(name) as reader:
                state = reader.state
                return list(due(reader).values()) if state else []
        with self.store.write(name) as tx:  # judged where it is deleted: what has just been restored stays
            state = tx.state
            gone = due(tx) if state else {}
            if state is None or not gone:
                return []
            derived = self.resident(state.key)
            tx.memories.delete(list(gone))
        derived.discard()
        self.store.compact()
        return list(gone.values())

    def remove_namespace(self, name: str) -> int:
        with self.store.write(name) as tx:
            state = self._state(tx)
            derived, count = self.resident(state.key), len(tx.memories.numbers())
            tx.remove()
        derived.discard()
        self.store.compact()
        return count
