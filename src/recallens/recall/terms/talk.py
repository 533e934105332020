"""What tells the turn that answers, where people with names talk to each other.

There a vector says little, for everybody speaks of themselves in short turns; what answers often follows on a turn that
names the matter. The weights are made by `bench/weights.py`, leaving out one conversation after the other.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import FloatArray, IntArray, anywhere
from recallens.recall.coverage import texts_of
from recallens.recall.facets import FacetKind
from recallens.recall.scene import Scene
from recallens.recall.terms import Amounts, measured_against, score_term
from recallens.recall.terms.relevance import standing, talk_share
from recallens.text.answers import holds_answer
from recallens.text.languages import alternatives
from recallens.text.stopwords import FULL_WEIGHT, token_weight
from recallens.text.tokenizer import tokenize

# Texts are read only so far down.
READ: Final = 60
TIMES: Final = ("date", "time", "duration", "frequency")
_FIRST_PERSON: Final = re.compile(alternatives(lambda pack: pack.memories.first_person), re.IGNORECASE)
_ASKS: Final = re.compile(r"[?？]\s*$")


@score_term("talk", view="semantic", fits=True)
def meaning_of_talk(scene: Scene, pool: Pool, query: Query, meaning: float, words: float) -> Amounts | None:
    """So much more weight for meaning and less for single words, as far as the candidates are turns of a talk."""
    share, sample = talk_share(scene, pool), measured_against(pool)
    if not share or scene.words is None or not scene.reads_meaning:
        return None
    cosine = scene.meaning(pool.rows)
    computed = ~np.isnan(cosine)
    shift = meaning * scene.question.fluency * standing(cosine, computed & sample)
    delta = share * (shift - words * standing(scene.words.score(pool.rows), sample))
    return np.where(computed, delta, 0.0), computed, {"meaning": meaning, "words": words, "share": share}


@score_term("wordsHeld", fits=True)
def words_held(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight · the share of the question's words, by their rarity, that the turn holds."""
    if not (share := talk_share(scene, pool)):
        return None
    held = _held(scene, query, pool.rows)
    return weight * share * held, held > 0, {"weight": weight, "share": share}


@score_term("turnBefore", fits=True)
def turn_before(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight · the share of them that the turn before it holds and it does not: it goes on about that."""
    if not (share := talk_share(scene, pool)):
        return None
    columns, before = scene.columns, np.maximum(pool.rows - 1, 0)
    follows = (columns["session"][before] == columns["session"][pool.rows]) & (columns["session"][pool.rows] >= 0)
    follows &= columns["position"][before] == columns["position"][pool.rows] - 1
    more = _held(scene, query, before, beside=pool.rows)
    computed = follows & (more > 0)
    return np.where(computed, weight * share * more, 0.0), computed, {"weight": weight, "share": share}


@score_term("timeTold", fits=True)
def time_told(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight for a turn that tells a time, where one is asked for."""
    kinds = [facet.answer for facet in scene.question.facets if facet.kind is FacetKind.ANSWER]
    if not kinds or kinds[0] not in TIMES or not (share := talk_share(scene, pool)):
        return None
    tells = np.zeros(len(pool), dtype=np.bool_)
    first = _first(pool)
    tells[first] = [holds_answer(kinds[0], text) for text in texts_of(scene, pool.rows[first])]
    return np.where(tells, weight * share, 0.0), tells, {"weight": weight, "share": share}


@score_term("ownStory", fits=True)
def own_story(scene: Scene, pool: Pool, query: Query, tells: float, asks: float) -> Amounts | None:
    """What it is worth that the speaker tells of themselves, and what it costs to end with a question."""
    if not (share := talk_share(scene, pool)):
        return None
    delta, first = np.zeros(len(pool)), _first(pool)
    texts = texts_of(scene, pool.rows[first])
    delta[first] = [tells * bool(_FIRST_PERSON.search(text)) - asks * bool(_ASKS.search(text)) for text in texts]
    return share * delta, delta != 0, {"tells": tells, "asks": asks, "share": share}


def _first(pool: Pool) -> IntArray:
    order: IntArray = np.argsort(-pool.score, kind="stable")[:READ]
    return order


def _held(scene: Scene, query: Query, rows: IntArray, beside: IntArray | None = None) -> FloatArray:
    """The share of the question's words, by their rarity, that each row holds, and the one beside it does not. Who is
    named as a speaker says who spoke, and not of what.
    """
    authors = scene.columns.names["author"].texts
    speakers = {token for code in scene.question.speakers for token in tokenize(authors[code])}
    asked = dict.fromkeys(token for token in tokenize(query.text) if token_weight(token) == FULL_WEIGHT)
    words = [word for word in asked if word not in speakers]
    if scene.words is None or not words:
        return np.zeros(len(rows))
    held = scene.words.presence(words, rows)
    if beside is not None:
        held &= ~scene.words.presence(words, beside)
    rarity = np.array(scene.words.rarity(words))
    share: FloatArray = rarity @ held / rarity.sum()
    return share if anywhere(held) else np.zeros(len(rows))
