"""Whether one ranking is better than another, question by question.

Paired bootstrap: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993; for retrieval, Sakai, SIGIR 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
LEVEL = 0.95
SEED = 20_240_229


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean difference of two rankings over the same questions, and the interval that holds it."""

    difference: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "no difference shown"


def paired_bootstrap(ours: Sequence[float], theirs: Sequence[float]) -> Comparison:
    """The same seed every time, so that a comparison can be made again."""
    differences = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    if not len(differences):
        return Comparison(0.0, 0.0, 0.0)
    chance = np.random.default_rng(SEED)
    means = np.empty(RESAMPLES)
    for at in range(RESAMPLES):
        means[at] = differences[chance.integers(0, len(differences), len(differences))].mean()
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail]).tolist()
    return Comparison(float(differences.mean()), low, high)
