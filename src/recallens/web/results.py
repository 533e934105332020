"""A result with all that is shown of it: its memory, its X-ray, its bar, and what decided its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recallens.engine import Engine
from recallens.model.ledger import Ledger
from recallens.model.memory import Memory
from recallens.model.recall import Recall, SearchResult
from recallens.model.snapshot import Snapshot, XrayResult
from recallens.model.terms import shown_parts
from recallens.web.drawing import Bar, Path, bar, ordered, path, scale_of
from recallens.xray.sensitivity import Sensitivity, sensitivity

# The exact table of an X-ray shows ten-thousandths that add up.
EXACT = 10_000


@dataclass(frozen=True, slots=True)
class Explained:
    """One row of a recall. `sum` are the parts as shown, in hundredths, which add up to the score as shown."""

    xray: XrayResult
    parts: Mapping[str, float]
    score: float
    bar: Bar
    sum: Sequence[tuple[str, int]]
    exact: Sequence[tuple[str, int]]
    why: Sensitivity | None
    memory: Memory | None = None
    found: SearchResult | None = None
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Legend:
    """The parts that occur on a page, the weightiest first."""

    names: tuple[str, ...]


def explained(
    ledger: Ledger, snapshot: Snapshot, *, memories: Mapping[str, Memory], found: Iterable[SearchResult] = ()
) -> tuple[Explained, ...]:
    parts = {one.memoryId: _parts(one) for one in snapshot.results}
    scale = scale_of(parts.values())
    reasons = {one.memory_id: one for one in sensitivity(ledger)} if snapshot.results else {}
    results = {one.memory.id: one for one in found}
    notes = ledger.notes("graph")
    paths: Mapping[str, Any] = notes[-1].get("paths", {}) if notes else {}
    rows = []
    for one in snapshot.results:
        own, score = parts[one.memoryId], one.scoreDecomposition["final"]
        rows.append(
            Explained(
                one, own, score, bar(own, scale), shown_parts(own, score), shown_parts(own, score, EXACT),
                reasons.get(one.memoryId), memories.get(one.memoryId), results.get(one.memoryId),
                path(paths.get(one.memoryId)),
            )
        )  # fmt: skip
    return tuple(rows)


def legend(rows: Iterable[Explained]) -> Legend:
    return Legend(tuple(ordered({name for row in rows for name, _ in row.sum})))


def of_recall(engine: Engine, recall: Recall) -> tuple[Snapshot, tuple[Explained, ...]]:
    snapshot = engine.recalls.snapshot_of(recall)
    memories = {one.memory.id: one.memory for one in recall.returned}
    return snapshot, explained(recall.ledger, snapshot, memories=memories, found=recall.returned)


def _parts(one: XrayResult) -> dict[str, float]:
    return {name: value for name, value in one.scoreDecomposition.items() if name != "final"}
