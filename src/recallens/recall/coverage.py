"""Which rows speak of which of the things that a question requires, and what nobody speaks of."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from recallens.index.views import BoundSymbolic, distinct
from recallens.model.verdict import BoolArray, FloatArray, IntArray
from recallens.recall.facets import WORDED, Facet, FacetKind
from recallens.recall.scene import MULTILINGUAL, SEMANTIC, TRANSLATION, Scene
from recallens.recall.views import within_windows
from recallens.text.amounts import tells_the_amount
from recallens.text.answers import answers_about, holds_answer
from recallens.text.languages import grammar_of
from recallens.text.normalize import normalize
from recallens.text.stopwords import other_words, token_weight
from recallens.text.tokenizer import is_across, tokenize
from recallens.text.wordforms import SpokenWords

# A Korean word of this many pairs of syllables is a clause without spaces, and so many of them are most.
CLAUSE_PAIRS: Final = 5
MOST_PAIRS: Final = 0.6
# From here on a row answers a question with one part in its own words: what it lacks of the question's, other than
# names and the type of the answer, is the asker's wording. From the second on it need not hold most of them; nor from
# the third on, where it holds the very measure that is asked for. Where a clause of it holds what is asked for and
# speaks of it, half of the words are enough, from the third on; from the fourth, where words alone are judged.
ANSWERS_FROM: Final = 0.3
SURE: Final = 0.6
SURE_OF_A_MEASURE: Final = 0.2
HALF_AS_LIKELY: Final = 0.5  # beside a row that is likelier than twice as likely, a measure is of something else
SURE_BY_WORDS: Final = 0.1
HALF_OF_A_PART: Final = 0.5
SURE_OF_HALF: Final = 0.7  # where nothing of a kind is asked for
MEASURED: Final = (
    "frequency", "duration", "version", "date", "time", "price", "value", "number", "age", "phone", "email", "plate"
)  # fmt: skip
BEGINNING: Final = 2
_FIGURE: Final = re.compile(r"\d")
# The encoder's opinion counts of a question of which it can read more than this.
HALF_READ: Final = 0.5
# Texts are read for other forms of a word only so far down, and for those of another language.
READ: Final = 20
MOST_TRANSLATED: Final = 40


def coverage(scene: Scene, facets: Sequence[Facet], rows: IntArray) -> BoolArray:
    """Which facets (down) which rows (across) cover."""
    covers = np.zeros((len(facets), len(rows)), dtype=np.bool_)
    if not len(rows):
        return covers
    words = list(dict.fromkeys(word for facet in facets for group in facet.groups for word in group))
    presence = scene.words.presence(words, rows) if scene.words is not None else np.zeros((len(words), len(rows)))
    held = dict(zip(words, presence.astype(np.bool_), strict=True))
    symbolic = scene.views.get("symbolic")
    if isinstance(symbolic, BoundSymbolic):
        for facet in facets:
            named = symbolic.carries(normalize(facet.text), rows) if facet.kind is FacetKind.ENTITY else None
            if named is not None:  # a file that a row cites is spoken of there
                held |= {word: held[word] | named for word in facet.words}
    for at, facet in enumerate(facets):
        if facet.window is not None:
            covers[at] = within_windows(scene.columns, rows, [facet.window])
            if facet.window.as_of:  # what was known by then and was not replaced held then
                covers[at] |= scene.columns.held_from[rows] < facet.window.end
        elif facet.kind is FacetKind.ANSWER:
            covers[at] = answering(scene, facet.answer, rows)
        else:
            groups = np.array([_whole(group, held) for group in facet.groups])
            covers[at] = groups.sum(axis=0) >= facet.needed
    covers |= translated(scene, facets, rows)
    return covers


def translated(scene: Scene, facets: Sequence[Facet], rows: IntArray) -> BoolArray:
    """Which names and words (down) which rows (across) say in another language.

    An answer in another language is one that the second encoder or the list of words has found: of both, only the
    best are read.
    """
    said = np.zeros((len(facets), len(rows)), dtype=np.bool_)
    worded = [at for at, facet in enumerate(facets) if facet.kind in WORDED]
    if MULTILINGUAL not in scene.views or not worded or not len(rows):
        return said
    views = [view for view in (MULTILINGUAL, TRANSLATION) if view in scene.views]
    scores = (np.nan_to_num(scene.score(view, rows), nan=-1.0) for view in views)
    best = distinct(np.concatenate([np.argsort(-score, kind="stable")[:MOST_TRANSLATED] for score in scores]))
    nums = scene.columns["num"][rows[best]].tolist()
    for place, words in zip(best.tolist(), scene.bodies.translated(nums), strict=True):
        said[worded, place] = [words.hold(facets[at].text) for at in worded]
    return said


def _whole(group: Sequence[str], held: Mapping[str, BoolArray]) -> BoolArray:
    """Rows that hold every word of the group.

    A Korean compound is written with or without its spaces (추적조회, 추적 조회), and the pair of syllables across the
    gap is in one spelling alone: it may be missing where both of its neighbours are there. Of a whole clause without
    spaces (나루물류요청한도), the particles and endings differ too: most of its pairs are enough.
    """
    there = []
    for at, word in enumerate(group):
        there.append(held[word])
        if 0 < at < len(group) - 1 and is_across(group[at - 1], word, group[at + 1]):
            there[-1] = there[-1] | (held[group[at - 1]] & held[group[at + 1]])
    if len(group) >= CLAUSE_PAIRS and all(grammar_of(word) is not None for word in group):
        most: BoolArray = np.mean(there, axis=0) >= MOST_PAIRS
        return most
    every: BoolArray = np.all(there, axis=0)
    return every


def texts_of(scene: Scene, rows: IntArray) -> list[str]:
    nums = scene.columns["num"][rows].tolist()
    memories = scene.bodies.of(nums).memories
    return [f"{memories[num].title or ''}\n{memories[num].content}" for num in nums]


def answering(scene: Scene, kind: str, rows: IntArray) -> BoolArray:
    """Which rows hold something that could answer, such as a number."""
    return np.array([holds_answer(kind, text) for text in texts_of(scene, rows)], dtype=np.bool_)


class Spoken(NamedTuple):
    """Which facets (down) which rows (across) cover, and which of them are said there in the question's own words."""

    covers: BoolArray
    said: BoolArray


