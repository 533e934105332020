"""How likely each candidate is to help with the question: a calibrated probability, additive over raw signals.

A score orders the candidates of one question and says nothing beyond it: it counts in deviations among them, so that
something always stands out. The signals here are raw, so that they mean the same in a store of five memories as in one
of a hundred thousand. `bench/relevance.py` fits their weights on the dev sets and says what they are worth on others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

import numpy as np
from msgspec import Struct, structs

from recallens.index.lexical import BoundLexical
from recallens.ingest.encoded import ASSISTANT_ROLES, USER_ROLES
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import BoolArray, FloatArray, IntArray, Judgement, Peers, anywhere, everywhere
from recallens.recall.coverage import answering, coverage, in_other_letters, texts_of
from recallens.recall.facets import WORDED, Facet, FacetKind
from recallens.recall.peers import Summed, circles, claiming, relative_signals
from recallens.recall.scene import MULTILINGUAL, SEMANTIC, TRANSLATION, Scene
from recallens.recall.terms import measured_against
from recallens.recall.views import REVIEW, SAME_FILE, within_windows
from recallens.recall.views.graph import leading, related
from recallens.recall.views.succession import inherited
from recallens.text.languages.translation import words_in_translation
from recallens.text.tokenizer import tokenize

# Texts are read for the type of the answer only so far down.
READ: Final = 40
DONE: Final = 0.5  # what a word weighs that says what is done, which an answer may tell by another verb
LONG: Final = 200  # tokens, from which on a longer text says no more


class Company(StrEnum):
    """In what company a row stands: what its signals are worth differs."""

    NOTE = "note"
    TALK = "talk"  # a turn of somebody with a name
    CHAT = "chat"  # a turn of a user or an assistant


# What it is worth, in log-odds, to be of the time that a question asks about and nothing else.
OF_THE_TIME, OF_THE_TIME_ODDS = "ofTheTime", 6.0


class Model(Struct, frozen=True):
    """Made by `bench/relevance.py`: the weights of the signals, and what the cut asks for where such a row is best."""

    bias: float
    weights: Mapping[str, float]
    least: float  # where no row is as likely, nothing is delivered
    share: float  # of the root of the best one's probability: beside it, what is less likely is not delivered
    among_short: tuple[float, float] | None = None  # the same two among notes of a sentence or two
    among_long: float | None = None  # the first of them among long texts


# Hardly a question of the sets of notes asks about a time: what another one is worth to a note is what talks and chats
# say of it.
BY_MEANING: Final[Mapping[Company, Model]] = {
    Company.NOTE: Model(
        bias=-4.58,
        weights={
            "standsOut": 8.02,
            "words": 0.72,
            "moreWords": 3.7,
            "unreadable": -1.84,
            "pairs": 0.43,
            "otherTime": -1.1,
            "behind": -1.38,
            "noAnswer": -1.11,
        },
        least=0.06,
        share=0.004,
        among_short=(0.15, 0.02),
        among_long=0.05,
    ),
    Company.TALK: Model(
        bias=-6.18,
        weights={
            "standsOut": 3.21,
            "moreWords": 1.92,
            "unreadable": 0.23,
            "namedSpeaker": 2.82,
            "otherTime": -0.84,
            "noAnswer": -0.52,
            "length": 0.41,
            "place": -1.04,
        },
        least=0.1,
        share=0.022,
    ),
    Company.CHAT: Model(
        bias=-5.43,
        weights={
            "standsOut": 3.95,
            "moreWords": 3.3,
            "asked": 0.86,
            "unreadable": -1.1,
            "ownWords": 1.31,
            "otherTime": -0.92,
            "noAnswer": -0.43,
            "place": -0.67,
        },
        least=0.09,
        share=0.033,
    ),
}
BY_WORDS: Final[Mapping[Company, Model]] = {
    Company.NOTE: Model(
        bias=-3.55,
        weights={
            "words": 3.5,
            "unreadable": -1.57,
            "pairs": 0.73,
            "otherTime": -1.1,
            "behind": -1.72,
            "noAnswer": -1.48,
        },
        least=0.1,
        share=0.005,
        among_short=(0.1, 0.01),
    ),
    Company.TALK: Model(
        bias=-5.58,
        weights={
            "moreWords": 3.21,
            "unreadable": -0.14,
            "namedSpeaker": 1.76,
            "otherTime": -0.58,
            "noAnswer": -0.35,
            "length": 0.53,
            "place": -1.08,
        },
        least=0.08,
        share=0.022,
    ),
    Company.CHAT: Model(
        bias=-5.39,
        weights={
            "moreWords": 4.4,
            "asked": 1.02,
            "unreadable": -1.73,
            "ownWords": 1.65,
            "otherTime": -0.8,
            "noAnswer": -0.41,
            "place": -0.8,
        },
        least=0.1,
        share=0.033,
    ),
}
# Questions that the second encoder reads instead of the first.
BY_SECOND: Final[Mapping[Company, Model]] = {
    **BY_WORDS,
    Company.NOTE: Model(
        bias=-4.03,
        weights={
            "secondStandsOut": 9.31,
            "words": 2.14,
            "unreadable": -1.31,
            "asked": 0.65,
            "pairs": 0.24,
            "otherTime": -0.73,
            "behind": -1.58,
            "place": -0.92,
            "noAnswer": -2.06,
        },
        least=0.18,
        share=0.05,
        among_short=(0.2, 0.03),
        among_long=0.12,
    ),
}
# Where the second encoder is asked beside the first, or of turns, a row is at least as likely as that encoder says:
# fitted on three stores of notes in both languages (bench/questions), where off-topic questions weigh so much that the
# least which is delivered by words is right for it too.
MEANT: Final = "meant"
BY_MEANT: Final = {"secondStandsOut": 15.2, "moreWords": 3.3, "behind": -1.7, "noAnswer": -2.0, "otherTime": -2.0}
BY_MEANT_BIAS: Final = -5.6
LEAST_MEANT: Final = 0.1  # what the cut asks of a best row in another language, that says a word of the question
# Source code is alike, and so are the sections of files, the rest of which is at hand: beside the best one less helps.
SHARE_OF_CODE: Final = 0.03
SHARE_OF_SECTION: Final = 0.01
MOSTLY_CODE: Final = 0.5
# Notes of a sentence or two say at once what they are about, long texts speak of many things: by the tokens of the
# candidates in the geometric mean. `bench/relevance.py` prints what leaves 95% of the recall.
SHORT_NOTES, LONG_TEXTS = 80, 120
# Where the store has never heard of more than this share of what a question names, an answer has to be likelier.
MOST_UNKNOWN: Final = 0.34
UNHEARD: Final = 1.5
# The encoder whose cosines were fitted. Another's lie elsewhere, so with it the words are judged alone.
CALIBRATED: Final = "all-MiniLM-L6-v2-int8@"


# What is not measured but known: a row names a file under review, is related to one that helps, or is one of the few
# that hold the number, the code or the path that is asked for and nothing else.
UNDER_REVIEW, LINKED, CALLED = "underReview", "linked", "called"
OF_THE_FILE: Final = 0.6
OF_THE_NAME: Final = 0.6
FEW_CALLED: Final = 10
SHARE_OF_CALLED: Final = 0.5  # beside them, what does not hold it is something else
_IDENTIFIER: Final = re.compile(r"(?=\S*[\d_./:-])[\w./:#@-]{3,}")


def judge_relevance(scene: Scene, pool: Pool, query: Query) -> Iterator[Judgement]:
    if not len(pool):
        return
    signals = signals_of(scene, pool)
    asks_second = MULTILINGUAL in scene.views
    models = BY_MEANING if not np.isnan(signals["cosine"]).all() else BY_SECOND if asks_second else BY_WORDS
    rows = {company: mask for company, mask in companies(scene, pool.rows).items() if anywhere(mask)}
    peers, signals = claiming(scene, pool, signals, lambda each: _summed(models, rows, each))
    bias, weights, told = _summed(models, rows, signals)
    known = (UNDER_REVIEW, LINKED, CALLED)
    weights |= dict.fromkeys(known, 1.0)
    told |= {name: np.full(len(pool), np.nan) for name in known}
    if scene.question.only_windows:  # the words of such a question say nothing: being of the time is what counts
        told[OF_THE_TIME] = 1.0 - _outside_windows(scene, pool)
        weights[OF_THE_TIME] = OF_THE_TIME_ODDS
    own = Judgement.of("relevance", bias, weights, told, least=0.0).probability
    called = _called(scene, pool.rows, query)
    told[CALLED] = _raised(own, np.where(called, OF_THE_NAME, 0.0))
    own = Judgement.of("relevance", bias, weights, told, least=0.0).probability
    lifted = ~rows.get(Company.NOTE, np.zeros(len(pool), dtype=np.bool_)) | (models is BY_MEANING)
    if asks_second and anywhere(lifted):
        meant = {name: signals[name] for name in BY_MEANT}
        by_second = Judgement.of(MEANT, BY_MEANT_BIAS, BY_MEANT, meant, least=0.0).probability
        told[MEANT], weights[MEANT] = _raised(own, np.where(lifted, by_second, 0.0)), 1.0
        own = Judgement.of("relevance", bias, weights, told, least=0.0).probability

    def asked_of(circle: BoolArray) -> Peers:
        """What the cut asks of the rows of a circle, by the best of them."""
        among = structs.replace(pool, live=pool.live & circle)
        best = int(np.where(among.live, own, -1.0).argmax())
        of_best = next(models[company] for company, mask in rows.items() if mask[best])
        unheard = models is BY_MEANING and float(signals["unknown"][best]) > MOST_UNKNOWN
        least, share = _bounds(scene, among, best, of_best)
        if anywhere(called & circle):
            share = SHARE_OF_CALLED
        if MEANT in told and signals["words"][best] > 0.0 and _in_other_letters(scene, pool.rows[[best]]):
            least = min(least, LEAST_MEANT)
        return Peers(circle, least * (UNHEARD if unheard else 1.0), share)

    every, *among = map(asked_of, circles(scene, pool.rows))
    measured = [Peers(rows, each.least, each.share) for rows, each in zip(peers, among, strict=True)]
    told[UNDER_REVIEW] = _raised(own, np.where(pool.raw(REVIEW) >= SAME_FILE, OF_THE_FILE, 0.0))
    judged = structs.replace(pool, relevance=own, least_relevance=every.least, share=every.share, peers=tuple(measured))
    told[LINKED] = _raised(own, related(scene, pool, query, own, leading(judged)))
    yield Judgement.of("relevance", bias, weights, told, least=every.least, share=every.share, peers=measured)


def _summed(
    models: Mapping[Company, Model], rows: Mapping[Company, BoolArray], signals: Mapping[str, FloatArray]
) -> Summed:
    """The bias, the weights and the values of the signals, each row by the model of its company."""
    bias, weights, told = models[next(iter(rows))].bias, dict[str, float](), dict(signals)
    for company, mask in rows.items():
        model, prefix = models[company], f"{company}." if weights else ""
        if prefix:  # beside rows in other company, its own signals have names of their own
            told[str(company)], weights[str(company)] = np.where(mask, 1.0, np.nan), model.bias - bias
        alone = everywhere(mask)
        for name, weight in model.weights.items():
            told[prefix + name] = signals[name] if alone else np.where(mask, signals[name], np.nan)
            weights[prefix + name] = weight
    return bias, weights, told


def _called(scene: Scene, rows: IntArray, query: Query) -> BoolArray:
    """The rows that hold all of a question which is nothing but numbers, codes or paths, each as it is written; none
    where these are many among what is as trusted.
    """
    called, asked = np.zeros(len(rows), dtype=np.bool_), query.text.split()
    worded = [facet for facet in scene.question.facets if facet.kind in WORDED]
    if not worded or not all(map(_IDENTIFIER.fullmatch, asked)):
        return called
    covering, few = coverage(scene, worded, rows).all(axis=0), called.copy()
    written = [re.compile(rf"(?<!\w){re.escape(each)}(?!\w)", re.IGNORECASE) for each in asked]
    for circle in circles(scene, rows):
        held = np.flatnonzero(covering & circle)[:READ]
        texts = texts_of(scene, rows[held])
        called = np.zeros_like(called)
        called[held] = [all(each.search(text) for each in written) for text in texts]
        few[circle] = called[circle] & (called.sum() <= FEW_CALLED)
    return few


def _bounds(scene: Scene, pool: Pool, best: int, model: Model) -> tuple[float, float]:
    """What the cut asks of the best row, and beside it: more where that is code, a section of a file or among notes of
    a sentence or two; less of it among long texts.
    """
    sample = measured_against(pool)
    if scene.words is not None and scene.words.code_share(pool.rows, sample) > MOSTLY_CODE:
        return model.least, max(model.share, SHARE_OF_CODE)
    if scene.columns["document"][pool.rows[best]] >= 0:
        return model.least, max(model.share, SHARE_OF_SECTION)
    tokens = scene.columns["tokens"][pool.rows[sample]]
    if scene.columns["position"][pool.rows[best]] >= 0 or not len(tokens):  # a turn, or nothing to compare it with
        return model.least, model.share
    least, share = model.among_short or (model.least, model.share)
    usual = np.expm1(np.log1p(np.minimum(tokens, LONG)).mean())
    if usual <= SHORT_NOTES:
        return least, share
    return model.among_long if model.among_long and usual >= LONG_TEXTS else model.least, model.share


def _in_other_letters(scene: Scene, row: IntArray) -> bool:
    """Whether the row is in another script than all that the question names."""
    text = texts_of(scene, row)[0]
    return all(in_other_letters(facet, text) for facet in scene.question.facets if facet.kind in WORDED)


def companies(scene: Scene, rows: IntArray) -> dict[Company, BoolArray]:
    """Which of the rows are turns of a chat with an assistant, which of a talk among people, and which are neither:
    a turn has its place in the session.
    """
    turns = (scene.columns["author"][rows] >= 0) & (scene.columns["position"][rows] >= 0)
    chats = turns & np.isin(scene.columns["author"][rows], _codes(scene, (*USER_ROLES, *ASSISTANT_ROLES)))
    return {Company.NOTE: ~turns, Company.TALK: turns & ~chats, Company.CHAT: chats}


def _raised(own: FloatArray, least: FloatArray) -> FloatArray:
    """What it takes, in log-odds, to make each row at least as likely as this; absent where it is."""
    lifted = np.log(np.maximum(least, 1e-9) / (1.0 - least)) - np.log(own / (1.0 - own))
    return np.where(least > own, lifted, np.nan)


def signals_of(scene: Scene, pool: Pool) -> dict[str, FloatArray]:
    """The raw value of every signal for each row, NaN where it has nothing to say."""
    rows, words, absent = pool.rows, scene.words, np.full(len(pool), np.nan)
    required, unreadable = readable(scene)
    rarity = np.array([rarity_of(scene, facet) * (DONE if facet.done else 1.0) for facet in required])
    held = coverage(scene, required, rows).astype(np.float64)
    share = rarity @ held / rarity.sum() if len(required) else scene.coverage(rows)
    signals = {
        "cosine": _cosines(scene, pool),
        "words": share,
        "unreadable": np.full(len(pool), unreadable),
        "unknown": np.full(len(pool), _unknown(scene, required) if unreadable == 0.0 else 0.0),
        "bm25": words.score(rows) / words.ceiling if words is not None and words.ceiling else absent,
        "asked": np.full(len(pool), np.log1p(len(required))),
        "pairs": np.log1p(words.pairs(rows)) if words is not None else absent,
        "namedSpeaker": _said_by(scene, pool, scene.question.speakers),
        "ownWords": _said_by(scene, pool, _codes(scene, USER_ROLES)),
        "otherTime": _outside_windows(scene, pool),
        "noAnswer": _without_answer(scene, pool),
        "length": np.log1p(np.minimum(scene.columns["tokens"][rows], LONG)),
    }
    # What took the place of another answers what the other was about.
    for name in ("cosine", "words", "bm25", "pairs") if scene.heirs else ():
        signals[name] = np.fmax(signals[name], inherited(scene, pool, signals[name]))
    return signals | relative_signals(scene, pool, signals)


def readable(scene: Scene) -> tuple[list[Facet], float]:
    """The names and words that the question requires, and the share of them that this store cannot hold.

    A store of English notes holds no Korean word: that a question's are missing says nothing of its rows, unless it
    holds another word for one. Who is named as a speaker says who spoke, and not of what.
    """
    required = [facet for facet in scene.question.facets if facet.kind in (FacetKind.ENTITY, FacetKind.TERM)]
    authors = scene.columns.names["author"].texts
    speakers = {token for code in scene.question.speakers for token in tokenize(authors[code])}
    required = [facet for facet in required if not facet.words <= speakers] or required
    of_scripts = [[facet for facet in required if facet.text.isascii() is ascii] for ascii in (True, False)]
    legible = [facets for facets in of_scripts if any(is_known(scene, facet) for facet in facets)]
    others = [facet for facets in of_scripts if facets not in legible for facet in facets if is_said(scene, facet)]
    kept = [*(facet for facets in legible for facet in facets), *others]
    return kept or required, 1.0 - len(kept) / len(required) if required else 0.0


def _unknown(scene: Scene, required: Sequence[Facet]) -> float:
    """The share of what the question names that no memory of the store speaks of: it may be about something else."""
    named = [facet for facet in required if not facet.done] or required
    heard = (is_known(scene, facet) or is_said(scene, facet) or _is_translated(scene, facet) for facet in named)
    return sum(not each for each in heard) / max(len(named), 1)


def is_known(scene: Scene, facet: Facet) -> bool:
    return scene.words is not None and any(map(scene.words.is_held, facet.words))


def is_said(scene: Scene, facet: Facet) -> bool:
    return scene.words is not None and any(map(scene.words.is_said, facet.words))


def _is_translated(scene: Scene, facet: Facet) -> bool:
    """Whether some memory holds it in the other language."""
    translation = scene.views.get(TRANSLATION)
    if not isinstance(translation, BoundLexical):
        return False
    return any(map(translation.is_held, words_in_translation(facet.text)))


def rarity_of(scene: Scene, facet: Facet) -> float:
    """How rare a name or a word is here; one that nobody says in its own language, as the commonest that says it in
    the other one.
    """
    if scene.words is None:
        return 1.0
    rarity, translation = max(scene.words.rarity(sorted(facet.words))), scene.views.get(TRANSLATION)
    if not isinstance(translation, BoundLexical) or is_known(scene, facet):
        return rarity
    return min([rarity, *translation.rarity(words_in_translation(facet.text))])


def _cosines(scene: Scene, pool: Pool) -> FloatArray:
    """Of an encoder that the weights were fitted with, and where it can read the question."""
    encoder = str(scene.versions.get("encoder") or "")
    if SEMANTIC not in scene.views or not encoder.startswith(CALIBRATED):
        return np.full(len(pool), np.nan)
    return scene.score(SEMANTIC, pool.rows)


def _codes(scene: Scene, authors: Sequence[str]) -> list[int]:
    codes = scene.columns.names["author"].codes
    return [codes[author] for author in authors if author in codes]


def _said_by(scene: Scene, pool: Pool, authors: Sequence[int]) -> FloatArray:
    """1 for what one of these authors said; absent where there are none."""
    if not authors:
        return np.full(len(pool), np.nan)
    return np.isin(scene.columns["author"][pool.rows], authors).astype(np.float64)


def _outside_windows(scene: Scene, pool: Pool) -> FloatArray:
    windows = scene.question.plan.windows if scene.question.plan is not None else ()
    if not windows:
        return np.full(len(pool), np.nan)
    outside, then = ~within_windows(scene.columns, pool.rows, windows), scene.question.then
    if then is not None:  # what was said before holds until something else is said
        outside &= scene.columns.held_from[pool.rows] >= then
    return outside.astype(np.float64)


def _without_answer(scene: Scene, pool: Pool) -> FloatArray:
    """1 for what holds no time, number, person or place where that is asked for; absent where nothing is."""
    kinds = [facet.answer for facet in scene.question.facets if facet.kind is FacetKind.ANSWER]
    without = np.full(len(pool), np.nan)
    if kinds:
        first = np.argsort(-pool.score, kind="stable")[:READ]
        without[first] = ~answering(scene, kinds[0], pool.rows[first])
    return without
