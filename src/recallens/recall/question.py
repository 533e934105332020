"""How a question is read: how abstract it is, and how much it asks for (as specified).

A memory's level is read here too, for it is compared with the question's.
"""

from __future__ import annotations

import math
import re
from typing import Final

from recallens.model.memory import Annotations, Kind, Memory
from recallens.model.plan import Complexity, Factors, Level, Strategy
from recallens.text.languages import PACKS, Phrases, alternatives, grammar_of

_PRINCIPLE: Final = Phrases.of(lambda pack: pack.questions.principle)
_IMPLEMENTATION: Final = Phrases.of(
    lambda pack: pack.questions.implementation, anywhere=r"`[^`]+`|\w\(\)|\.\w{1,4}\b(?=\s|$)"
)
_MULTI_HOP: Final = Phrases.of(lambda pack: pack.questions.multi_hop)
_TEMPORAL: Final = Phrases.of(lambda pack: pack.questions.temporal)
_BROAD: Final = Phrases.of(lambda pack: pack.questions.broad)

# The beginning of a section says what it is.
READ_CHARACTERS: Final = 2_000
# Signs of code in a hundred words, from which a text shows how rather than says what.
CODE_DENSITY: Final = 4.0
PRINCIPLE_DENSITY: Final = 1.5

_FENCE: Final = re.compile(r"^\s*(?:```|~~~)|^\s*\$ \S|^(?:\+\+\+|---) \S|^Traceback ", re.MULTILINE)
_CODE: Final = re.compile(
    r"`[^`\n]+`|\w\(\)|\b\w+(?:/\w[\w.-]*){1,}\.\w{1,4}\b|(?<=\s)--?[a-z][\w-]+|\b\w+_\w+\b|\b[a-z]+[A-Z]\w+|[{};]|\w=\w|->|=>"
)
_PRINCIPLE_SIGN: Final = re.compile(alternatives(lambda pack: pack.memories.principle_signs), re.IGNORECASE)
_KINDS: Final = {Kind.PRINCIPLE: Level.PRINCIPLE, Kind.PREFERENCE: Level.PRINCIPLE}
_ENDS: Final = frozenset((Level.PRINCIPLE, Level.IMPLEMENTATION))

MANY_WORDS: Final = 20
MANY_ENTITIES: Final = 5
LENGTH_WEIGHT, ENTITY_WEIGHT, TEMPORAL_WEIGHT, MULTI_HOP_WEIGHT, SCOPE_WEIGHT = 0.2, 0.25, 0.2, 0.25, 0.1

BASE_K, DELTA, MIN_K, MAX_K = 10, 3.0, 5, 50
# 10·(1 + 3·0.8) is 33.999… in floating point, and the specification means 34.
EPSILON: Final = 1e-9
STANDARD_FROM, COMPLEX_FROM = 0.3, 0.7
TOKENS_DETAILED, TOKENS_SUMMARY, DETAILED_ABOVE = 500, 100, 0.5

_ACRONYM: Final = re.compile(r"(?<![\w.])[A-Z][A-Z0-9]{1,9}s?(?![\w.]*[a-z])")
_CALENDAR: Final = "|".join(name.capitalize() for pack in PACKS for name in pack.names.calendar) or "(?!)"
_CAPITALISED: Final = re.compile(rf"(?<=[a-z,] )(?!(?:{_CALENDAR})\b)[A-Z][a-z]+\b")


def level_of(text: str) -> Level:
    """A concept unless the text says otherwise; code outweighs a reason, for one asks why of code too."""
    if _IMPLEMENTATION.within(text):
        return Level.IMPLEMENTATION
    return Level.PRINCIPLE if _PRINCIPLE.within(text) else Level.CONCEPT


def level_of_memory(memory: Memory) -> Level:
    """What it was stored as, where that says it; else what its text is made of. Code outweighs a reason."""
    if memory.kind in _KINDS:
        return _KINDS[memory.kind]
    text = f"{memory.title or ''}\n{memory.content[:READ_CHARACTERS]}"
    hundreds = max(len(text.split()), 20) / 100
    if _FENCE.search(text) or len(_CODE.findall(text)) / hundreds >= CODE_DENSITY:
        return Level.IMPLEMENTATION
    return Level.PRINCIPLE if len(_PRINCIPLE_SIGN.findall(text)) / hundreds >= PRINCIPLE_DENSITY else Level.CONCEPT


def far_apart(one: Level, other: Level) -> bool:
    """The two ends: a principle where code is asked for, or code where a principle is."""
    return one is not other and {one, other} == _ENDS


def mentions(text: str, noticed: Annotations) -> tuple[str, ...]:
    """What a question names: names, acronyms, code and, where a grammar finds them, the nouns that stand together."""
    named = [*noticed.entities, *noticed.symbols, *noticed.paths, *noticed.errors, *noticed.commits]
    named += _ACRONYM.findall(text) + _CAPITALISED.findall(text)
    if grammar := grammar_of(text):
        held = " ".join(named)
        named += [phrase for phrase in grammar.noun_phrases(text) if phrase not in held]
    return tuple(dict.fromkeys(named))


def complexity_of(text: str, entities: int, *, dated: bool) -> Complexity:
    """0.2·length + 0.25·entities + 0.2·temporal + 0.25·multi-hop + 0.1·broad."""
    grammar = grammar_of(text)
    factors = Factors(
        length=min(len(text.split()) / MANY_WORDS, 1.0),
        entity_count=min(entities / MANY_ENTITIES, 1.0),
        temporal=dated or _TEMPORAL.within(text),
        multi_hop=_MULTI_HOP.within(text) or (grammar is not None and grammar.joins_two(text)),
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


def estimated_tokens(results: int, score: float) -> int:
    """The specification: what reading the results on will cost; a complex question needs them in more detail."""
    return results * (TOKENS_DETAILED if score > DETAILED_ABOVE else TOKENS_SUMMARY)
