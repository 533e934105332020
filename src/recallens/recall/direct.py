"""The direct-answer tier: one trusted, unambiguous decision. Its own gates come in order; it never stops the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recallens.index.columns import code_of, table_of
from recallens.index.lexical import BoundLexical
from recallens.index.views import best
from recallens.model.masks import all_true, anywhere, places
from recallens.model.memory import FileCitation, Kind, Status, Zone
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.quick import quick
from recallens.model.verdict import BoolArray, Found, Gate, IntArray, Note, Verdict
from recallens.recall.runner import Decide
from recallens.recall.scene import Scene
from recallens.recall.tiers import DIRECT, found

CANDIDATES = 8
IMPORTANCE_FLOOR = 0.7
OVERLAP_FLOOR = 0.55
AMBIGUITY = 0.15
BELOW_OVERLAP = "below-token-overlap-floor"
ELIGIBLE_KINDS = (Kind.DECISION, Kind.FACT, Kind.PRINCIPLE, Kind.PREFERENCE)
_ELIGIBLE = table_of(ELIGIBLE_KINDS)
GATE_PREFIX = "direct-answer:"
CANDIDATE_VIEW = "direct-answer:candidates"


@quick
@dataclass(frozen=True, slots=True)
class Rule:
    """One of the tier's own gates, with the word the X-ray uses for a rejection."""

    name: str
    word: str
    fails: Callable[[IntArray], BoolArray]


def rules(scene: Scene, words: BoundLexical, names: Sequence[Sequence[int]]) -> tuple[Rule, ...]:
    columns = scene.columns
    return (
        Rule("active", "not-active", lambda rows: columns["status"][rows] != code_of(Status.ACTIVE)),
        Rule("trusted-zone", "not-trusted", lambda rows: columns["zone"][rows] != code_of(Zone.TRUSTED)),
        Rule("eligible-kind", "ineligible-kind", lambda rows: ~_ELIGIBLE[columns["kind"][rows]]),
        Rule(
            "importance",
            "below-importance-floor",
            lambda rows: (columns["importance"][rows] < IMPORTANCE_FLOOR) & ~columns["confirmed"][rows],
        ),
        Rule("entity-match", "entity-mismatch", lambda rows: ~np.all([words.holds(n, rows) for n in names], axis=0)
             if names else np.zeros(len(rows), dtype=np.bool_)),
        Rule("token-overlap", BELOW_OVERLAP, lambda rows: words.coverage(rows) < OVERLAP_FLOOR),
    )  # fmt: skip


def propose_answers(scene: Scene, words: BoundLexical, *, batch: int) -> Decide:
    """Of the rows that the words proposed, those that hold most of them: the tier's gates say which may answer."""

    def decide(pool: Pool, query: Query) -> Iterable[Found]:
        rows = pool.rows[pool.proposed_by("lexical")]
        chosen = best(scene.columns, rows, words.coverage(rows), CANDIDATES)
        yield found(scene, CANDIDATE_VIEW, chosen, words.coverage(chosen), batch)

    return decide


def judge_answers(scene: Scene, words: BoundLexical, *, batch: int) -> Decide:
    """The tier's gates, then its verdict. A row that another view proposed as well stays: it is only not the answer."""

    def decide(pool: Pool, query: Query) -> Iterable[Verdict]:
        applies = pool.proposed_by(CANDIDATE_VIEW)
        others = proposed_otherwise(scene, pool)
        standing = applies & pool.live
        considered, filtered = int(standing.sum()), []
        for rule in rules(scene, words, scene.names):
            fails = rule.fails(pool.rows)
            if anywhere(standing & fails):
                filtered.append(rule.word)
            standing &= ~fails
            reason = rule.word if anywhere(applies & fails) else ""
            yield Gate(f"{GATE_PREFIX}{rule.name}", applies, fails, others, reason)
        explained, answer = _verdict(scene, words, pool, standing, considered, filtered)
        yield Note("tierExplain", explained)
        if answer is not None:
            yield found(scene, DIRECT, pool.rows[[answer]], words.coverage(pool.rows[[answer]]), batch)

    return decide


def _verdict(
    scene: Scene, words: BoundLexical, pool: Pool, standing: BoolArray, considered: int, filtered: list[str]
) -> tuple[dict[str, Any], int | None]:
    """The block that the X-ray carries, and the position of the answer, if there is one."""
    rows = places(standing)
    overlap = words.coverage(pool.rows)[rows]
    order = np.argsort(-overlap, kind="stable")
    answer: int | None = None
    if not len(rows):
        tier, reason = "hybrid", "no trusted decision answers this directly"
    elif len(rows) > 1 and overlap[order[0]] - overlap[order[1]] < AMBIGUITY:
        tier, reason = "hybrid", f"ambiguous: {len(rows)} candidates, the best two within {AMBIGUITY}"
        filtered = [*filtered, "ambiguous"]
    else:
        answer = int(rows[order[0]])
        kind = tuple(Kind)[scene.columns["kind"][pool.rows[answer]]]
        tier, reason = DIRECT, f"trusted {kind}, unambiguous, token-overlap {overlap[order[0]]:.2f}"
    anchors = _anchors(scene, pool.rows[[answer]]) if answer is not None else []
    explained = {
        "tier": tier, "reason": reason, "candidatesConsidered": considered, "filteredBy": filtered,
        "sourceAnchors": anchors,
    }  # fmt: skip
    return explained, answer


def _anchors(scene: Scene, rows: IntArray) -> list[str]:
    """The files and lines that the answer cites."""
    if scene.known is None:
        return []
    memories = scene.known(scene.columns["num"][rows].tolist()).memories
    return [
        _anchor(citation)
        for memory in memories.values()
        for citation in memory.citations
        if isinstance(citation, FileCitation)
    ]


def _anchor(citation: FileCitation) -> str:
    if citation.start_line is None:
        return citation.path
    return f"{citation.path}:{citation.start_line}" + (f"-{citation.end_line}" if citation.end_line else "")


def proposed_otherwise(scene: Scene, pool: Pool) -> BoolArray:
    """Rows that a view other than the direct-answer tier's proposed."""
    return scene.once("proposed otherwise", pool.found, lambda: _proposed_otherwise(pool))


def _proposed_otherwise(pool: Pool) -> BoolArray:
    others = np.zeros(len(pool), dtype=np.bool_)
    for view in pool.found:
        if view not in (CANDIDATE_VIEW, DIRECT, "watch"):
            others |= pool.proposed_by(view)
    return others


def overlap_gate(scene: Scene, words: BoundLexical) -> Decide:
    """Enforced for what only direct-answer proposed, recorded for the others as what would have rejected them."""

    def decide(pool: Pool, query: Query) -> Iterable[Gate]:
        everywhere = all_true(len(pool))
        exempt = proposed_otherwise(scene, pool)
        fails = words.coverage(pool.rows) < OVERLAP_FLOOR
        reason = BELOW_OVERLAP if anywhere(fails & pool.live) else ""
        yield Gate("token-overlap", everywhere, fails, exempt, reason)

    return decide
