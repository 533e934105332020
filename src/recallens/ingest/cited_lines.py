"""Cited lines as they were when something was remembered, and what has become of them since.

A print is hashes alone, so that nothing of a file is kept. It is compared with the file as it is: the same lines in
their place, the same lines elsewhere, or so many of them changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from msgspec import Struct

from recallens.ingest.definitions import definition
from recallens.ingest.line_hashes import SAID, hashes_of, said_hash, same
from recallens.model.citation import CitedLines, FileCitation, Finding, SymbolCitation

# Of more lines only the hash of all is kept: whether they changed is known, and not how many.
MOST_LINES: Final = 2_000
# Lines of a file among which moved or changed ones are looked for.
MOST_SEARCHED: Final = 50_000
# Lines above and below among which cited ones are looked for, at least.
_MARGIN: Final = 20
_NEWLINE: Final = re.compile(r"\r\n|\r|\n")


class Comparison(Struct, frozen=True):
    """`start` and `end` are where the lines stand now, `changed` is how many of the cited ones do not, where known."""

    finding: Finding
    start: int = 0
    end: int = 0
    changed: int = 0
    of: int = 0


def lines_of(text: str) -> list[str]:
    lines = _NEWLINE.split(text)
    return lines[:-1] if lines[-1] == "" else lines


def cited_range(citation: FileCitation | SymbolCitation, lines: Sequence[str]) -> tuple[int, int] | None:
    """The lines that are meant, counted from 1; None where the file does not have them."""
    if isinstance(citation, SymbolCitation):
        return definition(lines, citation.name)
    if citation.start_line is None:
        return (1, len(lines)) if lines else None
    end = citation.end_line or citation.start_line
    return (citation.start_line, end) if end <= len(lines) else None


def print_of(lines: Sequence[str], start: int, end: int) -> CitedLines:
    cited = lines[start - 1 : end]
    # A line that says nothing has no hash of its own, so that it finds nothing.
    each = tuple(hashes_of(cited)) if len(cited) <= MOST_LINES else ()
    return CitedLines(said_hash(cited), each, start)


def print_of_bytes(data: bytes) -> CitedLines:
    """Of a file that has no lines to speak of."""
    return CitedLines(hashlib.sha256(data).hexdigest(), start=0)


def compare(
    known: CitedLines, lines: Sequence[str], place: tuple[int, int] | None, *, whole: bool = False
) -> Comparison:
    """`place` is where the lines are now if nothing moved: those of the citation, or `whole`: a symbol's definition or
    all of the file, beside which nothing belongs to them.
    """
    size = len(known.lines) or (place[1] - place[0] + 1 if place else 0)
    if place is not None and same(known, lines[place[0] - 1 : place[1]]):
        moved = place[0] != known.start
        return Comparison(Finding.MOVED if moved else Finding.UNCHANGED, *place, of=size)
    if not any(known.lines) or len(lines) > MOST_SEARCHED:
        return Comparison(Finding.CHANGED if place is not None else Finding.GONE, *(place or (0, 0)), of=size)
    hashes = hashes_of(lines)
    if not whole and (stands := _elsewhere(known, lines, hashes)) is not None:
        moved = stands[0] != known.start
        return Comparison(Finding.MOVED if moved else Finding.UNCHANGED, *stands, of=size)
    return _changed(known, hashes, place, 0 if whole else max(len(known.lines), _MARGIN))


def found_in(known: CitedLines, lines: Sequence[str]) -> tuple[int, int] | None:
    """Where the same lines stand in another file; None where they do not, or are too many to look among."""
    if not any(known.lines) or len(lines) > MOST_SEARCHED:
        return None
    return _elsewhere(known, lines, hashes_of(lines))


def _elsewhere(known: CitedLines, lines: Sequence[str], hashes: Sequence[str]) -> tuple[int, int] | None:
    """Where the same lines stand now, whatever blank lines are among them: the place that is nearest to where they
    stood."""
    said = [line for line in known.lines if line]
    places = [at for at, line in enumerate(hashes) if line]
    lead = next(at for at, line in enumerate(known.lines) if line)
    trail = next(at for at, line in enumerate(reversed(known.lines)) if line)
    starts = [at for at, place in enumerate(places) if hashes[place] == said[0]]
    for at in sorted(starts, key=lambda at: abs(places[at] + 1 - lead - known.start)):
        own = places[at : at + len(said)]
        if [hashes[place] for place in own] != said:
            continue
        # Around them may stand cited lines that say nothing, such as brackets.
        first = _beside(hashes, own[0], -1, lead)
        last = _beside(hashes, own[-1], 1, trail)
        for low, high in ((first, last), (own[0], own[-1]), (first, own[-1]), (own[0], last)):
            if same(known, lines[low : high + 1]):
                return low + 1, high + 1
    return None


def _beside(hashes: Sequence[str], at: int, step: int, most: int) -> int:
    """The last of up to so many neighbours to one side that say nothing."""
    for _ in range(most):
        if not 0 <= at + step < len(hashes) or hashes[at + step]:
            break
        at += step
    return at


def _changed(known: CitedLines, hashes: Sequence[str], place: tuple[int, int] | None, margin: int) -> Comparison:
    """How many of the lines that say something are others now, or stand between them, around where they stood."""
    low, high = (place[0] - 1, place[1]) if place else (known.start - 1, known.start - 1 + len(known.lines))
    begin = max(0, low - margin)
    window = hashes[begin : high + margin]
    blocks = SequenceMatcher(None, known.lines, window, autojunk=False).get_matching_blocks()
    held = [at for block in blocks for at in range(block.b, block.b + block.size) if window[at]]
    said = sum(map(bool, known.lines))
    if not held and place is None:
        return Comparison(Finding.GONE, of=said)
    within = window if not margin else window[held[0] : held[-1] + 1] if held else []
    changed = max(said, sum(map(bool, within))) - len(held)
    start, end = (begin + held[0] + 1, begin + held[-1] + 1) if held and margin else place or (0, 0)
    if not changed and not known.hash.startswith(SAID):  # in an older hash blank lines count, and they alone changed
        lead = next(at for at, line in enumerate(known.lines) if line)
        moved = margin and start != known.start + lead
        return Comparison(Finding.MOVED if moved else Finding.UNCHANGED, start, end, of=said)
    return Comparison(Finding.CHANGED, start, end, max(1, changed), said)
