"""Looking at a store from above, and at many memories at once. Nothing here writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from recallens.engine.core import Core
from recallens.errors import InvalidInput, NotFound
from recallens.index.columns import Columns
from recallens.model.ledger import Ledger
from recallens.model.memory import Memory, RelationType
from recallens.model.salience import DAY_MS, salience
from recallens.model.verdict import BoolArray, FloatArray
from recallens.text.normalize import clean, nfc

if TYPE_CHECKING:
    from recallens.model.survey import RecordedRecall, Survey, VaultPage

RECALLS_SHOWN = 50
RECALL_DAYS = 60
FILES_A_PAGE = 100
# How far back a chain of supersessions is followed.
LONGEST_LINEAGE = 50
_LENGTHS: tuple[int | None, ...] = (25, 50, 100, 200, 400, None)


class Surveying(Core):
    def recorded_recalls(
        self, *, limit: int = RECALLS_SHOWN, namespace: str | None = None, owner: str | None = None
    ) -> tuple[RecordedRecall, ...]:
        """The recalls that can still be explained, replayed and compared, the latest first; no other owner's."""
        from recallens.model.survey import RecordedRecall

        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            kept = reader.trail.ledgers(limit, owner) if state is not None else []
        found = []
        for id, at, session, packed in kept:
            found.append(RecordedRecall(id, at, Ledger.unpacked(packed).query["text"], session or None))
        return tuple(found)

    def survey(self, *, namespace: str | None = None) -> Survey:
        from recallens.model.survey import Survey

        now = self.clock()
        with self.snapshot(self.namespace(namespace)) as snapshot:
            if snapshot is None:
                return Survey(0, 0, 0, {}, (0,) * 10, dict.fromkeys(_LENGTHS, 0), {})
            reader, _, version = snapshot
            days = reader.trail.recalls_by_day(now - RECALL_DAYS * DAY_MS)
        columns = version.columns
        alive, active = columns["alive"], columns.active
        return Survey(
            memories=int(alive.sum()),
            active=int(active.sum()),
            tokens=int(columns["tokens"][active].sum()),
            grown=_by_month(columns, alive),
            saliences=_by_tenth(_saliences(columns, active, now)),
            lengths=_by_length(columns, active),
            recalls={_day(day): count for day, count in sorted(days.items())},
        )

    def memories_of(self, ids: Iterable[str], *, namespace: str | None = None) -> dict[str, Memory]:
        """Many at once, by id; what is not there is left out."""
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            numbers = reader.memories.find(list(dict.fromkeys(ids))) if state is not None else {}
            found = reader.memories.get(list(numbers.values()))
        return {id: found[num] for id, num in numbers.items() if num in found}

    def lineage(self, id: str, *, namespace: str | None = None) -> tuple[Memory, ...]:
        """What a memory replaced, itself, and what replaced it, the oldest first."""
        with self.store.read(self.namespace(namespace)) as reader:
            self._state(reader)
            known = {self._num(reader, id)}
            edge = list(known)
            while edge and len(known) < LONGEST_LINEAGE:
                ends = {
                    end
                    for relations in reader.relations.find(edge).values()
                    for relation in relations
                    if relation.type is RelationType.SUPERSEDES
                    for end in (relation.source, relation.target)
                }
                edge = [num for num in reader.memories.find(sorted(ends)).values() if num not in known]
                known |= set(edge)
            found = reader.memories.get(sorted(known))
        return tuple(sorted(found.values(), key=lambda memory: (memory.created, memory.id)))

    def vault_files_page(
        self, name: str, *, like: str = "", offset: int = 0, limit: int = FILES_A_PAGE, namespace: str | None = None
    ) -> VaultPage:
        """The files of a vault whose paths hold `like`, with their sections."""
        from recallens.model.survey import FiledSections, VaultPage

        if offset < 0 or not 1 <= limit <= FILES_A_PAGE:
            raise InvalidInput(f"a page has 1 to {FILES_A_PAGE} files and starts at 0 or later")
        with self.store.read(self.namespace(namespace)) as reader:
            self._state(reader)
            vault = next((one for one in reader.vaults.all() if one.name == clean(name).strip()), None)
            if vault is None:
                raise NotFound(f"no vault {name!r}", hint="`recallens vault add FOLDER` makes one.")
            wanted = nfc(like).casefold().strip()
            files = [file for file in reader.vaults.files(vault.id) if wanted in nfc(file.path).casefold()]
            shown = files[offset : offset + limit]
            sections = reader.vaults.sections(vault.id, [file.document for file in shown if file.document])
        filed = tuple(FiledSections(file, tuple(sections.get(file.document, ()))) for file in shown)
        return VaultPage(vault, filed, len(files))


def _by_month(columns: Columns, rows: BoolArray) -> dict[str, int]:
    """Every month from the first to the last, so that a pause shows as one."""
    months = columns["created"][rows].astype("datetime64[ms]").astype("datetime64[M]")
    if not len(months):
        return {}
    made, counts = np.unique(months, return_counts=True)
    every = np.arange(made[0], made[-1] + 1)
    held = dict(zip(made.tolist(), counts.tolist(), strict=True))
    return {f"{month:%Y-%m}": held.get(month, 0) for month in every.tolist()}


def _saliences(columns: Columns, rows: BoolArray, at: int) -> FloatArray:
    taken = ("sector", "importance", "last_used", "uses", "reinforcement", "reinforced_at")
    return salience(base=columns["base_salience"][rows], at=at, **{name: columns[name][rows] for name in taken})


def _by_tenth(values: FloatArray) -> tuple[int, ...]:
    return tuple(np.histogram(values, bins=10, range=(0.0, 1.0))[0].tolist())


def _by_length(columns: Columns, rows: BoolArray) -> dict[int | None, int]:
    edges: Sequence[float] = [0, *(np.inf if bound is None else bound + 1 for bound in _LENGTHS)]
    tokens = columns["tokens"][rows]
    counts = [int(((tokens >= low) & (tokens < high)).sum()) for low, high in pairwise(edges)]
    return dict(zip(_LENGTHS, counts, strict=True))


def _day(number: int) -> str:
    return datetime.fromtimestamp(number * DAY_MS / 1000, tz=UTC).date().isoformat()
