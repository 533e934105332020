"""Whether one run is better than another, which questions moved, and whether a run is good enough.

Paired bootstrap: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993; for retrieval, Sakai, SIGIR 2006.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, field, to_builtins
from msgspec.structs import asdict

from recallens.errors import InvalidInput, NotFound, RecallensError, UnknownOption
from recallens.evaluate.runs import DECIMALS, Run

RESAMPLES = 10_000
LEVEL = 0.95
SEED = 20_240_229


class MetricDifference(Struct, frozen=True):
    """The mean difference of two rankings over the same questions, and the interval that holds it."""

    difference: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "no difference shown"

    def to_json(self) -> dict[str, Any]:
        return {name: round(value, DECIMALS) for name, value in asdict(self).items()} | {"verdict": self.verdict}


def paired_bootstrap(ours: Sequence[float], theirs: Sequence[float]) -> MetricDifference:
    """The same seed every time, so that a comparison can be made again."""
    differences = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    if not len(differences):
        return MetricDifference(0.0, 0.0, 0.0)
    chance = np.random.default_rng(SEED)
    count = len(differences)
    means = [differences[chance.integers(0, count, count)].mean() for _ in range(RESAMPLES)]
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail]).tolist()
    return MetricDifference(float(differences.mean()), low, high)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Within which the mean of such questions lies, by the same bootstrap."""
    spread = paired_bootstrap(values, np.zeros(len(values)).tolist())
    return round(spread.low, DECIMALS), round(spread.high, DECIMALS)


class RankChange(Struct, frozen=True):
    """Where one expected thing stood; None where it was not found."""

    question: str = field(name="id")
    query: str
    expected: str
    before: int | None
    after: int | None

    @property
    def gain(self) -> float:
        """By reciprocal rank: from second to first matters, from 40th to 30th hardly."""
        return (1 / self.after if self.after else 0.0) - (1 / self.before if self.before else 0.0)


class RunComparison(Struct, frozen=True):
    """Over the questions that are in both runs with the same expectations; `left_out` counts the others."""

    before: Run
    after: Run
    metrics: dict[str, MetricDifference]
    changes: tuple[RankChange, ...]
    questions: int
    left_out: int

    def to_json(self) -> dict[str, Any]:
        return {
            "set": self.after.set, "ranking": self.after.label, "against": self.before.label,
            "queries": self.questions, "leftOut": self.left_out,
            "metrics": {name: difference.to_json() for name, difference in self.metrics.items()},
            "moved": to_builtins(self.changes),
        }  # fmt: skip


def compare_runs(after: Run, before: Run) -> RunComparison:
    known = {question.id: question for question in before.scored}
    shared = [(now, known[now.id]) for now in after.scored if now.id in known]
    pairs = [(now, then) for now, then in shared if now.ranks.keys() == then.ranks.keys()]
    metrics: dict[str, MetricDifference] = {}
    for name in after.metrics:
        both = [pair for pair in pairs if all(name in question.metrics for question in pair)]
        # As a file keeps them, so that a run equals itself when it is read again.
        values = [[round(question.metrics[name], DECIMALS) for question in pair] for pair in both]
        if values:
            metrics[name] = paired_bootstrap(*zip(*values, strict=True))
    changes = [
        RankChange(now.id, now.query, name, then.ranks[name], rank)
        for now, then in pairs
        for name, rank in now.ranks.items()
        if then.ranks[name] != rank
    ]
    changes.sort(key=lambda change: (change.gain, change.question, change.expected))
    ids = {question.id for question in after.scored} | known.keys()
    return RunComparison(before, after, metrics, tuple(changes), len(pairs), len(ids) - len(pairs))


def against_first(runs: Iterable[Run]) -> Iterator[tuple[Run, Run]]:
    """Each other run of a set, after the first run of that set."""
    firsts: dict[str, Run] = {}
    for run in runs:
        first = firsts.setdefault(run.set, run)
        if first is not run:
            yield first, run


def counterpart(run: Run, stored: Sequence[Run], path: Path) -> Run:
    """The stored run to compare with: the same ranking of the same set, or the only one of that set."""
    of_set = [candidate for candidate in stored if candidate.set == run.set]
    same_ranking = [candidate for candidate in of_set if candidate.label == run.label]
    if same_ranking or len(of_set) == 1:
        return (same_ranking or of_set)[0]
    if of_set:
        labels = ", ".join(candidate.label for candidate in of_set)
        raise InvalidInput(f"{path} holds no run of {run.set} under {run.label}; it holds: {labels}")
    sets = ", ".join(dict.fromkeys(candidate.set for candidate in stored)) or "nothing"
    raise NotFound(f"{path} holds no run of {run.set!r}; it holds: {sets}")


class FloorCheck(Struct, frozen=True):
    """Whether a run reaches a least value, for a build to go on."""

    set: str
    ranking: str
    metric: str
    least: float
    value: float
    passed: bool


def parse_floor(text: str, metrics: Sequence[str]) -> tuple[str, float]:
    """A metric and the least value that it must reach."""
    name, sign, number = text.rpartition("=")
    if not sign:
        raise InvalidInput(f"{text!r} is no least value; use METRIC=VALUE, such as recall@5=0.85")
    if name not in metrics:
        raise UnknownOption("metric", name, metrics)
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise InvalidInput(f"the least {name} must be from 0 to 1, not {number!r}; for example {name}=0.85")
    return name, value


def check_floors(runs: Iterable[Run], floors: Sequence[tuple[str, float]]) -> list[FloorCheck]:
    """Every run by every least value that its set has the metric for."""
    return [
        FloorCheck(run.set, run.label, metric, least, value, passed=value >= least)
        for run in runs
        for metric, least in floors
        if (value := run.metrics.get(metric)) is not None
    ]


def failure(checks: Iterable[FloorCheck]) -> RecallensError | None:
    """The error of runs that are not good enough, with their figures."""
    figures = "; ".join(
        f"{check.set}, {check.ranking}: {check.metric} is {check.value:.4f}, at least {check.least:g} was asked"
        for check in checks
        if not check.passed
    )
    hint = "`--misses` says of a golden set what was not found, and why."
    return RecallensError(figures, hint=hint) if figures else None