def spoken_of(scene: Scene, facets: Sequence[Facet], rows: IntArray, relevance: FloatArray) -> Spoken:
    """Which facets which rows speak of, in whatever form: the words of the question inflected, misspelt or written with
    other spaces; a time that the text names.

    A row speaks of a part of the question if it holds all names in it, and most of its words; or if it is all but sure
    to answer by its meaning, in whatever words. Its other words, and the type of the answer, count where
    they stand in such a row: what others hold of them is another matter. Of a likely one, they are the asker's own.
    """
    likely = relevance >= ANSWERS_FROM
    covers = coverage(scene, facets, rows)
    typed = any(facet.kind is FacetKind.ANSWER for facet in facets)
    texts = texts_of(scene, rows[:READ]) if len(rows) and (typed or not covers.all()) else []
    spoken = [SpokenWords(text) for text in texts]
    held = {facet: covers[at] for at, facet in enumerate(facets)}
    # A question in one script may be answered in another; one that holds both names things as they are written.
    one_script = len({facet.text.isascii() for facet in facets if facet.kind in WORDED}) == 1
    worded = [facet for facet in facets if facet.kind in WORDED]
    foreign = [one_script and bool(likely[at]) and all(in_other_letters(facet, text) for facet in worded)
               for at, text in enumerate(texts)]  # fmt: skip
    for facet in facets:
        for at, words in enumerate(spoken):
            if not held[facet][at] and facet.kind in WORDED:
                held[facet][at] = (
                    foreign[at]
                    or any(map(words.holds, (facet.text, *other_words(facet.text))))
                    or tells_the_amount(facet.text, texts[at])
                )
            elif not held[facet][at] and facet.window is not None:
                held[facet][at] = _names_time(facet.text, texts[at])
            elif held[facet][at] and facet.kind is FacetKind.ANSWER:
                held[facet][at] = foreign[at] or _answers(facet, facets, texts[at])
    said = np.array([held[facet] for facet in facets], dtype=np.bool_).reshape(covers.shape)
    parts = [facet for facet in facets if facet.kind is FacetKind.QUESTION]
    likely = likely & (len(parts) == 1)
    asked = [held[facet] for facet in facets if facet.kind is FacetKind.ANSWER]
    measured = [held[facet] for facet in facets if facet.answer in MEASURED]
    beside_best = max(SURE_OF_A_MEASURE, HALF_AS_LIKELY * float(relevance.max(initial=0.0)))
    enough = np.where(measured[0], beside_best, SURE) if measured else SURE
    reads = SEMANTIC in scene.views and scene.question.fluency > HALF_READ
    by_meaning = (relevance >= (enough if reads else SURE)) & (len(parts) == 1)
    in_kind = asked[0] & (relevance >= (SURE_OF_A_MEASURE if reads else SURE_BY_WORDS)) if asked else likely & False
    in_kind = in_kind if asked else relevance >= SURE_OF_HALF if reads else in_kind
    in_kind &= len(parts) == 1
    if asked and not reads:
        # A word that nobody can read is one of the store's, or it is in part in the row: 보관 of 보관료.
        new = [group for part in parts for group in part.groups if not _is_known(scene, group)]
        in_part = [Facet(FacetKind.TERM, "", ((group[0],), (group[-1],)), 1) for group in new]
        in_kind &= np.all(coverage(scene, in_part, rows), axis=0)
    others = [Facet(FacetKind.TERM, "", (group,), 1) for part in parts for group in part.groups]
    of_words = {facet.groups[0]: row for facet, row in zip(others, coverage(scene, others, rows), strict=True)}
    for facet, row in held.items():
        if facet.kind in WORDED:  # a word by itself, or as a word of a name
            of_words |= {group: of_words[group] | row for group in of_words if set(group) <= facet.words}
    speaks = {part: _speaks(part, held, of_words, in_kind) | (by_meaning & _named(part, held)) for part in parts}
    for facet in facets:
        own = [speaks[part] for part in parts if facet.kind is FacetKind.ANSWER or facet.text in part.text]
        anyone = np.any(own, axis=0) if own else np.zeros(len(rows), dtype=np.bool_)
        if facet.kind is FacetKind.QUESTION:
            held[facet] = speaks[facet] & asked[0] if asked and len(parts) == 1 else speaks[facet]
        elif facet.kind is FacetKind.ANSWER and parts:
            held[facet] = held[facet] & anyone
        elif facet.kind is FacetKind.TERM and anyone.any():
            held[facet] = anyone & (held[facet] | likely | by_meaning | in_kind)
    return Spoken(np.array([held[facet] for facet in facets], dtype=np.bool_).reshape(covers.shape), said)


