"""The direct-answer tier: one trusted, unambiguous decision. Its own gates come in order; it never stops the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from msgspec import Struct

from recallens.index.columns import code_of, table_of
from recallens.index.lexical import BoundLexical
from recallens.index.views import best
from recallens.model.citation import FileCitation
from recallens.model.memory import Kind, Status, Zone
from recallens.model.pool import Pool
from recallens.model.query import WATCH, Query
from recallens.model.verdict import BoolArray, Found, Gate, IntArray, Note, Verdict, all_true, anywhere, places
from recallens.recall.scene import Scene
from recallens.recall.views import ANSWER_CANDIDATES, DIRECT, FIRST_BATCH, found, proposed_by_others
from recallens.text.tokenizer import tokenize

CANDIDATES: Final = 8
IMPORTANCE_FLOOR: Final = 0.7
OVERLAP_FLOOR: Final = 0.55
AMBIGUITY: Final = 0.15
BELOW_OVERLAP: Final = "below-token-overlap-floor"
ELIGIBLE_KINDS: Final = (Kind.DECISION, Kind.FACT, Kind.PRINCIPLE, Kind.PREFERENCE)
_ELIGIBLE: Final = table_of(ELIGIBLE_KINDS)


class AnswerRule(Struct, frozen=True, eq=False):
    """One of the tier's own gates, with the word that the X-ray uses for a rejection."""

    name: str
    word: str
    rejects: Callable[[IntArray], BoolArray]


def answer_rules(scene: Scene, words: BoundLexical) -> tuple[AnswerRule, ...]:
    columns = scene.columns
    return (
        AnswerRule("active", "not-active", lambda rows: columns["status"][rows] != code_of(Status.ACTIVE)),
        AnswerRule("trusted-zone", "not-trusted", lambda rows: columns["zone"][rows] != code_of(Zone.TRUSTED)),
        AnswerRule("eligible-kind", "ineligible-kind", lambda rows: ~_ELIGIBLE[columns["kind"][rows]]),
        AnswerRule(
            "importance",
            "below-importance-floor",
            lambda rows: (columns["importance"][rows] < IMPORTANCE_FLOOR) & ~columns["confirmed"][rows],
        ),
        AnswerRule("entity-match", "entity-mismatch", lambda rows: ~_holds_names(scene, words, rows)),
        AnswerRule("token-overlap", BELOW_OVERLAP, lambda rows: words.coverage(rows) < OVERLAP_FLOOR),
    )


def _holds_names(scene: Scene, words: BoundLexical, rows: IntArray) -> BoolArray:
    """Rows that hold every name in the question."""
    reader, _ns = scene.reader, scene.state.key
    names = [tokenize(name) for name in scene.question.annotations.entities]
    numbers = reader.terms.numbers(sorted({word for name in names for word in name})) if names else {}
    held = all_true(len(rows))
    for name in names:  # a word that nobody wrote has a number that no row has
        held &= words.holds([numbers.get(word, -1) for word in name], rows)
    return held


def propose_answers(scene: Scene, words: BoundLexical, pool: Pool, query: Query) -> Iterator[Found]:
    """Of the rows that the lexical view proposed, those that hold most of the question's words."""
    rows = pool.rows[pool.proposed_by("lexical")]
    chosen = best(scene.columns, rows, words.coverage(rows), CANDIDATES)
    yield found(scene, ANSWER_CANDIDATES, chosen, words.coverage(chosen), FIRST_BATCH)


def judge_answers(scene: Scene, words: BoundLexical, pool: Pool, query: Query) -> Iterator[Verdict]:
    """The tier's gates, then its verdict. A row that another view proposed as well stays: it is only not the answer."""
    applies = pool.proposed_by(ANSWER_CANDIDATES)
    others = _proposed_otherwise(pool)
    standing = applies & pool.live
    considered, filtered = int(standing.sum()), []
    for rule in answer_rules(scene, words):
        fails = rule.rejects(pool.rows)
        if anywhere(standing & fails):
            filtered.append(rule.word)
        standing &= ~fails
        reason = rule.word if anywhere(applies & fails) else ""
        yield Gate(f"{DIRECT}:{rule.name}", applies, fails, others, reason)
    explained, answer = _verdict(scene, words, pool, standing, considered, filtered)
    yield Note("tierExplain", explained)
    if answer is not None:
        rows = pool.rows[[answer]]
        yield found(scene, DIRECT, rows, words.coverage(rows), FIRST_BATCH)


def _verdict(
    scene: Scene, words: BoundLexical, pool: Pool, standing: BoolArray, considered: int, filtered: list[str]
) -> tuple[dict[str, Any], int | None]:
    """The block that the X-ray carries, and the position of the answer, if there is one."""
    positions = places(standing)
    overlap = words.coverage(pool.rows)[positions]
    order = np.argsort(-overlap, kind="stable")
    answer: int | None = None
    if not len(positions):
        tier, reason = "hybrid", "no trusted decision answers this directly"
    elif len(positions) > 1 and overlap[order[0]] - overlap[order[1]] < AMBIGUITY:
        tier, reason = "hybrid", f"ambiguous: {len(positions)} candidates, the best two within {AMBIGUITY}"
        filtered = [*filtered, "ambiguous"]
    else:
        answer = int(positions[order[0]])
        kind = tuple(Kind)[scene.columns["kind"][pool.rows[answer]]]
        tier, reason = DIRECT, f"trusted {kind}, unambiguous, token-overlap {overlap[order[0]]:.2f}"
    explained = {
        "tier": tier,
        "reason": reason,
        "candidatesConsidered": considered,
        "filteredBy": filtered,
        "sourceAnchors": _anchors(scene, pool.rows[answer]) if answer is not None else [],
    }
    return explained, answer


def _anchors(scene: Scene, row: int) -> list[str]:
    """The files and lines that the answer cites."""
    num = int(scene.columns["num"][row])
    anchors = []
    for citation in scene.bodies.of([num]).memories[num].citations:
        if isinstance(citation, FileCitation):
            end = f"-{citation.end_line}" if citation.end_line else ""
            anchors.append(citation.path + (f":{citation.start_line}{end}" if citation.start_line is not None else ""))
    return anchors


def _proposed_otherwise(pool: Pool) -> BoolArray:
    return proposed_by_others(pool, ANSWER_CANDIDATES, DIRECT, WATCH)


def overlap_gate(words: BoundLexical, pool: Pool, query: Query) -> Iterator[Gate]:
    """Enforced for what only direct-answer proposed, recorded for the others as what would have rejected them."""
    fails = words.coverage(pool.rows) < OVERLAP_FLOOR
    reason = BELOW_OVERLAP if anywhere(fails & pool.live) else ""
    yield Gate("token-overlap", all_true(len(pool)), fails, _proposed_otherwise(pool), reason)
