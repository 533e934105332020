"""Why what a question expects is not among its first ten: the engine's own why-not, for its best section."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from recallens.engine import Engine
from recallens.evaluate.expected import Target
from recallens.evaluate.golden_running import READ, GoldenRun, asking
from recallens.model.query import Query
from recallens.xray.ladder import Fate, Walk
from recallens.xray.why_not import KeptOut, WhyNot

# A ranking is measured before any budget, and so is what is missing from it.
UNBOUNDED = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Miss:
    """`why` is None where the store holds nothing of that name."""

    question: str
    query: str
    expected: str
    rank: int | None
    why: WhyNot | None

    @property
    def sentence(self) -> str:
        if self.why is None:
            return "the store holds no file and no memory of this name"
        if not isinstance(self.why, KeptOut):
            return f"asked for {READ} results alone, it is there: {self.why.sentence}"
        margin = self.why.missed.score
        lacks = "" if margin is None else f", {margin:.4f} under the last result"
        return f"{self.why.dropped_by.stage} ({self.why.dropped_by.name}): {self.why.dropped_by.reason}{lacks}"

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.question, "query": self.query, "expected": self.expected, "rank": self.rank,
            "sentence": self.sentence, "whyNot": None if self.why is None else self.why.to_json(),
        }  # fmt: skip


def misses(engine: Engine, run: GoldenRun) -> list[Miss]:
    """Asked as a user asks, for the first ten: each takes a recall or more, so only who wants to know pays for it."""
    ranks = {question.id: question.ranks for question in run.record.questions}
    found: list[Miss] = []
    for question, targets, unknown in run.missed:
        options = asking(engine, question, run.variant, run.now)
        options |= {"limit": READ, "budget": UNBOUNDED, "tokens": UNBOUNDED}
        for target in targets:
            memory = _nearest(engine, engine.recalls.question(question.query, **options), target)
            why = None if memory is None else engine.why_not(memory, question.query, **options)
            rank = ranks[question.id].get(target.name)
            found.append(Miss(question.id, question.query, target.name, rank, why))
        found += [Miss(question.id, question.query, name, None, None) for name in unknown]
    return found


def _nearest(engine: Engine, query: Query, target: Target) -> str | None:
    """The section that came nearest, by a recall that follows all of them without their taking part."""
    if len(target.memories) < 2:
        return next(iter(target.memories), None)
    walk = Walk(engine.recalls.ledger(replace(query, watch=target.memories)))

    def distance(fate: Fate) -> tuple[bool, bool, float, str]:
        return bool(fate.gates), not fate.proposed, -fate.score, fate.id

    return min((walk.fate(id) for id in target.memories), key=distance).id
