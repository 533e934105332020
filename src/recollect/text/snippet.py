"""A short stretch of a text around the words that were asked for, with those words marked."""

from __future__ import annotations

from collections.abc import Collection

from recollect.text.stopwords import query_weights
from recollect.text.tokenizer import token_spans

MARK, END_MARK, GAP = "<mark>", "</mark>", "..."
# The seed's window. Hangul gives a token a syllable, so it is a good third of that in words.
WINDOW_TOKENS = 32
# A memory can be megabytes; what matches is nearly always near the start, and a snippet is a courtesy.
SCANNED_CHARACTERS = 20_000
# What a prefix query may open up to: "auth" marks "authentication".
PREFIX_SHORTEST = 3


def snippet(text: str, asked: Collection[str]) -> str:
    """The window with the most distinct asked words, or nothing where none of them occurs."""
    wanted = {word for word, weight in query_weights(list(asked)).items() if weight > 0}
    spans = token_spans(text[:SCANNED_CHARACTERS])
    prefixes = tuple(word for word in wanted if len(word) >= PREFIX_SHORTEST)
    hits = [
        (at, token)
        for at, (token, _, _) in enumerate(spans)
        if token in wanted or (prefixes and token.startswith(prefixes))
    ]
    if not hits:
        return ""
    first = _best_window(hits)
    last = min(first + WINDOW_TOKENS, len(spans)) - 1
    start, end = spans[first][1], max(stop for _, _, stop in spans[first : last + 1])
    if first == 0:
        start = 0
    if last == len(spans) - 1 and len(text) <= SCANNED_CHARACTERS:
        end = len(text)
    marked = _marked(text, start, end, [(spans[at][1], spans[at][2]) for at, _ in hits if first <= at <= last])
    return f"{GAP if start > 0 else ''}{marked}{GAP if end < len(text) else ''}"


def _best_window(hits: list[tuple[int, str]]) -> int:
    """Start a few tokens before the hit that opens the richest window; the earliest of equals."""
    best, richest = 0, 0
    for index, (at, _) in enumerate(hits):
        inside = {token for place, token in hits[index : index + WINDOW_TOKENS] if place < at + WINDOW_TOKENS - _LEAD}
        if len(inside) > richest:
            best, richest = at, len(inside)
    return max(0, best - _LEAD)


_LEAD = 8


def _marked(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> str:
    merged: list[tuple[int, int]] = []
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
