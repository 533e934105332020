"""The sandbox: weights, budget and filters move, and the ranking follows. Nothing is recorded."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from recallens.model.ledger import Ledger
from recallens.model.query import DEFAULT_BUDGET, Query
from recallens.model.snapshot import Snapshot, XrayResult
from recallens.model.terms import WEIGHABLE
from recallens.operations.arguments import Question
from recallens.recall.presets import PRESETS
from recallens.web.page import ShownPage, show
from recallens.web.pictures import ordered
from recallens.web.search import Explained, explained, legend
from recallens.web.visit import WEIGHT, Visit
from recallens.xray.explain import explain
from recallens.xray.ladder import Walk

MOST_WEIGHT, WEIGHT_STEP = 3.0, 0.05
MOST_SHOWN_LIMIT, MOST_SHOWN_BUDGET = 50, 20_000

ABOUT = "Move the weights of a score, the budget and the filters, and watch the ranking follow. Nothing is saved."


class MovedResult(Struct, frozen=True):
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


class Trial(Struct, frozen=True):
    """One look: `before` is how the question is answered without the settings, `query` what is asked with them."""

    before: Ledger
    query: Query
    snapshot: Snapshot
    moved: list[MovedResult]
    gone: list[XrayResult]  # as they stood before
    legend: list[str]

    @property
    def changes(self) -> list[str]:
        """What differs from the unchanged ranking, in numbers."""
        ways = [result.way for result in self.moved]
        counts = {"moved": ways.count("up") + ways.count("down"), "new": ways.count("new"), "gone": len(self.gone)}
        return [f"{count} {word}" for word, count in counts.items() if count]


def sandbox(visit: Visit) -> ShownPage:
    if not visit.query:
        return show("ask.html", title="Sandbox", about=ABOUT, action="/sandbox")
    question, trial = visit.question(), tried(visit)
    weights = question.options(visit.engine.core.clock())["weights"]
    # The parts that this question's scores are made of.
    weighable = [name for name in Walk(trial.before).terms if name in WEIGHABLE]
    dials = {name: weights.get(name, 1.0) for name in ordered(weighable)}
    budget = trial.query.budget or DEFAULT_BUDGET
    return show(
        "sandbox.html",
        trial=trial,
        dials=dials,
        most=max(MOST_WEIGHT, *dials.values(), 0.0),
        step=WEIGHT_STEP,
        weight=WEIGHT,
        most_limit=max(MOST_SHOWN_LIMIT, trial.query.limit),
        budget=budget,
        most_budget=max(MOST_SHOWN_BUDGET, budget),
        presets=tuple(PRESETS),
        asked=question,
    )


def ranking(visit: Visit) -> ShownPage:
    """The ranking alone, for the script that follows the sliders."""
    return show("ranking.html", trial=tried(visit))


def tried(visit: Visit) -> Trial:
    """Both are asked at the same moment, so that nothing but the settings differs."""
    engine, question, now = visit.engine, visit.question(), visit.engine.core.clock()
    alone = Question.model_validate(question.model_dump(include={"query", "now", "as_of"}, exclude_none=True))
    shared = {"now": now, "namespace": visit.namespace}
    plain, query = (
        engine.recalls.question(question.query, **{**shared, **asked.options(now)}) for asked in (alone, question)
    )
    before, after = engine.recalls.ledger(plain), engine.recalls.ledger(query)
    old, new = explain(before), explain(after)
    ranks = {row.memoryId: row.rank for row in old.results}
    kept = {row.memoryId for row in new.results}
    rows = explained(after, new, memories={})
    moved = [MovedResult(row, ranks.get(row.xray.memoryId)) for row in rows]
    gone = [row for row in old.results if row.memoryId not in kept]
    return Trial(before, query, new, moved, gone, legend(rows))
