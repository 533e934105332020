"""The lexical view: exact BM25 over every row that holds a word of the query, added up term by term."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from recallens.index.bm25 import Bm25, idf, length_norm, saturation
from recallens.index.columns import Columns
from recallens.index.pairs import (
    CODE_WORDS,
    READ_SECTIONS,
    AnySegment,
    begun_rows,
    code_among,
    code_share,
    in_pairs,
    pair_scores,
    read,
    section_scores,
)
from recallens.index.segments import Postings
from recallens.index.stored import StoredWords
from recallens.index.views import Proposals, ScoredRows, added_up, best, distinct
from recallens.model.verdict import BoolArray, FloatArray, IntArray, all_true, places
from recallens.store.protocols import Reader
from recallens.text.snippet import PREFIX_QUERY_WORDS, PREFIX_SHORTEST
from recallens.text.stopwords import EXPANSION_WEIGHT, query_weights
from recallens.text.tokenizer import is_across, is_bigram, tokenize

# A prefix matches words that the asker did not write in full, so each such hit says less than an exact one.
PREFIX_WEIGHT = 0.5
PREFIX_CAP = 64
EVERY_PREFIX_CAP = 1024

# So many rows more, which hold none of the words, when words are told apart by how rare they are: in a store of five
# memories nothing is known of that.
BACKGROUND = 50

# Shares of weights are added up in another order here than there.
EPSILON = 1e-9

# "none" is plain BM25, for comparison: words as written, function words left out, all others alike.
Prefixes = Literal["short", "every", "none"]


class QueryTerm(Struct, frozen=True):
    """One word of the query as term numbers: itself, or everything that it is a prefix of, counted as one term.

    A term of an expansion stands in for the query's own word `of`; its `numbers` are one of the tokens it is made of.
    """

    word: str
    numbers: tuple[int, ...]
    weight: float
    of: str
    expands: bool = False


@dataclass(slots=True)
class LexicalIndex:
    """The segments of one version, with the statistics that BM25 needs, taken over the active rows."""

    segments: tuple[AnySegment, ...]
    columns: Columns
    gone: BoolArray | None = None  # rows that hold no word for who asks
    active: BoolArray = field(init=False)
    documents: int = field(init=False)
    mean_length: float = field(init=False)
    _norms: dict[Bm25, FloatArray] = field(default_factory=dict)
    _code: Sequence[int] | None = None

    def __post_init__(self) -> None:
        self.active = self.columns.active
        self.documents = int(self.active.sum())
        self.mean_length = float(self.columns["length"][self.active].mean()) if self.documents else 0.0

    def norm(self, formula: Bm25) -> FloatArray:
        if formula not in self._norms:
            self._norms[formula] = length_norm(formula, self.columns["length"], self.mean_length)
        return self._norms[formula]

    def code_words(self, reader: Reader) -> Sequence[int]:
        """The numbers of the words that programs hold, which every query asks about: looked up once a version."""
        if self._code is None:
            self._code = list(reader.terms.numbers(CODE_WORDS).values())
        return self._code

    def code_rows(self, numbers: Sequence[int], rows: IntArray) -> BoolArray:
        code = np.zeros(len(rows), dtype=np.bool_)
        for segment in self.segments:
            inside = (rows >= segment.first) & (rows < segment.first + len(segment))
            code[inside] = code_among(segment, numbers, rows[inside])
        return code

    def frequencies(self, rows: IntArray, sizes: Sequence[int]) -> Sequence[int]:
        """How many active rows hold each of some terms, of whose rows the sizes are those of the parts."""
        if self.documents == self.columns.size:
            return sizes
        owner = np.repeat(np.arange(len(sizes)), sizes)
        counted: list[int] = np.bincount(owner[self.active[rows]], minlength=len(sizes)).tolist()
        return counted

    def active_rows(self, postings: Postings) -> int:
        """How many active rows are among those of one term."""
        if self.documents == self.columns.size:
            return len(postings.rows)
        return int(np.count_nonzero(self.active[postings.rows]))

    def look_up(self, numbers: Iterable[int]) -> None:
        """The postings of these words will be asked for: where the database holds them, they are read together."""
        wanted = [segment for segment in self.segments if isinstance(segment, StoredWords)]
        for segment in wanted:
            segment.look_up([number for number in numbers if number >= 0])

    def postings(self, number: int) -> list[Postings]:
        lists = [postings for segment in self.segments if (postings := segment.postings(number)) is not None]
        if self.gone is None:
            return lists
        left = [(postings, ~self.gone[postings.rows]) for postings in lists]
        return [Postings(each.rows[here], each.counts[here]) for each, here in left if here.any()]

    def holds(self, number: int, rows: IntArray) -> BoolArray:
        """Which of the rows hold the word of this number."""
        held, wanted = np.zeros(len(rows), dtype=np.bool_), rows.astype(np.int32)
        for postings in self.postings(number):
            at = np.minimum(postings.rows.searchsorted(wanted), len(postings.rows) - 1)
            held |= postings.rows[at] == wanted
        return held

    def known(self, numbers: Mapping[str, int]) -> dict[str, int]:
        """Of words and their numbers, those that a row holds for who asks."""
        if self.gone is None:
            return dict(numbers)
        self.look_up(numbers.values())
        return {word: number for word, number in numbers.items() if self.postings(number)}

    def begun(self, reader: Reader, prefixes: Sequence[str], cap: int) -> dict[str, list[int]]:
        """The words that begin with each of these, the shortest first."""
        if self.gone is None:
            return reader.terms.with_prefix(prefixes, cap)
        every = reader.terms.with_prefix(prefixes, sys.maxsize)
        self.look_up(number for numbers in every.values() for number in numbers)
        held = {word: (number for number in numbers if self.postings(number)) for word, numbers in every.items()}
        return {word: own for word, numbers in held.items() if (own := list(islice(numbers, cap)))}

    def beginning_in(self, text: NDArray[np.uint32], most: int) -> IntArray:
        """The rows whose first two words stand side by side in the text; those of a beginning that more than so many
        rows share are left out.
        """
        beside = distinct(in_pairs(text[:-1], text[1:]))
        found = [begun_rows(segment, beside, most) for segment in self.segments]
        begun = np.concatenate([np.empty(0, dtype=np.int64), *found])
        return begun if self.gone is None else begun[~self.gone[begun]]

    def first_words(self, rows: IntArray) -> IntArray:
        """The number of each row's first word, -1 where it has none."""
        reading = read(self.segments, rows, most=1)
        words = np.full(len(rows), -1)
        words[reading.places[np.diff(reading.ends, prepend=0) > 0]] = reading.terms
        return words

    def sequence(self, row: int) -> NDArray[np.uint32]:
        for segment in reversed(self.segments):
            if row >= segment.first:
                return segment.sequence(row)
        return np.empty(0, dtype=np.uint32)


