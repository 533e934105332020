"""Headings of a markdown text, outside code fences, and the names by which links find them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from recallens.text.normalize import normalize

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


@dataclass(frozen=True, slots=True)
class Heading:
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
    """A heading as it is read: without link targets, shortcodes and marks of emphasis."""
    text = _SHORTCODE.sub(r"\1", _LINK.sub(r"\1", _WIKI.sub(r"\1", text)))
    return " ".join(_EMPHASIS.sub("", text).split())[:LONGEST_HEADING]


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
    found: list[Heading] = []
    before: tuple[int, str] | None = None  # a line that would be a heading if it were underlined
    blank = True
    for at, line, fenced in lines(text):
        if fenced:
            before, blank = None, False
            continue
        if atx := _ATX.match(line):
            found.append(_heading(len(atx["level"]), atx["text"] or "", at, at + len(line) + 1))
            before, blank = None, True
            continue
        under = _SETEXT.match(line) if before is not None else None
        if under is not None and before is not None:
            found.append(_heading(1 if under["mark"][0] == "=" else 2, before[1], before[0], at + len(line) + 1))
            before, blank = None, True
            continue
        # Only a paragraph of one line is taken for a title: below a longer one, dashes are a rule.
        before = (at, line) if blank and not _NO_PARAGRAPH.match(line) else None
        blank = not line.strip()
    return found


def _heading(level: int, raw: str, start: int, body: int) -> Heading:
    anchor = _ANCHOR.search(raw)
    text = plain(raw[: anchor.start()] if anchor else raw.strip())
    names = (slug(text), *((slug(anchor["id"]),) if anchor else ()))
    return Heading(level, text, tuple(dict.fromkeys(name for name in names if name)), start, body)
