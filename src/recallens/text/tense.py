"""Whether the words around a time say what will be or what was: a day without a year is then the next or the last."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import cache
from typing import Final

from recallens.text.languages.pack import TimeWords

# How far ahead of today such a day may be.
NEXT: Final = timedelta(days=364)
LAST: Final = timedelta()
_SENTENCE_END: Final = re.compile(r"[;!?\n]|\.(?=\s)")
# How long a clause is read to either side, and how many letters before a time still open its clause.
_LONGEST: Final = 160
_OPENING: Final = 6


@cache
def _clause_end(words: str) -> re.Pattern[str]:
    return re.compile(rf"[;:!?\n()]|[.,](?=\s)|\s[–—-]\s|{words}", re.IGNORECASE)


def outlook_of(match: re.Match[str], words: TimeWords) -> timedelta | None:
    """How far ahead the clause may look in which a time stands: it says what will be or what was, or neither."""
    clause = _around(match, _clause_end(words.clause_end))
    will, was = re.search(words.ahead, clause), re.search(words.behind, clause)
    if bool(will) == bool(was) or (was and re.search(words.toward, clause)):
        return None
    return NEXT if will else LAST


def sentence_around(match: re.Match[str]) -> str:
    return _around(match, _SENTENCE_END)


def _around(match: re.Match[str], end: re.Pattern[str]) -> str:
    """The sentence or clause of a time, in small letters; with the next one, where the time is all that it holds."""
    text = match.string
    before = max((one.end() for one in end.finditer(text, max(0, match.start() - _LONGEST), match.start())), default=0)
    before = max(before, match.start() - _LONGEST)
    last = match.end() + _LONGEST
    after = end.search(text, match.end(), last)
    if after is not None and after.start() == match.end() and match.start() - before <= _OPENING:
        after = end.search(text, after.end(), last)
    return text[before : after.start() if after else last].strip().lower()
