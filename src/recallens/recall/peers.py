"""What a row is measured against: never what is less trusted than it is, where it is likely to help without that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from msgspec import structs

from recallens.index.columns import code_of
from recallens.model.memory import Zone
from recallens.model.pool import Pool
from recallens.model.trust import CLAIMED_FROM, rank
from recallens.model.verdict import BoolArray, FloatArray, IntArray, Judgement, all_true
from recallens.recall.coverage import ANSWERS_FROM
from recallens.recall.scene import MULTILINGUAL, Scene
from recallens.recall.terms import deviation_of, measured_against

# So many rows more, unlike the question, stand beside the candidates when it is asked how far one stands out: of five
# memories the mean says little. Texts that have nothing to do with each other have about this cosine.
BACKGROUND: Final = 20
UNRELATED: Final = 0.1
# The bias, the weights and the values that a judgement is made of.
Summed = tuple[float, dict[str, float], dict[str, FloatArray]]
_RANKS: Final = np.array([rank(zone) for zone in sorted(Zone, key=code_of)])


def trust_of(scene: Scene, rows: IntArray) -> IntArray:
    """How far each row is trusted."""
    return _RANKS[scene.columns["zone"][rows]]


def circles(scene: Scene, rows: IntArray) -> list[BoolArray]:
    """The rows without the least trusted, and so on: each circle within the one before, and the first is of all."""
    trust = trust_of(scene, rows)
    zones = sorted(set(trust.tolist()))
    return [all_true(len(rows)), *(trust >= zone for zone in zones[1:])]


def claiming(
    scene: Scene, pool: Pool, signals: Mapping[str, FloatArray], summed: Callable[[Mapping[str, FloatArray]], Summed]
) -> tuple[list[BoolArray], dict[str, FloatArray]]:
    """The rows that have a claim to be measured without what is less trusted, by zone, since they are likely to help
    where that is not there; and the signals, which are as they are then where such a row is hardly likely beside it.
    """

    def odds(signals: Mapping[str, FloatArray]) -> FloatArray:
        bias, weights, told = summed(signals)
        return Judgement.of("relevance", bias, weights, told, least=0.0).probability

    peers, judged = list[BoolArray](), dict(signals)
    for circle in circles(scene, pool.rows)[1:]:
        among = structs.replace(pool, live=pool.live & circle)
        alone = relative_signals(scene, among, signals)
        own = odds({**signals, **alone})
        beside = odds(judged)
        claimed = circle & (own >= CLAIMED_FROM) & (own > beside) & (beside < ANSWERS_FROM)
        judged |= {name: np.where(claimed, values, judged[name]) for name, values in alone.items()}
        peers.append(circle & (odds(judged) >= CLAIMED_FROM))
    return peers, judged


def relative_signals(scene: Scene, pool: Pool, signals: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """The signals of each row that depend on the others which are live."""
    sample, absent = measured_against(pool), np.full(len(pool), np.nan)
    second = scene.score(MULTILINGUAL, pool.rows) if MULTILINGUAL in scene.views else absent
    relative = {"behind": _behind(pool), "place": _place(pool)}
    relative["secondStandsOut"] = second - _usual(second[sample], UNRELATED)
    for name, of, unrelated in (("standsOut", "cosine", UNRELATED), ("moreWords", "words", 0.0)):
        relative[name] = signals[of] - _usual(signals[of][sample], unrelated)
    return relative


def _usual(sample: FloatArray, unrelated: float) -> float:
    """The mean of the candidates and of some more that have nothing to do with the question."""
    known = sample[~np.isnan(sample)]
    return float(known.sum() + BACKGROUND * unrelated) / (len(known) + BACKGROUND)


def _behind(pool: Pool) -> FloatArray:
    """How far a row's score is behind the best one, in deviations: the root, for the first steps say most."""
    live = pool.score[pool.live]
    sample = pool.score[measured_against(pool)]
    best = float(live.max()) if len(live) else 0.0
    deviation = deviation_of(sample) if len(sample) > 1 else 0.0
    return np.sqrt(np.maximum(best - pool.score, 0.0) / (deviation or 1.0))


def _place(pool: Pool) -> FloatArray:
    """How many rows stand above it, in a logarithm."""
    live = np.sort(pool.score[pool.live])
    return np.log1p(len(live) - np.searchsorted(live, pool.score, side="right"))
