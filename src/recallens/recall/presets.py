"""Named rankings. A preset is the views' formula and the list of terms, in order; zero means zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recallens.errors import UnknownOption
from recallens.index.bm25 import Bm25
from recallens.index.lexical import Prefixes
from recallens.model.memory import Sector
from recallens.model.plan import Strategy
from recallens.model.query import Mode
from recallens.recall.select import LAMBDA
from recallens.recall.sources import LESSON_BOOST, lesson_boost, source_prior, source_scale, whole_file
from recallens.recall.terms import ScoreTerm, documents, intent, languages, priors, relevance, situation, talk, times
from recallens.recall.views.succession import succession

VIEWS: Mapping[Mode, tuple[str, ...]] = {
    Mode.HYBRID: ("lexical", "semantic", "symbolic"),
    Mode.SEMANTIC: ("semantic",),
    Mode.KEYWORD: ("lexical", "symbolic"),
}


USUAL_BM25, SPECIFIED_BM25 = Bm25(k1=1.5, b=0.75), Bm25(k1=1.2, b=0.75, idf="fts5")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Preset:
    name: str
    about: str
    terms: tuple[ScoreTerm, ...]
    formula: Bm25 = USUAL_BM25
    prefixes: Prefixes = "none"
    # depth · limit rows, and no fewer than `least`, are asked of each view: the scale of a score comes from the
    # candidates, so a short list must not be measured against a handful.
    depth: int = 4
    least: int = 40
    tiers: bool = False  # whether the other tiers take part, and rows are diversified
    fluent: bool = False  # whether the semantic view is left out for a query in a script that the encoder does not know
    speakers: bool = False  # whether speakers whom the query names are known by who spoke, and not by the encoder
    alpha_weighs_fit: bool = False  # whether alpha multiplies the terms that say how well a row fits the question
    planned: bool = False  # whether the plan decides how deep to look, and the answer is certified
    by_strategy: bool = False  # whether the strategy decides which views are asked, as the specification has it
    fused: bool = False  # whether sources are told apart, repetitions between them removed and conflicts weighed
    cut: bool = False  # whether what is not likely to help is left out, unless the caller wants a literal count
    balance: float = LAMBDA  # of score and novelty, where rows are diversified; 1 is the score alone

    def depth_for(self, limit: int) -> int:
        return max(self.depth * limit, self.least)

    def views(self, mode: Mode, strategy: Strategy | None = None) -> tuple[str, ...]:
        """The specification knew two views; the symbolic one joins wherever a term has a use for it."""
        if self.by_strategy and strategy is Strategy.SIMPLE and mode is Mode.HYBRID:
            return VIEWS[Mode.SEMANTIC]
        used = {term.view for term in self.terms}
        return tuple(filter(used.__contains__, VIEWS[mode]))


SECTOR_BOOST = {
    Sector.REFLECTIVE: 1.2,
    Sector.SEMANTIC: 1.1,
    Sector.PROCEDURAL: 1.0,
    Sector.EMOTIONAL: 0.9,
    Sector.EPISODIC: 0.8,
}
SUPERSEDED_FACTOR = 0.5
REVIEW_FACTOR = 0.5
# Specified is β·uplift beside α·cosine. Here a cosine counts in standard deviations of the candidates, about a twelfth
# each, at half a point: the same trade makes β·uplift six times as heavy.
UPLIFT_WEIGHT = 6.0
# Where a question is only a time, its words tell next to nothing: whose turn it is outweighs them.
TURN_WEIGHT = 12.0
# A row that is related to an answer stands this near to it, decay and degree apart.
RELATED_SHARE = 1.5
# What full reinforcement is worth, as a share of the score.
REINFORCED_SHARE = 0.15
# What the right kind of answer is worth, as a share of its score: the ablation is in docs/benchmarks.md.
INTENT_SHARE = 0.8
# A linked note enters on the strength of its link, as far as a middling match would.
LINKED_WEIGHT = 0.5

DEFAULT = Preset(
    name="default",
    about="meaning and words in equal parts, on one scale; what a memory has been worth settles close calls",
    prefixes="short",
    terms=(
        relevance.spread("vector", "semantic", 0.7),
        relevance.spread("bm25", "lexical", 0.7),
        languages.words_in_translation(3.0),
        relevance.word_pairs(0.3),
        relevance.meaning_of_code(0.7),
        relevance.words_of_chats(0.14),
        relevance.session_support(0.3, in_talk=2.1),
        talk.meaning_of_talk(0.3, 0.29),
        talk.words_held(2.3),
        talk.turn_before(4.1),
        talk.time_told(2.3),
        talk.own_story(0.7, 0.8),
        relevance.own_words(1.8),
        relevance.named_speaker(1.4, in_talk=3.0),
        relevance.exact_names(1.4),
        documents.best_section(0.5),
        documents.path_words(0.4),
        documents.file_name(1.0),
        documents.identifiers(0.3),
        documents.how_long(0.1),
        documents.mentioned(1.5),
        priors.importance(0.1),
        priors.own_salience(0.1),  # by which a memory is de-emphasised
        priors.reinforcement_boost(REINFORCED_SHARE),
        priors.uplift(UPLIFT_WEIGHT, warns=True),
        intent.intent_match(INTENT_SHARE),
        times.time_match(1.0, in_talk=3.8),
        priors.tier_prior(),
        relevance.related_to_an_answer(RELATED_SHARE),
        lesson_boost(LESSON_BOOST, cards=True),
        situation.actionability(),
        situation.level_match(),
        succession(),
        priors.superseded(SUPERSEDED_FACTOR),
        priors.review(REVIEW_FACTOR),
        times.time_turn(TURN_WEIGHT),  # after what multiplies a score
    ),
    tiers=True,
    fluent=True,
    speakers=True,
    alpha_weighs_fit=True,
    planned=True,
    cut=True,
)

FUSION = Preset(
    name="fusion",
    about="unified retrieval over a vault: words and meaning blended on one scale, sources told apart, lessons first",
    prefixes="short",
    terms=(
        relevance.blended_words(),
        relevance.blended_meaning(),
        relevance.linked(LINKED_WEIGHT),
        whole_file(),
        source_scale(),
        source_prior(),
        lesson_boost(LESSON_BOOST),
        situation.actionability(),
        situation.level_match(),
        succession(),
        priors.superseded(SUPERSEDED_FACTOR),
        priors.review(REVIEW_FACTOR),
    ),
    tiers=True,
    fluent=True,
    planned=True,
    cut=True,
    fused=True,
    balance=1.0,
)

CLASSIC = Preset(
    name="classic",
    about="the Search Specification's formula to the letter",
    formula=SPECIFIED_BM25,
    prefixes="every",
    depth=2,
    least=0,
    terms=(
        relevance.proposed_cosine(0.4),
        relevance.proposed_keyword(0.25),
        priors.salience(0.2),
        priors.recency(0.15),
        priors.sector_boost(SECTOR_BOOST),
        priors.superseded(SUPERSEDED_FACTOR),
        priors.clamp(0.0, 1.0),
    ),
)

ADAPTIVE = Preset(
    name="adaptive",
    about="the Memory Retrieval System's strategies to the letter: simple asks meaning alone, complex adds the graph",
    formula=SPECIFIED_BM25,
    prefixes="every",
    terms=(relevance.proposed_cosine(1.0), relevance.proposed_keyword(1.0), relevance.graph(1.0), priors.uplift(1.0)),
    alpha_weighs_fit=True,
    planned=True,
    by_strategy=True,
)

BM25 = Preset(name="bm25", about="words alone, by BM25: a baseline", terms=(relevance.raw_score("bm25", "lexical"),))
DENSE = Preset(name="dense", about="meaning alone: a baseline", terms=(relevance.raw_score("vector", "semantic"),))
RRF = Preset(
    name="rrf",
    about="words and meaning by reciprocal rank: a baseline",
    terms=(relevance.reciprocal_rank("bm25", "lexical"), relevance.reciprocal_rank("vector", "semantic")),
)

PRESETS: Mapping[str, Preset] = {
    preset.name: preset for preset in (DEFAULT, FUSION, CLASSIC, ADAPTIVE, BM25, DENSE, RRF)
}


def preset_named(name: object) -> Preset:
    if not isinstance(name, str) or name not in PRESETS:
        raise UnknownOption("preset", name, PRESETS)
    return PRESETS[name]
