"""What took the place of a memory that was found and no longer holds: a question in the words of the old one is
answered by the new one, which may have other words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from recallens.index.columns import code_of
from recallens.model.memory import RelationType, Status
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import FloatArray, Note, Verdict, anywhere, places
from recallens.recall.scene import Scene
from recallens.recall.states import LONGEST_CHAIN, holds
from recallens.recall.terms import Amounts, score_term
from recallens.recall.views import REFILL_BATCH, found

SUCCESSION: Final = "succession"
# Replaced rows whose successors are looked for: the others would not have been results either.
MOST_REPLACED: Final = 20
REPLACEMENT: Final = "replacement"
# Rows of each view whose proposed replacements are looked for.
MOST_PROPOSED: Final = 10


def successors(scene: Scene, pool: Pool, query: Query) -> Iterator[Verdict]:
    """Propose what holds now in place of the best rows that were superseded."""
    yield from _proposed(scene, pool, query)
    columns = scene.columns
    replaced = scene.superseded(pool.rows) & (columns["status"][pool.rows] == code_of(Status.SUPERSEDED))
    if not anywhere(replaced):
        return
    worth = np.zeros(len(pool))
    for proposal in pool.found.values():
        worth[proposal.positions] += 1.0 / (1.0 + np.arange(len(proposal.positions)))
    order = places(replaced)
    order = order[np.lexsort((pool.ids[order], -worth[order]))][:MOST_REPLACED]
    heirs = scene.reader.relations.heirs(columns["num"][pool.rows[order]].tolist(), scene.at, LONGEST_CHAIN)
    rows = {num: int(row) for num, row in zip(heirs.values(), columns.locate(list(heirs.values())), strict=True)}
    for position in order.tolist():
        row = int(pool.rows[position])
        heir = rows.get(heirs.get(int(columns["num"][row]), -1), -1)
        if heir >= 0 and columns["alive"][heir]:
            scene.heirs[row] = heir
    chosen = np.array(sorted(set(scene.heirs.values())), dtype=np.int64)
    if len(chosen):
        named = {columns["id"][row].decode(): columns["id"][heir].decode() for row, heir in scene.heirs.items()}
        yield Note(SUCCESSION, {"replaced": named})
        yield found(scene, SUCCESSION, chosen, np.ones(len(chosen)), REFILL_BATCH)


def _proposed(scene: Scene, pool: Pool, query: Query) -> Iterator[Verdict]:
    """What was proposed in the place of one of the first rows of a view: it may have no word of the question."""
    columns = scene.columns
    ahead = [proposal.positions[:MOST_PROPOSED] for proposal in pool.found.values()]
    first = columns["num"][pool.rows[np.unique(np.concatenate(ahead))]].tolist() if ahead else []
    scene.bodies.read_relations(columns["num"][pool.rows].tolist())
    ties = (tie for each in scene.bodies.relations_of(first).values() for tie in each)
    open_ones = [tie for tie in ties if tie.type is RelationType.MAY_SUPERSEDE and holds(tie, scene.at)]
    if not open_ones:
        return
    nums = scene.reader.memories.find(sorted({tie.source for tie in open_ones}))
    rows = columns.locate(sorted(nums.values()))
    chosen = np.array(sorted({int(row) for row in rows if row >= 0 and columns["alive"][row]}), dtype=np.int64)
    if len(chosen):
        yield found(scene, REPLACEMENT, chosen, np.ones(len(chosen)), REFILL_BATCH)


def inherited(scene: Scene, pool: Pool, values: FloatArray) -> FloatArray:
    """For each row the best value of those that it took the place of; NaN where it took nobody's."""
    best = np.full(len(pool), np.nan)
    if scene.heirs:
        positions = dict(zip(pool.rows.tolist(), range(len(pool)), strict=True))
        for row, heir in scene.heirs.items():
            if row in positions and heir in positions:
                best[positions[heir]] = np.fmax(best[positions[heir]], values[positions[row]])
    return best


@score_term(SUCCESSION)
def succession(scene: Scene, pool: Pool, query: Query) -> Amounts | None:
    """What a row lacks to stand where the one would have stood whose place it took."""
    if not scene.heirs:
        return None
    lacking = inherited(scene, pool, pool.score) - pool.score
    computed = lacking > 0
    return np.where(computed, lacking, 0.0), computed, {}
