"""How good a ranked list is, one formula a function. `ranked` is best first; `gold` gives each right id its grade."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from recallens.evaluate.dataset import Gold, Scoring

Grades = Mapping[str, float]
Metric = Callable[[Sequence[str], Grades], float]


def recall(ranked: Sequence[str], gold: Grades, k: int) -> float:
    """The share of what is right that stands in the first k."""
    right = _right(gold)
    return len(right & set(ranked[:k])) / len(right) if right else 0.0


def recall_any(ranked: Sequence[str], gold: Grades, k: int) -> float:
    """1 where something right stands in the first k."""
    return float(recall(ranked, gold, k) > 0)


def recall_all(ranked: Sequence[str], gold: Grades, k: int) -> float:
    """1 where all that is right stands in the first k."""
    return float(recall(ranked, gold, k) == 1)


def reciprocal_rank(ranked: Sequence[str], gold: Grades, k: int) -> float:
    """1 over the rank of the first that is right, 0 where none is in the first k."""
    right = _right(gold)
    return next((1.0 / rank for rank, id in enumerate(ranked[:k], start=1) if id in right), 0.0)


def ndcg(ranked: Sequence[str], gold: Grades, k: int) -> float:
    """Σ grade / log2(rank + 1) over the first k, against the best order of what is right.

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002; the grades are the gains.
    """
    best = _discounted(sorted(gold.values(), reverse=True)[:k])
    return _discounted([gold.get(id, 0.0) for id in ranked[:k]]) / best if best > 0 else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _right(gold: Grades) -> set[str]:
    return {id for id, grade in gold.items() if grade > 0}


BY_GROUP: Mapping[str, Metric] = {
    "recall_any@5": partial(recall_any, k=5),
    "recall_all@5": partial(recall_all, k=5),
    "recall_all@10": partial(recall_all, k=10),
    "ndcg@10": partial(ndcg, k=10),
    "mrr@10": partial(reciprocal_rank, k=10),
}
BY_TURN: Mapping[str, Metric] = {"unit ndcg@10": partial(ndcg, k=10)}
BY_DOCUMENT: Mapping[str, Metric] = {
    "ndcg@10": partial(ndcg, k=10),
    "recall@10": partial(recall, k=10),
    "recall_all@5": partial(recall_all, k=5),
    "mrr@10": partial(reciprocal_rank, k=10),
}


def score(scoring: Scoring, units: Sequence[str], groups: Sequence[str], gold: Gold) -> dict[str, float]:
    """Every metric of one question; by turn only where turns were judged."""
    if scoring is Scoring.DOCUMENTS:
        return {name: metric(units, gold.units) for name, metric in BY_DOCUMENT.items()}
    found = {name: metric(groups, gold.groups) for name, metric in BY_GROUP.items()}
    return found | {name: metric(units, gold.units) for name, metric in BY_TURN.items() if gold.units}
