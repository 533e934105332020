"""Least values that a run must reach, for a build to go on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from recallens.errors import InvalidInput, RecallensError, UnknownOption
from recallens.evaluate.records import Record

EXAMPLE = "recall@5=0.85"


@dataclass(frozen=True, slots=True)
class Least:
    metric: str
    value: float


@dataclass(frozen=True, slots=True)
class Judged:
    set: str
    label: str
    least: Least
    found: float

    @property
    def passed(self) -> bool:
        return self.found >= self.least.value

    def to_json(self) -> dict[str, Any]:
        return {
            "set": self.set, "ranking": self.label, "metric": self.least.metric, "least": self.least.value,
            "value": self.found, "passed": self.passed,
        }  # fmt: skip


def parse_least(text: str, metrics: Sequence[str]) -> Least:
    name, sign, number = text.rpartition("=")
    if not sign:
        raise InvalidInput(f"{text!r} is no least value; use METRIC=VALUE, such as {EXAMPLE}")
    if name not in metrics:
        raise UnknownOption("metric", name, metrics)
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise InvalidInput(f"the least {name} must be from 0 to 1, not {number!r}; for example {name}=0.85")
    return Least(name, value)


def judge(records: Iterable[Record], least: Sequence[Least]) -> list[Judged]:
    """Every run by every least value that its set has the metric for."""
    return [
        Judged(record.set, record.label, one, record.metrics[one.metric])
        for record in records
        for one in least
        if one.metric in record.metrics
    ]


def missed(judged: Iterable[Judged]) -> RecallensError | None:
    """The error of a run that is not good enough, with its figures."""
    failed = [one for one in judged if not one.passed]
    if not failed:
        return None
    told = "; ".join(
        f"{one.set}, {one.label}: {one.least.metric} is {one.found:.4f}, at least {one.least.value:g} was asked"
        for one in failed
    )
    return RecallensError(told, hint="`--misses` says of a golden set what was not found, and why.")
