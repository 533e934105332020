"""What a question requires, named: each thing that an answer would have to speak of.

Facets come from the question alone. A part of a question is a facet of its own, for one memory that holds most of its
words says more than its words spread over ten.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

from recallens.model.memory import Annotations
from recallens.model.plan import Window
from recallens.recall.question import mentions
from recallens.text.answers import answer_name, answer_types
from recallens.text.languages import alternatives, grammar_of
from recallens.text.normalize import normalize
from recallens.text.remembered import remembered
from recallens.text.stopwords import FULL_WEIGHT, frame_words, token_weight
from recallens.text.tokenizer import token_spans, tokenize
from recallens.text.wordforms import LEAST_MISSPELT, one_apart


class FacetKind(StrEnum):
    ENTITY = "entity"
    TERM = "term"
    TIME = "time"
    QUESTION = "question"
    ANSWER = "answer"  # the type of the answer: a time, a price, a number, a person, a place


WORDED: Final = (FacetKind.ENTITY, FacetKind.TERM)
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
REMEMBERED: Final = 64

_PART_ENDS: Final = re.compile(rf"[?？;\n]+|{alternatives(lambda pack: pack.questions.part_ends)}", re.IGNORECASE)
# What a longer text asks for is not said behind this.
MOST_READ: Final = 2_000
# A rule that may begin with a blank would try a long run of them at each.
_BLANKS: Final = re.compile(r"[^\S\n]{2,}")
_AND: Final = re.compile(rf",?\s+(?:{alternatives(lambda pack: pack.questions.conjunctions)})\s+", re.IGNORECASE)
_ASKING: Final = re.compile(alternatives(lambda pack: pack.questions.asking), re.IGNORECASE)
_CONTRAST: Final = re.compile(alternatives(lambda pack: pack.questions.contrast), re.IGNORECASE)
_LEAST_WORDS_A_SIDE: Final = 2
# A letter first and a number somewhere: DRM-99, s3. What it names is this one and no other.
_IDENTIFIER: Final = re.compile(r"(?<![\w.-])(?=[\w-]*\d)[A-Za-z]\w*(?:[-_/.]\w+)*", re.ASCII)
_ACTIVITIES: Final = re.compile(alternatives(lambda pack: pack.questions.activities), re.IGNORECASE)
_PLACES: Final = re.compile(alternatives(lambda pack: pack.questions.places), re.IGNORECASE)
_NOTHING: Final = re.compile(r"(?!)")
_OF_CHANGE: Final = re.compile(alternatives(lambda pack: pack.questions.of_change), re.IGNORECASE)
_CHANGE_WORDS: Final = re.compile(alternatives(lambda pack: pack.questions.change_words), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Facet:
    """`groups` are words, each as its tokens; `needed` of them must stand in one row, and all of its `names`.

    A time has a window instead, and an answer its type.
    """

    kind: FacetKind
    text: str
    groups: tuple[tuple[str, ...], ...] = ()
    needed: int = 0
    window: Window | None = None
    names: frozenset[str] = frozenset()
    answer: str = ""
    done: bool = False  # the noun of a verb: what is done may be told by another verb

    @property
    def weight(self) -> float:
        return WEIGHTS[self.kind]

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word for group in self.groups for word in group)

    def without(self, words: Sequence[Facet]) -> Facet:
        """A part of the question that requires fewer words; one that would require none stays as it is."""
        left = tuple(group for group in self.groups if all(group not in other.groups for other in words))
        if self.kind is not FacetKind.QUESTION or len(left) in (0, len(self.groups)):
            return self
        return replace(self, groups=left, needed=math.ceil(ENOUGH_OF_A_PART * len(left)))


def facets_of(
    text: str, noticed: Annotations, windows: Iterable[Window] = (), projects: Collection[str] = ()
) -> tuple[Facet, ...]:
    """`projects` are those that the question names, as written."""
    windows, text = tuple(windows), _BLANKS.sub(" ", text[:MOST_READ])
    spans = [window.text for window in windows]
    timeless = _without(text, spans)
    times = [Facet(FacetKind.TIME, window.text, window=window) for window in windows if not window.given]
    if windows and not _names_anything(_without(timeless, projects), noticed):
        return tuple(dict.fromkeys(times))
    # Beside what it happened to, what happened at a time is told in any words.
    happened = _ACTIVITIES if windows else _NOTHING
    required = happened.sub(" ", _CONTRAST.sub(" ", timeless))
    names = [name for name in mentions(required, noticed) if name in required and not grammar_of(name)]
    identifiers = _IDENTIFIER.findall(required)
    names = [*identifiers, *(name for name in names if not any(name in whole for whole in identifiers))]
    found = [facet for name in names if (facet := _all_of(FacetKind.ENTITY, name)).groups]
    named = {word for facet in found for word in (*facet.words, *tokenize(facet.text))}
    found += [facet for facet in _terms(required) if not named.issuperset(facet.words)]
    found = [facet for facet in found if facet.groups][:MOST_FACETS]
    found += times
    for part in parts_of(text, spans)[:MOST_PARTS]:
        held = frozenset(name for name in names if name in part)
        found += _part(part, happened.sub(" ", _without(part, spans)), held)
    if found:  # who or when alone requires nothing
        types = answer_types(timeless)[:1]
        found += [Facet(FacetKind.ANSWER, answer_name(kind, text), answer=kind) for kind in types]
    return tuple(dict.fromkeys(found))


def topic_of(text: str, times: Iterable[str]) -> str:
    """What a question about a time is about: all of it but the time, and what was done then where more is left."""
    timeless = " ".join(_without(text, times).split())
    topic = " ".join(_ACTIVITIES.sub(" ", timeless).split())
    return next((rest for rest in (topic, timeless) if _terms(rest)), text)


def place_alone(text: str, facets: Sequence[Facet]) -> tuple[str, str] | None:
    """The place of a question, as written and by itself, where it is all that the question names."""
    named = [facet.text for facet in facets if facet.kind in WORDED]
    for match in _PLACES.finditer(text):
        name = next(filter(None, match.groups()))
        if named and all(name in other or other in name for other in named):
            return match.group(), name
    return None


def of_a_change(text: str) -> bool:
    """Whether the question is about a change: may it be merged, does it break anything."""
    return _OF_CHANGE.search(text) is not None


def under_review(facets: Sequence[Facet], text: str, files: Collection[str]) -> tuple[tuple[Facet, ...], list[bool]]:
    """What a question requires where something is known of the files under review: its facets, and which of them that
    covers, for they name only the files or say that there is a change. What else it names is required as ever."""
    paths = {normalize(file) for file in files}
    asked = of_a_change(text)
    frame = [facet for facet in facets if facet.kind in (FacetKind.ENTITY, FacetKind.TERM)
             and (normalize(facet.text) in paths or (asked and _CHANGE_WORDS.fullmatch(facet.text)))]  # fmt: skip
    words = frozenset[str]().union(*(facet.words for facet in frame))
    left, framed = list[Facet](), list[bool]()
    for facet in facets:
        groups = tuple(group for group in facet.groups if not words.issuperset(group))
        framed.append(facet in frame or (facet.kind is FacetKind.QUESTION and not groups))
        if facet.kind is FacetKind.QUESTION and 0 < len(groups) < len(facet.groups):
            needed, names = math.ceil(ENOUGH_OF_A_PART * len(groups)), facet.names - {each.text for each in frame}
            facet = replace(facet, groups=groups, needed=needed, names=names)
        left.append(facet)
    return tuple(left), framed


def _without(text: str, spans: Iterable[str]) -> str:
    for span in spans:
        text = text.replace(span, " ")
    return text


def _names_anything(timeless: str, noticed: Annotations) -> bool:
    """Whether there is more to a question than its time: what we did, decided or what went wrong then names nothing."""
    rest = _ACTIVITIES.sub(" ", timeless)
    return bool(_terms(rest) or any(name in rest for name in mentions(rest, noticed)))


def _all_of(kind: FacetKind, name: str) -> Facet:
    words = tuple(dict.fromkeys(_saying(tokenize(name)) or tokenize(name)))
    return Facet(kind, name, (words,) if words else (), 1)


def _saying(tokens: Iterable[str]) -> list[str]:
    return [token for token in tokens if token_weight(token) == FULL_WEIGHT]


@remembered(REMEMBERED)  # of a question, its parts and their sides most are the same text
def _terms(text: str) -> Sequence[Facet]:
    """Words as they are written; nouns without their particles where words must be taken apart."""
    found: dict[frozenset[str], Facet] = {}
    text = _ASKING.sub(" ", text)
    for token, start, end in token_spans(text):
        written = text[start:end]
        if token_weight(token) == FULL_WEIGHT and not grammar_of(written) and len(token) > 1 and not _asks(token):
            found.setdefault(frozenset((token,)), Facet(FacetKind.TERM, written, ((token,),), 1))
    if grammar := grammar_of(text):
        done, nouns = frozenset(grammar.doings(text)), grammar.nouns(text)
        counts = tuple(noun for noun in nouns if noun[0].isdigit())  # 35,000원 is one thing
        found = {words: facet for words, facet in found.items() if not any(facet.text in noun for noun in counts)}
        for noun in nouns:
            if grammar_of(noun) and _saying(tokenize(noun)):
                facet = replace(_all_of(FacetKind.TERM, noun), done=noun in done)
                found.setdefault(facet.words, facet)
    # In a text a word of one syllable is another word with each particle: it is required where nothing else is.
    longer = {words: facet for words, facet in found.items() if facet.text.isascii() or len(facet.text) > 1}
    return tuple((longer or found).values())


@lru_cache(maxsize=4_096)  # each word is compared with every word that asks, and questions share most of theirs
def _asks(token: str) -> bool:
    """A word that asks, misspelt: happend."""
    return len(token) >= LEAST_MISSPELT and any(
        one_apart(token, word) for word in frame_words() if abs(len(word) - len(token)) <= 1
    )


def parts_of(text: str, times: Sequence[str] = ()) -> list[str]:
    """The questions within a question, as written; one that asks a single thing is its own only part.

    What has one word of its own and no name goes on about what stands before it: and what is included.
    """
    pieces = [piece for end in _PART_ENDS.split(text) for piece in _clauses(end.strip(" ,.")) if piece]
    parts: list[str] = []
    for part in (half for piece in pieces for half in _halves(piece)):
        terms = _terms(_without(part, times))
        if parts and len(terms) == 1 and " " in part and part.isascii() and part == part.lower():
            parts[-1] = text[text.index(parts[-1]) : text.index(part) + len(part)]
        elif terms:
            parts.append(part)
    return parts


def _clauses(text: str) -> list[str]:
    grammar = grammar_of(text)
    return grammar.clauses(text) if grammar else [text]


def _halves(text: str) -> list[str]:
    """Two things asked for at once: the caching strategy and the rollback procedure."""
    sides = _AND.split(text)
    if len(sides) == 1 and (grammar := grammar_of(text)):
        sides = grammar.halves(text)
    if len(sides) == 1:
        return [text]
    last = sides[-1].strip()
    spoken = [side for side in sides if len(_terms(side)) >= _LEAST_WORDS_A_SIDE or (side == last and " " not in last)]
    return sides if len(spoken) == len(sides) else [text]


def _part(text: str, timeless: str, names: frozenset[str]) -> list[Facet]:
    terms = _terms(_CONTRAST.sub(" ", timeless))
    groups = tuple(group for facet in terms if not facet.done for group in facet.groups)
    groups = groups or tuple(group for facet in terms for group in facet.groups)
    needed = math.ceil(ENOUGH_OF_A_PART * len(groups))
    return [Facet(FacetKind.QUESTION, text, groups, needed, names=names)] if groups else []
