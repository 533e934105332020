"""Dates that a text spells out, as ISO strings: a day (2024-03-05) or a month (2024-03)."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

_MONTH_NAMES: Final = """
january jan
february feb
march mar
april apr
may
june jun
july jul
august aug
september sept sep
october oct
november nov
december dec
"""
_MONTHS: Final = {
    name: number for number, names in enumerate(_MONTH_NAMES.strip().splitlines(), start=1) for name in names.split()
}
_MONTH: Final = r"(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_ORDINAL: Final = r"(?:st|nd|rd|th)?"

_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_ISO: Final = re.compile(
    r"(?<![\w.\-/])(?P<year>(?:19|20)\d\d)(?P<mark>[-/.])(?P<month>\d{1,2})(?:(?P=mark)(?P<day>\d{1,2}))?"
    r"(?![\d\-/]|\.\d|[A-SU-Za-z_])"
)
_MONTH_FIRST: Final = re.compile(
    rf"\b(?P<month>{_MONTH})\s+(?:(?P<day>\d{{1,2}}){_ORDINAL},?\s+)?(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE
)
_DAY_FIRST: Final = re.compile(
    rf"\b(?P<day>\d{{1,2}}){_ORDINAL}\s+(?:of\s+)?(?P<month>{_MONTH}),?\s+(?P<year>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_KOREAN: Final = re.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d)년\s?(?P<month>\d{1,2})월(?:\s?(?P<day>\d{1,2})일)?")


def iso_dates(text: str) -> list[str]:
    """Distinct dates in text order; impossible ones (2024-02-30) are left out."""
    if _YEAR.search(text) is None:
        return []
    found: dict[int, str] = {}
    for pattern in (_KOREAN, _DAY_FIRST, _MONTH_FIRST, _ISO):
        for match in pattern.finditer(text):
            spelled = _iso(match)
            # 3 March 2024 is also a month and a year; the fuller reading, found first, keeps its end.
            if spelled and match.end() not in found:
                found[match.end()] = spelled
    return list(dict.fromkeys(found[end] for end in sorted(found)))


def _iso(match: re.Match[str]) -> str | None:
    groups = match.groupdict()
    # 2024.3 is a version as often as a month, and 2024/3 a fraction of a path.
    if groups.get("mark") in (".", "/") and groups["day"] is None:
        return None
    # Without its zero, 2024-3 is a range or a number as often as a month.
    if groups.get("mark") == "-" and groups["day"] is None and len(groups["month"]) != 2:
        return None
    name = groups["month"].rstrip(".").lower()
    month = _MONTHS[name] if name in _MONTHS else int(name)
    try:
        day = date(int(groups["year"]), month, int(groups["day"] or 1))
    except ValueError:
        return None
    return day.isoformat() if groups["day"] else day.isoformat()[:7]
