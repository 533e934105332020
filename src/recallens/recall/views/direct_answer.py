"""The direct-answer tier: one trusted, unambiguous decision. Its own gates come in order; it never stops the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from recallens.index.columns import code_of, table_of
from recallens.index.lexical import BoundLexical
from recallens.index.views import best
from recallens.model.citation import FileCitation
from recallens.model.memory import Kind, Status, Zone
from recallens.model.pool import Pool
from recallens.model.query import WATCH, Query
from recallens.model.verdict import BoolArray, Found, Gate, IntArray, Note, Verdict, all_true, anywhere, places
from recallens.recall.scene import Scene
from recallens.recall.views import ANSWER_CANDIDATES, DIRECT, FIRST_BATCH, REVIEW, SAME_FILE, found, proposed_by_others
from recallens.text.tokenizer import tokenize

CANDIDATES: Final = 8
IMPORTANCE_FLOOR: Final = 0.7
OVERLAP_FLOOR: Final = 0.55
AMBIGUITY: Final = 0.15
BELOW_OVERLAP: Final = "below-token-overlap-floor"
_ELIGIBLE: Final = table_of((Kind.DECISION, Kind.FACT, Kind.PRINCIPLE, Kind.PREFERENCE))
_OWN_VIEWS: Final = (ANSWER_CANDIDATES, DIRECT, WATCH)


def answer_rules(scene: Scene, words: BoundLexical, rows: IntArray) -> Iterator[tuple[str, str, BoolArray]]:
    """The tier's own gates: the name of each, the X-ray's word for a rejection, and which of the rows it rejects."""
    columns = scene.columns
    unsettled = (columns["status"][rows] != code_of(Status.ACTIVE)) | (columns["review"][rows] >= 0)
    yield "active", "not-active", unsettled
    yield "trusted-zone", "not-trusted", columns["zone"][rows] != code_of(Zone.TRUSTED)
    yield "eligible-kind", "ineligible-kind", ~_ELIGIBLE[columns["kind"][rows]]
    unimportant = (columns["importance"][rows] < IMPORTANCE_FLOOR) & ~columns["confirmed"][rows]
    yield "importance", "below-importance-floor", unimportant
    holds_names = all_true(len(rows))  # every name in the question
    names = list(map(tokenize, scene.question.annotations.entities))
    numbers = scene.reader.terms.numbers(sorted(frozenset[str]().union(*names))) if names else {}
    for name in names:  # a word that nobody wrote has a number that no row has
        holds_names &= words.holds([numbers.get(word, -1) for word in name], rows)
    yield "entity-match", "entity-mismatch", ~holds_names
    yield "token-overlap", BELOW_OVERLAP, words.coverage(rows) < OVERLAP_FLOOR


def propose_answers(scene: Scene, words: BoundLexical, pool: Pool, query: Query) -> Iterator[Found]:
    """Of the rows that the lexical view proposed, those that hold most of the question's words."""
    rows = pool.rows[pool.proposed_by("lexical")]
    chosen = best(scene.columns, rows, words.coverage(rows), CANDIDATES)
    yield found(scene, ANSWER_CANDIDATES, chosen, words.coverage(chosen), FIRST_BATCH)


def judge_answers(scene: Scene, words: BoundLexical, pool: Pool, query: Query) -> Iterator[Verdict]:
    """The tier's gates, then its verdict. A row that another view proposed as well stays: it is only not the answer."""
    applies = pool.proposed_by(ANSWER_CANDIDATES)
    others = proposed_by_others(pool, *_OWN_VIEWS)
    standing = applies & pool.live
    considered, filtered = int(standing.sum()), []
    for name, word, fails in answer_rules(scene, words, pool.rows):
        if anywhere(standing & fails):
            filtered.append(word)
        standing &= ~fails
        yield Gate(f"{DIRECT}:{name}", applies, fails, others, word if anywhere(applies & fails) else "")
    positions = places(standing)
    overlap = words.coverage(pool.rows)[positions]
    order = np.argsort(-overlap, kind="stable")
    tier, reason, anchors = "hybrid", "no trusted decision answers this directly", list[str]()
    answer = pool.rows[positions[order[:1]]]
    if len(order) > 1 and overlap[order[0]] - overlap[order[1]] < AMBIGUITY:
        reason = f"ambiguous: {len(positions)} candidates, the best two within {AMBIGUITY}"
        filtered.append("ambiguous")
        answer = answer[:0]
    elif len(order):
        kind = tuple(Kind)[scene.columns["kind"][answer[0]]]
        tier, reason = DIRECT, f"trusted {kind}, unambiguous, token-overlap {overlap[order[0]]:.2f}"
        anchors = _anchors(scene, answer[0])
    yield Note(
        "tierExplain",
        {
            "tier": tier,
            "reason": reason,
            "candidatesConsidered": considered,
            "filteredBy": filtered,
            "sourceAnchors": anchors,
        },
    )
    if len(answer):
        yield found(scene, DIRECT, answer, words.coverage(answer), FIRST_BATCH)


def _anchors(scene: Scene, row: int) -> list[str]:
    """The files and lines that the answer cites."""
    num = int(scene.columns["num"][row])
    anchors = []
    for citation in scene.bodies.of([num]).memories[num].citations:
        if isinstance(citation, FileCitation):
            end = f"-{citation.end_line}" if citation.end_line else ""
            anchors.append(citation.path + (f":{citation.start_line}{end}" if citation.start_line is not None else ""))
    return anchors


def overlap_gate(words: BoundLexical, pool: Pool, query: Query) -> Iterator[Gate]:
    """Rows that are here because they name a file of the same name as one at hand must share words with the question.
    What names the very file is exempt, since the file speaks for it, and the X-ray says what would have rejected it.
    """
    applies = pool.proposed_by(REVIEW)
    if anywhere(applies):
        fails = applies & (words.coverage(pool.rows) < OVERLAP_FLOOR)
        exempt = (pool.raw(REVIEW) >= SAME_FILE) | proposed_by_others(pool, REVIEW, *_OWN_VIEWS)
        yield Gate("token-overlap", applies, fails, exempt, BELOW_OVERLAP if anywhere(fails & pool.live) else "")
