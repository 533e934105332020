"""Where each result comes from and whether it is safe to use, decided by rule; the first rule that matches decides."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from recallens.model.citation import CitationCheck
from recallens.model.memory import Memory, Relation, RelationType, Status
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.times import instant
from recallens.model.verdict import IntArray, Note, all_but, anywhere
from recallens.recall.direct import OVERLAP_FLOOR
from recallens.recall.runner import Decide
from recallens.recall.scene import Known, Scene
from recallens.recall.tiers import DIRECT, GRAPH, PROCEDURAL, RECENT, REVIEW
from recallens.recall.watch import WATCH

LOW_CONFIDENCE = 0.3
ONLY_HERE = "do-not-use-outside-this-context"
NEAR_MISSES = 5
TITLE_CHARACTERS = 80
HYBRID_VIEWS = frozenset(("lexical", "semantic", "symbolic"))
_BLOCKING = (Status.FORGOTTEN, Status.REJECTED, Status.QUARANTINED)


def correction_state(memory: Memory, relations: Sequence[Relation], at: int) -> str:
    if memory.status is Status.FORGOTTEN:
        return "forgotten"
    if memory.status is Status.SUPERSEDED and (memory.valid_until is None or memory.valid_until <= at):
        return "superseded"
    if not relations:
        return "none"
    current = [r for r in relations if r.valid_until is None or r.valid_until > at]
    if any(r.type is RelationType.CONTRADICTS for r in current):
        return "disputed"
    if any(r.type is RelationType.SUPERSEDES and r.source == memory.id for r in current):
        return "correction"
    return "none"


def provenance(
    memory: Memory,
    relations: Sequence[Relation],
    *,
    query: Query,
    served_by: str,
    check: CitationCheck | None = None,
) -> dict[str, Any]:
    said = _NOTHING if _speaks_for_itself(memory, relations, check) else _judged(memory, relations, query, check)
    state, stale, blocked, review = said
    safety = "blocked" if blocked else "requires-review" if review else "safe"
    return {
        "source": memory.source,
        "created": iso(memory.created),
        "updated": iso(memory.updated),
        "namespace": memory.namespace,
        "scope": f"namespace:{memory.namespace}",
        "userContextScopes": list(memory.scopes),
        "retrievalReason": f"served-by={served_by}",
        "confidence": memory.confidence,
        "stale": stale,
        "corrected": state != "none",
        "correctionState": state,
        "safeToUse": safety == "safe",
        "safety": safety,
        "safetyReasons": [*blocked, *review],
    }


def _speaks_for_itself(memory: Memory, relations: Sequence[Relation], check: CitationCheck | None) -> bool:
    """Nothing is said of it that could make it unsafe, as nothing is of most."""
    return (
        memory.status is Status.ACTIVE
        and not relations
        and check is None
        and memory.valid_until is None
        and not memory.scopes
        and memory.confidence >= LOW_CONFIDENCE
    )


# Its state of correction, whether it is stale, what blocks it, and what is to be reviewed.
_Judgement = tuple[str, bool, Sequence[str], Sequence[str]]
_NOTHING: _Judgement = ("none", False, (), ())


def _judged(memory: Memory, relations: Sequence[Relation], query: Query, check: CitationCheck | None) -> _Judgement:
    at = query.at
    if query.as_of is not None:  # what has been said since then was not known
        relations = [relation for relation in relations if relation.created <= at]
    state = correction_state(memory, relations, at)
    gone = check.stale if check is not None and check.at <= at else ()
    stale = bool(gone) or (memory.valid_until is not None and memory.valid_until <= at)
    blocked = [f"status={memory.status}"] if memory.status in _BLOCKING else []
    if ONLY_HERE in memory.scopes and ONLY_HERE not in query.scopes:
        blocked.append(f"scope={ONLY_HERE}")
    review = []
    if state == "superseded":
        review.append("status=superseded")
    if state == "disputed":
        review.append("disputed")
    if memory.status is Status.PENDING_REVIEW:
        review.append("status=pending_review")
    if stale:
        review.append("stale=true")
        review += [f"stale-citation: {each.reason}" for each in gone]
    if memory.confidence < LOW_CONFIDENCE:
        review.append(f"confidence<{LOW_CONFIDENCE}")
    return state, stale, blocked, review


@lru_cache(maxsize=4096)  # most memories were never updated: both of their times are one
def iso(milliseconds: int) -> str:
    return instant(milliseconds)


def served_by(proposers: Collection[str], coverage: float) -> str:
    """The first tier, in the settled order, that proposed the row and whose own gates it passes."""
    if DIRECT in proposers:
        return DIRECT
    hybrid = not HYBRID_VIEWS.isdisjoint(proposers)
    if REVIEW in proposers and (coverage < OVERLAP_FLOOR or not hybrid):
        return REVIEW
    if PROCEDURAL in proposers:
        return PROCEDURAL
    if hybrid:
        return "hybrid"
    return GRAPH if GRAPH in proposers else RECENT


def describe(scene: Scene) -> Decide:
    """The last stage: what each result is, who served it and how far it may be trusted; the near misses by name."""

    def decide(pool: Pool, query: Query) -> Iterable[Note]:
        if scene.known is None or not len(pool):
            return
        chosen = pool.ranked()
        nums = scene.columns["num"][pool.rows[chosen]].tolist()
        missed = scene.columns["num"][pool.rows[near_misses(pool, chosen)]].tolist()
        known = scene.known([*nums, *missed])
        coverage = scene.coverage(pool.rows)[chosen].tolist()
        proposers = scene.once("proposers", chosen, lambda: pool.proposers(chosen))
        tiers = [served_by(views, covered) for views, covered in zip(proposers, coverage, strict=True)]
        yield Note("identity", {"rows": _identities(known, [*nums, *missed])})
        yield Note("served", {"rows": _served(known, nums, tiers)})
        yield Note("provenance", {"rows": _origins(known, nums, tiers, query)})

    return decide


def _identities(known: Known, nums: Iterable[int]) -> dict[str, Any]:
    memories = (known.memories[num] for num in nums)
    return {memory.id: {"title": title_of(memory), "path": path_of(memory, known.paths)} for memory in memories}


def _served(known: Known, nums: Sequence[int], tiers: Sequence[str]) -> dict[str, Any]:
    return {
        known.memories[num].id: {"servedBy": tier, "reason": f"served-by={tier}"}
        for num, tier in zip(nums, tiers, strict=True)
    }


def _origins(known: Known, nums: Sequence[int], tiers: Sequence[str], query: Query) -> dict[str, Any]:
    return {
        known.memories[num].id: provenance(
            known.memories[num],
            known.relations.get(num, ()),
            query=query,
            served_by=tier,
            check=known.checks.get(num),
        )
        for num, tier in zip(nums, tiers, strict=True)
    }


def near_misses(pool: Pool, chosen: IntArray) -> IntArray:
    """In the order in which the X-ray looks for them; a row that is only followed takes the place of none."""
    rest = all_but(len(pool), chosen)
    most = NEAR_MISSES + (len(pool.found[WATCH].positions) if WATCH in pool.found else 0)
    order = np.argsort(-pool.score[rest], kind="stable")
    ranked = pool.score[rest[order[: most + 1]]]
    if anywhere(ranked[1:] == ranked[:-1]):  # ties are settled by id
        order = np.lexsort((pool.ids[rest], -pool.score[rest]))
    missed: IntArray = rest[order[:most]]
    return missed


def path_of(memory: Memory, documents: Mapping[str, str]) -> str:
    """A file where the memory is a section of one, else its kind and id."""
    if memory.document is not None and memory.document in documents:
        return documents[memory.document]
    return f"{memory.kind}/{memory.id}"


def title_of(memory: Memory) -> str:
    if memory.title:
        return memory.title
    first = memory.content.strip()[: TITLE_CHARACTERS + 1].splitlines()[0]
    return first if len(first) <= TITLE_CHARACTERS else f"{first[: TITLE_CHARACTERS - 1]}…"
