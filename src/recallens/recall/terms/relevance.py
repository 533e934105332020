"""How well a row fits the question: what the views say of it, on one scale, and who said it in what company.

Each weight's ablation is in docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from recallens.ingest.encoded import ASSISTANT_ROLES, USER_ROLES
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import BoolArray, FloatArray, anywhere, counted, everywhere, places
from recallens.recall.scene import Scene
from recallens.recall.terms import Amounts, ScoreTerm, floor_and_deviation, measured_against, score_term
from recallens.recall.views import GRAPH
from recallens.recall.views.graph import leading, related

FTS_SCALE: Final = 10.0
# Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet", SIGIR 2009.
RRF_K: Final = 60

# Rows of a session that speak for it: one alone may be chance, and in a long session many are beside the point.
SESSION_ROWS: Final = 3


def _trust(scene: Scene, pool: Pool) -> tuple[float, float]:
    return scene.trust(pool.rows[pool.live])


# ── every candidate on one scale ──


def spread(name: str, view: str, weight: float) -> ScoreTerm:
    """weight · (raw − floor) / deviation: how far a row stands above the weakest candidate, in standard deviations.

    A constant less than a z-score, so it ranks as one does, and it is never negative. Every candidate is scored by the
    view, whether or not the view proposed it; a row that the view cannot score (no vector yet) has no such term.
    """

    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts:
        words, meaning = _trust(scene, pool)
        trust = weight * {"semantic": meaning, "lexical": words}.get(view, 1.0)
        raw = scene.meaning(pool.rows) if view == "semantic" else scene.score(view, pool.rows)
        computed = ~np.isnan(raw)
        floor, deviation = floor_and_deviation(raw[computed & measured_against(pool)])
        delta = trust * (raw - floor) / deviation
        if not everywhere(computed):
            delta = np.where(computed, delta, 0.0)
        return delta, computed, {"floor": floor, "deviation": deviation, "weight": trust}

    return ScoreTerm(name, formula, view=view, fits=True)


@score_term("pairs", view="lexical", fits=True)
def word_pairs(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight · BM25 of the question's neighbouring words side by side, on the scale of the words' own term.

    As far as the candidates are source code it is left out: there, neighbours in a question in prose mean nothing, and
    cost cosqa-dev a point.
    """
    words = scene.words
    if words is None or not len(pool):
        return None
    raw = words.pairs(pool.rows)
    computed = raw > 0
    if not anywhere(computed):
        return None
    sample = measured_against(pool)
    _, deviation = floor_and_deviation(words.score(pool.rows)[sample])
    worth = weight * _trust(scene, pool)[0] * (1.0 - words.code_share(pool.rows, sample))
    return worth * raw / deviation, computed, {"weight": worth, "deviation": deviation}


