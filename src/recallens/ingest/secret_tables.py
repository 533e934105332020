"""Secrets in the cells of tables and on the line after their name.

Every line is read once for the names in it and every table once for its cells, so that a text costs by its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from recallens.ingest.secret_labels import LONGEST_LABEL, SIGNS, Cell, Sort, Span, Trust, is_secret, sort_of, trimmed
from recallens.ingest.secret_values import DIGIT
from recallens.text.languages import alternatives

# A line or an attribute that is longer holds no table and no name alone.
LONGEST_LINE: Final = 4_000
LONGEST_VALUE: Final = 128
# A header of values between commas has short names; a cell with as many words is prose.
MOST_HEADER_WORDS: Final = 4
PROSE_WORDS: Final = 4
# As many lines in a row that nothing divides are passed over before a table is over.
MOST_UNDIVIDED: Final = 4

# How a line is divided into cells; into none where it does not hold what divides them.
Split = Callable[[str, Span], list[Cell]]
_VALUE_HEAD: Final = re.compile(alternatives(lambda pack: pack.secrets.value_heads))

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


def in_tables_and_lines(text: str, lowered: str) -> dict[Span, Sort]:
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
    for sign in SIGNS:
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
            cell = trimmed(text, *match.span("value"))
            if is_secret(text[slice(*cell)], sort, Trust.LISTED if label and label["sign"] else Trust.FOLLOWS):
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
    return columns(text, cells) | _named_rows(text, cells, headed=headed), rows[-1][1]


def _barred(text: str, line: Span) -> list[Cell]:
    cells, start = [], line[0]
    for part in text[slice(*line)].split("|"):
        cells.append(trimmed(text, start, start + len(part)))
        start += len(part) + 1
    outer = text[slice(*line)].strip()
    return cells[1 if outer.startswith("|") else 0 : -1 if outer.endswith("|") and len(cells) > 1 else None]


def _separated(text: str, lines: _Lines, line: Span) -> tuple[dict[Span, Sort], int]:
    """A table whose cells tabs, commas, semicolons or wide gaps divide, headed by this line; or a row of two, of which
    the first is a name."""
    for split in (*_SPLITS, _aligned):
        header = split(text, line)
        if len(header) < 2:
            continue
        first = sort_of(text[slice(*header[0])])
        if len(header) == 2 and first is not None and is_secret(text[slice(*header[1])], first, Trust.LISTED):
            return {header[1]: first}, line[1]
        if not _is_header(text, header):
            continue
        rows, last = _rows(text, lines, line, header, split)
        return columns(text, rows), last
    return {}, line[1]


def _is_header(text: str, cells: Sequence[Cell]) -> bool:
    names = [text[slice(*cell)] for cell in cells]
    return all(len(name.split()) <= MOST_HEADER_WORDS for name in names) and any(map(sort_of, names))


def _rows(
    text: str, lines: _Lines, line: Span, header: Sequence[Cell], split: Split
) -> tuple[list[Sequence[Cell]], int]:
    """The rows below a header that are as long as it, and where the last of them ends.

    A row of another length is passed over: somebody forgot a mark, or wrote a remark. A blank line, several lines in
    a row that nothing divides and the header of another table end it."""
    rows, last, undivided = [header], line[1], 0
    for span in lines.after(line[1]):
        row = split(text, span) if span[1] - span[0] <= LONGEST_LINE else []
        if len(row) < 2:
            undivided += 1
            if undivided > MOST_UNDIVIDED or not text[slice(*span)].strip():
                break
            continue
        if len(row) == len(header):
            rows.append(row)
        elif _is_header(text, row):
            break
        last, undivided = span[1], 0
    return rows, last


def _between(sign: str) -> Split:
    """How a line is divided by a sign, which a cell in quotation marks may hold, as in a file of such values."""

    def split(text: str, line: Span) -> list[Cell]:
        held = text[slice(*line)]
        # What ends in a semicolon is a statement of code.
        if sign not in held or (sign == ";" and held.rstrip().endswith(sign)):
            return []
        parts = held.split(sign)
        if '"' in held:
            parts = _whole(parts, sign)
        cells, start = [], line[0]
        for part in parts:
            cells.append(trimmed(text, start, start + len(part)))
            start += len(part) + len(sign)
        return cells

    return split


def _whole(parts: Sequence[str], sign: str) -> list[str]:
    """The parts of a line, those joined again that one pair of quotation marks holds. A mark that nothing closes is a
    letter like others."""
    whole: list[str] = []
    open_parts: list[str] = []
    for part in parts:
        if not open_parts and not part.lstrip().startswith('"'):
            whole.append(part)
            continue
        odd = part.count('"') % 2 == 1
        closes = odd == bool(open_parts)  # a part that opens and closes has two
        open_parts.append(part)
        if closes:
            whole.append(sign.join(open_parts))
            open_parts = []
    return [*whole, *open_parts]


_SPLITS: Final = tuple(map(_between, "\t,;"))


def _aligned(text: str, line: Span) -> list[Cell]:
    held = text[slice(*line)]
    if "  " not in held and "\t" not in held:
        return []
    start, end = trimmed(text, *line)
    cells, at = [], start
    for gap in _GAP.finditer(text, start, end):
        cells.append(trimmed(text, at, gap.start()))
        at = gap.end()
    return [*cells, trimmed(text, at, end)] if cells else []


# ── cells ──


def columns(text: str, rows: Sequence[Sequence[Cell]]) -> dict[Span, Sort]:
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
            if cell.end - cell.start <= LONGEST_VALUE and is_secret(text[slice(*cell)], sort, Trust.LISTED, plain=True):
                found[cell] = sort
    return found


def _named_rows(text: str, rows: Sequence[Sequence[Cell]], *, headed: bool) -> dict[Span, Sort]:
    """Of a table of two columns, the values beside a name."""
    found: dict[Span, Sort] = {}
    heads = _VALUE_HEAD.fullmatch(text[slice(*rows[0][1])].lower()) if headed and rows and len(rows[0]) == 2 else None
    for row in rows[1:] if headed else rows:
        if len(row) == 2 and row[1].end - row[1].start <= LONGEST_VALUE:
            sort = sort_of(text[slice(*row[0])])
            if sort is not None and is_secret(text[slice(*row[1])], sort, Trust.LISTED, plain=heads is not None):
                found[row[1]] = sort
    return found