class BoundLexical(Struct, eq=False):
    """The query's words; they are looked up and the scores computed when first asked for."""

    _index: LexicalIndex
    _look_up: Callable[[], tuple[Sequence[QueryTerm], Sequence[int]]]
    _formula: Bm25
    _weights: Mapping[str, float]
    _words: Sequence[str]
    _terms: Sequence[QueryTerm] = ()
    _worth: Mapping[str, tuple[int, float, float]] = {}  # of a word: its number, its factor, its weight
    _frequency: Mapping[str, int] = {}  # in how many rows each word of the query stands
    _code: Sequence[int] = ()
    _scored: ScoredRows | None = None
    _share: tuple[IntArray, BoolArray, float] | None = None
    _paired: tuple[IntArray, FloatArray] | None = None
    name: str = "lexical"

    @property
    def words(self) -> Iterable[str]:
        """The words of the query that count."""
        return self._weights.keys()

    @property
    def _matches(self) -> ScoredRows:
        if self._scored is None:
            self._scored = self._add_up()
        return self._scored

    @property
    def matching(self) -> IntArray:
        """The rows that hold anything of the query, in their order."""
        return self._matches.rows

    def propose(self, k: int, mask: BoolArray | None = None, beside: IntArray | None = None) -> Proposals:
        rows = self.matching
        return self.best_of(all_true(len(rows)) if mask is None else mask[rows], k)

    def best_of(self, among: BoolArray, k: int) -> Proposals:
        """The k best of the matching rows that `among` says."""
        scored = self._matches
        eligible = among & self._index.columns["alive"][scored.rows] & (scored.scores > 0)
        rows, scores = scored.rows[eligible], scored.scores[eligible]
        chosen = best(self._index.columns, rows, scores, k)
        return Proposals(chosen, self.score(chosen), more=len(rows) > k)

    def score(self, rows: IntArray) -> FloatArray:
        return self._matches.score_of(rows)

    def coverage(self, rows: IntArray) -> FloatArray:
        """The share of the query's words, by weight, that each row holds."""
        return self._matches.coverage_of(rows)

    def rarity(self, words: Sequence[str]) -> list[float]:
        """The idf of each word of the query, among some more rows that hold none of them."""
        _ = self._matches
        documents = self._index.documents + BACKGROUND
        return [idf(self._formula, documents, self._frequency.get(word, 0)) for word in words]

    def is_said(self, word: str) -> bool:
        """Whether any row holds another word for this one of the query."""
        _ = self._matches
        return any(term.expands and term.of == word and self._index.postings(term.numbers[0]) for term in self._terms)

    def is_held(self, word: str) -> bool:
        """Whether any row holds this word of the query."""
        _ = self._matches
        return word in self._frequency

    @property
    def ceiling(self) -> float:
        """The score of a row that held every word of the query as often as could count."""
        words = list(self._weights)
        return (self._formula.k1 + 1.0) * sum(
            self._weights[word] * rarity for word, rarity in zip(words, self.rarity(words), strict=True)
        )

    def occurrences(self) -> FloatArray:
        """How often each row of the namespace holds words of the query, or other words for them."""
        _ = self._matches
        total = np.zeros(self._index.columns.size)
        for number in {number for term in self._terms for number in term.numbers}:
            for postings in self._index.postings(number):
                total[postings.rows] += postings.counts
        return total

    def presence(self, words: Sequence[str], rows: IntArray) -> BoolArray:
        """Which of the rows (across) hold which of the query's words (down): as asked, or by another word for it."""
        _ = self._matches
        held = np.zeros((len(words), len(rows)), dtype=np.bool_)
        place = {word: at for at, word in enumerate(words)}
        others: dict[tuple[int, str], BoolArray] = {}  # a row holds another word if it holds all that it is made of
        for term in self._terms:
            at = place.get(term.of)
            if at is None:
                continue
            with_it = np.logical_or.reduce([self._index.holds(number, rows) for number in term.numbers])
            if term.expands:
                others[at, term.word] = with_it & others.get((at, term.word), with_it)
            else:
                held[at] |= with_it
        for (at, _), with_it in others.items():
            held[at] |= with_it
        return held

    def pairs(self, rows: IntArray) -> FloatArray:
        """BM25 of the query's neighbouring words where a row holds them side by side. Score and relevance both ask."""
        if self._paired is None or self._paired[0] is not rows:
            self._paired = rows, self._pairs(rows)
        return self._paired[1]

    def _pairs(self, rows: IntArray) -> FloatArray:
        _ = self._matches
        worth = self._worth
        beside = [
            (word, following)
            for word, following in neighbours_in(self._words)
            if word in worth and following in worth and word != following
        ]
        if not beside:
            return np.zeros(len(rows))
        neighbours = [(worth[word], worth[following]) for word, following in beside]
        worths = {(word[0], following[0]): (word[1] + following[1]) / 2.0 for word, following in neighbours}
        # A row that holds less of the question than the lightest two neighbours weigh holds no two of them.
        lightest = min(word[2] + following[2] for word, following in neighbours)
        least = min(lightest / sum(self._weights.values()), 1.0)
        scores = np.zeros(len(rows))
        holding = places(self.coverage(rows) >= least * (1.0 - EPSILON))
        those = rows[holding]
        norm = self._index.norm(self._formula)[those]
        reading = read(self._index.segments, those)
        scores[holding] = pair_scores(reading, worths, norm, self._formula)
        # Two words that a text writes as one have a pair of syllables between them: 접수, 수번, 번호.
        asked = [(worth[word][0], worth[following][0]) for word, following in beside
                 if is_bigram(word) and is_bigram(following) and word[-1] != following[0]]  # fmt: skip
        scores[holding] += pair_scores(reading, {pair: worths[pair] for pair in asked}, norm, self._formula, apart=2)
        return scores

    def sections(self, rows: IntArray, size: int) -> FloatArray:
        """BM25 of the best section of each row: so many words that follow on each other."""
        _ = self._matches
        worths = [(number, factor) for number, factor, _ in self._worth.values()]
        return section_scores(read(self._index.segments, rows, READ_SECTIONS), worths, size, self._formula)

    def code_share(self, rows: IntArray, live: BoolArray) -> float:
        """How far those of the rows that are live are source code, from 0 to 1."""
        _ = self._matches
        if not self._code:
            return 0.0
        if self._share is None or self._share[0] is not rows or not np.array_equal(self._share[1], live):
            self._share = rows, live, code_share(self._index.code_rows(self._code, rows), live)
        return self._share[2]

    def holds(self, numbers: Sequence[int], rows: IntArray) -> BoolArray:
        """Which of the rows hold all of the words of these numbers."""
        held = all_true(len(rows))
        for number in numbers:
            held &= self._index.holds(number, rows)
        return held

    def _add_up(self) -> ScoredRows:
        index, formula = self._index, self._formula
        self._terms, self._code = self._look_up()
        index.look_up(number for term in self._terms for number in term.numbers)
        occurring = [(term, *occurrences) for term in self._terms if len((occurrences := self._occurrences(term))[0])]
        if not occurring:
            return ScoredRows(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))
        rows = np.concatenate([rows for _, rows, _ in occurring])
        counts = np.concatenate([counts for _, _, counts in occurring])
        sizes = [len(rows) for _, rows, _ in occurring]
        frequencies = index.frequencies(rows, sizes)
        own = [(term.of, count) for (term, _, _), count in zip(occurring, frequencies, strict=True) if not term.expands]
        self._frequency = dict(reversed(own))  # the word itself stands before what it is a prefix of
        factors = [
            term.weight * idf(formula, index.documents, frequency)
            for (term, _, _), frequency in zip(occurring, frequencies, strict=True)
        ]
        self._worth = {
            term.word: (term.numbers[0], factor, term.weight)
            for (term, _, _), factor in zip(occurring, factors, strict=True)
            if term.word == term.of
        }
        scores = np.repeat(factors, sizes) * saturation(formula, counts, index.norm(formula)[rows])
        weights = np.repeat([0.0 if term.expands else term.weight for term, _, _ in occurring], sizes)
        matching, (total, held) = added_up(index.columns.size, rows, scores, weights)
        asked = sum(self._weights.values())
        return ScoredRows(matching, total, np.minimum(held / asked, 1.0) if asked else held)

    def _occurrences(self, term: QueryTerm) -> tuple[NDArray[Any], FloatArray]:
        """Rows and frequencies of a term; several numbers of a prefix are one term, so their counts add up."""
        lists = [postings for number in term.numbers for postings in self._index.postings(number)]
        if len(lists) == 1:
            return lists[0].rows, lists[0].counts.astype(np.float64)
        if not lists:
            return np.empty(0, dtype=np.int32), np.empty(0)
        rows = np.concatenate([postings.rows for postings in lists])
        frequencies = np.concatenate([postings.counts for postings in lists]).astype(np.float64)
        if len(term.numbers) > 1:
            rows, (frequencies,) = added_up(self._index.columns.size, rows, frequencies)
        return rows, frequencies


