"""Secrets whose name stands somewhere else than right before them: where a layout puts it.

A table names a column or a row, markup names an element, JSON within JSON escapes its quotation marks, and a name may
stand alone on the line before. One rule holds for all of them: the name is nothing but a name of a secret, and the
value in its place is one that such a secret can have. What a layout is not told by a sign of its own (a line that
follows a name) asks more of the value.

Every line is read once for the names in it and every table once for its cells, so that a text costs by its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from recallens.ingest.secret_labels import SIGNS, STATE, Sort, Span, Trust, is_assigned, is_secret, sort_of, trimmed
from recallens.ingest.secret_tables import columns, in_tables_and_lines
from recallens.ingest.secret_values import is_secret_value


def laid_out(text: str, lowered: str, hidden: str) -> Iterator[tuple[int, int, str]]:
    """Where a layout puts secrets, in order, each with its kind. `lowered` is the text in small letters; what was taken
    out before is `hidden` there, letter by letter."""
    if not any(map(lowered.__contains__, SIGNS)):
        return
    found: dict[Span, Sort] = {}
    if '\\"' in text or "\\'" in text or "\\u002" in text:
        found |= _escaped(text)
    if "</" in text or "/>" in text or "value=" in lowered:
        found |= _marked_up(text)
    if "&lt;/" in text:
        found |= _in_told_markup(text)
    if "value" in lowered:
        found |= _in_pairs(text)
    if "\n" in text or "\t" in text:
        found |= in_tables_and_lines(text, lowered)
    at = 0
    for (start, end), sort in sorted(found.items(), key=lambda each: each[0]):
        if start >= at and hidden not in text[start:end]:
            at = end
            yield start, end, "password" if sort is not Sort.KEY else "secret"


# ── JSON within JSON ──

_ESCAPED: Final = re.compile(
    r"(?P<mark>\\{1,15}(?:[\"']|u002[27]))(?P<name>[^\"'\\\n]{1,64})(?P=mark)\s{0,8}[:=]\s{0,8}"
    r"(?:(?P=mark)(?P<value>[^\"\n]{0,127}?[^\"\\\n])(?P=mark)|(?P<number>\d{4,12})(?!\d))"
)


def _escaped(text: str) -> dict[Span, Sort]:
    found: dict[Span, Sort] = {}
    for match in _ESCAPED.finditer(text):
        sort = sort_of(match["name"], assigned=True)
        span = match.span("value" if match["value"] is not None else "number")
        if sort is not None and is_assigned(text[slice(*span)], sort):
            found[span] = sort
    return found


# ── a name and a value, each behind a word for it ──

# `name: DB_PASSWORD` and `value: …` on the next line, `{"name": …, "type": …, "value": …}`.
_MARK_OF: Final = r"(?:\\{0,15}[\"'])?+"
_SAYS: Final = rf"{_MARK_OF}\s{{0,4}}[:=]\s{{0,4}}"
_NAME_FIELD: Final = rf"(?<![\w.])(?:\w{{0,16}}?(?:name|key)|id){_SAYS}{_MARK_OF}(?P<name>[\w./ -]{{1,64}}){_MARK_OF}"
_VALUE_FIELD: Final = (
    rf"(?<![\w.])\w{{0,16}}?value{_SAYS}"
    r"(?:(?P<mark>\\{0,15}[\"'])(?P<quoted>[^\"'\n]{0,127}?[^\"'\\\n])(?P=mark)"
    r"|(?P<bare>[^\s\"'`{}\[\]&*|>\\,][^\s{}\[\]\"'\\]{2,126}?)(?=[,;]?\s{0,16}(?:[}#\n]|\Z)))"
)
_NEXT_FIELD: Final = rf"\s{{0,8}}[,;\n]\s{{0,64}}{_MARK_OF}"
_OTHER_FIELD: Final = rf"(?:\w{{1,24}}{_SAYS}[^\n,;{{}}\[\]]{{1,64}}?{_NEXT_FIELD}){{0,2}}?"
_PAIRS: Final = (
    re.compile(_NAME_FIELD + _NEXT_FIELD + _OTHER_FIELD + _VALUE_FIELD, re.IGNORECASE),
    re.compile(_VALUE_FIELD + _MARK_OF + _NEXT_FIELD + _OTHER_FIELD + _NAME_FIELD, re.IGNORECASE),
)


def _in_pairs(text: str) -> dict[Span, Sort]:
    found: dict[Span, Sort] = {}
    for match in (match for pattern in _PAIRS for match in pattern.finditer(text)):
        _take(found, text, match.span("bare" if match["quoted"] is None else "quoted"), sort_of(match["name"]))
    return found


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


# Markup that is told in markup.
_TOLD_ELEMENT: Final = re.compile(
    r"&lt;(?P<tag>[^\s<>&;/!?=\"']{1,64})&gt;\s{0,64}(?P<value>[^<>\s](?:[^<>\n]{0,126}?[^<>\s])??)\s{0,64}&lt;/"
)


def _in_told_markup(text: str) -> dict[Span, Sort]:
    found: dict[Span, Sort] = {}
    for match in _TOLD_ELEMENT.finditer(text):
        _take(found, text, match.span("value"), sort_of(match["tag"], assigned=True))
    return found


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
        if sort is not None and is_secret(text[slice(*span)], sort, Trust.LISTED):
            found[span] = sort
    rows = [
        [trimmed(text, *cell.span("cell")) for cell in _HTML_CELL.finditer(text, *row.span("cells"))]
        for row in _ROW.finditer(text)
    ]
    return found | columns(text, rows)


def _take(found: dict[Span, Sort], text: str, span: Span, sort: Sort | None) -> None:
    value = text[slice(*span)]
    # A word is the value of a password; what is called a token or a key may be anything that is named.
    is_word = sort is Sort.PASSWORD and is_secret_value(value, quoted=True) and not STATE.fullmatch(value.lower())
    if sort is not None and (is_word or is_secret(value, sort, Trust.ASSIGNED)):
        found[span] = sort
