"""Whether the answer is enough: each facet of the question, the result that covers it, what is missing by name, and how
likely it is that nothing here answers it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from recallens.model.pool import Pool
from recallens.model.query import WIDE_LIMIT, Query
from recallens.model.recall import evidence_digest
from recallens.model.verdict import BoolArray, IntArray, Note, Round, Verdict, anywhere
from recallens.recall.coverage import coverage, missing
from recallens.recall.facets import Facet, FacetKind
from recallens.recall.likeness import repeated_share
from recallens.recall.scene import Scene
from recallens.recall.views import RECENT, REVIEW

# The specification: below the first the search widens once; still below the second, it suggests where else to look.
WIDEN_BELOW: Final = 0.6
SUGGEST_BELOW: Final = 0.7
SUGGESTION: Final = "Check timeline context or request human input"
# Results named for each facet: enough to see that it is covered, and by what first.
MOST_COVERING: Final = 3

# From here on a row answers the question in whatever words, so it covers what a question with one part asks for.
ANSWERS_FROM: Final = 0.5
# What an agent reads first; whether it is likely to be answered must not depend on how many results were asked for.
LOOKED_AT: Final = 5


def certify(scene: Scene, may_widen: bool, pool: Pool, query: Query) -> Iterator[Verdict]:
    """Certify the answer. Where it leaves uncovered what a wider look could cover, open a second round."""
    facets, chosen = scene.question.facets, pool.ranked()
    rows = pool.rows[chosen]
    covers = coverage(scene, facets, rows)
    if pool.relevance is not None:
        covers |= _answered(facets)[:, None] & (pool.relevance[chosen] >= ANSWERS_FROM)
    ids = [id.decode() for id in pool.ids[chosen].tolist()]
    complete = completeness(facets, covers)
    widen = may_widen and complete is not None and complete < WIDEN_BELOW and _may_be_found(scene, facets, covers)
    certificate = statement(facets, covers, ids)
    certificate["redundancyRatio"] = repeated_share(scene, rows)
    certificate["abstention"] = abstention(pool)
    if complete is not None and complete < SUGGEST_BELOW and not widen:
        certificate["suggestion"] = SUGGESTION
    yield Note("certificate", {**certificate, "round": pool.round, **evidence(scene, query, ids, rows)})
    if widen:
        reason = f"completeness {complete:.2f} is below {WIDEN_BELOW}: looking again, for {WIDE_LIMIT} results"
        yield Round(pool.round + 1, reason)


def _answered(facets: Sequence[Facet]) -> BoolArray:
    """What a row that answers a question with one part covers, in whatever words it does."""
    single = sum(facet.kind is FacetKind.QUESTION for facet in facets) == 1
    by_words = (FacetKind.ENTITY, FacetKind.TERM, FacetKind.QUESTION)
    return np.array([single and facet.kind in by_words for facet in facets], dtype=np.bool_)


def _may_be_found(scene: Scene, facets: Sequence[Facet], covers: BoolArray) -> bool:
    """Whether some row of the namespace holds a word that no result does."""
    bare = [facet for facet, row in zip(facets, covers, strict=True) if not row.any()]
    words = sorted(frozenset[str]().union(*(facet.words for facet in bare)))
    return scene.words is not None and any(scene.words.is_held(word) for word in words)


def completeness(facets: Sequence[Facet], covers: BoolArray) -> float | None:
    """The covered share of the facets, by weight; unknown where nothing can be required."""
    total = sum(facet.weight for facet in facets)
    if not total:
        return None
    return sum(facet.weight for facet, row in zip(facets, covers, strict=True) if row.any()) / total


def minimal_set(covers: BoolArray) -> list[int]:
    """Results that cover together what all cover: each time the one that adds most, the better ranked of equals."""
    open_facets = covers.any(axis=1)
    chosen: list[int] = []
    while open_facets.any():
        gains = covers[open_facets].sum(axis=0)
        best = int(np.argmax(gains))
        chosen.append(best)
        open_facets &= ~covers[:, best]
    return sorted(chosen)


def statement(facets: Sequence[Facet], covers: BoolArray, ids: Sequence[str]) -> dict[str, Any]:
    minimal = minimal_set(covers)
    requirements = [
        {
            "kind": str(facet.kind),
            "text": facet.text,
            "weight": facet.weight,
            "coveredBy": [ids[at] for at in np.flatnonzero(row)[:MOST_COVERING]],
        }
        for facet, row in zip(facets, covers, strict=True)
    ]
    complete = completeness(facets, covers)
    return {
        **({} if complete is None else {"completenessScore": complete}),
        "requirements": requirements,
        "missing": missing(facets, covers),
        "minimalSet": [ids[at] for at in minimal],
    }


def evidence(scene: Scene, query: Query, ids: Sequence[str], rows: IntArray) -> dict[str, Any]:
    """What the certificate rests on, and a digest over it: it goes stale when a memory in it is edited."""
    nums = scene.columns["num"][rows].tolist()
    memories = scene.bodies.of(nums).memories
    rests_on = [{"id": id, "contentHash": memories[num].content_hash} for id, num in zip(ids, nums, strict=True)]
    return {"query": query.text, "evidence": rests_on, "digest": evidence_digest(query.text, rests_on)}


def abstention(pool: Pool) -> dict[str, Any]:
    """An honest "nothing here answers this": how likely it is that none of the first results helps.

    It follows from their relevance, so it agrees with the cut: whoever abstains has nothing that passes it.
    """
    relevance = np.zeros(0) if pool.relevance is None else pool.relevance[pool.passed]
    first = np.sort(relevance)[::-1][:LOOKED_AT]
    best = float(first[0]) if len(first) else 0.0
    asked_for = (pool.proposed_by(RECENT) | pool.proposed_by(REVIEW)) & pool.passed
    return {
        "score": float(np.prod(1.0 - first)),
        "threshold": pool.least_relevance,
        "abstain": (not len(first) or best < pool.least_relevance) and not anywhere(asked_for),
        "relevance": first.tolist(),
    }
