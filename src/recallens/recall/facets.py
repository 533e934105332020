"""What a question requires, named: each thing that an answer would have to speak of.

Facets come from the question alone. A part of a question is a facet of its own, for one memory that holds most of its
words says more than its words spread over ten.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from recallens.model.memory import Annotations
from recallens.model.plan import Window
from recallens.recall.question import mentions
from recallens.text.answers import answer_types
from recallens.text.languages import alternatives, grammar_of
from recallens.text.stopwords import FULL_WEIGHT, token_weight
from recallens.text.tokenizer import token_spans, tokenize


class FacetKind(StrEnum):
    ENTITY = "entity"
    TERM = "term"
    TIME = "time"
    QUESTION = "question"
    ANSWER = "answer"  # the type of the answer: a time, a number, a person, a place


WEIGHTS: Final = {
    FacetKind.ENTITY: 1.5,
    FacetKind.TERM: 1.0,
    FacetKind.TIME: 1.0,
    FacetKind.QUESTION: 2.0,
    FacetKind.ANSWER: 2.0,
}
# Of the words of one part of a question, a memory must hold this share to speak of it.
ENOUGH_OF_A_PART: Final = 0.6
# More is a document, not a question; the first ones say what it is about.
MOST_FACETS: Final = 24
MOST_PARTS: Final = 6

_PART_ENDS: Final = re.compile(rf"[?？;\n]+|{alternatives(lambda pack: pack.questions.part_ends)}", re.IGNORECASE)
_AND: Final = re.compile(rf",?\s+(?:{alternatives(lambda pack: pack.questions.conjunctions)})\s+", re.IGNORECASE)
_LEAST_WORDS_A_SIDE: Final = 2


@dataclass(frozen=True, slots=True)
class Facet:
    """`groups` are words, each as its tokens; `needed` of them must stand in one row. A time has a window instead, and
    the text of an answer is its type.
    """

    kind: FacetKind
    text: str
    groups: tuple[tuple[str, ...], ...] = ()
    needed: int = 0
    window: Window | None = None

    @property
    def weight(self) -> float:
        return WEIGHTS[self.kind]

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word for group in self.groups for word in group)


def facets_of(text: str, noticed: Annotations, windows: Iterable[Window] = ()) -> tuple[Facet, ...]:
    timeless = text
    for window in windows:
        timeless = timeless.replace(window.text, " ")
    entities = [name for name in mentions(timeless, noticed) if not grammar_of(name)]
    found = [_all_of(FacetKind.ENTITY, name) for name in entities]
    named = {word for facet in found for word in facet.words}
    found += [facet for facet in _terms(timeless) if not named.issuperset(facet.words)]
    found = [facet for facet in found if facet.groups][:MOST_FACETS]
    found += [Facet(FacetKind.TIME, window.text, window=window) for window in windows]
    found += [facet for part in parts_of(timeless)[:MOST_PARTS] if (facet := _part(part)) is not None]
    if found:  # who or when alone requires nothing
        found += [Facet(FacetKind.ANSWER, kind) for kind in answer_types(timeless)[:1]]
    return tuple(dict.fromkeys(found))


def _all_of(kind: FacetKind, name: str) -> Facet:
    words = tuple(dict.fromkeys(_saying(tokenize(name)) or tokenize(name)))
    return Facet(kind, name, (words,) if words else (), 1)


def _saying(tokens: Iterable[str]) -> list[str]:
    return [token for token in tokens if token_weight(token) == FULL_WEIGHT]


def _terms(text: str) -> list[Facet]:
    """Words as they are written; nouns without their particles where words must be taken apart."""
    found: dict[frozenset[str], Facet] = {}
    for token, start, end in token_spans(text):
        written = text[start:end]
        if token_weight(token) == FULL_WEIGHT and not grammar_of(written) and len(token) > 1:
            found.setdefault(frozenset((token,)), Facet(FacetKind.TERM, written, ((token,),), 1))
    if grammar := grammar_of(text):
        for noun in grammar.nouns(text):
            if grammar_of(noun) and _saying(tokenize(noun)):
                facet = _all_of(FacetKind.TERM, noun)
                found.setdefault(facet.words, facet)
    return list(found.values())


def parts_of(text: str) -> list[str]:
    """The questions within a question, as written; one that asks a single thing is its own only part."""
    pieces = [piece for end in _PART_ENDS.split(text) for piece in _clauses(end.strip(" ,.")) if piece]
    parts = [half for piece in pieces for half in _halves(piece)]
    return [part for part in parts if _terms(part)]


def _clauses(text: str) -> list[str]:
    grammar = grammar_of(text)
    return grammar.clauses(text) if grammar else [text]


def _halves(text: str) -> list[str]:
    """Two things asked for at once: the caching strategy and the rollback procedure."""
    sides = _AND.split(text)
    if len(sides) == 1 and (grammar := grammar_of(text)):
        sides = grammar.halves(text)
    if len(sides) > 1 and all(len(_terms(side)) >= _LEAST_WORDS_A_SIDE for side in sides):
        return sides
    return [text]


def _part(text: str) -> Facet | None:
    groups = tuple(group for facet in _terms(text) for group in facet.groups)
    return Facet(FacetKind.QUESTION, text, groups, math.ceil(ENOUGH_OF_A_PART * len(groups))) if groups else None
