"""The tiers beside the hybrid one: what each proposes, and the head start that being served by it is worth."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np

from recallens.index.columns import code_of, table_of
from recallens.index.lexical import BoundLexical
from recallens.index.views import best
from recallens.model.masks import anywhere
from recallens.model.memory import Kind, Sector
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import BoolArray, FloatArray, Found, IntArray, Term
from recallens.recall.runner import Decide
from recallens.recall.scene import Scene

PROCEDURAL, REVIEW, RECENT, DIRECT, GRAPH = "procedural", "review-context", "recent-scan", "direct-answer", "graph"

# The specification's sample: a direct answer 0.30, the other tiers 0.15.
TIER_PRIOR = {DIRECT: 0.30, REVIEW: 0.15, PROCEDURAL: 0.15, GRAPH: 0.15}

Admitted = Callable[[], BoolArray]

_TASK_START = re.compile(
    r"\bhow (?:do|to|can|should|would)\b|\b(?:steps?|runbook|guide|set ?up|walk me through|procedure)\b"
    r"|어떻게|방법|하려면|절차|순서|따라 하기",
    re.IGNORECASE,
)
_RUNBOOKS = table_of((Kind.SKILL, Kind.PATTERN))


def starts_a_task(text: str) -> bool:
    return _TASK_START.search(text) is not None


def found(scene: Scene, view: str, rows: IntArray, raw: FloatArray, batch: int) -> Found:
    return Found(view, scene.columns["id"][rows], raw, rows, batch=batch)


def procedural(scene: Scene, words: BoundLexical, depth: int, *, batch: int) -> Decide:
    """Skills and runbooks that share the question's words, when the question starts a task."""

    def decide(pool: Pool, query: Query) -> Iterable[Found]:
        if not starts_a_task(query.text):
            return
        columns, rows = scene.columns, words.matching
        kinds = _RUNBOOKS[columns["kind"][rows]]
        runbooks = kinds | (columns["sector"][rows] == code_of(Sector.PROCEDURAL))
        chosen = words.best_of(runbooks, depth)
        yield found(scene, PROCEDURAL, chosen.rows, chosen.raw, batch)

    return decide


def review_context(scene: Scene, touched: BoolArray, depth: int, *, batch: int) -> Decide:
    """What is known of the files that a change touches."""

    def decide(pool: Pool, query: Query) -> Iterable[Found]:
        rows = np.flatnonzero(touched & scene.columns["alive"])
        importance = scene.columns["importance"][rows]
        chosen = best(scene.columns, rows, importance, depth)
        yield found(scene, REVIEW, chosen, scene.columns["importance"][chosen], batch)

    return decide


def recent_scan(scene: Scene, admitted: Admitted, depth: int, *, batch: int) -> Decide:
    """The newest memories that the filters admit, when nothing else found anything."""

    def decide(pool: Pool, query: Query) -> Iterable[Found]:
        if anywhere(pool.live):
            return
        rows = np.flatnonzero(admitted() & (scene.columns["created"] <= scene.at))
        newest = scene.columns["created"][rows].astype(np.float64)
        chosen = best(scene.columns, rows, newest, depth)
        yield found(scene, RECENT, chosen, scene.columns["created"][chosen].astype(np.float64), batch)

    return decide


def tier_prior(scene: Scene, pool: Pool, query: Query) -> Term:
    """The head start of the best tier that proposed the row."""
    prior = np.zeros(len(pool))
    for tier, worth in TIER_PRIOR.items():
        if tier in pool.found:
            prior = np.maximum(prior, np.where(pool.proposed_by(tier), worth, 0.0))
    return Term("tierPrior", prior, prior > 0)
