"""Named rankings. A preset is the views' formula and the list of terms, in order; zero means zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from recallens.errors import UnknownOption
from recallens.index.bm25 import Bm25
from recallens.index.lexical import Prefixes
from recallens.model.memory import Sector
from recallens.model.plan import Strategy
from recallens.model.query import Mode
from recallens.recall import baselines, matches, relevance, terms
from recallens.recall.diversify import LAMBDA
from recallens.recall.fusion import LINKED_WEIGHT, blended_meaning, blended_words, linked
from recallens.recall.situation import actionability, level_match
from recallens.recall.sources import LESSON_BOOST, lesson_boost, source_prior, source_scale
from recallens.recall.terms import TermStage
from recallens.recall.tiers import tier_prior
from recallens.recall.uplift import uplift


@dataclass(frozen=True, slots=True, eq=False)
class Preset:
    """`depth` · limit rows, and no fewer than `least`, are asked of each view: the scale of a score comes from the
    candidates, so a short list must not be measured against a handful. `terms` pairs each term with the view it needs.
    """

    name: str
    about: str
    formula: Bm25
    prefixes: Prefixes
    depth: int
    least: int
    tiers: bool  # whether the other tiers take part, and rows are diversified
    fluent: bool  # whether the semantic view is left out for a query in a script that the encoder does not know
    terms: tuple[tuple[str | None, TermStage], ...]
    speakers: bool = False  # whether speakers whom the query names are known by who spoke, and not by the encoder
    relevance: frozenset[str] = (
        frozenset()
    )  # the terms that say how well a row fits the question: alpha multiplies them
    planned: bool = False  # whether the plan decides how deep to look, and the answer is certified
    by_strategy: bool = False  # whether the strategy decides which views are asked, as the specification has it
    fused: bool = False  # whether sources are told apart, repetitions between them removed and conflicts weighed
    balance: float = LAMBDA  # of score and novelty, where rows are diversified; 1 is the score alone

    def depth_for(self, limit: int) -> int:
        return max(self.depth * limit, self.least)

    def terms_for(self, views: tuple[str, ...]) -> list[TermStage]:
        return [stage for needs, stage in self.terms if needs is None or needs in views]


SECTOR_BOOST = {
    Sector.REFLECTIVE: 1.2,
    Sector.SEMANTIC: 1.1,
    Sector.PROCEDURAL: 1.0,
    Sector.EMOTIONAL: 0.9,
    Sector.EPISODIC: 0.8,
}
SUPERSEDED_FACTOR = 0.5
# Specified is β·uplift beside α·cosine. Here a cosine counts in standard deviations of the candidates, about a twelfth
# each, at half a point: the same trade makes β·uplift six times as heavy.
UPLIFT_WEIGHT = 6.0

CLASSIC = Preset(
    name="classic",
    about="the Search Specification's formula to the letter",
    formula=Bm25(k1=1.2, b=0.75, idf="fts5"),
    prefixes="every",
    depth=2,
    least=0,
    tiers=False,
    fluent=False,
    terms=(
        ("semantic", terms.proposed_cosine("vector", 0.4)),
        ("lexical", terms.proposed_keyword("bm25", 0.25)),
        (None, terms.salience(0.2)),
        (None, terms.recency(0.15)),
        (None, terms.sector_boost(SECTOR_BOOST)),
        (None, terms.superseded(SUPERSEDED_FACTOR)),
        (None, terms.clamp(0.0, 1.0)),
    ),
)

DEFAULT = Preset(
    name="default",
    about="meaning and words in equal parts, on one scale; what a memory has been worth settles close calls",
    formula=Bm25(k1=1.5, b=0.75),
    prefixes="short",
    depth=4,
    least=40,
    tiers=True,
    fluent=True,
    terms=(
        ("semantic", terms.spread("vector", "semantic", 0.7)),
        ("lexical", terms.spread("bm25", "lexical", 0.7)),
        ("lexical", relevance.word_pairs(0.3)),
        ("semantic", relevance.meaning_of_code(0.7)),
        (None, relevance.session_support(0.3)),
        (None, relevance.own_words(1.4)),
        (None, relevance.named_speaker(0.7)),
        ("symbolic", terms.share("symbolic", "symbolic", 1.4)),
        (None, terms.graph(0.4)),
        (None, terms.importance(0.1)),
        (None, terms.own_salience(0.1)),
        (None, terms.reinforcement_boost(0.1)),
        (None, uplift(UPLIFT_WEIGHT)),
        (None, terms.recency(0.05)),
        (None, matches.intent_match(0.2)),
        (None, matches.time_match(1.0)),
        (None, tier_prior),
        (None, lesson_boost(LESSON_BOOST, cards=True)),
        (None, actionability),
        (None, level_match),
        (None, terms.superseded(SUPERSEDED_FACTOR)),
    ),
    speakers=True,
    relevance=frozenset(("vector", "bm25", "pairs", "code", "userTurn", "namedSpeaker", "symbolic", "graph")),
    planned=True,
)

ADAPTIVE = Preset(
    name="adaptive",
    about="the Memory Retrieval System's strategies to the letter: simple asks meaning alone, complex adds the graph",
    formula=Bm25(k1=1.2, b=0.75, idf="fts5"),
    prefixes="every",
    depth=4,
    least=40,
    tiers=False,
    fluent=False,
    terms=(
        ("semantic", terms.proposed_cosine("vector", 1.0)),
        ("lexical", terms.proposed_keyword("bm25", 1.0)),
        (None, terms.graph(1.0)),
        (None, uplift(1.0)),
    ),
    relevance=frozenset(("vector", "bm25", "graph")),
    planned=True,
    by_strategy=True,
)


def _baseline(name: str, about: str, *stages: tuple[str, TermStage]) -> Preset:
    return Preset(
        name=name,
        about=about,
        formula=Bm25(k1=1.5, b=0.75),
        prefixes="none",
        depth=4,
        least=40,
        tiers=False,
        fluent=False,
        terms=stages,
    )


BM25 = _baseline("bm25", "words alone, by BM25: a baseline", ("lexical", baselines.raw_score("bm25", "lexical")))
DENSE = _baseline("dense", "meaning alone: a baseline", ("semantic", baselines.raw_score("vector", "semantic")))
RRF = _baseline(
    "rrf",
    "words and meaning by reciprocal rank: a baseline",
    ("lexical", baselines.reciprocal_rank("bm25", "lexical")),
    ("semantic", baselines.reciprocal_rank("vector", "semantic")),
)

FUSION = Preset(
    name="fusion",
    about="unified retrieval over a vault: words and meaning blended on one scale, sources told apart, lessons first",
    formula=Bm25(k1=1.5, b=0.75),
    prefixes="short",
    depth=4,
    least=40,
    tiers=True,
    fluent=True,
    terms=(
        ("lexical", blended_words),
        ("semantic", blended_meaning),
        (None, linked(LINKED_WEIGHT)),
        (None, source_scale),
        (None, source_prior),
        (None, lesson_boost(LESSON_BOOST)),
        (None, actionability),
        (None, level_match),
        (None, terms.superseded(SUPERSEDED_FACTOR)),
    ),
    planned=True,
    fused=True,
    balance=1.0,
)

PRESETS: Mapping[str, Preset] = {
    preset.name: preset for preset in (DEFAULT, FUSION, CLASSIC, ADAPTIVE, BM25, DENSE, RRF)
}

VIEWS: Mapping[Mode, tuple[str, ...]] = {
    Mode.HYBRID: ("lexical", "semantic", "symbolic"),
    Mode.SEMANTIC: ("semantic",),
    Mode.KEYWORD: ("lexical", "symbolic"),
}


def preset_named(name: object) -> Preset:
    if not isinstance(name, str) or name not in PRESETS:
        raise UnknownOption("preset", name, PRESETS)
    return PRESETS[name]


@lru_cache(maxsize=64)  # asked twice a recall, and there are few presets
def views_for(preset: Preset, mode: Mode, strategy: Strategy | None = None) -> tuple[str, ...]:
    """The specification knew two views; the symbolic one joins wherever the preset has a use for it."""
    if preset.by_strategy and strategy is Strategy.SIMPLE and mode is Mode.HYBRID:
        return VIEWS[Mode.SEMANTIC]
    used = {needs for needs, _ in preset.terms}
    return tuple(view for view in VIEWS[mode] if view in used)
