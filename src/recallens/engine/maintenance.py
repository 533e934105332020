"""Looking after a store: what is in it, whether it is sound, whether what it cites is there, and what may go."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np

from recallens.engine.citations import Citations
from recallens.engine.core import Core
from recallens.engine.encoder import META_REINDEXING, Progress, StoreEncoder, rebuild
from recallens.engine.erasure import Erasure, pending, refusal
from recallens.engine.imports import Imports
from recallens.engine.large import LargeNamespaces
from recallens.engine.transfer import Transfer
from recallens.errors import EncoderError, InvalidInput
from recallens.index.resident import verify_images
from recallens.ingest import curation
from recallens.model.memory import Memory, Status, Survey
from recallens.model.salience import DAY_MS, salience
from recallens.model.verdict import IntArray
from recallens.store.protocols import Reader
from recallens.store.records import Health

RECALL_DAYS = 60
_LENGTHS: tuple[int | None, ...] = (25, 50, 100, 200, 400, None)


class Maintenance:
    """What the person who keeps the store does with it."""

    def __init__(self, core: Core, encoder: StoreEncoder, erasure: Erasure, imports: Imports) -> None:
        self._core = core
        self.erasure = erasure
        self._encoder = encoder
        self.citations = Citations(core)
        self.transfer = Transfer(core)
        self.large = LargeNamespaces(core)
        self.imports = imports

    # ── what is in it ──

    def namespaces(self) -> list[tuple[str, int]]:
        with self._core.store.read_all() as reader:
            return [(state.name, count) for state, count in reader.namespaces()]

    def stats(self, *, namespace: str | None = None) -> dict[str, Any]:
        with self._core.read(namespace) as reader:
            counts = reader.statistics() if reader.state else {"totals": {}, "by": {}}
        store, encoding = self._core.store, self._core.encoding
        return {
            "store": store.location, "storeId": store.id, "namespace": self._core.namespace(namespace),
            "encoder": encoding.key, "encoderSpec": encoding.spec, "readOnly": store.read_only, **counts,
        }  # fmt: skip

    def survey(self, *, namespace: str | None = None) -> Survey:
        now = self._core.clock()
        with self._core.seen(self._core.namespace(namespace)) as snapshot:
            if snapshot is None:
                return Survey(0, 0, 0, {}, (0,) * 10, dict.fromkeys(_LENGTHS, 0), {})
            reader, _, version = snapshot
            days = reader.trail.recalls_by_day(now - RECALL_DAYS * DAY_MS)
        columns = version.columns
        alive, active = columns["alive"], columns.active
        taken = ("sector", "importance", "last_used", "uses", "reinforcement", "reinforced_at")
        values = {name: columns[name][active] for name in taken}
        saliences = salience(base=columns["base_salience"][active], at=now, **values)
        return Survey(
            memories=int(alive.sum()),
            active=int(active.sum()),
            tokens=int(columns["tokens"][active].sum()),
            grown=_by_month(columns["created"][alive]),
            saliences=tuple(np.histogram(saliences, bins=10, range=(0.0, 1.0))[0].tolist()),
            lengths=_by_length(columns["tokens"][active]),
            recalls={_day(day): count for day, count in sorted(days.items())},
        )

    # ── whether it is sound ──

    def doctor(self) -> Health:
        """Check the file, every derived thing, the index files and the encoder. Changes nothing."""
        begun = time.monotonic()
        health = self._core.store.check(self._core.encoding.key)
        problems = list(health.problems)
        folder = self._core.index_folder()
        if folder is not None:
            problems += verify_images(folder)
        if self._core.store.meta(META_REINDEXING) is not None:
            problems.append("a reindex is under way, or did not end: `recallens reindex` begins it again")
        encoding, waiting = self._core.encoding, 0
        second = self._core.second if not health.problems and self._encoder.begun() else None
        try:
            encoder = encoding.available() if encoding.key is not None else None
            getattr(encoder, "verify", lambda: None)()
            if second is not None:
                getattr(second.available(), "verify", lambda: None)()
        except EncoderError as error:
            problems.append(f"encoder: {error}")
        if encoding.key is not None and not any(problem.startswith("file:") for problem in problems):
            waiting = self._encoder.waiting()
        facts = {"encoder": encoding.key, "backlog": waiting, "seconds": round(time.monotonic() - begun, 2)}
        return Health(problems, {**health.facts, **facts, **({"secondEncoder": second.key} if second else {})})

    def reindex(
        self, *, encoder: str | None = None, vectors: bool = False, progress: Progress = lambda done: None
    ) -> dict[str, int]:
        """Write everything derived anew from the memories; with an encoder, or `vectors`, encode all texts again."""
        self._core.refuse_read_only()
        if encoder is not None:
            self._encoder.change(encoder)
        return rebuild(self._core, vectors=vectors, progress=progress)

    def publish(self, namespace: str | None = None) -> bool:
        """Leave the derived state as a file, so that the next process starts at once."""
        with self._core.snapshot(self._core.namespace(namespace)) as snapshot:
            if snapshot is None:
                return False
            key = snapshot[1].key
        return self._core.resident(key).publish()

    def backup(self, target: str) -> None:
        self._core.store.backup(target)

    # ── what may go ──

    def prune(
        self, *, older_than_days: int, superseded: bool = False, dry_run: bool = True, namespace: str | None = None
    ) -> list[Memory]:
        """Delete for good what has been forgotten or rejected for longer than the retention."""
        if older_than_days < 0:
            raise InvalidInput("the retention is a number of days from 0")
        statuses = (Status.FORGOTTEN, Status.REJECTED, *((Status.SUPERSEDED,) if superseded else ()))

        def due(reader: Reader) -> dict[int, Memory]:
            memories = reader.memories.get(reader.memories.with_status(statuses))
            going = curation.prunable(
                list(memories.values()), older_than_days=older_than_days, now=self._core.clock(), superseded=superseded
            )
            wanted = {memory.id for memory in going}
            return {num: memory for num, memory in memories.items() if memory.id in wanted}

        name = self._core.namespace(namespace)
        if dry_run:
            with self._core.store.read(name) as reader:
                return list(due(reader).values())
        with self._core.store.write(name) as tx:  # judged where it is deleted: what has just been restored stays
            gone = due(tx)
            if not gone:
                return []
            receipt, recaps = self.erasure.take_out(tx, list(gone))
        left = refusal(self.erasure.prove(receipt, recaps, name))
        if left is not None:
            raise left
        return list(gone.values())

    def prune_trails(self, *, dry_run: bool = True, namespace: str | None = None) -> dict[str, int]:
        """Drop what the settings keep no longer: ledgers, recalls that taught nothing, session links, the audit log.

        Gives how many of each. What recalls have taught is folded into the last of them, so that a question about a
        time since then is answered as before; the audit chain stays whole.
        """
        now, settings = self._core.clock(), self._core.settings
        ledgers, trails = (now - days * DAY_MS for days in (settings.ledger_days, settings.trail_days))
        name = self._core.namespace(namespace)
        with self._core.store.read(name) as reader:
            counts = reader.trail.outdated(ledgers, trails)
            counts["recalls"] += len(curation.foldable(reader, trails)[1])
        if not dry_run:
            with self._core.store.write(name) as tx:
                if tx.state is not None:
                    tx.trail.fold(*curation.foldable(tx, trails))
                    tx.trail.drop_outdated(ledgers, trails)
                self._core.log.cut(tx, trails)
                tx.whole.tokens.drop_answers_before(now - DAY_MS)
        return counts

    def remove_namespace(self, name: str) -> int:
        with self._core.changing(name) as tx:
            nums, state = tx.memories.numbers(), self._core.state(tx)
            self._core.log.erases(tx, nums)
            self.erasure.note(tx, {str(state.key): None}, state.number + 1)
            tx.remove()
        if self.erasure.finish() is None:
            raise pending(name)
        return len(nums)


def _by_month(created: IntArray) -> dict[str, int]:
    """Every month from the first to the last, so that a pause shows as one."""
    if not len(created):
        return {}
    months = created.astype("datetime64[ms]").astype("datetime64[M]")
    made, counts = np.unique(months, return_counts=True)
    every = np.arange(made[0], made[-1] + 1)
    held = dict(zip(made.tolist(), counts.tolist(), strict=True))
    return {f"{month:%Y-%m}": held.get(month, 0) for month in every.tolist()}


def _by_length(tokens: IntArray) -> dict[int | None, int]:
    edges: Sequence[float] = [0, *(np.inf if bound is None else bound + 1 for bound in _LENGTHS)]
    counts = [int(((tokens >= low) & (tokens < high)).sum()) for low, high in pairwise(edges)]
    return dict(zip(_LENGTHS, counts, strict=True))


def _day(number: int) -> str:
    return datetime.fromtimestamp(number * DAY_MS / 1000, tz=UTC).date().isoformat()
