"""A short stretch of a text around the words that were asked for, with those words marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from recollect.text.normalize import nfc
from recollect.text.stopwords import query_weights
from recollect.text.tokenizer import token_spans, tokens_of

MARK, END_MARK, GAP = "<mark>", "</mark>", "..."
WINDOW_WORDS = 32
LEAD_WORDS = 8
# A memory can be megabytes; what matches is nearly always near the start, and a snippet is a courtesy.
SCANNED_CHARACTERS = 20_000
# Questions spell their words out; a query of up to this many words is likely to be typed in pieces ("auth conf"), and
# a piece opens up to what it begins: "auth" finds and marks "authentication".
PREFIX_SHORTEST = 3
PREFIX_QUERY_WORDS = 3

Span = tuple[int, int]
# A run of letters and digits. A compound's parts are tokens too, so cutting it here loses no word, and takes a tenth of
# the time of cutting as the tokenizer does.
#
# Its group is a run whose every token begins where the run does: one without a capital inside, where a part of a
# compound would begin. Those that begin unlike anything asked for, which most do, need no tokenizing.
_WORD = re.compile(r"((?:[A-Za-z0-9][a-z0-9]*+|[A-Z0-9]++)(?![^\W_]))|[^\W_]++")
_NONE: frozenset[str] = frozenset()
# A run by its place, and which of its tokens were asked for.
Hit = tuple[int, frozenset[str]]


def beginning(token: str) -> str:
    """What every word with this stem begins with: all but its last letter (happi, happy) or two (die, dying)."""
    return token[: max(1, len(token) - (2 if token.endswith("ie") else 1))]


class Snippets:
    """The words of one query that count, to be marked in many texts."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self._wanted = frozenset(wanted)
        self._prefixes = tuple(word for word in self._wanted if len(word) >= PREFIX_SHORTEST)
        self._short = len(self._wanted) <= PREFIX_QUERY_WORDS
        self._beginnings = tuple({beginning(word) for word in self._wanted})

    def __call__(self, text: str) -> str:
        """Words that only begin as asked are marked too: in a short query, or where no word stands in full."""
        composed = nfc(text)
        found = list(_WORD.finditer(composed, 0, SCANNED_CHARACTERS))
        runs = [(at, tokens_of(found[at].group())) for at in self._likely(composed, found)]
        hits = self._hits(runs, opened=self._short) or self._hits(runs, opened=True)
        return _snippet(composed, found, hits) if hits else ""

    def _likely(self, text: str, found: Sequence[re.Match[str]]) -> list[int]:
        """The places of the runs that may hold a word that was asked for."""
        head, beginnings = text[:SCANNED_CHARACTERS], self._beginnings
        lowered = head.lower()
        if len(lowered) == len(head):
            begins = lowered.startswith
            return [at for at, run in enumerate(found) if run.lastindex is None or begins(beginnings, run.start())]
        # A letter whose small form is two letters has moved all that follow.
        return [at for at, run in enumerate(found) if run.lastindex is None or run[0].lower().startswith(beginnings)]

    def _hits(self, runs: Sequence[tuple[int, Sequence[str]]], *, opened: bool) -> list[Hit]:
        return [(at, held) for at, tokens in runs if (held := self._held(tokens, opened))]

    def _held(self, tokens: Sequence[str], opened: bool) -> frozenset[str]:
        """Which of the tokens were asked for."""
        if not self._wanted.isdisjoint(tokens):
            return self._wanted.intersection(tokens)
        if opened and self._prefixes:
            return frozenset(token for token in tokens if token.startswith(self._prefixes))
        return _NONE


def counting(asked: Iterable[str]) -> list[str]:
    """The words of a query without those that say nothing."""
    return [word for word, weight in query_weights(list(asked)).items() if weight > 0]


def snippet(text: str, asked: Iterable[str]) -> str:
    return Snippets(counting(asked))(text)


def _snippet(text: str, found: Sequence[re.Match[str]], hits: Sequence[Hit]) -> str:
    """The window with the most distinct asked words."""
    first = _best_window(hits) if len(found) > WINDOW_WORDS else 0
    last = min(first + WINDOW_WORDS, len(found)) - 1
    start = found[first].start() if first else 0
    complete = last == len(found) - 1 and len(text) <= SCANNED_CHARACTERS
    end = len(text) if complete else found[last].end()
    marks = [span for at, held in hits if first <= at <= last for span in _within(found[at], held)]
    return f"{GAP if start > 0 else ''}{_marked(text, start, end, marks)}{GAP if end < len(text) else ''}"


def _best_window(hits: Sequence[Hit]) -> int:
    """Start a few words before the hit that opens the richest window; the earliest of equals."""
    best, richest = 0, 0
    every = len(frozenset().union(*(held for _, held in hits)))
    for index, (at, _) in enumerate(hits):
        window = hits[index : index + WINDOW_WORDS]
        inside = frozenset().union(*(found for place, found in window if place < at + WINDOW_WORDS - LEAD_WORDS))
        if len(inside) > richest:
            best, richest = at, len(inside)
        if richest == every:
            break
    return max(0, best - LEAD_WORDS)


def _within(run: re.Match[str], held: frozenset[str]) -> list[Span]:
    """Where in a word the asked parts stand: 인증 in 사용자인증을, route in src/routes/api.ts."""
    start, end = run.span()
    if len(tokens_of(run.group())) == 1:
        return [(start, end)]
    return [(start + a, start + b) for token, a, b in token_spans(run.group()) if token in held]


def _marked(text: str, start: int, end: int, spans: list[Span]) -> str:
    merged: list[Span] = []
    for begin, stop in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], stop))
        else:
            merged.append((begin, stop))
    pieces, at = [], start
    for begin, stop in merged:
        pieces += [text[at:begin], MARK, text[begin:stop], END_MARK]
        at = stop
    pieces.append(text[at:end])
    return "".join(pieces)
