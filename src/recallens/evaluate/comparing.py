"""Two runs of one set: whether the metrics differ, and which questions moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallens.errors import InvalidInput, NotFound
from recallens.evaluate.records import DECIMALS, Record, Scored
from recallens.evaluate.significance import Comparison, paired_bootstrap


@dataclass(frozen=True, slots=True)
class Moved:
    """Where one expected thing stood; None where it was not found."""

    question: str
    query: str
    expected: str
    before: int | None
    after: int | None

    @property
    def gain(self) -> float:
        """By reciprocal rank: from second to first matters, from 40th to 30th hardly."""
        return (1 / self.after if self.after else 0.0) - (1 / self.before if self.before else 0.0)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.question, "query": self.query, "expected": self.expected, "before": self.before,
            "after": self.after,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compared:
    """Over the questions that are in both runs with the same expectations; `left_out` counts the others."""

    before: Record
    after: Record
    metrics: dict[str, Comparison]
    moved: tuple[Moved, ...]
    questions: int
    left_out: int

    def to_json(self) -> dict[str, Any]:
        return {
            "set": self.after.set, "ranking": self.after.label, "against": self.before.label,
            "queries": self.questions, "leftOut": self.left_out,
            "metrics": {
                name: {
                    "difference": round(one.difference, DECIMALS), "low": round(one.low, DECIMALS),
                    "high": round(one.high, DECIMALS), "verdict": one.verdict,
                }
                for name, one in self.metrics.items()
            },
            "moved": [one.to_json() for one in self.moved],
        }  # fmt: skip


def compare_records(after: Record, before: Record) -> Compared:
    known = {question.id: question for question in before.questions}
    pairs = [
        (now, known[now.id])
        for now in after.questions
        if now.id in known and now.ranks.keys() == known[now.id].ranks.keys()
    ]
    names = [name for name in after.metrics if name in before.metrics]
    metrics = {
        name: paired_bootstrap(*zip(*found, strict=True))
        for name in names
        if (found := [_values(name, now, then) for now, then in pairs if _both(name, now, then)])
    }
    moved = sorted(
        (one for now, then in pairs for one in _moved(now, then)),
        key=lambda one: (one.gain, one.question, one.expected),
    )
    ids = {question.id for question in after.questions} | known.keys()
    return Compared(before, after, metrics, tuple(moved), len(pairs), len(ids) - len(pairs))


def counterpart(record: Record, stored: Sequence[Record], path: Path) -> Record:
    """The stored run to compare with: the same ranking of the same set, or the only one of that set."""
    same = [one for one in stored if one.set == record.set]
    alike = [one for one in same if one.label == record.label]
    if alike or len(same) == 1:
        return (alike or same)[0]
    if same:
        known = ", ".join(one.label for one in same)
        raise InvalidInput(f"{path} holds no run of {record.set} under {record.label}; it holds: {known}")
    sets = ", ".join(dict.fromkeys(one.set for one in stored)) or "nothing"
    raise NotFound(f"{path} holds no run of {record.set!r}; it holds: {sets}")


def _both(name: str, now: Scored, then: Scored) -> bool:
    return name in now.metrics and name in then.metrics


def _values(name: str, now: Scored, then: Scored) -> tuple[float, float]:
    """As a file keeps them, so that a run equals itself when it is read again."""
    return round(now.metrics[name], DECIMALS), round(then.metrics[name], DECIMALS)


def _moved(now: Scored, then: Scored) -> list[Moved]:
    return [
        Moved(now.id, now.query, name, then.ranks[name], rank)
        for name, rank in now.ranks.items()
        if then.ranks[name] != rank
    ]
