"""Terms beyond the views' own scores: how the words stand, what the text is, who said it, and in what company.

Each weight's ablation is in docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recallens.index.columns import Columns
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import BoolArray, FloatArray, Term, anywhere, places
from recallens.recall.scene import Scene
from recallens.recall.terms import TermStage, floor_and_deviation, of_live

USER_ROLES = ("user", "human")
ASSISTANT_ROLES = ("assistant", "agent", "model", "bot", "system", "tool")
# Rows of a session that speak for it: one alone may be chance, and in a long session many are beside the point.
SESSION_ROWS = 3


def word_pairs(weight: float) -> TermStage:
    """weight · BM25 of the query's neighbouring words side by side, on the scale of the words' own term.

    As far as the candidates are source code it is left out: there, neighbours in a question in prose mean nothing, and
    cost cosqa-dev a point.
    """

    def term(scene: Scene, pool: Pool, query: Query) -> Term | None:
        if scene.words is None or not len(pool):
            return None
        raw = scene.words.pairs(pool.rows)
        computed = raw > 0
        if not anywhere(computed):
            return None
        score = scene.words.score
        _, deviation = scene.once(
            "spread of lexical", pool.live, lambda: floor_and_deviation(of_live(score(pool.rows), pool))
        )
        worth = weight * (1.0 - scene.words.code_share(pool.rows, pool.live))
        return Term("pairs", worth * raw / deviation, computed, {"weight": worth, "deviation": deviation})

    return term


def meaning_of_code(weight: float) -> TermStage:
    """What shifting this much weight from words to meaning adds, as far as the candidates are source code.

    Code shares few words with a question in prose. The shift is of the whole list, so that all rows stay on one scale.
    """

    def term(scene: Scene, pool: Pool, query: Query) -> Term | None:
        if scene.words is None or "semantic" not in scene.views or not anywhere(pool.live):
            return None
        share = scene.words.code_share(pool.rows, pool.live)
        if not share:
            return None
        meaning, words = scene.score("semantic", pool.rows), scene.words.score(pool.rows)
        computed = ~np.isnan(meaning)
        shift = weight * share * scene.fluency
        delta = shift * (_standing(meaning, computed & pool.live) - _standing(words, pool.live))
        return Term("code", np.where(computed, delta, 0.0), computed, {"weight": weight, "share": share})

    return term


def _standing(raw: FloatArray, sample: BoolArray) -> FloatArray:
    floor, deviation = floor_and_deviation(raw[sample])
    return (raw - floor) / deviation


def own_words(weight: float) -> TermStage:
    """weight for what the user said, where an assistant spoke too: its turns are long, and rarely what is asked for."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term | None:
        user, assistant = (_codes(scene.columns, roles) for roles in (USER_ROLES, ASSISTANT_ROLES))
        if not (user and assistant):
            return None
        authors = scene.columns["author"][pool.rows]
        by_user = _among(authors, user)
        if not anywhere(by_user & pool.live) or not anywhere(_among(authors, assistant) & pool.live):
            return None
        return Term("userTurn", np.where(by_user, weight, 0.0), by_user, {"weight": weight})

    return term


def _codes(columns: Columns, roles: tuple[str, ...]) -> list[int]:
    """Of the roles, those that anybody has."""
    return [code for role in roles if (code := columns.names["author"].find(role)) >= 0]


def _among(values: NDArray[np.int32], codes: Sequence[int]) -> BoolArray:
    """Which values are one of a few numbers; `np.isin` sorts first, for many."""
    found = np.zeros(len(values), dtype=np.bool_)
    for code in codes:
        found |= values == code
    return found


def named_speaker(weight: float) -> TermStage:
    """weight for what somebody said whom the question names."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term | None:
        if not scene.speakers:
            return None
        by_them = _among(scene.columns["author"][pool.rows], scene.speakers)
        return Term("namedSpeaker", np.where(by_them, weight, 0.0), by_them, {"weight": weight})

    return term


def session_support(weight: float) -> TermStage:
    """weight · the mean score so far of the session's best rows: what stands alone among strangers is likelier chance.

    Always a mean of SESSION_ROWS, so that a session with fewer candidates gets less.
    """

    def term(scene: Scene, pool: Pool, query: Query) -> Term | None:
        if not scene.columns.names["session"].texts:
            return None
        sessions = scene.columns["session"][pool.rows]
        computed = sessions >= 0
        live = places(computed & pool.live)
        if not len(live):
            return None
        order = live[np.lexsort((-pool.score[live], sessions[live]))]
        among = sessions[order]
        begins = places(np.r_[True, among[1:] != among[:-1]])
        place = np.arange(len(order)) - np.repeat(begins, np.diff(np.r_[begins, len(order)]))
        best = order[place < SESSION_ROWS]
        known, session = np.unique(sessions, return_inverse=True)
        total = np.bincount(session[best], weights=pool.score[best], minlength=len(known))
        support = total[session] / SESSION_ROWS
        return Term("session", np.where(computed, weight * support, 0.0), computed, {"weight": weight})

    return term
