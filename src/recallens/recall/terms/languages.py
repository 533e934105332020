"""What the words of a question are worth where the answer is in another language."""

from __future__ import annotations

import numpy as np

from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import FloatArray
from recallens.recall.coverage import translated
from recallens.recall.facets import FacetKind
from recallens.recall.judgement import rarity_of
from recallens.recall.scene import Scene
from recallens.recall.terms import Amounts, score_term


@score_term("translation", fits=True)
def words_in_translation(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight · the square of the share of the question's names and words, by their rarity, that a row says in another
    language: one of several is a chance. The less of it, the more of them a row says as they are asked.
    """
    facets = [facet for facet in scene.question.facets if facet.kind in (FacetKind.ENTITY, FacetKind.TERM)]
    said = translated(scene, facets, pool.rows)
    if not said.any():
        return None
    rarity = np.array([rarity_of(scene, facet) for facet in facets])
    share: FloatArray = rarity @ said / rarity.sum()
    weight *= 1.0 - scene.trust(pool.rows[pool.live])[0]
    return weight * share * share, share > 0, {"weight": weight}