def _is_known(scene: Scene, words: Sequence[str]) -> bool:
    return scene.words is not None and all(map(scene.words.is_held, words))


def _speaks(
    part: Facet, held: Mapping[Facet, BoolArray], of_words: Mapping[tuple[str, ...], BoolArray], in_kind: BoolArray
) -> BoolArray:
    count = np.asarray(np.sum([of_words[group] for group in part.groups], axis=0))
    half = math.ceil(HALF_OF_A_PART * len(part.groups))
    most = max(half, int(count.max(initial=0)))  # beside a row that holds more, one that holds half is about another
    speaks: BoolArray = ((count >= part.needed) | (in_kind & (count >= most))) & _named(part, held)
    return speaks


def _answers(answer: Facet, facets: Sequence[Facet], text: str) -> bool:
    """Whether a clause of the text holds what is asked for and speaks of it; under a title that does, all do."""
    worded = [facet for facet in facets if facet.kind in WORDED]
    title, _, content = text.partition("\n")
    own = [word.casefold() for facet in worded for word in facet.text.split()]
    titled = _speaks_of(title, worded)
    return answers_about(answer.answer, content, own, lambda clause: titled or _speaks_of(clause, worded)) or (
        titled and answers_about(answer.answer, title, own, lambda clause: True)
    )


def _speaks_of(clause: str, worded: Sequence[Facet]) -> bool:
    lowered = clause.casefold()
    if worded and not any(word[:BEGINNING].casefold() in lowered for facet in worded for word in facet.text.split()):
        return False  # taking a clause apart costs more
    tokens = frozenset(tokenize(clause))
    if any(len(tokens.intersection(group)) >= MOST_PAIRS * len(group) for facet in worded for group in facet.groups):
        return True
    words = SpokenWords(clause)
    return not worded or any(words.holds(facet.text) for facet in worded)


def _named(part: Facet, held: Mapping[Facet, BoolArray]) -> BoolArray:
    """Which rows hold all names of the part; a day that is named by its number is one."""
    names = [row for facet, row in held.items() if facet.kind is FacetKind.ENTITY and facet.text in part.names]
    names += [
        row for facet, row in held.items() if facet.window and _FIGURE.search(facet.text) and facet.text in part.text
    ]
    every: BoolArray = np.all([np.ones_like(next(iter(held.values()))), *names], axis=0)
    return every


def in_other_letters(facet: Facet, text: str) -> bool:
    """Whether it is written in letters that the text has none of: it may be there in others."""
    ascii = facet.text.isascii()
    return not any(letter.isalpha() and letter.isascii() is ascii for letter in text)


def _names_time(time: str, text: str) -> bool:
    if grammar_of(time):
        return "".join(time.split()) in "".join(text.split())
    wanted = {token for token in tokenize(time) if token_weight(token)}
    return bool(wanted) and wanted.issubset(tokenize(text))


def missing(facets: Sequence[Facet], covers: BoolArray) -> list[str]:
    """By name; one of several parts that is missing stands for the words in it, and names come first."""
    bare = [facet for facet, row in zip(facets, covers, strict=True) if not row.any()]
    several = sum(facet.kind is FacetKind.QUESTION for facet in facets) > 1
    parts = [facet for facet in bare if facet.kind is FacetKind.QUESTION]
    of_parts = frozenset[str]().union(*(part.words for part in parts)) if several else frozenset()
    names = [facet for facet in bare if facet.kind is FacetKind.ENTITY]
    answers = [facet for facet in bare if facet.kind is FacetKind.ANSWER]
    known = {*parts, *names, *answers}
    rest = [facet for facet in bare if facet not in known and not (facet.groups and facet.words <= of_parts)]
    told = [*names, *(parts if several else ()), *rest]
    if not told or not parts:  # of what is not spoken of, no answer is to be had
        told += answers
    return list(dict.fromkeys(facet.text for facet in told or parts))


def reworded(facets: Sequence[Facet], spoken: Spoken) -> list[str]:
    """Names and words of the question that are covered by what a row means: none of the rows says them."""
    rows = zip(facets, spoken.covers, spoken.said, strict=True)
    return [facet.text for facet, covers, said in rows
            if facet.kind in WORDED and not facet.done and covers.any() and not said.any()]  # fmt: skip
