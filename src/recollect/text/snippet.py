"""A short stretch of a text around the words that were asked for, with those words marked."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.text.normalize import nfc
from recollect.text.stopwords import query_weights
from recollect.text.tokenizer import chunks, token_spans

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


class Snippets:
    """The words of one query, read once, to be marked in many texts."""

    def __init__(self, asked: Iterable[str]) -> None:
        weights = query_weights(list(asked))
        self._wanted = frozenset(word for word, weight in weights.items() if weight > 0)
        self._prefixes = tuple(word for word in self._wanted if len(word) >= PREFIX_SHORTEST)
        self._short = len(self._wanted) <= PREFIX_QUERY_WORDS

    def __call__(self, text: str) -> str:
        """Words that only begin as asked are marked too: in a short query, or where no word stands in full."""
        composed = nfc(text)
        exact = _snippet(composed, self._wanted, self._prefixes if self._short else ())
        return exact if exact or self._short else _snippet(composed, self._wanted, self._prefixes)


def snippet(text: str, asked: Iterable[str]) -> str:
    return Snippets(asked)(text)


def _snippet(text: str, wanted: frozenset[str], prefixes: tuple[str, ...]) -> str:
    """The window with the most distinct asked words, or nothing where none of them occurs."""
    words: list[Span] = []
    hits: list[tuple[int, frozenset[str]]] = []
    for at, (tokens, start, end) in enumerate(chunks(text[:SCANNED_CHARACTERS])):
        words.append((start, end))
        if not wanted.isdisjoint(tokens):
            hits.append((at, wanted.intersection(tokens)))
        elif prefixes and (begun := [token for token in tokens if token.startswith(prefixes)]):
            hits.append((at, frozenset(begun)))
    if not hits:
        return ""
    first = _best_window(hits)
    last = min(first + WINDOW_WORDS, len(words)) - 1
    start = words[first][0] if first else 0
    complete = last == len(words) - 1 and len(text) <= SCANNED_CHARACTERS
    end = len(text) if complete else words[last][1]
    marks = [span for at, found in hits if first <= at <= last for span in _within(text, words[at], found)]
    return f"{GAP if start > 0 else ''}{_marked(text, start, end, marks)}{GAP if end < len(text) else ''}"


def _best_window(hits: list[tuple[int, frozenset[str]]]) -> int:
    """Start a few words before the hit that opens the richest window; the earliest of equals."""
    best, richest = 0, 0
    for index, (at, _) in enumerate(hits):
        window = hits[index : index + WINDOW_WORDS]
        inside = frozenset().union(*(found for place, found in window if place < at + WINDOW_WORDS - LEAD_WORDS))
        if len(inside) > richest:
            best, richest = at, len(inside)
    return max(0, best - LEAD_WORDS)


def _within(text: str, word: Span, found: frozenset[str]) -> list[Span]:
    """Where in a word the asked parts stand: 인증 in 사용자인증을, route in src/routes/api.ts."""
    start, end = word
    return [(start + a, start + b) for token, a, b in token_spans(text[start:end]) if token in found]


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