def bind_lexical(
    reader: Reader, index: LexicalIndex, text: str, *, formula: Bm25, prefixes: Prefixes,
    expansions: Mapping[str, Sequence[str]] | None = None,
) -> BoundLexical:  # fmt: skip
    words = tokenize(text)
    weights = {word: weight for word, weight in query_weights(words).items() if weight > 0}

    def look_up() -> tuple[Sequence[QueryTerm], Sequence[int]]:
        if prefixes == "every":  # the specification: each word of more than one character, as a prefix, all equal
            wanted = [word for word in dict.fromkeys(words) if len(word) > 1 or not word.isascii()]
            begun = index.begun(reader, wanted, EVERY_PREFIX_CAP) if wanted else {}
            return [QueryTerm(word, tuple(begun[word]), 1.0, word) for word in wanted if begun.get(word)], ()
        if prefixes == "none":
            return exact_terms(reader, index, list(weights)), ()
        return weighted_terms(reader, index, weights, expansions or {}), index.code_words(reader)

    return BoundLexical(index, look_up, formula, weights, words)


def neighbours_in(words: Sequence[str]) -> list[tuple[str, str]]:
    """The words that stand side by side; also 접수 and 번호 of 접수번호, which a text may write apart."""
    beside = list(pairwise(words))
    return beside + [
        (before, after)
        for before, word, after in zip(words, words[1:], words[2:], strict=False)
        if is_across(before, word, after)
    ]


