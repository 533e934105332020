"""A short stretch of a text around the words that were asked for, with those words marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from recallens.deadline import check
from recallens.text.normalize import nfc
from recallens.text.stopwords import query_weights
from recallens.text.tokenizer import token_spans, tokens_of

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
# Where a run begins, itself, and which of its tokens were asked for.
Hit = tuple[int, str, frozenset[str]]
# A run of letters and digits. A compound's parts are tokens too, so cutting it here loses no word, and takes a tenth of
# the time of cutting as the tokenizer does.
_RUN = re.compile(r"[^\W_]+")
_WINDOW = re.compile(rf"[\W_]*+[^\W_]++(?:[\W_]++[^\W_]++){{0,{WINDOW_WORDS - 1}}}")
_LEAD = re.compile(rf"(?:[\W_]*+[^\W_]++){{{LEAD_WORDS}}}")
# Its group is a run whose every token begins where the run does: one without a capital inside, where a part of a
# compound would begin.
_ANY_RUN = re.compile(r"((?:[A-Za-z0-9][a-z0-9]*+|[A-Z0-9]++)(?![^\W_]))|[^\W_]++")
_PLAIN_RUN = re.compile(r"[A-Za-z0-9]+")
_APART = {code: " " for code in range(128) if not chr(code).isalnum()}


def beginning(token: str) -> str:
    """What every word with this stem begins with: all but its last letter (happi, happy) or two (die, dying)."""
    return token[: max(1, len(token) - (2 if token.endswith("ie") else 1))]


class Snippets:
    """The words of one query that count, to be marked in many texts."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self._wanted = frozenset(wanted)
        self._prefixes = tuple(word for word in self._wanted if len(word) >= PREFIX_SHORTEST)

    @cached_property
    def _beginnings(self) -> tuple[str, ...]:
        """Of those words that a run of ASCII may begin with: `.net` is none."""
        return tuple({beginning(word) for word in self._wanted if word.isascii() and word[0].isalnum()})

    def __call__(self, text: str) -> str:
        """Words that only begin as asked are marked too: in a short query, or where no word stands in full."""
        check()
        composed = nfc(text)
        head = composed[:SCANNED_CHARACTERS]
        hits = self._found(head)
        return _snippet(composed, head, hits) if hits else ""

    def marked(self, text: str) -> str:
        """All of a short text."""
        composed = nfc(text)
        spans = [span for begin, run, held in self._found(composed) for span in _within(run, begin, held)]
        return _marked(composed, 0, len(composed), spans)

    def _found(self, text: str) -> list[Hit]:
        runs = self._likely_plain(text) if text.isascii() else self._likely(text)
        met = [(start, run, tokens_of(run)) for start, run in runs]
        return self._hits(met, len(self._wanted) <= PREFIX_QUERY_WORDS) or self._hits(met, True)

    def _likely(self, text: str) -> list[tuple[int, str]]:
        """The runs that may hold a word that was asked for: most begin unlike any, and need no tokenizing."""
        beginnings, lowered, runs = self._beginnings, text.lower(), _ANY_RUN.finditer(text)
        if len(lowered) == len(text):
            begins = lowered.startswith
            return [(run.start(), run[0]) for run in runs if run.lastindex is None or begins(beginnings, run.start())]
        # A letter whose small form is two letters has moved all that follow.
        return [(r.start(), r[0]) for r in runs if r.lastindex is None or r[0].lower().startswith(beginnings)]

    def _likely_plain(self, text: str) -> list[tuple[int, str]]:
        """The same of plain ASCII, from the other end: where a word that was asked for may begin."""
        lowered = text.lower()
        runs: dict[int, str] = {}
        for begins in self._beginnings:
            at = lowered.find(begins)
            while at >= 0:
                start = at
                while start and text[start - 1].isalnum():
                    start -= 1
                if start not in runs:
                    runs[start] = _PLAIN_RUN.match(text, start)[0]  # type: ignore[index]  # it has a letter at least
                at = lowered.find(begins, start + len(runs[start]))
        return sorted(runs.items())

    def _hits(self, met: Sequence[tuple[int, str, Sequence[str]]], opened: bool) -> list[Hit]:
        return [(start, run, held) for start, run, tokens in met if (held := self._held(tokens, opened))]

    def _held(self, tokens: Sequence[str], opened: bool) -> frozenset[str]:
        """Which of the tokens were asked for."""
        if not self._wanted.isdisjoint(tokens):
            return self._wanted.intersection(tokens)
        begun = [token for token in tokens if token.startswith(self._prefixes)] if opened and self._prefixes else ()
        return frozenset(begun)


def counting(asked: Iterable[str]) -> list[str]:
    """The words of a query without those that say nothing."""
    return [word for word, weight in query_weights(list(asked)).items() if weight > 0]


def snippet(text: str, asked: Iterable[str]) -> str:
    return Snippets(counting(asked))(text)


def _snippet(text: str, head: str, hits: Sequence[Hit]) -> str:
    """The window with the most distinct asked words; all of a text that is no longer than one."""
    start = 0
    window = _WINDOW.match(head)
    if window is not None and _RUN.search(head, window.end()):
        start = _lead(head, _opening(head, hits))
        window = _WINDOW.match(head, start)
    assert window is not None  # there is a hit
    end = window.end()
    if len(text) == len(head) and _RUN.search(text, end) is None:
        end = len(text)
    marks = [span for begin, run, held in hits if start <= begin < end for span in _within(run, begin, held)]
    return f"{GAP if start > 0 else ''}{_marked(text, start, end, marks)}{GAP if end < len(text) else ''}"


def _opening(text: str, hits: Sequence[Hit]) -> int:
    """Where the hit stands that opens the richest window; the earliest of equals."""
    every = len(frozenset().union(*(held for _, _, held in hits)))
    best, richest = 0, 0
    for index, (start, _, _) in enumerate(hits):
        inside: set[str] = set()
        words, at = 0, start
        for place, _, held in hits[index:]:
            words += _count(text[at:place])
            at = place
            if words >= WINDOW_WORDS - LEAD_WORDS:
                break
            inside |= held
        if len(inside) > richest:
            best, richest = start, len(inside)
        if richest == every:
            break
    return best


def _count(text: str) -> int:
    """How many runs; plain ASCII is cut without a pattern, in two thirds of the time."""
    return len(text.translate(_APART).split() if text.isascii() else _RUN.findall(text))


def _lead(text: str, hit: int) -> int:
    """Where a few words before the hit begin; at the start of the text if there are no more than these."""
    before = text[:hit][::-1]
    lead = _LEAD.match(before)
    return 0 if lead is None or _RUN.search(before, lead.end()) is None else hit - lead.end()


def _within(run: str, start: int, held: frozenset[str]) -> list[Span]:
    """Where in a word the asked parts stand: 인증 in 사용자인증을, route in src/routes/api.ts."""
    if len(tokens_of(run)) == 1:
        return [(start, start + len(run))]
    return [(start + a, start + b) for token, a, b in token_spans(run) if token in held]


def _marked(text: str, start: int, end: int, spans: list[Span]) -> str:
    """The text between two places, with the spans in it marked; those that touch or overlap are one."""
    pieces: list[str] = []
    at = start
    for begin, stop in sorted(spans):
        if pieces and begin <= at:
            pieces[-2] += text[at : max(at, stop)]
        else:
            pieces += [text[at:begin], MARK, text[begin:stop], END_MARK]
        at = max(at, stop)
    return "".join([*pieces, text[at:end]])
