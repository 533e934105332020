"""The sandbox: weights, budget and filters move, and the ranking follows. Nothing is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recallens.model.ledger import Ledger
from recallens.model.query import DEFAULT_BUDGET, Query
from recallens.model.snapshot import Snapshot
from recallens.model.terms import WEIGHABLE
from recallens.operations.arguments import Question
from recallens.recall.presets import PRESETS
from recallens.web.page import ShownPage
from recallens.web.pictures import ordered
from recallens.web.search import Explained, Legend, choices, explained, legend
from recallens.web.visit import WEIGHT, Visit
from recallens.xray.explain import explain
from recallens.xray.ladder import Walk

MOST_WEIGHT, WEIGHT_STEP = 3.0, 0.05
MOST_SHOWN_LIMIT, MOST_SHOWN_BUDGET = 50, 20_000

ABOUT = "Move the weights of a score, the budget and the filters, and watch the ranking follow. Nothing is saved."


@dataclass(frozen=True, slots=True)
class MovedResult:
    """A row against the unchanged ranking: `before` is its rank there, None where it was not."""

    row: Explained
    before: int | None

    @property
    def by(self) -> int:
        return 0 if self.before is None else self.before - self.row.xray.rank

    @property
    def way(self) -> Literal["new", "up", "down", "same"]:
        if self.before is None:
            return "new"
        return "up" if self.by > 0 else "down" if self.by < 0 else "same"


@dataclass(frozen=True, slots=True)
class GoneResult:
    id: str
    title: str
    before: int


@dataclass(frozen=True, slots=True)
class Trial:
    """One look: `before` is how the question is answered without the settings, `query` what is asked with them."""

    before: Ledger
    query: Query
    snapshot: Snapshot
    moved: tuple[MovedResult, ...]
    gone: tuple[GoneResult, ...]
    legend: Legend

    @property
    def told(self) -> list[str]:
        """What differs from the unchanged ranking, in numbers."""
        moved, new = sum(one.way in ("up", "down") for one in self.moved), sum(one.way == "new" for one in self.moved)
        counts = ((moved, "moved"), (new, "new"), (len(self.gone), "gone"))
        return [f"{count} {word}" for count, word in counts if count]


def sandbox(visit: Visit) -> ShownPage:
    if not visit.query:
        return ShownPage("ask.html", {"title": "Sandbox", "about": ABOUT, "action": "/sandbox", **choices(visit)})
    asked, trial = visit.question(), tried(visit)
    weights = asked.options(visit.engine.core.clock())["weights"]
    dials = {name: weights.get(name, 1.0) for name in ordered(_weighable(trial.before))}
    budget = trial.query.budget or DEFAULT_BUDGET
    return ShownPage(
        "sandbox.html",
        {
            "trial": trial,
            "dials": dials,
            "most": max(MOST_WEIGHT, *dials.values(), 0.0),
            "step": WEIGHT_STEP,
            "weight": WEIGHT,
            "most_limit": max(MOST_SHOWN_LIMIT, trial.query.limit),
            "budget": budget,
            "most_budget": max(MOST_SHOWN_BUDGET, budget),
            "presets": tuple(PRESETS),
            "asked": asked,
            **choices(visit),
        },
    )


def ranking(visit: Visit) -> ShownPage:
    """The ranking alone, for the script that follows the sliders."""
    return ShownPage("ranking.html", {"trial": tried(visit)})


def tried(visit: Visit) -> Trial:
    """Both are asked at the same moment, so that nothing but the settings differs."""
    engine, asked = visit.engine, visit.question()
    moment = {"now": engine.core.clock(), "namespace": visit.namespace}
    query = engine.recalls.question(asked.query, **{**moment, **asked.options(engine.core.clock())})
    plain = engine.recalls.question(asked.query, **{**moment, **_alone(asked).options(engine.core.clock())})
    before, after = engine.recalls.ledger(plain), engine.recalls.ledger(query)
    old, new = explain(before), explain(after)
    places = {one.memoryId: one.rank for one in old.results}
    kept = {one.memoryId for one in new.results}
    rows = explained(after, new, memories={})
    return Trial(
        before,
        query,
        new,
        tuple(MovedResult(row, places.get(row.xray.memoryId)) for row in rows),
        tuple(GoneResult(one.memoryId, one.title, one.rank) for one in old.results if one.memoryId not in kept),
        legend(rows),
    )


def _alone(asked: Question) -> Question:
    """The question without the sandbox's settings."""
    return Question.model_validate(asked.model_dump(include={"query", "now", "as_of"}, exclude_none=True))


def _weighable(ledger: Ledger) -> list[str]:
    """The parts that this question's scores are made of."""
    return [name for name in Walk(ledger).terms if name in WEIGHABLE]
