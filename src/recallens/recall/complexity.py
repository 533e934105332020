"""How much a question asks for, and so how deep to look (as specified)."""

from __future__ import annotations

import math
import re
from typing import Final

from recallens.model.memory import Annotations
from recallens.model.plan import Complexity, Factors, Strategy
from recallens.text.korean import is_korean, joins_two, noun_phrases
from recallens.text.phrases import Phrases

MANY_WORDS: Final = 20
MANY_ENTITIES: Final = 5
LENGTH_WEIGHT, ENTITY_WEIGHT, TEMPORAL_WEIGHT, MULTI_HOP_WEIGHT, SCOPE_WEIGHT = 0.2, 0.25, 0.2, 0.25, 0.1

BASE_K, DELTA, MIN_K, MAX_K = 10, 3.0, 5, 50
# 10·(1 + 3·0.8) is 33.999… in floating point, and the specification means 34.
EPSILON: Final = 1e-9
STANDARD_FROM, COMPLEX_FROM = 0.3, 0.7

_ACRONYM: Final = re.compile(r"(?<![\w.])[A-Z][A-Z0-9]{1,9}s?(?![\w.]*[a-z])")
_CAPITALISED: Final = re.compile(
    r"(?<=[a-z,] )(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b)[A-Z][a-z]+\b"
)
_MULTI_HOP: Final = Phrases(
    r"""
    why|compare[ds]?|comparison|differ\w*|relat(?:e[ds]?|ion\w*) (?:to|between)|between .+ and|both|versus|vs
    caus(?:e[ds]?|ing)|because|affect\w*|impact\w*|depend\w*|led to|result(?:ed|s)? (?:in|of)|as well as|history|evol\w+
    what\b.+\band @|who\b.+\band @|when\b.+\band @|where\b.+\band @|which\b.+\band @|how\b.+\band @
    """.replace("@", "(?:what|who|when|where|which|how|why)"),
    r"왜|비교|차이|관계|영향|원인|때문|결과|이력|변천|의존|그리고|및",
)
_TEMPORAL: Final = Phrases(
    "when|before|after|since|until|during|ago|first|latest|earliest|history|over time|how long",
    r"언제|이전|이후|부터|까지|동안|이력|순서대로|처음|마지막",
)
_BROAD: Final = Phrases(
    r"""
    all|every|everything|entire|whole|overall|overview|architecture|summar\w+|in general|throughout|across
    end[- ]to[- ]end|list of
    """,
    r"전체|모든|모두|전반|개요|요약|아키텍처|총정리|목록",
)


def mentions(text: str, noticed: Annotations) -> tuple[str, ...]:
    """What a question names: names, acronyms, code and, in Korean, the nouns that stand together."""
    named = [*noticed.entities, *noticed.symbols, *noticed.paths, *noticed.errors, *noticed.commits]
    named += _ACRONYM.findall(text) + _CAPITALISED.findall(text)
    if is_korean(text):
        held = " ".join(named)
        named += [phrase for phrase in noun_phrases(text) if phrase not in held]
    return tuple(dict.fromkeys(named))


def complexity_of(text: str, entities: int, *, dated: bool) -> Complexity:
    """0.2·length + 0.25·entities + 0.2·temporal + 0.25·multi-hop + 0.1·broad."""
    factors = Factors(
        length=min(len(text.split()) / MANY_WORDS, 1.0),
        entity_count=min(entities / MANY_ENTITIES, 1.0),
        temporal=dated or _TEMPORAL.within(text),
        multi_hop=_MULTI_HOP.within(text) or (is_korean(text) and joins_two(text)),
        broad=_BROAD.within(text),
    )
    return Complexity(weighted(factors), factors)


def weighted(factors: Factors) -> float:
    return (
        LENGTH_WEIGHT * factors.length
        + ENTITY_WEIGHT * factors.entity_count
        + TEMPORAL_WEIGHT * factors.temporal
        + MULTI_HOP_WEIGHT * factors.multi_hop
        + SCOPE_WEIGHT * factors.broad
    )


def dynamic_k(score: float, *, base: int = BASE_K, delta: float = DELTA, least: int = MIN_K, most: int = MAX_K) -> int:
    """⌊base·(1 + delta·score)⌋ within least and most."""
    return max(least, min(most, math.floor(base * (1.0 + delta * score) + EPSILON)))


def strategy_of(score: float) -> Strategy:
    if score < STANDARD_FROM:
        return Strategy.SIMPLE
    return Strategy.STANDARD if score < COMPLEX_FROM else Strategy.COMPLEX


TOKENS_DETAILED, TOKENS_SUMMARY, DETAILED_ABOVE = 500, 100, 0.5


def estimated_tokens(results: int, score: float) -> int:
    """The specification: what reading the results on will cost; a complex question needs them in more detail."""
    return results * (TOKENS_DETAILED if score > DETAILED_ABOVE else TOKENS_SUMMARY)