def bind_words(reader: Reader, index: LexicalIndex, words: Sequence[str], *, formula: Bm25, name: str) -> BoundLexical:
    """These very words, as they are indexed, all equal."""
    return BoundLexical(
        index, lambda: (exact_terms(reader, index, words), ()), formula, dict.fromkeys(words, 1.0), words, name=name
    )


def exact_terms(reader: Reader, index: LexicalIndex, words: Sequence[str]) -> list[QueryTerm]:
    numbers = index.known(reader.terms.numbers(words))
    return [QueryTerm(word, (number,), 1.0, word) for word, number in numbers.items()]


def weighted_terms(
    reader: Reader, index: LexicalIndex, weights: Mapping[str, float], expansions: Mapping[str, Sequence[str]]
) -> list[QueryTerm]:
    """Words weighted by what they say; a prefix helps a short query, and a word that no memory holds."""
    others = {(word, other): tokenize(other) for word, words in expansions.items() for other in words}
    wanted = dict.fromkeys([*weights, *(token for tokens in others.values() for token in tokens)])
    numbers = index.known(reader.terms.numbers(list(wanted)))
    terms = [QueryTerm(word, (numbers[word],), weights[word], word) for word in weights if word in numbers]
    # Another word for one of the query's has half its weight in all; one that is only half known says nothing.
    for (word, other), tokens in others.items():
        own = tokenize(word)[0] if word not in weights else word  # a Korean noun is named whole and found by its pairs
        if all(token in numbers and token not in weights for token in tokens):
            share = weights.get(own, 1.0) * EXPANSION_WEIGHT / len(tokens)
            terms += [QueryTerm(other, (numbers[token],), share, own, expands=True) for token in tokens]
    short = len(weights) <= PREFIX_QUERY_WORDS
    open_ended = [word for word in weights if (short or word not in numbers) and _may_be_prefix(word)]
    begun = index.begun(reader, open_ended, PREFIX_CAP) if open_ended else {}
    for word in open_ended:
        longer = tuple(number for number in begun.get(word, ()) if number != numbers.get(word))
        if longer:
            terms.append(QueryTerm(f"{word}*", longer, weights[word] * PREFIX_WEIGHT, word))
    return terms


def _may_be_prefix(word: str) -> bool:
    return len(word) >= PREFIX_SHORTEST or (len(word) == 1 and not word.isascii())
