"""Terms for what the plan read out of the question: the kind of answer it wants, and the time it speaks of."""

from __future__ import annotations

import numpy as np

from recallens.index.columns import code_of, table_of
from recallens.model.memory import Kind, Sector
from recallens.model.plan import Intent
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.salience import DAY_MS
from recallens.model.verdict import BoolArray, FloatArray, Term
from recallens.recall.scene import Scene
from recallens.recall.terms import TermStage

# An intent that was read out of the question is a guess, and weighs half of one that the caller states.
GUESSED = 0.5
# A memory just outside the time that the question speaks of may still be meant: at this many days, or at the length of
# the window if that is longer, it keeps 37 percent.
SLACK_DAYS = 7.0
LEAST_MATCH = 0.01

_HOW_KINDS = table_of((Kind.SKILL, Kind.PATTERN, Kind.LESSON))
_ISSUE_KINDS = table_of((Kind.GOTCHA, Kind.LESSON))
_EVENT_KINDS = table_of((Kind.EPISODE, Kind.OBSERVATION, Kind.DECISION))


def intent_match(weight: float) -> TermStage:
    """weight · how well the row is the kind of answer that is wanted, from 0 to 1 (the specification's preferences)."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term | None:
        plan = scene.plan
        if plan is None or plan.intent is None or not len(pool):
            return None
        value = _PREFERENCES[plan.intent](scene, pool)
        computed = value > 0
        scale = weight if plan.intent_given else weight * GUESSED
        return Term("intentMatch", np.where(computed, scale * value, 0.0), computed, {"weight": scale})

    return term


def _of_kind(scene: Scene, pool: Pool, kinds: BoolArray) -> BoolArray:
    of_them: BoolArray = kinds[scene.columns["kind"][pool.rows]]
    return of_them


def _of_sector(scene: Scene, pool: Pool, sector: Sector) -> BoolArray:
    of_it: BoolArray = scene.columns["sector"][pool.rows] == code_of(sector)
    return of_it


def _named(scene: Scene, pool: Pool) -> FloatArray:
    """The share of the question's files, symbols and other exact names that each row carries."""
    return scene.score("symbolic", pool.rows) if "symbolic" in scene.views else np.zeros(len(pool))


def _confident_guides(scene: Scene, pool: Pool) -> FloatArray:
    """How to do it: skills and patterns, those first that are surest."""
    guides = _of_kind(scene, pool, _HOW_KINDS) | _of_sector(scene, pool, Sector.PROCEDURAL)
    return np.where(guides, scene.columns["confidence"][pool.rows], 0.0)


def _events(scene: Scene, pool: Pool) -> FloatArray:
    """What happened: episodes. Their order in time is for the surface that lists them."""
    return (_of_kind(scene, pool, _EVENT_KINDS) | _of_sector(scene, pool, Sector.EPISODIC)).astype(np.float64)


def _issues(scene: Scene, pool: Pool) -> FloatArray:
    """Known issues: gotchas, and what names the same files and symbols."""
    return 0.5 * _of_kind(scene, pool, _ISSUE_KINDS) + 0.5 * _named(scene, pool)


def _newest(scene: Scene, pool: Pool) -> FloatArray:
    """The environment: the latest word on it."""
    created = scene.columns["created"][pool.rows].astype(np.float64)
    live = created[pool.live]
    if len(live) < 2 or live.max() == live.min():
        return np.zeros(len(pool))
    newness: FloatArray = np.clip((created - live.min()) / (live.max() - live.min()), 0.0, 1.0)
    return newness


_PREFERENCES = {
    Intent.HOW_TO_DO: _confident_guides,
    Intent.WHAT_HAPPENED: _events,
    Intent.KNOWN_ISSUES: _issues,
    Intent.ENVIRONMENT: _newest,
    Intent.CODE_STRUCTURE: _named,
}


def time_match(weight: float) -> TermStage:
    """weight · 1 inside a window of the question, and exp(−days outside / slack) beyond it; the best of its windows."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term | None:
        if scene.plan is None or not scene.plan.windows or not len(pool):
            return None
        match = closeness(scene, pool)
        computed = match >= LEAST_MATCH
        return Term("timeMatch", np.where(computed, weight * match, 0.0), computed, {"weight": weight})

    return term


def closeness(scene: Scene, pool: Pool) -> FloatArray:
    assert scene.plan is not None
    created = scene.columns["created"][pool.rows].astype(np.float64)
    best = np.zeros(len(pool))
    for window in scene.plan.windows:
        outside = np.maximum(np.maximum(window.start - created, created - (window.end - 1)), 0.0) / DAY_MS
        slack = max(SLACK_DAYS, (window.end - window.start) / DAY_MS)
        best = np.maximum(best, np.exp(-outside / slack))
    return best
