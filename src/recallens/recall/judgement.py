"""How likely each candidate is to help with the question: a calibrated probability, additive over raw signals.

A score orders the candidates of one question and says nothing beyond it: it counts in deviations among them, so that
something always stands out. The signals here are raw, so that they mean the same in a store of five memories as in one
of a hundred thousand. `bench/relevance.py` fits their weights on the dev sets and says what they are worth on others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import FloatArray, Judgement
from recallens.recall.coverage import answering, coverage
from recallens.recall.facets import Facet, FacetKind
from recallens.recall.scene import Scene
from recallens.recall.terms import deviation_of, measured_against
from recallens.recall.terms.relevance import USER_ROLES
from recallens.recall.views import within_windows

# Texts are read for the type of the answer only so far down.
READ: Final = 40


class Model(Struct, frozen=True):
    """Made by `bench/relevance.py`: the weights of the signals, and how likely to help the best row must be."""

    bias: float
    weights: Mapping[str, float]
    least: float  # where no row is as likely, nothing is delivered


BY_MEANING: Final = Model(
    bias=-4.32,
    weights={
        "cosine": 3.87,
        "words": 1.77,
        "unreadable": -0.99,
        "pairs": 0.49,
        "namedSpeaker": 1.76,
        "ownWords": 0.65,
        "otherTime": -0.27,
        "behind": -1.71,
        "noAnswer": -0.9,
    },
    least=0.06,
)
BY_WORDS: Final = Model(
    bias=-3.1,
    weights={
        "words": 2.33,
        "unreadable": -2.56,
        "bm25": 0.11,
        "pairs": 0.6,
        "namedSpeaker": 1.63,
        "ownWords": 0.8,
        "otherTime": -0.31,
        "behind": -1.58,
        "noAnswer": -1.11,
    },
    least=0.1,
)
# The encoder whose cosines were fitted. Another's lie elsewhere, so with it the words are judged alone.
CALIBRATED: Final = "all-MiniLM-L6-v2-int8@"


def judge_relevance(scene: Scene, pool: Pool, query: Query) -> Iterator[Judgement]:
    if not len(pool):
        return
    signals = signals_of(scene, pool)
    model = BY_WORDS if np.isnan(signals["cosine"]).all() else BY_MEANING
    yield Judgement.of("relevance", model.bias, model.weights, signals, least=model.least)


def signals_of(scene: Scene, pool: Pool) -> dict[str, FloatArray]:
    """The raw value of every signal for each row, NaN where it has nothing to say."""
    rows, words, absent = pool.rows, scene.words, np.full(len(pool), np.nan)
    required, unreadable = readable(scene)
    rarity = np.array([rarity_of(scene, facet) for facet in required])
    held = coverage(scene, required, rows).astype(np.float64)
    return {
        "cosine": _cosines(scene, pool),
        "words": rarity @ held / rarity.sum() if len(required) else scene.coverage(rows),
        "unreadable": np.full(len(pool), unreadable),
        "bm25": words.score(rows) / words.ceiling if words is not None and words.ceiling else absent,
        "pairs": np.log1p(words.pairs(rows)) if words is not None else absent,
        "namedSpeaker": _said_by(scene, pool, scene.question.speakers),
        "ownWords": _said_by(scene, pool, _codes(scene, USER_ROLES)),
        "otherTime": _outside_windows(scene, pool),
        "behind": _behind(pool),
        "noAnswer": _without_answer(scene, pool),
    }


def readable(scene: Scene) -> tuple[list[Facet], float]:
    """The names and words that the question requires, and the share of them that this store cannot hold.

    A store of English notes holds no Korean word: that a question's are missing says nothing of its rows.
    """
    required = [facet for facet in scene.question.facets if facet.kind in (FacetKind.ENTITY, FacetKind.TERM)]
    of_scripts = [[facet for facet in required if facet.text.isascii() is ascii] for ascii in (True, False)]
    legible = [facets for facets in of_scripts if any(is_known(scene, facet) for facet in facets)]
    kept = [facet for facets in legible for facet in facets]
    return kept or required, 1.0 - len(kept) / len(required) if required else 0.0


def is_known(scene: Scene, facet: Facet) -> bool:
    return scene.words is not None and any(map(scene.words.is_held, facet.words))


def rarity_of(scene: Scene, facet: Facet) -> float:
    return max(scene.words.rarity(sorted(facet.words))) if scene.words is not None else 1.0


def _cosines(scene: Scene, pool: Pool) -> FloatArray:
    """Of an encoder that the weights were fitted with, and where it can read the question."""
    encoder = str(scene.versions.get("encoder") or "")
    if "semantic" not in scene.views or not encoder.startswith(CALIBRATED):
        return np.full(len(pool), np.nan)
    return scene.score("semantic", pool.rows)


def _codes(scene: Scene, authors: Sequence[str]) -> list[int]:
    codes = scene.columns.names["author"].codes
    return [codes[author] for author in authors if author in codes]


def _said_by(scene: Scene, pool: Pool, authors: Sequence[int]) -> FloatArray:
    """1 for what one of these authors said; absent where there are none."""
    if not authors:
        return np.full(len(pool), np.nan)
    return np.isin(scene.columns["author"][pool.rows], authors).astype(np.float64)


def _outside_windows(scene: Scene, pool: Pool) -> FloatArray:
    windows = scene.question.plan.windows if scene.question.plan is not None else ()
    if not windows:
        return np.full(len(pool), np.nan)
    return (~within_windows(scene.columns["created"][pool.rows], windows)).astype(np.float64)


def _behind(pool: Pool) -> FloatArray:
    """How far a row's score is behind the best one, in deviations: the root, for the first steps say most."""
    live = pool.score[pool.live]
    sample = pool.score[measured_against(pool)]
    best = float(live.max()) if len(live) else 0.0
    deviation = deviation_of(sample) if len(sample) > 1 else 0.0
    return np.sqrt(np.maximum(best - pool.score, 0.0) / (deviation or 1.0))


def _without_answer(scene: Scene, pool: Pool) -> FloatArray:
    """1 for what holds no time, number, person or place where that is asked for; absent where nothing is."""
    kinds = [facet.text for facet in scene.question.facets if facet.kind is FacetKind.ANSWER]
    without = np.full(len(pool), np.nan)
    if kinds:
        first = np.argsort(-pool.score, kind="stable")[:READ]
        without[first] = ~answering(scene, kinds[0], pool.rows[first])
    return without
