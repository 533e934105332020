"""Lines by which a note speaks of itself: that it, or a section of it, has ended and what replaced it, that it is a
draft or was rejected, that it replaces another.

A sentence in prose ends nothing. A line counts where it begins with the mark and stands near the top of the note, at
the top of a section, in a section called Status, or alone at the end. On 3,241 notes of four public vaults this ended
six, each of which says so of itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple

from recallens.errors import InvalidInput
from recallens.ingest.validate import parse_when
from recallens.ingest.vault.links import LINK, NUMBERED, named, taken_out
from recallens.ingest.vault.sections import NoteSection, headings, lines
from recallens.model.vault import Link, NoteEnding
from recallens.text.annotation import iso_dates
from recallens.text.languages import alternatives
from recallens.text.normalize import normalize

# How far from the top of a note or section a mark may stand, in blocks between blank lines.
TOP_BLOCKS: Final = 4
# A longer line is prose; a mark that names its successor by a link may have a reason behind it.
LONGEST_MARK: Final = 160
LONGEST_LINE_READ: Final = 2_000
READ_FOR_MARK: Final = 600  # of a section

_CALLOUT: Final = re.compile(r"\[!([\w-]+)\][+-]?")
_BEFORE: Final = re.compile(
    rf"(?:>|[-*+](?=\s)|\d+[.)](?=\s)|!!!\s*\w+|:{{3,}}\s*\w+|[^\w\s\[(<{LINK}]+)\s*|[\[(](?=\w[\w ]*[\])])|\s+"
)
_EMPHASIS: Final = re.compile(r"[*`~]+|(?<!\w)_+|_+(?!\w)")
_QUOTED: Final = re.compile(r"\s*(?:[-*+]\s+)?(?:>|\||\*\*|__|!!!|:::)")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_END: Final = r"(?=\s*(?:$|[.!:;,()\[\]→>/–—-]|\d|since\b|as of\b|on\b|from\b|because\b|after\b|in \d))"


def _pattern(field: str, *, before: str = "", after: str = "") -> re.Pattern[str]:
    return re.compile(f"{before}(?:{alternatives(lambda pack: getattr(pack.notes, field))}){after}")


_SUBJECT: Final = _pattern("subject", before="(?:", after=r"[:,]?(?:\s+|$))+")
_LABEL: Final = _pattern("status_label", before=r"\|?\s*", after=r"\s*[:：|=]\s*")
_STATUS_HEADING: Final = _pattern("status_label", after=r"\s*:?")
_DATE_LINE: Final = re.compile(
    rf"^[ \t>*_|-]*(?:{alternatives(lambda pack: pack.notes.date_label)})[*_ ]*[:：|](?P<date>[^\n]{{4,40}})$",
    re.MULTILINE | re.IGNORECASE,
)
_REPLACED_BY: Final = _pattern("replaced_by", after=r"(?:[\s:：→>–—-]+|$)")
_REPLACED_AFTER: Final = _pattern("replaced_after")
_INSTEAD: Final = _pattern("instead")
_TRACES: Final = _pattern("traces")
_REPLACES: Final = _pattern("replaces", after=rf"[\s:：→>–—-]+(?={LINK})")
_REPLACES_AFTER: Final = _pattern("replaces_after")
_ENDED: Final = _pattern("ended", after=_END)
_POINTS_AT: Final = re.compile(rf"[^\w{LINK}]*(?:→|->|=>|:|–|—)\s*{LINK}")
_REVIEW: Final = {
    name: _pattern(name, before=r"(?:an? )?(?:(?:early|rough|first) )?", after=_END) for name in ("draft", "rejected")
}
_LISTED: Final = _pattern("joined_by", before=rf"{LINK}(?:(?:[\s,;&]|", after=rf")+{LINK})*")
_ONLY: Final = re.compile(r"\W*")


class Line(NamedTuple):
    """A line that may be a mark: its words in small letters with a sign for each link, the links, the text itself;
    whether it is set off from prose, whether it stands behind the word Status, and whether it is one of a list."""

    words: str
    links: list[Link]
    text: str
    set_off: bool
    labelled: bool
    item: bool = False


_NOTHING: Final = Line("", [], "", False, False)


def read_line(raw: str, *, labelled: bool = False) -> Line:
    raw = raw[:LONGEST_LINE_READ]
    if _TRACES.search(normalize(raw)) is None:
        return _NOTHING
    text, links = taken_out(raw.strip())
    set_off = labelled or _QUOTED.match(text) is not None
    words = text.strip().lstrip("> ")
    if callout := _CALLOUT.match(words):
        rest = words[callout.end() :].strip()
        words, set_off = rest or callout[1], True
    words = _EMPHASIS.sub("", words)
    while (before := _BEFORE.match(words)) and before.end():
        words = words[before.end() :]
    words = " ".join(normalize(words).split())
    if label := _LABEL.match(words):
        words, labelled = words[label.end() :], True
    if subject := _SUBJECT.match(words):
        words = words[subject.end() :]
    return Line(words, links, raw, set_off or labelled, labelled, _ITEM.match(raw) is not None)


def ending_in(line: Line, *, alone: bool) -> NoteEnding | None:
    """What the line says of the end of what it stands in; None where it says nothing of it."""
    words, links = line.words, line.links
    if _REPLACED_AFTER.match(words):
        return NoteEnding(_date(line), tuple(links[:1]))
    if line.set_off and (number := NUMBERED.match(words)) and _REPLACED_AFTER.match(LINK + words[number.end() :]):
        return NoteEnding(_date(line), (Link("name", number[0]),))
    if match := _REPLACED_BY.match(words):
        rest = words[match.end() :]
        if rest.startswith(LINK) or (LINK in rest[:40] and (line.set_off or alone)):
            return NoteEnding(_date(line), _listed(line, rest))
        if not rest or not (line.set_off or alone) or len(words) > LONGEST_MARK:
            return None
        if not line.set_off and NUMBERED.match(rest) is None:  # filters, too, are replaced: by hand, every six weeks
            return None
        plain = named(re.split(r"[.;(]| on | as of | since | instead", rest)[0])
        return NoteEnding(_date(line), (plain,) if plain is not None else ())
    match = _ENDED.match(words)
    if match is None or (len(words) > LONGEST_MARK and not line.set_off):
        return None
    if line.item and not line.labelled and not alone:  # an index of notes has such items: "Archived: [[old]]"
        return None
    rest = words[match.end() :]
    prose = rest.lstrip()[:1] in (",", "/", "-", "(") or rest[:1] == " "
    if prose and not (line.set_off or alone):
        return None
    by = _REPLACED_BY.search(rest) or _REPLACED_AFTER.search(rest) or _POINTS_AT.match(rest) or _INSTEAD.search(rest)
    return NoteEnding(_date(line), _listed(line, rest[by.start() :]) if by is not None and LINK in rest else ())


def _listed(line: Line, rest: str) -> tuple[Link, ...]:
    """The links that stand together in the rest of a line, before anything else is said."""
    together = _LISTED.search(rest)
    if together is None:
        return ()
    before = line.words.count(LINK) - rest[together.start() :].count(LINK)
    return tuple(line.links[before:][: together[0].count(LINK)])


def review_in(line: Line) -> str | None:
    for review, pattern in _REVIEW.items():
        match = pattern.match(line.words)
        if match is not None and (line.labelled or _ONLY.fullmatch(line.words, match.end())):
            return review
    return None


def replaced_in(line: Line) -> list[Link]:
    """What the note says that it replaces."""
    if match := _REPLACES.match(line.words):
        return list(_listed(line, line.words[match.end() :]))
    return line.links[:1] if _REPLACES_AFTER.match(line.words) else []


def _date(line: Line) -> int | None:
    stated = iso_dates(taken_out(line.text)[0])
    with suppress(InvalidInput, IndexError):
        return parse_when(stated[0], now_ms=0)
    return None


def dated(body: str) -> int | None:
    """The date that a line near the top gives the note: Date: 2026-01-20."""
    match = _DATE_LINE.search(body, 0, READ_FOR_MARK)
    with suppress(InvalidInput, IndexError):
        return parse_when(iso_dates(match["date"])[0], now_ms=0) if match is not None else None
    return None


def openings(title: str, body: str) -> Iterator[tuple[Line, bool]]:
    """The lines that may speak of the whole note, and whether each is a paragraph by itself."""
    for bracketed in re.findall(r"^\W*[\[(【]([^\[\]()【】]+)[\])】]|[\[(【]([^\[\]()【】]+)[\])】]\s*$", title):
        yield read_line(f"status: {''.join(bracketed)}"), True
    titles = headings(body)
    opens = bool(titles) and not body[: titles[0].start].strip()
    start = titles[0].body if opens else 0
    end = next((heading.start for heading in titles if heading.start >= start), len(body))
    yield from _blocks(body[start:end])
    for heading, after in zip(titles, [*(later.start for later in titles[1:]), len(body)], strict=bool(titles)):
        if _STATUS_HEADING.fullmatch(normalize(heading.text)):
            yield from islice(_blocks(body[heading.body : after], labelled=True), 2)
    if len(titles) <= 1 and (last := [line for line, alone in _blocks(body[start:], most=None) if alone][-1:]):
        # At the end a mark counts where it names its successor.
        yield from ((line, True) for line in last if line.links)


def _blocks(text: str, *, most: int | None = TOP_BLOCKS, labelled: bool = False) -> Iterator[tuple[Line, bool]]:
    """The first line of each paragraph and every line of a quotation, list or table, of the first few blocks."""
    blocks: list[list[str]] = [[]]
    for _, line, fenced in lines(text):
        if not line.strip() or fenced:
            if blocks[-1]:
                blocks.append([])
            if most is not None and len(blocks) > most:
                break
        else:
            blocks[-1].append(line)
    for block in filter(None, blocks[:most] if most is None else [block for block in blocks if block][:most]):
        for at, line in enumerate(block):
            indented = line.startswith(("    ", "\t"))  # it belongs to an item of a list, or is code
            if (at == 0 or _QUOTED.match(line) or _ITEM.match(line)) and not indented:
                yield read_line(line, labelled=labelled), len(block) == 1


def section_endings(sections: Sequence[NoteSection]) -> Iterator[tuple[int, NoteEnding]]:
    """Sections below a heading of their own whose first lines say what replaced them."""
    ended: list[tuple[tuple[str, ...], NoteEnding]] = []
    for at, section in enumerate(sections):
        above = next((ending for path, ending in ended if section.headings[: len(path)] == path), None)
        if above is not None:
            yield at, above
            continue
        if "[" not in section.text[:READ_FOR_MARK] or not _TRACES.search(normalize(section.text[:READ_FOR_MARK])):
            continue
        titles = headings(section.text)
        if at == 0 or not titles or titles[0].start or any(each.level <= titles[0].level for each in titles[1:]):
            continue
        end = titles[1].start if len(titles) > 1 else len(section.text)
        for line, alone in islice(_blocks(section.text[titles[0].body : end], most=2), 4):
            ending = ending_in(line, alone=alone)
            if ending is not None and ending.by and line.links:
                ended.append((section.headings, ending))
                yield at, ending
                break
