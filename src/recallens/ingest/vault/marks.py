"""Lines by which a note speaks of itself: that it, or a section of it, has ended and what replaced it, that it is a
draft or was rejected, that it replaces another.

A sentence in prose ends nothing. A line counts where it begins with the mark and stands near the top of the note, at
the top of a section, in a section called Status, or alone at the end; and where it is over with what it names or says:
a link, a path, a numbered record, a date. What goes on as a sentence is one. On 3,241 notes of four public vaults this
ended five, each of which says so of itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple

from recallens.errors import InvalidInput
from recallens.ingest.validate import parse_when
from recallens.ingest.vault.links import LINK, NUMBERED, taken_out
from recallens.ingest.vault.sections import headings, lines
from recallens.model.vault import Link, NoteEnding
from recallens.text.annotation import iso_dates
from recallens.text.languages import alternatives
from recallens.text.normalize import normalize

# How far from the top of a note or section a mark may stand, in blocks between blank lines.
TOP_BLOCKS: Final = 4
# A longer line is prose; a mark that names its successor by a link may have a reason behind it.
LONGEST_MARK: Final = 160
LONGEST_NAMED: Final = 60
LONGEST_LINE_READ: Final = 2_000
READ_FOR_MARK: Final = 600  # of a section

_CALLOUT: Final = re.compile(r"\[!([\w-]+)\][+-]?")
_BEFORE: Final = re.compile(
    rf"(?:>|[-*+](?=\s)|\d+[.)](?=\s)|!!!\s*\w+|:{{3,}}\s*\w+|[^\w\s\[(<{LINK}]+)\s*"
    r"|[\[(](?=\w[\w ]*[\])])|\((?=[^()]*(?:\([^()]*\)[^()]*)?\)\W*$)|\s+"
)
_EMPHASIS: Final = re.compile(r"[*`~]+|(?<!\w)_+|_+(?!\w)")
_STRUCK: Final = re.compile(r"~~[^~]+~~")
_QUOTED: Final = re.compile(r"\s*(?:[-*+]\s+)?(?:>|\||\*\*|__|!!!|:::)")
_ASIDE: Final = re.compile(r"\s*(?:>|!!!|:::)")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_WRAPPED: Final = re.compile(r"\s*(?::|[a-z])")
# A word that goes on is another word: deprecated functions, 폐기물.
_END: Final = r"(?![\w-])"


def _pattern(field: str, *, before: str = "", after: str = "") -> re.Pattern[str]:
    return re.compile(f"{before}(?:{alternatives(lambda pack: getattr(pack.notes, field))}){after}")


_SUBJECT: Final = _pattern("subject", before="(?:", after=r"[:,]?(?:\s+|$))+")
_ITSELF: Final = _pattern("itself")
_LABEL: Final = _pattern("status_label", before=r"\|?\s*", after=r"\s*(?:::|[:：|=])\s*")
STATUS_HEADING: Final = _pattern("status_label", after=r"\s*:?")
_DATE_LINE: Final = re.compile(
    rf"^[ \t>*_|-]*(?:{alternatives(lambda pack: pack.notes.date_label)})[*_ ]*[:：|](?P<date>[^\n]{{4,40}})$",
    re.MULTILINE | re.IGNORECASE,
)
_REPLACED_BY: Final = _pattern("replaced_by", after=r"(?:[\s:：→>–—-]+|$)")
_REPLACED_AFTER: Final = _pattern("replaced_after")
_INSTEAD: Final = _pattern("instead")
TRACES: Final = _pattern("traces")
_REPLACES: Final = _pattern("replaces", after=rf"[\s:：→>–—-]+(?={LINK})")
_REPLACES_AFTER: Final = _pattern("replaces_after")
_ENDED: Final = _pattern("ended", after=_END)
_MOMENTS: Final = _pattern("moment", before=r"(?:[\s,(]*(?:", after=r")(?!\w)\)?)*")
_LEADS: Final = _pattern("leads", before=r"[^\w\uffff]*(?:", after=rf")[\s:：]*[\"'“‘(]?(?={LINK})")
_GOES_ON: Final = _pattern("goes_on", before=r"\s*[.!:;,(–—-][\s(–—-]*")
_OF_TEXTS: Final = _pattern("of_texts")
_RECURS: Final = _pattern("recurs")
RECORD: Final = _pattern("records", before="(?:the )?(?:", after=r")[-_ #]*\d{1,5}(?![\w.]\w)")
_PATH: Final = re.compile(r"\S+\.(?:md|markdown|txt|rst)(?!\w)|[\w.-]+(?:/[\w.-]+)+(?![\w/])")
# Where a mark is over: the line ends, or another sentence, an aside or a reason follows.
_CLOSED: Final = re.compile(r"[\s)\]”’\"'.!]*$")
_ANOTHER: Final = re.compile(r"[)\]”’\"']*\s*(?:$|[.;(]|,\s(?:which|because|as|see)\b|[–—]|because\b|instead\b|now\b)")
_NAME_ENDS: Final = re.compile(r"[.;:,(]|\s[–—-]\s| on | as of | since | instead| in \d")
# How many words a quotation may need to say what replaced the note, where no note has that name.
MOST_WORDS_NAMED: Final = 7
# Status: archived for good. More words are a sentence: Status: obsolete tickets are closed on Mondays.
MOST_WORDS_OF_STATUS: Final = 2
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
    itself: bool = False  # it speaks of the note by name: this page is …
    aside: bool = False  # a quotation, a callout or capitals, not only bold letters


_NOTHING: Final = Line("", [], "", False, False)


def read_line(raw: str, *, labelled: bool = False) -> Line:
    raw = raw[:LONGEST_LINE_READ]
    if TRACES.search(normalize(raw)) is None:
        return _NOTHING
    text, links = taken_out(raw.strip())
    set_off = labelled or _QUOTED.match(text) is not None
    aside = _ASIDE.match(text) is not None
    words = text.strip().lstrip("> ")
    if callout := _CALLOUT.match(words):
        rest = words[callout.end() :].strip()
        words, set_off = rest or callout[1], True
        aside = True
    words = _EMPHASIS.sub("", words)
    while (before := _BEFORE.match(words)) and before.end():
        words = words[before.end() :]
    words = " ".join(normalize(words).split())
    if label := _LABEL.match(words):
        words, labelled = words[label.end() :], True
    if re.match(r"\W*[A-Z]{6,}\b", text):  # DEPRECATED: …
        set_off = aside = True
    itself = False
    if subject := _SUBJECT.match(words):
        words, itself = words[subject.end() :], _ITSELF.search(subject[0]) is not None
    return Line(words, links, raw, set_off or labelled, labelled, _ITEM.match(raw) is not None, itself, aside)


def ending_in(line: Line, *, alone: bool) -> NoteEnding | None:
    """What the line says of the end of what it stands in; None where it says nothing of it."""
    words, links, plain = line.words, line.links, line.labelled or line.itself
    if match := _REPLACED_AFTER.match(words):
        return NoteEnding(_date(line), tuple(links[:1])) if plain or _over(words, match.end()) else None
    if line.set_off and (number := NUMBERED.match(words)) and _REPLACED_AFTER.match(LINK + words[number.end() :]):
        return NoteEnding(_date(line), (Link("name", number[0]),))
    if (match := _REPLACED_BY.match(words)) and words[match.end() :].strip():
        return _replaced_by(line, words[match.end() :], plain)
    match = _ENDED.match(words)
    if match is None or (len(words) > LONGEST_MARK and not line.set_off):
        return None
    if line.item and not line.labelled and not alone:  # an index of notes has such items: "Archived: [[old]]"
        return None
    rest = words[_after_moments(words, match.end()) :]
    leads = _LEADS.match(rest) if rest[:1] not in ("", " ") or re.match(r"\s*[^\w\s]", rest) else None
    if leads is None and (by := _INSTEAD.search(rest) or _REPLACED_BY.search(rest) or _REPLACED_AFTER.search(rest)):
        leads = by if plain or line.set_off else None
    if leads is not None and LINK in rest[leads.start() :]:
        return NoteEnding(_date(line), _listed(line, rest[leads.start() :]))
    of_texts = _OF_TEXTS.match(words) is not None
    sentence = rest[:1] == " " and len(rest.split()) > MOST_WORDS_OF_STATUS and not _GOES_ON.match(f":{rest}")
    stands = (
        line.itself,
        line.labelled and not sentence,
        _CLOSED.match(rest),
        _GOES_ON.match(rest) and (line.set_off or rest[:1] in ".;"),
        rest[:1] == "." and (line.aside or of_texts),
        rest[:1] == ":" and line.aside and of_texts,
    )
    return NoteEnding(_date(line)) if any(stands) else None


def _replaced_by(line: Line, rest: str, plain: bool) -> NoteEnding | None:
    """What stands behind "replaced by": a link, a path or a numbered record, with which the mark is over; a name, which
    is one if a note has it; or, in a quotation, a few words. Other words are prose: filters, too, are replaced."""
    at = _date(line)
    leads = _LEADS.match(rest)
    if leads is not None:
        together = _LISTED.match(rest, leads.end())
        over = _over(rest, together.end() if together is not None else leads.end() + 1)
        return NoteEnding(at, _listed(line, rest)) if over or plain or line.aside else None
    if LINK in rest[:LONGEST_NAMED] and line.set_off and not _RECURS.search(rest):
        return NoteEnding(at, _listed(line, rest))
    if (target := RECORD.match(rest) or _PATH.match(rest)) and (plain or _over(rest, target.end())):
        return NoteEnding(at, (Link("name", target[0]),))
    ends = _NAME_ENDS.search(rest)
    name = rest[: ends.start() if ends else len(rest)].strip(" \"'“”‘’")
    if not name or len(rest) > LONGEST_MARK:
        return NoteEnding(at) if plain else None
    by = (Link("name", name),)
    if plain:
        return NoteEnding(at, by)
    closed = ends is None or _CLOSED.match(rest, _after_moments(rest, ends.start()))
    if line.aside and closed and len(name.split()) <= MOST_WORDS_NAMED and not _RECURS.search(rest):
        return NoteEnding(at, by)
    return NoteEnding(at, by, if_named=True) if closed and re.search(r"[\W\d]", name) else None


def _over(words: str, at: int) -> bool:
    """Whether nothing belongs to the mark from there on but when it was."""
    return _ANOTHER.match(words, _after_moments(words, at)) is not None


def _after_moments(words: str, at: int) -> int:
    moments = _MOMENTS.match(words, at)
    return at if moments is None else moments.end()


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
    yield from blocks(body[start:end] if (mark := beside_struck(body[start:])) is None else mark)
    for heading, after in zip(titles, [*(later.start for later in titles[1:]), len(body)], strict=bool(titles)):
        if STATUS_HEADING.fullmatch(normalize(heading.text)):
            yield from islice(blocks(body[heading.body : after], labelled=True), 2)
    if len(titles) <= 1 and (last := [line for line, alone in blocks(body[start:], most=None) if alone][-1:]):
        # At the end a mark counts where it names its successor.
        yield from ((line, True) for line in last if line.links)


def beside_struck(text: str) -> str | None:
    """The one line that is left of a text, all else of which is struck out: ~~Ropes are hemp.~~ Superseded by [[x]]."""
    if "~~" not in text:
        return None
    left = [line.strip() for line in _STRUCK.sub("", text).splitlines() if re.search(r"\w", line)]
    return left[0] if len(left) == 1 else None


def blocks(text: str, *, most: int | None = TOP_BLOCKS, labelled: bool = False) -> Iterator[tuple[Line, bool]]:
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
                after = block[at + 1] if at + 1 < len(block) else ""
                if _CALLOUT.search(line) and after.lstrip().startswith(">"):
                    line = f"{line}. {after.lstrip(' >')}"
                elif _WRAPPED.match(after):  # the sentence goes on, or is the word that a list defines
                    line = f"{line} {after.strip()}"
                yield read_line(line, labelled=labelled), len(block) == 1
