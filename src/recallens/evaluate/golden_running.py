"""Asking a golden set of the user's own store, through the path that every search takes. Nothing is recorded."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from recallens.engine import Engine
from recallens.errors import NotFound
from recallens.evaluate.expected import Expected, Target, resolve
from recallens.evaluate.golden import GoldenQuestion, GoldenSet
from recallens.evaluate.metrics import Metric, ndcg, recall, recall_any, reciprocal_rank
from recallens.evaluate.records import Record, Scored, ranks_in
from recallens.model.memory import Memory
from recallens.model.query import MAX_LIMIT

# As the specified rankBrainForEval: a ranking of 20 files, from three times as many sections. More changes nothing:
# on the sample vault recall@5 is 95.2 with 20, 60 and 100 rows (94.6 with 10).
RANKED = 20
ROWS_PER_FILE = 3
# What a question's expectations must stand in, not to be a miss.
READ = 10

METRICS: Mapping[str, Metric] = {
    "recall@1": partial(recall, k=1),
    "recall@3": partial(recall, k=3),
    "recall@5": partial(recall, k=5),
    "recall@10": partial(recall, k=10),
    "recall_any@5": partial(recall_any, k=5),
    "mrr@10": partial(reciprocal_rank, k=10),
    "ndcg@10": partial(ndcg, k=10),
}

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Variant:
    """A ranking to measure: a preset, and the options that a sweep set, as values and as they were said."""

    preset: str
    options: Mapping[str, Any] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A file by its best section, or a memory."""

    key: str
    memory: Memory
    score: float


def ranked(
    engine: Engine, text: str, *, key_of: Callable[[Memory], str], limit: int = RANKED, **options: Any
) -> list[Ranked]:
    """The first `limit` files or memories for a question, before any budget, by the scores that a search gives."""
    rows = min(limit * ROWS_PER_FILE, MAX_LIMIT)
    best: dict[str, Ranked] = {}
    for result in engine.recall(engine.recalls.query(text, limit=rows, **options)).results:
        key = key_of(result.memory)
        best.setdefault(key, Ranked(key, result.memory, result.score))
    return list(best.values())[:limit]


@dataclass(frozen=True, slots=True)
class GoldenRun:
    """One set under one variant. `missed` are the expectations outside the first ten, by question."""

    record: Record
    variant: Variant
    missed: tuple[tuple[GoldenQuestion, tuple[Target, ...], tuple[str, ...]], ...]
    now: int


def expectations(engine: Engine, golden: GoldenSet) -> dict[str, Expected]:
    """By question's id. A set of which nothing is there asks another store than was meant."""
    by_namespace: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for question in golden.questions:
        by_namespace[engine.core.namespace(question.namespace)][question.id] = question.expect
    found: dict[str, Expected] = {}
    for namespace, names in by_namespace.items():
        found |= resolve(engine, names, namespace)
    if not any(one.targets for one in found.values()):
        first = golden.questions[0].expect[0]
        raise NotFound(
            f"nothing that {golden.name} expects is in {engine.core.store.location}: {first!r}, for one",
            hint="`recallens vault add FOLDER` takes notes in; --store and --namespace say where to look.",
        )
    return found


def run_golden(
    engine: Engine, golden: GoldenSet, expected: Mapping[str, Expected], variant: Variant, *, now: int,
    advance: Advance = lambda done: None,
) -> GoldenRun:  # fmt: skip
    scored: list[Scored] = []
    missed = []
    started = time.perf_counter()
    for question in golden.questions:
        own = expected[question.id]
        options = asking(engine, question, variant, now)
        keys = [one.key for one in ranked(engine, question.query, key_of=own.key_of, **options)]
        scored.append(_scored(question, own, keys))
        late = tuple(target for target in own.targets if target.key not in keys[:READ])
        if late or own.unknown:
            missed.append((question, late, own.unknown))
        advance(1)
    seconds = time.perf_counter() - started
    encoder = engine.core.encoding.key or "none"
    record = Record(golden.name, variant.preset, encoder, tuple(scored), seconds, variant.said)
    return GoldenRun(record, variant, tuple(missed), now)


def asking(engine: Engine, question: GoldenQuestion, variant: Variant, now: int) -> dict[str, Any]:
    """The options of the question's query; without a project of its own it is asked as `search` would ask it."""
    return {
        **variant.options,
        "preset": variant.preset,
        "now": now if question.now is None else question.now,
        "project": question.project or engine.core.settings.project,
        "namespace": question.namespace,
    }


def _scored(question: GoldenQuestion, expected: Expected, keys: Sequence[str]) -> Scored:
    # What the store does not hold is expected all the same, and never found.
    names = (*((target.key, target.name) for target in expected.targets), *((name, name) for name in expected.unknown))
    gold = {key: float(question.grades.get(name, 1)) for key, name in names}
    ranks = ranks_in(keys, {target.name: target.key for target in expected.targets})
    return Scored(
        question.id,
        question.query,
        ranks | dict.fromkeys(expected.unknown),
        {name: metric(keys, gold) for name, metric in METRICS.items()},
        question.tags,
    )
