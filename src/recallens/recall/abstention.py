"""An honest "nothing here answers this": how likely it is that the answer is not among the best results.

A logistic score over a few features, fitted by `bench/abstention.py` on the dev sets that have unanswerable questions
(docs/benchmarks.md has its risk against each raw score). Two kinds of question need two kinds of evidence: one that
names somebody who speaks in this memory ("What did Caroline paint?") is as good as the words that one memory of that
person holds; any other is as good as its best result stands out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from recallens.model.pool import Pool
from recallens.model.verdict import IntArray
from recallens.recall.scene import Scene

# What an agent reads first; the features must not depend on how many results were asked for.
LOOKED_AT: Final = 5
# On the dev sets the score is a probability. It was fitted on thousands of memories, and in a store of five even a
# right answer stands out little: where results cover every part of the question, nobody is told that nothing does.
THRESHOLD: Final = 0.4
COEFFICIENTS: Final[Mapping[str, float]] = {
    "bias": -2.3,
    "named": 2.0,
    "namedCoverage": 2.15,
    "stranger": -0.95,
    "score": 0.26,
    "words": 0.08,
}


def abstention(scene: Scene, pool: Pool, chosen: IntArray, *, covered: bool) -> dict[str, Any]:
    features = features_of(scene, pool, chosen[:LOOKED_AT])
    score = 1.0 - answerability(features)
    abstain = score > THRESHOLD and not covered
    return {"score": score, "threshold": THRESHOLD, "abstain": abstain, "features": features}


def answerability(features: Mapping[str, float]) -> float:
    logit = COEFFICIENTS["bias"] + sum(COEFFICIENTS[name] * value for name, value in features.items())
    return 1.0 / (1.0 + math.exp(-logit))


def features_of(scene: Scene, pool: Pool, head: IntArray) -> dict[str, float]:
    """`named`: the question names a speaker; `stranger`: the best result is another's. 0 where nothing is found."""
    if not len(head):
        return {name: 0.0 for name in COEFFICIENTS if name != "bias"}
    rows = pool.rows[head]
    named = 1.0 if scene.speakers else 0.0
    coverage = float(scene.coverage(rows).max())
    words = float(scene.words.score(rows).max()) if scene.words is not None else 0.0
    return {
        "named": named,
        "namedCoverage": named * coverage,
        "stranger": named * float(scene.columns["author"][rows[0]] not in scene.speakers),
        "score": (1.0 - named) * float(pool.score[head].max()),
        "words": (1.0 - named) * words,
    }
