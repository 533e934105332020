"""An honest "nothing here answers this": how likely it is that the best results hold the answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from recollect.model.pool import Pool
from recollect.model.verdict import BoolArray, IntArray
from recollect.recall.facets import Facet, FacetKind
from recollect.recall.scene import Scene

# What an agent reads first; the features must not depend on how many results were asked for.
LOOKED_AT: Final = 5
THRESHOLD: Final = 0.5
COEFFICIENTS: Final = {"bias": 0.0, "cosine": 2.0, "words": 2.0, "coverage": 1.0, "names": 1.0, "gap": 0.0}


def answerability(
    scene: Scene, pool: Pool, chosen: IntArray, facets: Sequence[Facet], covers: BoolArray
) -> dict[str, Any]:
    features = features_of(scene, pool, chosen[:LOOKED_AT], facets, covers[:, :LOOKED_AT])
    score = logistic(features)
    return {"score": score, "threshold": THRESHOLD, "abstain": score < THRESHOLD, "features": features}


def logistic(features: dict[str, float]) -> float:
    logit = COEFFICIENTS["bias"] + sum(COEFFICIENTS[name] * value for name, value in features.items())
    return 1.0 / (1.0 + math.exp(-logit))


def features_of(
    scene: Scene, pool: Pool, head: IntArray, facets: Sequence[Facet], covers: BoolArray
) -> dict[str, float]:
    """Each from 0 to 1, and 0 where there is nothing to go by."""
    rows = pool.rows[head]
    if not len(rows):
        return {name: 0.0 for name in COEFFICIENTS if name != "bias"}
    cosine = scene.score("semantic", rows) if "semantic" in scene.views else np.zeros(len(rows))
    words = scene.words
    ideal = words.ideal if words is not None else 0.0
    names = np.array([facet.kind is FacetKind.ENTITY for facet in facets], dtype=np.bool_)
    scores = pool.score[head]
    return {
        "cosine": float(np.nan_to_num(np.clip(cosine, 0.0, 1.0)).max()),
        "words": float(words.score(rows).max() / ideal) if words is not None and ideal else 0.0,
        "coverage": float(words.coverage(rows).max()) if words is not None else 0.0,
        "names": float(covers[names][:, 0].mean()) if names.any() else 1.0,
        "gap": float(scores[0] - scores[1]) if len(scores) > 1 else 0.0,
    }
