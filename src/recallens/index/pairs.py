"""What the order of words says of some rows: which hold the query's neighbouring words side by side, which are code.

Word pairs: Metzler and Croft, "A Markov Random Field Model for Term Dependencies", SIGIR 2005.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from recallens.index.bm25 import Bm25, length_norm, saturation
from recallens.index.segments import Segment, Terms
from recallens.index.stored import StoredWords
from recallens.index.views import distinct
from recallens.model.verdict import BoolArray, FloatArray, IntArray, all_true, places

# A long document's beginning says what it is; the rest would only cost time.
READ_TERMS, READ_SECTIONS = 1_024, 16_384

# Words that programs hold and prose seldom does, as the tokenizer leaves them. At the shares below, 85% of the
# functions of cosqa-dev are code, 14% of React's pages, and at most 1% of any set of prose.
CODE_WORDS = (
    "def", "self", "return", "elif", "none", "str", "int", "len", "isinst", "lambda", "import", "kwarg", "arg",
    "rais", "except", "const", "var", "null", "undefin", "function", "func", "struct", "void", "bool", "boolean",
    "static", "public", "privat", "async", "await", "param", "println", "printf", "consol", "fn", "impl", "nil",
    "elseif", "endif", "typeof", "instanceof",
)  # fmt: skip
CODE_SHARE = 0.05
CODE_KINDS = 2
# Short functions hold too few such words to be known, so a list of which this much is code is all code.
MOSTLY = 0.75


# What holds the words of some rows: arrays in memory, or a way to those that the database holds.
AnySegment = Segment | StoredWords


class WordReading(Struct, frozen=True, eq=False):
    """The terms of some rows in text order, one after the other; where each row ends, and its place among the rows."""

    terms: Terms
    ends: IntArray
    places: IntArray
    size: int


def read(segments: Sequence[AnySegment], rows: IntArray, most: int = READ_TERMS) -> WordReading:
    """The beginnings of these rows, from whichever segment holds each."""
    terms, lengths, insides = [], [], []
    for segment in segments:
        inside = places((rows >= segment.first) & (rows < segment.first + len(segment)))
        if len(inside):
            words, sizes = _read(segment, rows[inside], most)
            terms.append(words)
            lengths.append(sizes)
            insides.append(inside)
    if len(terms) == 1:
        return WordReading(terms[0], lengths[0].cumsum(), insides[0], len(rows))
    nothing = np.empty(0, dtype=np.int64)
    return WordReading(
        np.concatenate([np.empty(0, dtype=np.uint32), *terms]),
        np.concatenate([nothing, *lengths]).cumsum(),
        np.concatenate([nothing, *insides]),
        len(rows),
    )


def _read(segment: AnySegment, rows: IntArray, most: int) -> tuple[Terms, IntArray]:
    """The beginnings of rows that the segment holds, one after the other, and the length of each."""
    if isinstance(segment, StoredWords):
        texts = [words[:most] for words in segment.texts(rows)]
        return np.concatenate(texts), np.array([len(words) for words in texts], dtype=np.int64)
    at = rows - segment.first
    starts = segment.offsets[at]
    sizes = np.minimum(segment.offsets[at + 1] - starts, most)
    ends = sizes.cumsum()
    return segment.forward[np.arange(ends[-1]) + (starts - ends + sizes).repeat(sizes)], sizes


# Two words that stand side by side in the query, by number, and what the pair is worth.
Pairs = Mapping[tuple[int, int], float]
# Up to here, comparing all words with each pair takes less time than looking each word up among the pairs.
FEW_PAIRS = 16


def pair_scores(reading: WordReading, pairs: Pairs, norm: FloatArray, formula: Bm25, *, apart: int = 1) -> FloatArray:
    """BM25 of the pairs, whose words are so far apart, as if each were one term, for each row."""
    size = reading.size
    if not pairs or len(reading.terms) < 2:
        return np.zeros(size)
    # By pair and row, each once: a table of all pairs and rows would be large where the query is a document.
    held = _held(reading, list(pairs), apart)
    if not len(held):
        return np.zeros(size)
    held.sort()
    begins = all_true(len(held) + 1)
    np.not_equal(held[1:], held[:-1], out=begins[1:-1])
    first = places(begins)
    counts = (first[1:] - first[:-1]).astype(np.float64)
    pair, of = np.divmod(held[first[:-1]], size)
    worth = np.array(list(pairs.values()))[pair]
    scores = worth * saturation(formula, counts, norm[of])
    return np.bincount(of, weights=scores, minlength=size).astype(np.float64, copy=False)


def section_scores(reading: WordReading, worths: Sequence[tuple[int, float]], size: int, formula: Bm25) -> FloatArray:
    """BM25 of the best section of each row, each of so many words, by the numbers of words and what each is worth."""
    starts = np.r_[0, reading.ends[:-1]]
    sections = np.maximum(-(-(reading.ends - starts) // size), 1)
    begins = sections.cumsum() - sections
    scores = np.zeros(int(sections.sum()))
    norm = length_norm(formula, np.array([size]), size)
    for number, worth in worths:
        at = places(reading.terms == number)
        row = reading.ends.searchsorted(at, side="right")
        counts = np.bincount(begins[row] + (at - starts[row]) // size, minlength=len(scores)).astype(np.float64)
        scores += worth * saturation(formula, counts, norm)
    best = np.zeros(reading.size)
    best[reading.places] = np.maximum.reduceat(scores, begins)
    return best


def _held(reading: WordReading, pairs: Sequence[tuple[int, int]], apart: int) -> IntArray:
    """Each occurrence of a pair whose words are so far apart, as the number of the pair and its row."""
    ends, find = reading.ends, _compared if len(pairs) <= FEW_PAIRS else _looked_up
    pair, at = find(reading.terms[:-apart], reading.terms[apart:], pairs)
    row = ends.searchsorted(at, side="right")
    within = at + apart < ends[row]  # the end of one row and the beginning of the next are no neighbours
    held: IntArray = (pair * reading.size + reading.places[row])[within]
    return held


def _compared(words: Terms, following: Terms, pairs: Sequence[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    matches = [places((words == first) & (following == second)) for first, second in pairs]
    return np.arange(len(matches)).repeat([len(at) for at in matches]), np.concatenate(matches)


def _looked_up(words: Terms, following: Terms, pairs: Sequence[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    asked = np.array([(first << 32) | second for first, second in pairs])
    order = asked.argsort()
    wanted = asked[order]
    beside = in_pairs(words, following)
    place = np.minimum(wanted.searchsorted(beside), len(wanted) - 1)
    at = places(wanted[place] == beside)
    return order[place[at]], at


def in_pairs(words: Terms, following: Terms) -> IntArray:
    """Two words each, as one number."""
    return (words.astype(np.int64) << 32) | following


def begun_rows(segment: AnySegment, pairs: IntArray, most: int) -> IntArray:
    """The rows that begin with one of these pairs of words, without those of a pair that more than so many share."""
    if isinstance(segment, StoredWords):
        return segment.begun(pairs, most)
    known, rows = beginnings(segment)
    first, last = known.searchsorted(pairs), known.searchsorted(pairs, side="right")
    few = (last > first) & (last - first <= most)
    spans = zip(first[few].tolist(), last[few].tolist(), strict=True)
    return np.concatenate([np.empty(0, dtype=np.int64), *(rows[a:b] for a, b in spans)])


def beginnings(segment: Segment) -> tuple[IntArray, IntArray]:
    """The first two words of each row that has two, in order, and the rows."""
    if "beginnings" not in segment.memo:
        starts, sizes = segment.offsets[:-1], np.diff(segment.offsets)
        rows = places(sizes > 1)
        pairs = in_pairs(segment.forward[starts[rows]], segment.forward[starts[rows] + 1])
        order = pairs.argsort(kind="stable")
        segment.memo["beginnings"], segment.memo["begun"] = pairs[order], rows[order] + segment.first
    return segment.memo["beginnings"], segment.memo["begun"]


def code_among(segment: AnySegment, numbers: Sequence[int], rows: IntArray) -> BoolArray:
    """Which of some rows of a segment are source code."""
    if isinstance(segment, Segment):
        return code_rows(segment, numbers)[rows - segment.first]
    return np.array([_is_code(words, numbers) for words in segment.texts(rows)], dtype=np.bool_)


def _is_code(words: Terms, numbers: Sequence[int]) -> bool:
    beginning = words[:READ_TERMS]
    among = beginning[np.isin(beginning, np.array(numbers, dtype=np.uint32))]
    return len(among) > CODE_SHARE * len(beginning) and len(distinct(among)) >= CODE_KINDS


def code_rows(segment: Segment, numbers: Sequence[int]) -> BoolArray:
    """Which rows of a segment are source code, by the numbers of the words that programs hold.

    A word that gets its number later is in no row of a segment that is there already, so the answer stays true.
    """
    if "code" in segment.memo:
        return segment.memo["code"]
    lists = [postings for number in numbers if (postings := segment.postings(number)) is not None]
    rows = np.concatenate([np.empty(0, dtype=np.int32), *(postings.rows for postings in lists)]) - segment.first
    counts = np.concatenate([np.empty(0), *(postings.counts for postings in lists)])
    lengths = np.diff(segment.offsets)
    kinds = np.bincount(rows, minlength=len(segment))
    held = np.bincount(rows, weights=counts, minlength=len(segment))
    several = kinds >= CODE_KINDS
    code: BoolArray = several & (held > CODE_SHARE * lengths)
    for at in places(several & (lengths > READ_TERMS)).tolist():
        code[at] = _is_code(segment.sequence(segment.first + at), numbers)
    segment.memo["code"] = code
    return code


def code_share(code: BoolArray, live: BoolArray) -> float:
    """How far the live rows are source code, from 0 to 1; `code` says which are."""
    count = int(np.count_nonzero(live))
    return min(1.0, int(np.count_nonzero(code & live)) / count / MOSTLY) if count else 0.0
