"""Whether the answer is enough: each facet of the question, the result that covers it, what is missing by name, and how
likely it is that nothing here answers it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

import numpy as np

from recallens.model.pool import Pool
from recallens.model.query import WIDE_LIMIT, Query
from recallens.model.recall import evidence_digest
from recallens.model.verdict import BoolArray, FloatArray, IntArray, Note, Round, Verdict, anywhere
from recallens.recall.coverage import ANSWERS_FROM, Spoken, coverage, missing, reworded, spoken_of
from recallens.recall.facets import Facet, FacetKind, under_review
from recallens.recall.judgement import OF_THE_FILE
from recallens.recall.likeness import repeated_share
from recallens.recall.scene import EVERY, Scene
from recallens.recall.views import RECENT, REVIEW, SAME_FILE, TIME, Admitted, within_windows

# The specification: below the first the search widens once; still below the second, it suggests where else to look.
WIDEN_BELOW: Final = 0.6
SUGGEST_BELOW: Final = 0.7
SUGGESTION: Final = "Check timeline context or request human input"
# A question is answered where one of the results is more likely to answer it than not.
LIKELY: Final = 0.5
# Results named for each facet: enough to see that it is covered, and by what first.
MOST_COVERING: Final = 3

# What an agent reads first, whose relevance is told: however many results were asked for.
LOOKED_AT: Final = 5


class Answered(StrEnum):
    """Whether the question is answered: decided here, and read by every line that says so."""

    ANSWERED = "answered"
    DOUBTFUL = "doubtful"  # it is all spoken of, yet no result is likely to answer
    PARTLY = "partly"  # a name, a part or too much of it is missing
    NOTHING = "nothing"
    UNFIT = "unfit"  # what would answer does not fit the budget


def certify(scene: Scene, may_widen: bool, admitted: Admitted, pool: Pool, query: Query) -> Iterator[Verdict]:
    """Certify the answer. Where it leaves uncovered what a wider look could cover, open a second round."""
    facets, chosen = scene.question.facets, pool.ranked()
    rows = pool.rows[chosen]
    relevance = np.zeros(len(rows)) if pool.relevance is None else pool.relevance[chosen]
    citing, framed = pool.raw(REVIEW)[chosen] >= SAME_FILE, [False] * len(facets)
    if citing.any():
        facets, framed = under_review(facets, query.text, query.files or query.filters.affected)
    # What is served for the file that it names says no word of the question by that.
    meant = np.where(citing & (relevance <= OF_THE_FILE + 1e-9), 0.0, relevance)
    spoken = spoken_of(scene, facets, rows, meant)
    by_file = np.outer(np.array(framed, dtype=np.bool_), citing)
    spoken = Spoken(spoken.covers | by_file, spoken.said | by_file)
    covers = spoken.covers
    ids = [id.decode() for id in pool.ids[chosen].tolist()]
    settled = covers & (scene.columns["review"][rows] < 0)
    complete = completeness(facets, settled)
    widen = may_widen and complete is not None and complete < WIDEN_BELOW and _may_be_found(scene, facets, covers)
    certificate = statement(facets, settled, ids) | {"missing": missing(facets, covers)}
    if only := [at for at in minimal_set(covers) if (covers[:, at] & ~settled.any(axis=1)).any()]:
        names, codes = scene.columns.names["review"].texts, scene.columns["review"][rows]
        certificate["unsettled"] = [{"id": ids[at], "review": names[codes[at]]} for at in only]
    certificate["redundancyRatio"] = repeated_share(scene, rows)
    views = (RECENT, REVIEW, *((TIME,) if scene.question.only_windows else ()))
    asked_for = np.any([pool.proposed_by(view) for view in views], axis=0)
    certificate["abstention"] = abstention(pool, asked_for)
    if pool.relevance is not None and not asked_for[chosen].any():
        certificate["likelihood"] = likelihood(relevance)
    abstains, bounded = certificate["abstention"]["abstain"], not (query.budget is None is query.tokens)
    unfit = bounded and not len(rows) and not abstains
    certificate |= decision(complete, certificate.get("likelihood"), silent=abstains, unfit=unfit, open=widen)
    if otherwise := reworded(facets, spoken):
        certificate["reworded"] = otherwise
    if certificate["missing"]:
        certificate["elsewhere"] = elsewhere(scene, facets, covers, certificate["missing"], admitted)
    yield Note("certificate", {**certificate, "round": pool.round, **evidence(scene, query, ids, rows)})
    if widen:
        reason = f"completeness {complete:.2f} is below {WIDEN_BELOW}: looking again, for {WIDE_LIMIT} results"
        yield Round(pool.round + 1, reason)


def likelihood(relevance: FloatArray) -> float:
    """That of the likeliest result; of the first, which is told as the answer, where it is not likely itself."""
    most = float(relevance.max(initial=0.0))
    return min(most, float(relevance[0])) if len(relevance) and relevance[0] < ANSWERS_FROM else most


def decision(
    complete: float | None, likelihood: float | None, *, silent: bool, unfit: bool = False, open: bool = False
) -> dict[str, Any]:
    """How the question stands, and where else to look unless it is answered. The `likelihood` is absent where the
    results were asked for by something else than what they say.
    """
    if silent or unfit:
        standing = Answered.NOTHING if silent else Answered.UNFIT
    elif complete is not None and complete < SUGGEST_BELOW:
        standing = Answered.PARTLY
    else:
        standing = Answered.DOUBTFUL if likelihood is not None and likelihood < LIKELY else Answered.ANSWERED
    helpless = standing in (Answered.PARTLY, Answered.NOTHING) and complete is not None and not open
    return {"verdict": str(standing), **({"suggestion": SUGGESTION} if helpless else {})}


def limited(certificate: Mapping[str, Any], ids: Collection[str]) -> dict[str, Any]:
    """The certificate of these results alone, where there was no room for all."""
    requirements = [
        {**one, "coveredBy": [id for id in one["coveredBy"] if id in ids]} for one in certificate["requirements"]
    ]
    lost = [new["text"] for old, new in zip(certificate["requirements"], requirements, strict=True)
            if old["coveredBy"] and not new["coveredBy"] and new["kind"] != FacetKind.QUESTION]  # fmt: skip
    total = sum(one["weight"] for one in requirements)
    complete = sum(one["weight"] for one in requirements if one["coveredBy"]) / total if total else None
    kept = {name: value for name, value in certificate.items() if name not in ("suggestion", "completenessScore")}
    return {
        **kept,
        **({} if complete is None else {"completenessScore": complete}),
        "requirements": requirements,
        "missing": list(dict.fromkeys([*certificate["missing"], *lost])),
        "elsewhere": list(dict.fromkeys([*certificate.get("elsewhere", ()), *lost])),
        "minimalSet": [id for id in certificate["minimalSet"] if id in ids],
        **decision(complete, certificate.get("likelihood"), silent=certificate["abstention"]["abstain"], unfit=not ids),
    }


def elsewhere(
    scene: Scene, facets: Sequence[Facet], covers: BoolArray, lacking: Sequence[str], admitted: Admitted
) -> list[str]:
    """What the results lack and some other memory that the caller may see speaks of."""
    bare = [facet for facet, row in zip(facets, covers, strict=True) if not row.any() and facet.text in lacking]
    may_hold = scene.columns["alive"] & admitted()
    rows = scene.words.matching if scene.words is not None else np.zeros(0, dtype=np.int64)
    worded = [facet for facet in bare if facet.groups]
    covered = coverage(scene, worded, rows[may_hold[rows]])
    found = {facet.text for facet, row in zip(worded, covered, strict=True) if row.any()}
    found |= {facet.text for facet in bare if facet.window is not None
              and (may_hold & within_windows(scene.columns, EVERY, [facet.window])).any()}  # fmt: skip
    return [facet.text for facet in bare if facet.text in found or facet.kind is FacetKind.ANSWER]


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


def abstention(pool: Pool, asked_for: BoolArray) -> dict[str, Any]:
    """An honest "nothing here answers this": how likely it is that not even the best result helps.

    It follows from its relevance, so it agrees with the cut: whoever abstains has nothing that passes it. Others that
    may help as well make it no surer: weighed together, five that are alike were worse at telling what is answered.
    What was asked for by something else than what it says needs no relevance.
    """
    relevance = np.zeros(0) if pool.relevance is None else pool.relevance[pool.passed]
    first = np.sort(relevance)[::-1][:LOOKED_AT]
    best = float(first[0]) if len(first) else 0.0
    return {
        "score": 1.0 - best,
        "threshold": min(among.least for among in pool.circles()),
        "abstain": not pool.helps(pool.passed) and not anywhere(asked_for & pool.passed),
        "relevance": first.tolist(),
    }
