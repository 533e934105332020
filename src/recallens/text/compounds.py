"""How one chunk of letters, digits and joiners becomes tokens: its parts in order, then itself whole."""

from __future__ import annotations

import re
from typing import Final

from recallens.text.normalize import fold
from recallens.text.stem import stem

Span = tuple[str, int, int]

# Without separators and longer than this, it is a blob (base64, a minified line), whose humps mean nothing.
LONGEST_IDENTIFIER: Final = 64

# `python3` is looked for as `python`, but `e11000`, `s3` and `ts2345` are names as they stand.
SHORTEST_NUMBERED_WORD: Final = 3

_PLAIN: Final = re.compile(r"[A-Za-z]?[a-z]+|[A-Z]+s?")
_PART: Final = re.compile(r"v?\d++(?:\.\d++)++(?![A-Za-z])|[^-./\\_+#,]++")
_HUMP: Final = re.compile(r"[A-Z]{2,}s(?![a-z\d])|[A-Z\d]+(?![a-z\d])|[A-Z]?[a-z\d]+")
_NUMBERED: Final = re.compile(rf"([a-z]{{{SHORTEST_NUMBERED_WORD},}})\d+")
_GROUPED_NUMBER: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NUMBER: Final = re.compile(r"[vV]?\d++(?:\.\d++)*")
_TIMESTAMP: Final = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d)")
_NEGATED: Final = re.compile(r"[A-Za-z]+n't", re.IGNORECASE)
_CLITICS: Final = frozenset({"s", "re", "ve", "ll", "d", "m"})


def compound_spans(chunk: str) -> list[Span]:
    """The tokens of one chunk with their offsets in it."""
    if len(chunk) <= LONGEST_IDENTIFIER and _PLAIN.fullmatch(chunk):
        return [(stem(chunk.lower()), 0, len(chunk))]
    if "'" in chunk:
        return _apostrophe_spans(chunk)
    return _number_spans(chunk) or _joined_spans(chunk)


def _joined_spans(chunk: str) -> list[Span]:
    parts = [(part.group(), part.start()) for part in _PART.finditer(chunk)]
    spans = [span for word, at in parts for span in _word_spans(word, at)]
    whole = _whole(chunk)
    if len(parts) == 1 and whole == fold(parts[0][0]):
        return spans
    return [*spans, (whole, 0, len(chunk))]


def _whole(chunk: str) -> str:
    """The compound as one token; underscores around it stay only where they make a dunder name."""
    is_dunder = chunk.startswith("__") and chunk.endswith("__")
    return fold(chunk if is_dunder else chunk.strip("_")).replace("\\", "/")


def _apostrophe_spans(chunk: str) -> list[Span]:
    """`user's` is user; `don't` stays, since it turns a meaning around; `O'Brien` is a compound."""
    if _NEGATED.fullmatch(chunk):
        return [(chunk.lower(), 0, len(chunk))]
    base, _, clitic = chunk.rpartition("'")
    name = base if clitic.lower() in _CLITICS else chunk
    pieces = _split_at_apostrophes(name)
    spans = [(token, at + start, at + end) for at, piece in pieces for token, start, end in compound_spans(piece)]
    if len(pieces) == 1:
        return spans
    return [*spans, (fold(name.strip("_")), 0, len(name))]


def _split_at_apostrophes(chunk: str) -> list[tuple[int, str]]:
    pieces: list[tuple[int, str]] = []
    at = 0
    for piece in chunk.split("'"):
        if piece:
            pieces.append((at, piece))
        at += len(piece) + 1
    return pieces


def _number_spans(chunk: str) -> list[Span]:
    """Numbers and versions stay whole: the 3 of 3.14 finds nothing that anyone looks for."""
    if _NUMBER.fullmatch(chunk):
        whole = chunk.lower()
        if whole[0] == "v" and "." in whole:
            return [(whole[1:], 1, len(chunk)), (whole, 0, len(chunk))]
        return [(whole, 0, len(chunk))]
    if "," in chunk and _GROUPED_NUMBER.fullmatch(chunk):
        return [(chunk.replace(",", ""), 0, len(chunk))]
    timestamp = _TIMESTAMP.fullmatch(chunk)
    if timestamp:
        return [*_joined_spans(timestamp[1]), (timestamp[2], timestamp.start(2), timestamp.end(2))]
    return []


def _word_spans(word: str, at: int) -> list[Span]:
    """One part: a plain word, a version, or humps and then the whole."""
    end = at + len(word)
    if not word.isascii() or len(word) > LONGEST_IDENTIFIER or "." in word:
        return [(fold(word), at, end)]
    if _PLAIN.fullmatch(word):
        return [(stem(word.lower()), at, end)]
    humps = list(_HUMP.finditer(word))
    if len(humps) < 2:
        return _numbered_spans(word, at)
    spans = [span for hump in humps for span in _numbered_spans(hump.group(), at + hump.start())]
    whole = word.lower()
    spans.append((whole, at, end))
    # Typed in lower case the same name is a plain word, which is stemmed: both must meet.
    if whole.isalpha() and (stemmed := stem(whole)) != whole:
        spans.append((stemmed, at, end))
    return spans


def _numbered_spans(word: str, at: int) -> list[Span]:
    lower = word.lower()
    if lower.isalpha():
        return [(stem(lower), at, at + len(word))]
    numbered = _NUMBERED.fullmatch(lower)
    if numbered is None:
        return [(lower, at, at + len(word))]
    name = numbered.group(1)
    return [(stem(name), at, at + len(name)), (lower, at, at + len(word))]
