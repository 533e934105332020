"""Whether the answer is enough: each facet of the question, the result that covers it, what is missing by name, and how
likely it is that nothing here answers it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from recallens.model.pool import Pool
from recallens.model.query import WIDE_LIMIT, Query
from recallens.model.recall import evidence_digest
from recallens.model.verdict import BoolArray, IntArray, Note, Round, Verdict
from recallens.recall.facets import Facet, FacetKind, facets_of
from recallens.recall.plan import PLANNED_CHARACTERS
from recallens.recall.scene import Scene
from recallens.text.languages import grammar_of

# The specification: below the first the search widens once; still below the second, it suggests where else to look.
WIDEN_BELOW: Final = 0.6
SUGGEST_BELOW: Final = 0.7
SUGGESTION: Final = "Check timeline context or request human input"
# Results named for each facet: enough to see that it is covered, and by what first.
MOST_COVERING: Final = 3

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


def certify(scene: Scene, may_widen: bool, pool: Pool, query: Query) -> Iterator[Verdict]:
    """Certify the answer. Where it leaves much of the question uncovered, open a second round, if there may be one."""
    question = scene.question
    windows = question.plan.windows if question.plan is not None else ()
    facets = facets_of(query.text[:PLANNED_CHARACTERS], question.annotations, windows)
    chosen = pool.ranked()
    covers = coverage(scene, facets, pool.rows[chosen])
    ids = [id.decode() for id in pool.ids[chosen].tolist()]
    complete = completeness(facets, covers)
    widen = may_widen and complete is not None and complete < WIDEN_BELOW
    certificate = statement(facets, covers, ids)
    certificate["abstention"] = abstention(scene, pool, chosen, covered=parts_covered(facets, covers))
    if complete is not None and complete < SUGGEST_BELOW and not widen:
        certificate["suggestion"] = SUGGESTION
    yield Note("certificate", {**certificate, "round": pool.round, **evidence(scene, query, ids, pool.rows[chosen])})
    if widen:
        reason = f"completeness {complete:.2f} is below {WIDEN_BELOW}: looking again, for {WIDE_LIMIT} results"
        yield Round(pool.round + 1, reason)


def coverage(scene: Scene, facets: Sequence[Facet], rows: IntArray) -> BoolArray:
    """Which facets (down) which rows (across) cover."""
    covers = np.zeros((len(facets), len(rows)), dtype=np.bool_)
    if not len(rows):
        return covers
    words = list(dict.fromkeys(word for facet in facets for group in facet.groups for word in group))
    presence = scene.words.presence(words, rows) if scene.words is not None else np.zeros((len(words), len(rows)))
    held = dict(zip(words, presence.astype(np.bool_), strict=True))
    created = scene.columns["created"][rows]
    for at, facet in enumerate(facets):
        if facet.window is not None:
            covers[at] = (facet.window.start <= created) & (created < facet.window.end)
        else:
            groups = np.array([_whole(group, held) for group in facet.groups])
            covers[at] = groups.sum(axis=0) >= facet.needed
    return covers


def _whole(group: Sequence[str], held: Mapping[str, BoolArray]) -> BoolArray:
    """Rows that hold every word of the group.

    A Korean compound is written with or without its spaces (추적조회, 추적 조회), and the pair of syllables across the
    gap is in one spelling alone: it may be missing where both of its neighbours are there.
    """
    whole = np.ones_like(held[group[0]])
    for at, word in enumerate(group):
        there = held[word]
        if 0 < at < len(group) - 1 and _across(group[at - 1], word, group[at + 1]):
            there = there | (held[group[at - 1]] & held[group[at + 1]])
        whole = whole & there
    return whole


def _across(before: str, word: str, after: str) -> bool:
    return grammar_of(word) is not None and before[-1] == word[0] and word[-1] == after[0]


def completeness(facets: Sequence[Facet], covers: BoolArray) -> float | None:
    """The covered share of the facets, by weight; unknown where nothing can be required."""
    total = sum(facet.weight for facet in facets)
    if not total:
        return None
    return sum(facet.weight for facet, row in zip(facets, covers, strict=True) if row.any()) / total


def parts_covered(facets: Sequence[Facet], covers: BoolArray) -> bool:
    """Whether every part of the question has a result that speaks of it."""
    parts = [row.any() for facet, row in zip(facets, covers, strict=True) if facet.kind is FacetKind.QUESTION]
    return bool(parts) and all(parts)


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


def redundancy(covers: BoolArray, minimal: Sequence[int]) -> float:
    """Of the results that cover anything, the share that the answer could do without."""
    covering = int(covers.any(axis=0).sum()) if covers.size else 0
    return 1.0 - len(minimal) / covering if covering else 0.0


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
        "redundancyRatio": redundancy(covers, minimal),
        "requirements": requirements,
        "missing": _missing(facets, covers),
        "minimalSet": [ids[at] for at in minimal],
    }


def _missing(facets: Sequence[Facet], covers: BoolArray) -> list[str]:
    """By name; a part of the question that is missing stands for the words in it."""
    bare = [facet for facet, row in zip(facets, covers, strict=True) if not row.any()]
    parts = [facet for facet in bare if facet.kind is FacetKind.QUESTION]
    of_parts = frozenset[str]().union(*(part.words for part in parts))
    rest = [facet for facet in bare if facet not in parts and not (facet.groups and facet.words <= of_parts)]
    return list(dict.fromkeys(facet.text for facet in [*parts, *rest]))


def evidence(scene: Scene, query: Query, ids: Sequence[str], rows: IntArray) -> dict[str, Any]:
    """What the certificate rests on, and a digest over it: it goes stale when a memory in it is edited."""
    nums = scene.columns["num"][rows].tolist()
    memories = scene.bodies.of(nums).memories
    rests_on = [{"id": id, "contentHash": memories[num].content_hash} for id, num in zip(ids, nums, strict=True)]
    return {"query": query.text, "evidence": rests_on, "digest": evidence_digest(query.text, rests_on)}


def abstention(scene: Scene, pool: Pool, chosen: IntArray, *, covered: bool) -> dict[str, Any]:
    """An honest "nothing here answers this": how likely it is that the answer is not among the best results.

    A logistic score over a few features, fitted by `bench/abstention.py` on the dev sets that have unanswerable
    questions (docs/benchmarks.md has its risk against each raw score). Two kinds of question need two kinds of
    evidence: one that names somebody who speaks in this memory ("What did Caroline paint?") is as good as the words
    that one memory of that person holds; any other is as good as its best result stands out.
    """
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
    named = 1.0 if scene.question.speakers else 0.0
    coverage = float(scene.coverage(rows).max())
    words = float(scene.words.score(rows).max()) if scene.words is not None else 0.0
    return {
        "named": named,
        "namedCoverage": named * coverage,
        "stranger": named * float(scene.columns["author"][rows[0]] not in scene.question.speakers),
        "score": (1.0 - named) * float(pool.score[head].max()),
        "words": (1.0 - named) * words,
    }
