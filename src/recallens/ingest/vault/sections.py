"""The headings of a note, outside code fences, with the names by which links find them; and the note as sections: cut
at headings, small neighbours joined, long ones cut where a reader would pause.

Where a cut falls depends on the heading's own subtree and on its small neighbours alone. So an edit moves few cuts,
and what did not move keeps its text, its hash and its place in the index.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from msgspec import Struct

from recallens.ingest.validate import without_secrets
from recallens.model.vault import CHUNK_CHARACTERS
from recallens.text.normalize import normalize

# Below this a section says too little alone; neighbours that are all this small are one section.
SMALL_CHARACTERS: Final = 300
# A cut nearer to the start than this share of the target would leave a scrap.
_LEAST_SHARE: Final = 0.4

_NEWLINE: Final = re.compile("\n")
_PAUSE: Final = re.compile(r"[.!?。！？…][\"'”’」』)\]]*(?=\s)\s|\n|[。！？]")

LONGEST_HEADING: Final = 200

# A fence may stand at any depth of a list; what it holds is never a heading.
_FENCE: Final = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})(?P<rest>[^\n]*)")
_ATX: Final = re.compile(r" {0,3}(?P<level>#{1,6})(?:[ \t]+(?P<text>[^\n]*?))??(?:[ \t]+#+)?[ \t]*\Z")
_SETEXT: Final = re.compile(r" {0,3}(?P<mark>=+|-{2,})[ \t]*\Z")
_NO_PARAGRAPH: Final = re.compile(r" {0,3}(?:[#>|*+-]|\d{1,9}[.)]|```|~~~|<)|[ \t]*\Z| {4}|\t")

_ANCHOR: Final = re.compile(r"[ \t]*\{#(?P<id>[^{}\s]{1,128})\}[ \t]*\Z")
_WIKI: Final = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
_LINK: Final = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_SHORTCODE: Final = re.compile(r"\{\{[<%]\s*(?:heading\s+)?\"?([^{}<>%\"]*)\"?\s*[%>]\}\}")
_EMPHASIS: Final = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)")
_NOT_IN_SLUG: Final = re.compile(r"[^\w\- ]+")


class Heading(NamedTuple):
    """`start` is where its line begins in the text; `body` is where the text under it begins."""

    level: int
    text: str
    anchors: tuple[str, ...]
    start: int
    body: int


def slug(text: str) -> str:
    """The name of a heading in a link, as GitHub and most generators spell it; case never tells two apart."""
    return _NOT_IN_SLUG.sub("", normalize(text).strip()).replace(" ", "-")


def plain(text: str) -> str:
    """A heading as it is read: without link targets, shortcodes, marks of emphasis and secrets."""
    text = _SHORTCODE.sub(r"\1", _LINK.sub(r"\1", _WIKI.sub(r"\1", text)))
    return without_secrets(" ".join(_EMPHASIS.sub("", without_secrets(text)).split()))[:LONGEST_HEADING]


def lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each line with where it begins and whether it is part of a code fence."""
    mark, at = "", 0
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if mark:
            yield at, line, True
            closes = fence is not None and fence["mark"].startswith(mark) and not fence["rest"].strip()
            mark = "" if closes else mark
        elif fence is not None and not (fence["mark"][0] == "`" and "`" in fence["rest"]):
            yield at, line, True
            mark = fence["mark"]
        else:
            yield at, line, False
        at += len(line) + 1


def headings(text: str) -> list[Heading]:
    titles: list[Heading] = []
    before: tuple[int, str] | None = None  # a line that would be a heading if it were underlined
    blank = True
    for at, line, fenced in lines(text):
        if fenced:
            before, blank = None, False
            continue
        if atx := _ATX.match(line):
            titles.append(_heading(len(atx["level"]), atx["text"] or "", at, at + len(line) + 1))
            before, blank = None, True
            continue
        if before is not None and (under := _SETEXT.match(line)):
            titles.append(_heading(1 if under["mark"][0] == "=" else 2, before[1], before[0], at + len(line) + 1))
            before, blank = None, True
            continue
        # Only a paragraph of one line is taken for a title: below a longer one, dashes are a rule.
        before = (at, line) if blank and not _NO_PARAGRAPH.match(line) else None
        blank = not line.strip()
    return titles


def _heading(level: int, raw: str, start: int, body: int) -> Heading:
    anchor = _ANCHOR.search(raw)
    text = plain(raw[: anchor.start()] if anchor else raw.strip())
    names = dict.fromkeys((slug(text), slug(without_secrets(anchor["id"])) if anchor else ""))
    return Heading(level, text, tuple(filter(None, names)), start, body)


class NoteSection(Struct, frozen=True):
    """A stretch of the file with the lines it stands on, counted from 1, and the headings above it."""

    text: str
    headings: tuple[str, ...]
    anchors: tuple[str, ...]
    first_line: int
    last_line: int


class _Piece(NamedTuple):
    start: int
    end: int
    path: tuple[str, ...]
    bare: bool = False  # a heading and nothing under it

    @property
    def size(self) -> int:
        return self.end - self.start


Apart = Collection[int]
"""Where headings begin whose parts are joined with no others, because they have ended and the others have not."""


