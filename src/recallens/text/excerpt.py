"""The sentences of a text that answer a question, and the lines of a log that matter, within a number of tokens."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple
from unicodedata import normalize

from recallens.text.answers import answer_patterns, asks_how
from recallens.text.scripts import HANGUL
from recallens.text.sentences import ELLIPSIS, sentences
from recallens.text.snippet import beginning
from recallens.text.stopwords import EXPANSION_WEIGHT, expansions, query_weights
from recallens.text.token_count import count_tokens, fit, one_line
from recallens.text.tokenizer import token_spans, tokenize

GAP: Final = f" {ELLIPSIS} "
# No running text has tokens this long, so that a shorter text need not be counted to know that it does not fit.
_LONGEST_TOKEN: Final = 24
# A memory can be megabytes; past this nobody looks for the sentence that answers.
_SCANNED: Final = 50_000
# How much more a word tells that one sentence holds than one that several hold: the topic is no answer. On our notes
# of 100 to 400 tokens (bench/wire.py) the power 3 shows the answer in 90 %, 1 in 87 %; on conversations both are equal.
_STEEP: Final = 3
# A sentence that speaks of a word again says less than the first that speaks of it.
_AGAIN: Final = 0.3
# Of what the best sentence says, another must add this share to stand beside it.
_ENOUGH: Final = 0.08
# A sentence that says this share of what the best one says may lead.
_AS_MUCH: Final = 0.5
_TO_SPARE: Final = 0.7
# Of the words of a cut sentence, so many stand before the first that was asked for.
_LEAD: Final = 0.25

# A sentence that holds what is asked for (a number, a person …) counts as one that holds a word of this weight.
_SHAPE_WEIGHT: Final = 1.5

# An item of a numbered list, at the start of its line or behind the end of what came before, and how many of them are a
# way to do something.
_STEP: Final = re.compile(r"(?:^[ \t]*|[.!?…;:。：][ \t]+)\d{1,2}[.)]\s+\S", re.MULTILINE)
_LEAST_STEPS: Final = 2

# What the sentence holds that an encoder finds nearest to the question: it is worth this share of what the best one
# says in words.
_NEAREST, _AS_NEAREST = "nearest", 1.0
# One that holds so much of what the question names need not be looked for.
_MOST_SAID: Final = 0.7

# So many letters (not syllables) of a Hangul word tell it from others, whatever its ending; a word so met counts this
# much beside what its syllables count.
_STEM, _STEM_WEIGHT = 4, 0.7
_HANGUL_WORD: Final = re.compile(f"[{HANGUL}]{{2,}}")
_APART: Final = {"\u116a": "\u1169\u1161", "\u116f": "\u116e\u1165", "\u1167": "\u1175\u1165"}


class Wanted(NamedTuple):
    """What a question looks for in a text: its words with their weights, and the patterns of its answer."""

    words: Mapping[str, float]
    shapes: tuple[re.Pattern[str], ...] = ()
    stems: frozenset[str] = frozenset()  # of Hangul words, whose endings change
    steps: bool = False  # whether it asks how something is done

    @classmethod
    def of(cls, question: str) -> Wanted:
        """The question's words that count, other words for them at half their weight, and what would answer it.

        A word that is cut into several tokens counts as one word, so that each of them counts for a share of it.
        """
        words = [tokenize(word) for word in question.split()]
        share = {token: 1 / len(distinct) for distinct in map(set, words) for token in distinct}
        own = {
            token: weight * share.get(token, 1.0)
            for token, weight in query_weights(tokenize(question)).items()
            if weight > 0
        }
        others = (token for other in expansions(question, own).values() for word in other for token in tokenize(word))
        words_of = {**dict.fromkeys(others, EXPANSION_WEIGHT), **own}
        said = " ".join(word for word in question.split() if any(own.get(token) for token in tokenize(word)))
        return cls(words_of, answer_patterns(question), frozenset(_stems(said)), asks_how(question))

    def held(self, text: str) -> frozenset[str]:
        """Which of them a sentence holds, the patterns by their own names."""
        shapes = (shape.pattern for shape in self.shapes if shape.search(text))
        stems = self.stems.intersection(_stems(text)) if self.stems else ()
        return _held(tokenize(text), self.words).union(shapes, stems)

    def weights(self) -> dict[str, float]:
        shapes = {shape.pattern: _SHAPE_WEIGHT for shape in self.shapes}
        return {**self.words, **shapes, **dict.fromkeys(self.stems, _STEM_WEIGHT)}


Words = str | Iterable[str] | Mapping[str, float] | Wanted


def answering(
    text: str, words: Words, *, tokens: int, related: bool = False, leading: bool = False, nearest: str | None = None,
    around: bool = False,
) -> str:  # fmt: skip
    """The whole text where it fits, else the sentences that hold most of the question's words, in their order.

    `words` is the question as it was asked or read, or its tokens, or its tokens with their weights. What is left out
    shows as an ellipsis. A sentence is cut only where it alone is longer than the room, then around the words it holds.
    `related` leaves out what has nothing to do with the question also where the whole would fit. `leading` begins with
    the first sentence that says about as much as the best. `nearest` is the one that an encoder finds nearest to the
    question, which counts as much as the best by words. `around` fills the room with what stands behind and
    before the sentences that were chosen, the best of them first: an answer need not repeat what it is asked with.
    """
    text = text.strip()
    fits = len(text) <= tokens * _LONGEST_TOKEN and count_tokens(text) <= tokens
    if fits and not related and not leading:
        return text
    wanted = wanted_of(words)
    lines = [one_line(sentence) for sentence in sentences(text[:_SCANNED])]
    held = [wanted.held(line) for line in lines]
    worth = _rarity(held, wanted.weights())
    if nearest is not None:
        near, around = one_line(nearest), around or not worth
        most = max((sum(worth[word] for word in own) for own in held), default=0.0)
        held = [own | {_NEAREST} if _is_of(line, near) else own for own, line in zip(held, lines, strict=True)]
        worth[_NEAREST] = _AS_NEAREST * most or 1.0
    if leading:
        values = [sum(worth[word] for word in own) for own in held]
        most = max(values, default=0.0)
        first = next((at for at, value in enumerate(values) if most and value >= most * _AS_MUCH), 0)
        lines, held = lines[first:], held[first:]
    # Who asks how gets the steps, whatever else is told around them.
    listed = [at for at, line in enumerate(lines) if _STEP.match(line)] if wanted.steps else []
    if fits:
        kept = listed if len(listed) >= _LEAST_STEPS else ()
        chosen = [at for at, own in enumerate(held) if own or at in kept] if related else list(range(len(lines)))
        whole = len(chosen) in (0, len(lines)) and not (leading and first)
        return text if whole else _joined(lines, chosen or range(len(lines)))
    order, chosen = _order(held, worth), []
    if around:
        order = _with_what_follows(order, held, worth)
    if len(listed) >= _LEAST_STEPS:
        order = [*listed, *(at for at in order if at not in listed)]
    for at in order:
        if count_tokens(_joined(lines, [*chosen, at])) <= tokens:
            chosen.append(at)
        elif not chosen:
            return _cut(lines[at], worth, tokens)
    beside = (at + step for step in (1, -1, 2) for at in tuple(chosen)) if around else ()
    for at in beside:
        if 0 <= at < len(lines) and at not in chosen and count_tokens(_joined(lines, [*chosen, at])) <= tokens:
            chosen.append(at)
    # What follows a question in the text may be its answer; it comes only where there is room to spare.
    after = [*chosen, chosen[0] + 1]
    asks = lines[chosen[0]].rstrip("\"'”’)").endswith(("?", "？")) and after[-1] < len(lines)
    if asks and after[-1] not in chosen and count_tokens(_joined(lines, after)) <= tokens * _TO_SPARE:
        chosen = after
    return _joined(lines, chosen)


def is_said(words: Wanted, lines: Sequence[str]) -> bool:
    """Whether one of the sentences holds most of what the question names: then it need not be looked for."""
    named = {word: weight for word, weight in words.words.items() if weight > EXPANSION_WEIGHT}
    most = max((sum(named[word] for word in _held(tokenize(line), named)) for line in lines), default=0.0)
    return bool(named) and most >= _MOST_SAID * sum(named.values())


def has_steps(text: str) -> bool:
    """Whether a way to do something is told as a numbered list."""
    return len(_STEP.findall(text[:_SCANNED])) >= _LEAST_STEPS


def _is_of(line: str, sentence: str) -> bool:
    """Whether they are of one sentence, which may be cut differently."""
    return line in sentence or sentence in line


def wanted_of(words: Words) -> Wanted:
    match words:
        case Wanted():
            return words
        case str():
            return Wanted.of(words)
        case Mapping():
            return Wanted(words)
    return Wanted({word: weight for word, weight in query_weights(list(words)).items() if weight > 0})


def _held(tokens: Sequence[str], weights: Mapping[str, float]) -> frozenset[str]:
    """The words of the question that a sentence holds; one of four letters or more also where it begins another."""
    present = set(tokens)
    held = {word for word in weights if word in present}
    for word in weights.keys() - held:
        stem = beginning(word)
        if len(stem) > 3 and word.isascii() and any(token.startswith(stem) for token in present):
            held.add(word)
    return frozenset(held)


def _letters(word: str) -> str:
    """The letters of a Hangul word, its drawn-together vowels apart, for they change with its ending."""
    return "".join(_APART.get(letter, letter) for letter in normalize("NFD", word))


def _stems(text: str) -> set[str]:
    """What the Hangul words of a text begin with, long enough to tell a verb by."""
    return {letters for word in _HANGUL_WORD.findall(text) if len(letters := _letters(word)[:_STEM]) == _STEM}


def _rarity(held: Sequence[frozenset[str]], weights: Mapping[str, float]) -> dict[str, float]:
    """What each word tells of a sentence: a word that every sentence holds is the topic, and tells nothing apart."""
    counts = {word: sum(word in each for each in held) for word in weights}
    return {
        word: weight * math.log1p((len(held) - counts[word] + 0.5) / (counts[word] + 0.5)) ** _STEEP
        for word, weight in weights.items()
        if counts[word]
    }


def _order(held: Sequence[frozenset[str]], worth: Mapping[str, float]) -> list[int]:
    """The sentence that says most first, then each that adds enough to it.

    Where no sentence holds a word of the question, the text is read from its beginning.
    """
    said: set[str] = set()

    def value(at: int) -> float:
        return sum(worth[word] * (_AGAIN if word in said else 1.0) for word in held[at])

    left = [(-value(at), at) for at in range(len(held))]
    heapify(left)
    least = -left[0][0] * _ENOUGH
    if not least:
        return list(range(len(held)))
    order: list[int] = []
    while left:
        known, at = heappop(left)
        if -known < least:
            break
        # What was said since can only have made it worth less: where it did, it takes its place again.
        if (now := -value(at)) == known:
            order.append(at)
            said |= held[at]
        else:
            heappush(left, (now, at))
    return order


def _with_what_follows(order: list[int], held: Sequence[frozenset[str]], worth: Mapping[str, float]) -> list[int]:
    """The sentence behind the best one before those that say far less: it goes on about the same and may answer."""
    values = [sum(worth.get(word, 0.0) for word in held[at]) for at in order]
    ahead = [at for at, value in zip(order, values, strict=True) if value >= values[0] * _AS_MUCH]
    follows = [order[0] + 1] if order[0] + 1 < len(held) else []
    return list(dict.fromkeys([*ahead, *follows, *order]))


def _joined(lines: Sequence[str], chosen: Sequence[int]) -> str:
    parts: list[str] = []
    before = -1
    for at in sorted(chosen):
        parts.append((GAP.lstrip() if not parts else GAP) if at > before + 1 else " " if parts else "")
        parts.append(lines[at])
        before = at
    return "".join(parts) + (GAP.rstrip() if before < len(lines) - 1 else "")


def _cut(line: str, worth: Mapping[str, float], tokens: int) -> str:
    """As many words of a sentence as fit, around those that were asked for."""
    spans = [(start, worth[token]) for token, start, _ in token_spans(line) if token in worth]
    middle = max(spans, key=lambda span: span[1])[0] if spans else 0
    pieces = line.split(" ")
    begins = [0]
    for piece in pieces[:-1]:
        begins.append(begins[-1] + len(piece) + 1)
    at = max(place for place, begin in enumerate(begins) if begin <= middle)

    def window(size: int) -> str:
        start = max(0, min(at - int(size * _LEAD), len(pieces) - size))
        end = start + size
        body = " ".join(pieces[start:end])
        return f"{GAP.lstrip() if start else ''}{body}{GAP.rstrip() if end < len(pieces) else ''}"

    size = bisect_right(range(1, len(pieces) + 1), tokens, key=lambda size: count_tokens(window(size)))
    return window(size) if size else fit(line[middle:], tokens)[0]


# ── logs ──

# Of the room for a log that does not fit, so much for the lines that match, and of the rest so much for its end, where
# what went wrong is told.
_FOR_MATCHES, _FOR_END = 0.5, 0.65
# A line longer than this share of the room is cut.
_LONGEST_LINE: Final = 0.5


class LogExcerpt(NamedTuple):
    """`text` says which lines it leaves out; `following` is the first line after what an offset asked for, if any."""

    text: str
    lines: int
    left_out: int
    following: int | None = None


def log_excerpt(text: str, *, tokens: int, match: str | None = None, offset: int = 0) -> LogExcerpt:
    """A log within so many tokens: whole, or its head, its tail and the lines that match; from `offset` on, a page."""
    lines = text.splitlines()
    if not offset and len(text) <= tokens * _LONGEST_TOKEN and count_tokens(text) <= tokens:
        return LogExcerpt(text, len(lines), 0)
    worth = Wanted.of(match).words if match else {}
    longest = max(int(tokens * _LONGEST_LINE), 1)

    def shown(at: int) -> str:
        line = lines[at].rstrip()
        if len(line) <= longest or count_tokens(line) <= longest:
            return line
        return _cut(line[:_SCANNED], worth, longest)

    def taken(order: Iterable[int], room: float) -> list[int]:
        chosen: list[int] = []
        for at in order:
            room -= count_tokens(shown(at)) + 1
            if room < 0:
                break
            chosen.append(at)
        return chosen

    rest = tokens - _MARK_TOKENS * 2
    if offset:
        chosen = taken(range(min(offset, len(lines)), len(lines)), rest)
        after = chosen[-1] + 1 if chosen else offset + 1
        written = _numbered(lines, chosen, shown)
        return LogExcerpt(written, len(lines), len(lines) - len(chosen), after if after < len(lines) else None)
    matching = [at for at, line in enumerate(lines) if worth and _held(tokenize(line[:_SCANNED]), worth)]
    best = sorted(matching, key=lambda at: (-len(_held(tokenize(lines[at][:_SCANNED]), worth)), -at))
    matched = set(taken(best, (rest - 3 * _MARK_TOKENS) * _FOR_MATCHES))
    rest -= sum(count_tokens(shown(at)) + 1 + _MARK_TOKENS for at in matched)
    tail = taken((at for at in reversed(range(len(lines))) if at not in matched), rest * _FOR_END)
    rest -= sum(count_tokens(shown(at)) + 1 for at in tail)
    head = taken((at for at in range(len(lines)) if at not in matched and at not in tail), rest)
    chosen = sorted({*matched, *tail, *head})
    return LogExcerpt(_numbered(lines, chosen, shown), len(lines), len(lines) - len(chosen))


# What the mark of a gap costs.
_MARK_TOKENS: Final = 9


def _numbered(lines: Sequence[str], chosen: Sequence[int], shown: Callable[[int], str]) -> str:
    """The chosen lines in order, and between them which are left out, counted from 1."""
    written, before = [], -1
    for at in [*chosen, len(lines)]:
        if at > before + 1:
            written.append(f"{ELLIPSIS} lines {before + 2}-{at} {ELLIPSIS}")
        if at < len(lines):
            written.append(shown(at))
        before = at
    return "\n".join(written)