@score_term("code", view="semantic", fits=True)
def meaning_of_code(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """What shifting this much weight from words to meaning adds, as far as the candidates are source code.

    Code shares few words with a question in prose. The shift is of the whole list, so that all rows stay on one scale.
    """
    words = scene.words
    if words is None or not scene.reads_meaning or not anywhere(pool.live):
        return None
    sample = measured_against(pool)
    share = words.code_share(pool.rows, sample)
    if not share:
        return None
    meaning, by_words = scene.meaning(pool.rows), words.score(pool.rows)
    computed = ~np.isnan(meaning)
    shift = weight * share * _trust(scene, pool)[1]
    delta = shift * (standing(meaning, computed & sample) - standing(by_words, sample))
    return np.where(computed, delta, 0.0), computed, {"weight": weight, "share": share}


@score_term("chat", view="lexical", fits=True)
def words_of_chats(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """What taking this much weight from words costs, as far as a user and an assistant said the candidates.

    What the user said of themselves is an aside in a turn that asks for something else, with words of its own; the
    vector of each sentence reads the aside alone.
    """
    sample = measured_against(pool)
    share = _chat_share(scene, pool, sample)
    if not share or not scene.reads_meaning or scene.words is None:
        return None
    by_words = scene.score("lexical", pool.rows)
    computed = ~np.isnan(by_words)
    delta = -weight * share * _trust(scene, pool)[0] * standing(by_words, computed & sample)
    return np.where(computed, delta, 0.0), computed, {"weight": weight, "share": share}


def _chat_share(scene: Scene, pool: Pool, sample: BoolArray) -> float:
    """The share of the sample that a user or an assistant said, where both took part in it."""
    codes = scene.columns.names["author"].codes
    by_user = sample & spoken_by(scene, pool, map(codes.get, USER_ROLES))
    by_assistant = sample & spoken_by(scene, pool, map(codes.get, ASSISTANT_ROLES))
    if not anywhere(by_user) or not anywhere(by_assistant):
        return 0.0
    return counted(by_user | by_assistant) / counted(sample)


def talk_share(scene: Scene, pool: Pool) -> float:
    """The share of the candidates that are turns of people with names: a turn has its place in the session."""
    columns, sample = scene.columns, measured_against(pool)
    codes = columns.names["author"].codes
    others = spoken_by(scene, pool, map(codes.get, (*USER_ROLES, *ASSISTANT_ROLES)))
    turns = (columns["author"][pool.rows] >= 0) & (columns["position"][pool.rows] >= 0) & ~others
    return counted(turns & sample) / max(counted(sample), 1)


def standing(raw: FloatArray, sample: BoolArray) -> FloatArray:
    floor, deviation = floor_and_deviation(raw[sample])
    return (raw - floor) / deviation


@score_term("symbolic", view="symbolic", fits=True)
def exact_names(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight · the share of the question's exact names that the row carries; absent where it carries none."""
    raw = scene.score("symbolic", pool.rows)
    computed = raw > 0
    return np.where(computed, weight * raw, 0.0), computed, {"weight": weight}


@score_term("graph", fits=True)
def graph(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight · strength, where the walk along relations reached the row."""
    if GRAPH not in pool.found:
        return None
    raw = pool.raw(GRAPH)
    computed = ~np.isnan(raw)
    return np.where(computed, weight * raw, 0.0), computed, {"weight": weight}


@score_term("graph", orders=True)
def related_to_an_answer(scene: Scene, pool: Pool, query: Query, share: float) -> Amounts | None:
    """What it takes to bring a row that words cannot reach near the score of an answer that it is related to."""
    if pool.relevance is None or not len(pool):
        return None
    lift = share * related(scene, pool, query, pool.score, leading(pool)) - pool.score
    return np.where(lift > 0, lift, 0.0), lift > 0, {"share": share}


# ── who said it, and in what company ──


@score_term("userTurn", fits=True)
def own_words(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight for what the user said, where an assistant spoke too: its turns are long, and rarely what is asked for."""
    codes = scene.columns.names["author"].codes
    by_user = spoken_by(scene, pool, map(codes.get, USER_ROLES))
    by_assistant = spoken_by(scene, pool, map(codes.get, ASSISTANT_ROLES))
    if not anywhere(by_user & pool.live) or not anywhere(by_assistant & pool.live):
        return None
    return np.where(by_user, weight, 0.0), by_user, {"weight": weight}


@score_term("namedSpeaker", fits=True)
def named_speaker(scene: Scene, pool: Pool, query: Query, weight: float, in_talk: float = 1.0) -> Amounts | None:
    """weight for what somebody said whom the question names; `in_talk` times that as far as the candidates are turns of
    a talk.
    """
    if not scene.question.speakers:
        return None
    weight *= 1.0 + (in_talk - 1.0) * talk_share(scene, pool)
    by_them = spoken_by(scene, pool, scene.question.speakers)
    return np.where(by_them, weight, 0.0), by_them, {"weight": weight}


def spoken_by(scene: Scene, pool: Pool, authors: Iterable[int | None]) -> BoolArray:
    """Which rows are by one of the authors. They are few, and `np.isin` would sort them first."""
    spoken = np.zeros(len(pool), dtype=np.bool_)
    for author in authors:
        if author is not None:
            spoken |= scene.columns["author"][pool.rows] == author
    return spoken


@score_term("session")
def session_support(scene: Scene, pool: Pool, query: Query, weight: float, in_talk: float = 1.0) -> Amounts | None:
    """weight · the mean score so far of the session's best rows: what stands alone among strangers is likelier chance.

    Always a mean of SESSION_ROWS, so that a session with fewer candidates gets less. A chat with an assistant is about
    whatever came up, and speaks for nothing: the weight is less as far as the candidates are from such. As far as they
    are turns of a talk, it is multiplied by `in_talk`.
    """
    if not scene.columns.names["session"].texts:
        return None
    sessions = scene.columns["session"][pool.rows]
    computed = sessions >= 0
    measured = measured_against(pool)
    worth = weight * (1.0 - _chat_share(scene, pool, measured)) * (1.0 + (in_talk - 1.0) * talk_share(scene, pool))
    sample = places(computed & measured)
    if not len(sample) or not worth:
        return None
    order = sample[np.lexsort((-pool.score[sample], sessions[sample]))]
    among = sessions[order]
    begins = places(np.r_[True, among[1:] != among[:-1]])
    place = np.arange(len(order)) - np.repeat(begins, np.diff(np.r_[begins, len(order)]))
    best = order[place < SESSION_ROWS]
    known, session = np.unique(sessions, return_inverse=True)
    total = np.bincount(session[best], weights=pool.score[best], minlength=len(known))
    support = total[session] / SESSION_ROWS
    return np.where(computed, worth * support, 0.0), computed, {"weight": worth}


# ── as specified, for the rows that a view proposed ──


@score_term("vector", view="semantic", fits=True)
def proposed_cosine(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts:
    """weight · cosine, where the semantic view proposed the row (as specified)."""
    raw = pool.raw("semantic")
    computed = ~np.isnan(raw)
    return np.where(computed, weight * raw, 0.0), computed, {"weight": weight}


@score_term("bm25", view="lexical", fits=True)
def proposed_keyword(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts:
    """weight · min(1, |rank| / 10), where the lexical view proposed the row (as specified)."""
    raw = pool.raw("lexical")
    computed = ~np.isnan(raw)
    value = np.minimum(1.0, np.abs(np.where(computed, raw, 0.0)) / FTS_SCALE)
    return weight * value, computed, {"weight": weight}


# ── baselines: what a ranking has to beat ──


def raw_score(name: str, view: str) -> ScoreTerm:
    """The view's own score of the rows it proposed."""

    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts:
        raw = pool.raw(view)
        computed = ~np.isnan(raw)
        return np.where(computed, raw, 0.0), computed, {}

    return ScoreTerm(name, formula, view=view, fits=True)


def reciprocal_rank(name: str, view: str) -> ScoreTerm:
    """1 / (60 + rank), by the rank at which the view proposed the row."""

    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts:
        delta = np.zeros(len(pool))
        if view in pool.found:
            positions = pool.found[view].positions
            delta[positions] = 1.0 / (RRF_K + 1.0 + np.arange(len(positions)))
        return delta, delta > 0, {"k": float(RRF_K)}

    return ScoreTerm(name, formula, view=view, fits=True)


# ── the specification's blend of words and meaning ──


@score_term("bm25", view="lexical", fits=True)
def blended_words(scene: Scene, pool: Pool, query: Query) -> Amounts:
    """(1 − α) · sparse, the words' score over the best of all candidates; a row without a vector keeps it whole."""
    raw = scene.score("lexical", pool.rows)
    live = raw[pool.live]
    best = float(live.max()) if len(live) and live.max() > 0 else 1.0
    sparse = raw / best
    alpha = query.blend * _trust(scene, pool)[1]
    without_vector = np.isnan(scene.meaning(pool.rows))
    computed = sparse > 0
    delta = np.where(without_vector, sparse, (1.0 - alpha) * sparse)
    return np.where(computed, delta, 0.0), computed, {"max": best, "blend": alpha}


@score_term("vector", view="semantic", fits=True)
def blended_meaning(scene: Scene, pool: Pool, query: Query) -> Amounts:
    """α · dense, the cosine from the least to the greatest among the first candidates of each view.

    Unrelated texts have a cosine of 0.5 to 0.7 under many models: added as it is, it is noise of one height. What the
    encoder can read of the question, its opinion weighs.
    """
    raw = scene.meaning(pool.rows)
    computed = ~np.isnan(raw)
    sample = raw[measured_against(pool) & computed]
    low, high = (float(sample.min()), float(sample.max())) if len(sample) else (0.0, 0.0)
    dense = np.maximum(raw - low, 0.0) / (high - low if high > low else 1.0)
    alpha = query.blend * _trust(scene, pool)[1]
    return np.where(computed, alpha * dense, 0.0), computed, {"min": low, "max": high, "blend": alpha}


@score_term("graph", fits=True)
def linked(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts:
    """weight · strength, for rows that their links brought in and the words did not: those the words measure."""
    raw = pool.raw(GRAPH)
    computed = ~np.isnan(raw) & ~pool.proposed_by("lexical")
    return np.where(computed, weight * raw, 0.0), computed, {"weight": weight}
