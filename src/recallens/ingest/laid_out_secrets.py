"""Secrets whose name stands somewhere else than right before them: where a layout puts it.

A table names a column or a row, markup names an element, JSON within JSON escapes its quotation marks, and a name may
stand alone on the line before. One rule holds for all of them: the name is nothing but a name of a secret, and the
value in its place is one that such a secret can have. What a layout is not told by a sign of its own (a line that
follows a name) asks more of the value.

Every line is read once for the names in it and every table once for its cells, so that a text costs by its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final, NamedTuple

from recallens.ingest.secret_values import (
    ADDRESS,
    DIGIT,
    GROUPS,
    MOST_WORDS,
    SHORTEST_RANDOM,
    SHORTEST_SECRET,
    SNAKE_AND_NUMBER,
    is_known,
    is_placeholder,
    is_secret_value,
    shape_of,
)
from recallens.text.languages import PACKS, alternatives, each
from recallens.text.stopwords import query_stopwords

Span = tuple[int, int]


class Sort(Enum):
    """What a name calls, which says what its value can be."""

    PASSWORD = "password"  # nosec B105: the name of a sort
    PIN = "pin"
    KEY = "key"


class Trust(Enum):
    """How surely a layout says that a value belongs to a name."""

    ASSIGNED = "assigned"  # one value for one name, by a sign that says so
    LISTED = "listed"  # a cell of a table
    FOLLOWS = "follows"  # what comes next and may be anything


class Cell(NamedTuple):
    start: int
    end: int


# A line or an attribute that is longer holds no table and no name alone.
LONGEST_LINE: Final = 4_000
LONGEST_LABEL: Final = 48
LONGEST_VALUE: Final = 128
# A header of values between commas has short names; a cell with as many words is prose.
MOST_HEADER_WORDS: Final = 4
PROSE_WORDS: Final = 4
# Of a key: as many digits in one place, or digits in two, are no number behind a word.
MANY_DIGITS: Final = 4
SHORTEST_WORD: Final = 6
# A syllable of a script that writes them as one letter says as much as two or three letters.
SHORTEST_COINED: Final = 4

_PASSWORDS: Final = alternatives(lambda pack: pack.secrets.passwords)
_PINS: Final = alternatives(lambda pack: pack.secrets.pins)
_KEYS: Final = alternatives(lambda pack: pack.secrets.keys)
# What every name holds one of: looking for these costs less than looking for the names.
_SIGNS: Final = tuple(dict.fromkeys(" ".join(each(lambda pack: pack.secrets.label_signs)).split()))
_OWN: Final = "".join(pack.letters for pack in PACKS)
_LABEL: Final = re.compile(
    rf"(?:[^\s|,]{{1,24}}+ ){{0,4}}?[{_OWN}]{{0,8}}?"
    rf"(?:(?P<password>{_PASSWORDS})|(?P<pin>{_PINS})|(?P<key>{_KEYS}))(?: ?\([^()]{{0,24}}\))?"
)
_VALUE_HEAD: Final = re.compile(alternatives(lambda pack: pack.secrets.value_heads))
_STATE: Final = re.compile(alternatives(lambda pack: pack.secrets.states))
_GENERAL: Final = re.compile(alternatives(lambda pack: pack.secrets.general))
_DESCRIPTION: Final = frozenset(" ".join(pack.secrets.descriptions for pack in PACKS).split())
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN: Final = re.compile(r"[\s._:/\\-]+")
_MARKUP: Final = "`*\"'“”‘’ \t"
_DIGITS: Final = re.compile(r"\d+")
_LONG_CODE: Final = re.compile(r"\d{4,12}[#*]?")
_ENTITLED: Final = re.compile(r"[A-Z][a-z]+\d{1,2}")  # Page12
_DATE: Final = re.compile(r"(?:19|20)\d\d(?:[01]\d[0-3]\d)?")


def laid_out(text: str, lowered: str, hidden: str) -> Iterator[tuple[int, int, str]]:
    """Where a layout puts secrets, in order, each with its kind. `lowered` is the text in small letters; what was taken
    out before is `hidden` there, letter by letter."""
    if not any(map(lowered.__contains__, _SIGNS)):
        return
    found: dict[Span, Sort] = {}
    if '\\"' in text or "\\'" in text:
        found |= _escaped(text)
    if "</" in text or "/>" in text or "value=" in lowered:
        found |= _marked_up(text)
    if "\n" in text or "\t" in text:
        found |= _in_lines(text, lowered)
    at = 0
    for (start, end), sort in sorted(found.items(), key=lambda each: each[0]):
        if start >= at and hidden not in text[start:end]:
            at = end
            yield start, end, "password" if sort is not Sort.KEY else "secret"


# ── names and values ──


def sort_of(label: str, *, assigned: bool = False) -> Sort | None:
    """What a text names that is nothing but the name of a secret: `DB password`, `AccessToken`, `**비밀번호**:`."""
    label = label.strip(_MARKUP + "#>:：=-")
    lowered = label.lower()
    if len(label) > LONGEST_LABEL or not any(map(lowered.__contains__, _SIGNS)):
        return None
    plain = _BETWEEN.sub(" ", _CAMEL.sub(" ", label)).lower().replace("_", " ")
    match = _LABEL.fullmatch(plain) or _LABEL.fullmatch(lowered)
    if match is None or (lowered == "pin" and label != "PIN" and not assigned):  # a chip has pins, in tables too
        return None
    return Sort.PASSWORD if match["password"] else Sort.PIN if match["pin"] else Sort.KEY


def _is_secret(value: str, sort: Sort, trust: Trust, *, plain: bool = False) -> bool:
    """Whether a value is what such a name calls. A `plain` word is one only where everything else says so."""
    lowered = value.lower()
    if sort is Sort.PASSWORD and SNAKE_AND_NUMBER.fullmatch(value):
        return not is_placeholder(value)  # a name in code, and a password in a note
    if is_placeholder(value) or is_known(value) or (sort_of(value) is not None and not DIGIT.search(value)):
        return False
    if _STATE.fullmatch(lowered) or lowered in _DESCRIPTION or lowered in query_stopwords():
        return False
    if sort is Sort.PIN or (_LONG_CODE.fullmatch(value) and sort is Sort.PASSWORD):
        return bool(_LONG_CODE.fullmatch(value)) and (sort is Sort.PIN or not _DATE.fullmatch(value))
    if " " in value:
        told = DIGIT.search(value) is not None and not value[0].isdigit() and not _GENERAL.search(lowered)
        return sort is Sort.PASSWORD and trust is not Trust.FOLLOWS and told and value.count(" ") < MOST_WORDS
    if sort is Sort.KEY:
        runs = _DIGITS.findall(value)
        many = len(runs) > 1 or any(len(run) >= MANY_DIGITS for run in runs)
        return len(value) >= SHORTEST_RANDOM and many and is_secret_value(value, quoted=False)
    shape = shape_of(value, quoted=False)
    if shape == "coined" and len(value) >= SHORTEST_COINED:
        return True
    if len(value) < SHORTEST_SECRET or (ADDRESS.search(value) and trust is not Trust.ASSIGNED):
        return False
    group = GROUPS.get(shape or "")
    if group == "word" and plain:
        return shape != "camel" and len(value) >= SHORTEST_WORD
    if trust is Trust.FOLLOWS and _ENTITLED.fullmatch(value):
        return False
    made = shape != "dotted" and group in ("made", "numbered", "odd")
    return made or (trust is Trust.ASSIGNED and is_secret_value(value, quoted=False))


def _trimmed(text: str, start: int, end: int) -> Cell:
    """A cell without the blanks and the marks around its words."""
    cell = text[start:end]
    start += len(cell) - len(cell.lstrip(_MARKUP))
    return Cell(start, max(start, start + len(cell.strip(_MARKUP))))


# ── JSON within JSON ──

_ESCAPED: Final = re.compile(
    r"(?P<mark>\\{1,15}[\"'])(?P<name>[^\"'\\\n]{1,64})(?P=mark)\s{0,8}[:=]\s{0,8}"
    r"(?:(?P=mark)(?P<value>[^\"\n]{0,127}?[^\"\\\n])(?P=mark)|(?P<number>\d{4,12})(?!\d))"
)


def _escaped(text: str) -> dict[Span, Sort]:
    found: dict[Span, Sort] = {}
    for match in _ESCAPED.finditer(text):
        sort = sort_of(match["name"], assigned=True)
        span = match.span("value" if match["value"] is not None else "number")
        if sort is not None and _is_assigned(text[slice(*span)], sort):
            found[span] = sort
    return found


def _is_assigned(value: str, sort: Sort) -> bool:
    """What an assignment in quotation marks takes, and no words beside it."""
    if _STATE.fullmatch(value.lower()):
        return False
    return (sort is not Sort.PIN and is_secret_value(value, quoted=True)) or _is_secret(value, sort, Trust.ASSIGNED)


# ── elements and attributes ──

_CDATA: Final = r"<!\[CDATA\[\s{0,64}(?P<data>[^\]\n]{1,128}?)\s{0,64}\]\]>"
_TEXT: Final = r"\s{0,64}(?P<value>[^<>\s](?:[^<>\n]{0,126}[^<>\s])?)\s{0,64}"
# An element's value stands in it, or in an element of no name within it.
_ELEMENT: Final = re.compile(
    r"<(?P<tag>[^\s<>/!?=\"']{1,64})(?P<attributes>(?:\s[^<>]{0,256})?)(?<!/)>"
    rf"(?:\s{{0,64}}<(?:value|string)>)?(?:{_CDATA}|{_TEXT})</"
)
_NAMED_BY: Final = re.compile(
    r"\b(?:name|key|id|property)\s?=\s?(?P<quote>[\"'])(?P<name>[^\"'<>\n]{1,64})(?P=quote)", re.I
)
_HOLDS: Final = re.compile(r"\bvalue\s?=\s?(?P<quote>[\"'])(?P<value>[^\"'<>\n]{1,128})(?P=quote)", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^\s<>/!?=\"']{1,64}\s(?P<attributes>[^<>]{1,512})>")
# A name in one element and its value in the next: of a list of definitions, a row, a property list.
_PAIR: Final = re.compile(
    r"<(?P<first>dt|th|td|key|name)(?:\s[^<>]{0,128})?>\s{0,16}(?:<\w{1,8}>)?(?P<name>[^<>\n]{1,64})(?:</\w{1,8}>)?\s{0,16}"
    rf"</(?P=first)>\s{{0,64}}<(?P<second>dd|td|string|value)(?:\s[^<>]{{0,128}})?>(?:<\w{{1,8}}>)?{_TEXT}</",
    re.IGNORECASE,
)  # fmt: skip
# A name that is set off from its value in the same line: `<b>Password:</b> …`.
_SET_OFF: Final = re.compile(
    rf"<(?P<tag>b|strong|em|i|u|span|code|label)(?:\s[^<>]{{0,128}})?>(?P<name>[^<>\n]{{1,64}})</(?P=tag)>\s?:?{_TEXT}<",
    re.IGNORECASE,
)
_ROW: Final = re.compile(r"<tr\b[^<>]{0,128}>(?P<cells>(?:[^<]|<(?!/?tr\b))*+)", re.IGNORECASE)
_HTML_CELL: Final = re.compile(r"<t[hd]\b[^<>]{0,128}>(?:\s{0,16}<\w{1,8}>)?(?P<cell>[^<>]{0,256})<", re.IGNORECASE)


def _marked_up(text: str) -> dict[Span, Sort]:
    found: dict[Span, Sort] = {}
    for match in _ELEMENT.finditer(text):
        named = _NAMED_BY.search(match["attributes"])
        sort = sort_of(match["tag"], assigned=True) or (sort_of(named["name"]) if named else None)
        _take(found, text, match.span("data" if match["data"] is not None else "value"), sort)
    for match in _TAG.finditer(text) if "value" in text.lower() else ():
        named, value = _NAMED_BY.search(match["attributes"]), _HOLDS.search(match["attributes"])
        if named and value:
            begin = match.start("attributes")
            span = begin + value.start("value"), begin + value.end("value")
            _take(found, text, span, sort_of(named["name"]))
    for match in (match for pattern in (_PAIR, _SET_OFF) for match in pattern.finditer(text)):
        sort, span = sort_of(match["name"]), match.span("value")
        if sort is not None and _is_secret(text[slice(*span)], sort, Trust.LISTED):
            found[span] = sort
    rows = [
        [_trimmed(text, *cell.span("cell")) for cell in _HTML_CELL.finditer(text, *row.span("cells"))]
        for row in _ROW.finditer(text)
    ]
    return found | _columns(text, rows)


def _take(found: dict[Span, Sort], text: str, span: Span, sort: Sort | None) -> None:
    value = text[slice(*span)]
    # A word is the value of a password; what is called a token or a key may be anything that is named.
    is_word = sort is Sort.PASSWORD and is_secret_value(value, quoted=True) and not _STATE.fullmatch(value.lower())
    if sort is not None and (is_word or _is_secret(value, sort, Trust.ASSIGNED)):
        found[span] = sort


# ── lines ──

_DIVIDES: Final = re.compile(r"[\s|:+=-]*--[\s|:+=-]*")
_GAP: Final = re.compile(r"[ ]{2,}|\t+")
# A name before the end of its line: a heading, an entry of a list, a key of YAML with the mark of a block.
_OPENS: Final = re.compile(r"[\s>#*-]{0,24}(?P<label>[^\n]{1,64}?)(?P<sign>\s?[:：=])?[*_]{0,2}\s?(?:[|>][+-]?)?\s*")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)\w*\s*")
_FOLLOWING: Final = re.compile(r"\s*(?:[-*>]\s+)?(?P<value>[^\s]{4,130})\s*")


class _Lines:
    """The lines of a text, by where they begin, read as they are asked for."""

    def __init__(self, text: str) -> None:
        self._text = text

    def span(self, at: int) -> Span:
        """Of the line in which a letter stands."""
        start = self._text.rfind("\n", 0, at) + 1
        return start, self._end(start)

    def _end(self, start: int) -> int:
        end = self._text.find("\n", start)
        return len(self._text) if end < 0 else end

    def after(self, end: int) -> Iterator[Span]:
        while end < len(self._text):
            start = end + 1
            end = self._end(start)
            yield start, end

    def before(self, start: int) -> Iterator[Span]:
        while start > 0:
            end = start - 1
            start = self._text.rfind("\n", 0, end) + 1
            yield start, end


def _in_lines(text: str, lowered: str) -> dict[Span, Sort]:
    """What tables hold, and what follows a line that is a name."""
    found: dict[Span, Sort] = {}
    lines, done, table_end = _Lines(text), -1, -1
    for spot in _spots(lowered):
        if spot <= done:
            continue
        start, end = lines.span(spot)
        done = end
        if end - start > LONGEST_LINE:
            continue
        line = text[start:end]
        if start > table_end:
            for reader in (_bars, _separated):
                table, last = reader(text, lines, (start, end))
                if table:
                    found |= table
                if last > end:  # a table, whether it holds a secret or none
                    table_end = last
                    break
        if "|" not in line or line.rstrip().endswith("|"):
            found |= _below(text, lines, (start, end))
    return found


def _spots(lowered: str) -> list[int]:
    """Where a name may stand."""
    spots: list[int] = []
    for sign in _SIGNS:
        at = lowered.find(sign)
        while at >= 0:
            spots.append(at)
            at = lowered.find(sign, at + len(sign))
    return sorted(spots)


def _below(text: str, lines: _Lines, line: Span) -> dict[Span, Sort]:
    """The value on the line after a name that stands alone."""
    label = _OPENS.fullmatch(text, *line) if line[1] - line[0] <= LONGEST_LABEL + 24 else None
    sort = sort_of(label["label"]) if label else None
    if sort is None:
        return {}
    skipped = 0
    for start, end in lines.after(line[1]):
        if skipped < 2 and (end - start < 16) and (not text[start:end].strip() or _FENCE.fullmatch(text, start, end)):
            skipped += 1
            continue
        match = _FOLLOWING.fullmatch(text, start, min(end, start + LONGEST_LINE))
        if match is not None:
            cell = _trimmed(text, *match.span("value"))
            if _is_secret(text[slice(*cell)], sort, Trust.LISTED if label and label["sign"] else Trust.FOLLOWS):
                return {cell: sort}
        break
    return {}


def _bars(text: str, lines: _Lines, line: Span) -> tuple[dict[Span, Sort], int]:
    """A table between bars, of which this is a line: its secrets, and where it ends."""

    def is_of_it(span: Span) -> bool:
        held = text[slice(*span)] if span[1] - span[0] <= LONGEST_LINE else ""
        return "|" in held or (bool(held) and _DIVIDES.fullmatch(held) is not None)

    if not is_of_it(line):
        return {}, line[1]
    rows = [line]
    for span in lines.before(line[0]):
        if not is_of_it(span):
            break
        rows.append(span)
    rows.reverse()
    for span in lines.after(line[1]):
        if not is_of_it(span):
            break
        rows.append(span)
    cells = [_barred(text, span) for span in rows if not _DIVIDES.fullmatch(text, *span)]
    headed = any(_DIVIDES.fullmatch(text, *span) for span in rows[1:2])
    return _columns(text, cells) | _named_rows(text, cells, headed=headed), rows[-1][1]


def _barred(text: str, line: Span) -> list[Cell]:
    cells, start = [], line[0]
    for part in text[slice(*line)].split("|"):
        cells.append(_trimmed(text, start, start + len(part)))
        start += len(part) + 1
    outer = text[slice(*line)].strip()
    return cells[1 if outer.startswith("|") else 0 : -1 if outer.endswith("|") and len(cells) > 1 else None]


def _separated(text: str, lines: _Lines, line: Span) -> tuple[dict[Span, Sort], int]:
    """A table whose cells tabs, commas or wide gaps divide, headed by this line; or a row of two, of which the first is
    a name."""
    for split in (_tabbed, _between_commas, _aligned):
        header = split(text, line)
        if len(header) < 2:
            continue
        first = sort_of(text[slice(*header[0])])
        if len(header) == 2 and first is not None and _is_secret(text[slice(*header[1])], first, Trust.LISTED):
            return {header[1]: first}, line[1]
        names = [text[slice(*cell)] for cell in header]
        if any(len(name.split()) > MOST_HEADER_WORDS for name in names) or not any(map(sort_of, names)):
            continue
        rows, last = [header], line[1]
        for span in lines.after(line[1]):
            row = split(text, span) if span[1] - span[0] <= LONGEST_LINE else []
            if len(row) != len(header):
                break
            rows.append(row)
            last = span[1]
        return _columns(text, rows), last
    return {}, line[1]


def _tabbed(text: str, line: Span) -> list[Cell]:
    return _split(text, line, "\t") if "\t" in text[slice(*line)] else []


def _between_commas(text: str, line: Span) -> list[Cell]:
    return _split(text, line, ",") if "," in text[slice(*line)] else []


def _split(text: str, line: Span, sign: str) -> list[Cell]:
    cells, start = [], line[0]
    for part in text[slice(*line)].split(sign):
        cells.append(_trimmed(text, start, start + len(part)))
        start += len(part) + 1
    return cells


def _aligned(text: str, line: Span) -> list[Cell]:
    held = text[slice(*line)]
    if "  " not in held and "\t" not in held:
        return []
    start, end = _trimmed(text, *line)
    cells, at = [], start
    for gap in _GAP.finditer(text, start, end):
        cells.append(_trimmed(text, at, gap.start()))
        at = gap.end()
    return [*cells, _trimmed(text, at, end)] if cells else []


# ── cells ──


def _columns(text: str, rows: Sequence[Sequence[Cell]]) -> dict[Span, Sort]:
    """The values below a header that names a secret."""
    found: dict[Span, Sort] = {}
    if len(rows) < 2:
        return found
    for place, head in enumerate(rows[0]):
        sort = sort_of(text[slice(*head)])
        if sort is None:
            continue
        column = [row[place] for row in rows[1:] if len(row) == len(rows[0]) and row[place].end > row[place].start]
        # Where a cell is prose, the column tells of secrets.
        told = any(text.count(" ", *cell) >= PROSE_WORDS and not DIGIT.search(text, *cell) for cell in column)
        for cell in () if told else column:
            if cell.end - cell.start <= LONGEST_VALUE and _is_secret(
                text[slice(*cell)], sort, Trust.LISTED, plain=True
            ):
                found[cell] = sort
    return found


def _named_rows(text: str, rows: Sequence[Sequence[Cell]], *, headed: bool) -> dict[Span, Sort]:
    """Of a table of two columns, the values beside a name."""
    found: dict[Span, Sort] = {}
    heads = _VALUE_HEAD.fullmatch(text[slice(*rows[0][1])].lower()) if headed and rows and len(rows[0]) == 2 else None
    for row in rows[1:] if headed else rows:
        if len(row) == 2 and row[1].end - row[1].start <= LONGEST_VALUE:
            sort = sort_of(text[slice(*row[0])])
            if sort is not None and _is_secret(text[slice(*row[1])], sort, Trust.LISTED, plain=heads is not None):
                found[row[1]] = sort
    return found