def markdown_sections(
    text: str, *, line: int = 1, target: int = CHUNK_CHARACTERS, apart: Apart = ()
) -> list[NoteSection]:  # fmt: skip
    """`line` is the number of the text's first line in its file."""
    titles = headings(text)
    pieces = _whole(text, titles) if len(text.strip()) <= target and not apart else _cut(text, titles, target, apart)
    return _sections(text, pieces, titles, line, target)


def plain_sections(
    text: str, *, line: int = 1, target: int = CHUNK_CHARACTERS, apart: Apart = ()
) -> list[NoteSection]:  # fmt: skip
    return _sections(text, [_Piece(0, len(text), ())], [], line, target)


def whole_section(text: str, *, line: int = 1, target: int = 0, apart: Apart = ()) -> list[NoteSection]:
    """The text as one section, however long: a card that is read whole or not at all."""
    titles = headings(text)
    return _sections(text, _whole(text, titles), titles, line, max(len(text), 1))


def _whole(text: str, titles: Sequence[Heading]) -> list[_Piece]:
    alone = len(titles) == 1 and not text[: titles[0].start].strip()
    return [_Piece(0, len(text), (titles[0].text,) if alone and titles[0].text else ())]


def _cut(text: str, titles: Sequence[Heading], target: int, apart: Apart) -> list[_Piece]:
    units, levels, path = [], [], list[tuple[int, str]]()
    if not titles or text[: titles[0].start].strip():
        units.append(_Piece(0, titles[0].start if titles else len(text), ()))
        levels.append(7)  # what stands before the first heading is under none, and none is under it
    for at, heading in enumerate(titles):
        end = titles[at + 1].start if at + 1 < len(titles) else len(text)
        path = [(level, name) for level, name in path if level < heading.level] + [(heading.level, heading.text)]
        bare = not text[heading.body : end].strip()
        units.append(_Piece(heading.start, end, tuple(name for _, name in path if name), bare))
        levels.append(heading.level)
    return _group(units, levels, 0, len(units), target, apart)


def _group(
    units: Sequence[_Piece], levels: Sequence[int], low: int, high: int, target: int, apart: Apart
) -> list[_Piece]:  # fmt: skip
    """Subtrees that fit are one piece each; of one that does not, its own text and then its children."""
    pieces: list[_Piece] = []
    at = low
    while at < high:
        after = at + 1
        while after < high and levels[after] > levels[at]:
            after += 1
        top, last = units[at], units[after - 1]
        if last.end - top.start <= target and not any(each.start in apart for each in units[at + 1 : after]):
            pieces.append(_Piece(top.start, last.end, top.path, top.bare and after == at + 1))
        else:
            pieces.append(top)
            pieces += _group(units, levels, at + 1, after, target, apart)
        at = after
    return _joined(pieces, target, apart)


def _joined(pieces: Sequence[_Piece], target: int, apart: Apart) -> list[_Piece]:
    joined: list[_Piece] = []
    small: list[bool] = []  # whether everything in it was small
    for piece in pieces:
        is_small = piece.size < SMALL_CHARACTERS and piece.start not in apart
        if joined and piece.end - joined[-1].start <= target:
            before = joined[-1]
            if before.bare and piece.start not in apart and piece.path[: len(before.path)] == before.path:
                # The heading above it is in its breadcrumb anyway.
                joined[-1], small[-1] = _Piece(before.start, piece.end, piece.path, piece.bare), is_small
                continue
            if small[-1] and is_small:
                alike = takewhile(lambda pair: pair[0] == pair[1], zip(before.path, piece.path, strict=False))
                joined[-1] = _Piece(before.start, piece.end, tuple(name for name, _ in alike))
                continue
        joined.append(piece)
        small.append(is_small)
    return joined


def _sections(
    text: str, pieces: Sequence[_Piece], titles: Sequence[Heading], line: int, target: int
) -> list[NoteSection]:  # fmt: skip
    ends = [match.start() for match in _NEWLINE.finditer(text)]
    long = any(piece.size > target for piece in pieces)
    breaks = [at for at, content, fenced in lines(text) if not fenced and not content.strip()] if long else []
    sections = []
    for piece in pieces:
        for start, end in _split(text, piece.start, piece.end, target, breaks):
            kept = text[start:end].strip("\n").rstrip()
            if not kept.strip():
                continue
            first = start + len(text[start:end]) - len(text[start:end].lstrip("\n"))
            anchors = tuple(name for h in titles if start <= h.start < end for name in h.anchors)
            below, above = bisect_right(ends, first - 1), bisect_right(ends, first + len(kept) - 1)
            sections.append(NoteSection(kept, piece.path, anchors, line + below, line + above))
    return sections


def _split(text: str, start: int, end: int, target: int, breaks: Sequence[int]) -> list[tuple[int, int]]:
    """A piece longer than the target: at paragraph ends, else sentence or line ends, else at spaces, else anywhere."""
    cuts = []
    while len(text[start:end].strip()) > target:
        least, most = start + int(target * _LEAST_SHARE), start + target
        at = bisect_right(breaks, most) - 1
        if at >= 0 and breaks[at] > least:
            cut = breaks[at]
        else:
            pauses = [match.end() for match in _PAUSE.finditer(text, least, most)]
            cut = pauses[-1] if pauses else text.rfind(" ", least, most) + 1 or most
        cuts.append((start, cut))
        start = cut
    return [*cuts, (start, end)]
