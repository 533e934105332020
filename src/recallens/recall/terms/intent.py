"""The kind of answer that is wanted: what each intent prefers among the rows.

It is worth a share of the best score, so that it is on the scale of the score whatever that is, as far as the row is
about what is asked: what is beside the point stays behind, whatever its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from recallens.index.columns import code_of
from recallens.ingest.encoded import ASSISTANT_ROLES, USER_ROLES
from recallens.model.memory import Kind, Sector
from recallens.model.plan import Intent
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.state import FAILURE, SUCCESS
from recallens.model.verdict import BoolArray, FloatArray
from recallens.recall.coverage import coverage
from recallens.recall.intents import COURSE, DECIDED
from recallens.recall.judgement import rarity_of, readable
from recallens.recall.scene import Scene
from recallens.recall.select import head_of, memories_at
from recallens.recall.terms import Amounts, measured_against, score_term
from recallens.recall.terms.relevance import spoken_by
from recallens.recall.views import followed

# Of a kind that has more than this share of the rows, a view finds enough without being asked for it.
RARE: Final = 0.3
# A row that is as much about what is asked, beside the best, is a statement about the same thing.
SAME_SUBJECT: Final = 0.85
# Texts that have nothing to do with each other have a cosine of about as much.
UNRELATED: Final = 0.2
# Who asks when or by whom something was done asks for one fact of it, which any kind of memory may hold. At full worth
# korquad-dev lost a point of mrr@10 on such questions.
ONE_FACT: Final = 0.15
# A guess at the kind of a text of up to this length is as good as its word. At full worth the guesses at longer ones
# cost react-ko2en 2.5 points of nDCG@10, git-k8s-docs 1.7 and scifact 1.0.
STATEMENT_TOKENS: Final = 150

# So many rows can have something in common.
SEVERAL: Final = 8

# The value of each row from 0 to 1, given how much it is about what the question is about.
Preference = Callable[[Scene, Pool, FloatArray], FloatArray]


def _by_kind(**values: float) -> FloatArray:
    return np.array([values.get(kind, 0.0) for kind in Kind])


_GUIDES: Final = _by_kind(skill=1.0, pattern=1.0, lesson=0.5)
_WARNINGS: Final = _by_kind(gotcha=1.0, lesson=0.7)
_EVENTS: Final = _by_kind(episode=1.0, observation=0.6, decision=0.2)
_DECISIONS: Final = _by_kind(decision=1.0, episode=0.5)
_STATEMENTS: Final = _by_kind(fact=1.0, observation=1.0, note=1.0, decision=0.5)


@score_term("intentMatch", orders=True)
def intent_match(scene: Scene, pool: Pool, query: Query, share: float) -> Amounts | None:
    """share · the best score so far · how sure the intent is · how far the row is the kind of answer that is wanted,
    more than the others are, and about what is asked.

    What every row is decides nothing: a store of documents is all facts, and each of them names code.
    """
    plan = scene.question.plan
    if plan is None or plan.intent is None or plan.intent not in PREFERENCES or not len(pool):
        return None
    near = about(scene, pool)
    value, known = PREFERENCES[plan.intent](scene, pool, near), _known(scene, pool, plan.intent)
    usual = _usual(value, known * pool.live)
    value = np.maximum(value - usual, 0.0) * known * near**2
    value[scene.superseded(pool.rows) | (scene.columns["review"][pool.rows] >= 0)] = 0.0
    weight = share * plan.intent_confidence
    computed, best = value > 0, _best(pool)
    stats = {"weight": weight, "best": best, "usual": usual}
    return np.where(computed, weight * best * value, 0.0), computed, stats


def _usual(value: FloatArray, weight: FloatArray) -> float:
    """What at least half of the rows are worth, by weight; of a handful nothing is usual."""
    if np.count_nonzero(weight) < SEVERAL:
        return 0.0
    order = np.argsort(value, kind="stable")
    reached = np.cumsum(weight[order])
    return float(value[order][np.searchsorted(reached, reached[-1] / 2)])


def _known(scene: Scene, pool: Pool, intent: Intent) -> FloatArray:
    """How far it is known what a row is: its kind may have been guessed, of a long text by some of its words, of source
    code by its names, of a turn to or of an assistant by what is being talked over: at full worth guesses at turns cost
    BEAM 0.8 points of nDCG@10. What names code was read, and not guessed.
    """
    if intent not in _BY_KIND:
        return np.ones(len(pool))
    columns, rows = scene.columns, pool.rows
    guess = np.minimum(1.0, STATEMENT_TOKENS / np.maximum(columns["tokens"][rows], 1)) ** 2
    if scene.words is not None:
        guess *= 1.0 - scene.words.code_share(rows, measured_against(pool))
    guess[spoken_by(scene, pool, map(columns.names["author"].codes.get, (*USER_ROLES, *ASSISTANT_ROLES)))] = 0.0
    return np.where(columns["kind_stated"][rows], 1.0, guess)


def about(scene: Scene, pool: Pool) -> FloatArray:
    """How much a row is about what the question is about, beside the best: by rare words or by meaning, from 0 to 1."""
    required, _ = readable(scene)
    rarity = np.array([rarity_of(scene, facet) for facet in required])
    held = rarity @ coverage(scene, required, pool.rows) if len(required) else np.zeros(len(pool))
    raw = scene.meaning(pool.rows)
    meant = np.maximum(np.nan_to_num(raw) - UNRELATED, 0.0) * (scene.question.fluency > 0)
    parts = [part / part[pool.live].max() for part in (held, meant) if part[pool.live].max(initial=0.0) > 0]
    return np.minimum(np.max(parts, axis=0), 1.0) if parts else np.ones(len(pool))


def preferred_rows(scene: Scene) -> BoolArray | None:
    """The rows of the kinds that the intent looks for. None where it looks for none, or so many are of them that a view
    finds them anyway.
    """
    plan, columns = scene.question.plan, scene.columns
    kinds = _KINDS.get(plan.intent) if plan is not None and plan.intent is not None else None
    if kinds is None:
        return None
    preferred: BoolArray = (kinds[columns["kind"]] > 0) & columns["alive"]
    return preferred if 0 < preferred.sum() < RARE * columns["alive"].sum() else None


def _guides(scene: Scene, pool: Pool, near: FloatArray) -> FloatArray:
    """How to do it: skills and patterns, the surest first, and attempts that went well."""
    columns, rows = scene.columns, pool.rows
    value = np.maximum(_GUIDES[columns["kind"][rows]], 0.5 * (columns["sector"][rows] == code_of(Sector.PROCEDURAL)))
    went_well = _attempts(scene, pool) & (columns["reward"][rows] >= SUCCESS)
    return np.where(went_well, 0.7, value) * columns["confidence"][rows]


def _warnings(scene: Scene, pool: Pool, near: FloatArray) -> FloatArray:
    """Known issues: gotchas, lessons and attempts that failed; and what names the same files and symbols."""
    failed = _attempts(scene, pool) & (scene.columns["reward"][pool.rows] <= FAILURE)
    return 0.8 * np.where(failed, 0.5, _WARNINGS[scene.columns["kind"][pool.rows]]) + 0.2 * _exact_names(scene, pool)


def _events(scene: Scene, pool: Pool, near: FloatArray) -> FloatArray:
    """What happened: episodes, or decisions where one is asked for. Listing them in time is for the surface."""
    plan = scene.question.plan
    cues = plan.intent_cues if plan is not None else ()
    wanted = _DECISIONS if DECIDED in cues else _EVENTS
    course = plan is None or plan.intent_given or not COURSE.isdisjoint(cues)
    value: FloatArray = (1.0 if course else ONE_FACT) * wanted[scene.columns["kind"][pool.rows]]
    return value


def _latest(scene: Scene, pool: Pool, near: FloatArray) -> FloatArray:
    """The environment: statements, and of those that speak of the same thing the latest."""
    statement = _STATEMENTS[scene.columns["kind"][pool.rows]]
    value = 0.3 * statement
    same = np.flatnonzero(pool.live & (statement > 0) & (near >= SAME_SUBJECT))
    if len(same) > 1:
        created = scene.columns["created"][pool.rows[same]]
        newer = len(same) - np.searchsorted(np.sort(created), created, side="right")
        value[same] += 0.7 * statement[same] / (1.0 + newer) ** 2 if newer.any() else 0.0
    return value


def _names_of_code(scene: Scene, pool: Pool, near: FloatArray) -> FloatArray:
    """The structure of code: what names a file or a symbol, and most of all those of the question."""
    value = np.zeros(len(pool))
    head = np.concatenate([head_of(scene, pool), followed(pool)])
    for position, memory in zip(head.tolist(), memories_at(scene, pool, head), strict=True):
        named = memory.annotations.paths or memory.annotations.symbols
        value[position] = 1.0 if named else 0.5 * bool(memory.citations)
    exact = _exact_names(scene, pool)
    return 0.5 * (value + exact) if exact.max(initial=0.0) > 0 else value


def _exact_names(scene: Scene, pool: Pool) -> FloatArray:
    """The share of the question's files, symbols and other exact names that each row carries."""
    return scene.score("symbolic", pool.rows) if "symbolic" in scene.views else np.zeros(len(pool))


def _attempts(scene: Scene, pool: Pool) -> BoolArray:
    attempts: BoolArray = scene.columns["kind"][pool.rows] == code_of(Kind.EPISODE)
    return attempts


def _best(pool: Pool) -> float:
    live = pool.score[pool.live]
    return float(live.max()) if len(live) else 0.0


PREFERENCES: Final[Mapping[Intent, Preference]] = {
    Intent.HOW_TO_DO: _guides,
    Intent.WHAT_HAPPENED: _events,
    Intent.KNOWN_ISSUES: _warnings,
    Intent.ENVIRONMENT: _latest,
    Intent.CODE_STRUCTURE: _names_of_code,
}
# Of a memory's kind; the structure of code is told by what a text names.
_BY_KIND: Final = frozenset(PREFERENCES) - {Intent.CODE_STRUCTURE}
_KINDS: Final = {Intent.HOW_TO_DO: _GUIDES, Intent.WHAT_HAPPENED: _EVENTS, Intent.KNOWN_ISSUES: _WARNINGS}
