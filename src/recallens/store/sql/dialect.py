"""The SQL that every engine runs is written once. It is SQLite's as far as PostgreSQL reads it too, and where they
differ it has one of these words, which each engine spells its own way:

?1, ?2 …                parameters; ?1 is the namespace's key
NUMBERS(x), TEXTS(x)    a JSON list as a table with the columns `key`, the place in the list, and `value`
RECORDS(x)              a JSON list of lists: `value ->> 0` is the first item of each
KEY(a, b)               the columns of a table's key, behind the namespace where that is part of it
SOUND(noun, row)        every field of the row holds what it may; SOUND(bytes, x) and SOUND(whole, x) ask it of a column
BYTES(x), UNHEX(x)      a text or bytes as bytes; the bytes that a text of hexadecimal digits stands for
SCOPES(m.scopes)        the JSON list of a memory's scopes; one that cannot be read is a scope that nobody holds
SORTED BY a, b          an order in which SQLite gives the rows by itself, since it goes along an index
CROSS JOIN, +column     hints to SQLite's planner, which mean nothing elsewhere
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

# A statement with other words in it than any before is rendered once; there are some hundreds.
MOST_KEPT = 4096


class Dialect:
    """How one engine spells the words above."""

    def __init__(self, spellings: Mapping[str, str | Callable[[re.Match[str]], str]]) -> None:
        self._spellings = [(re.compile(word), spelled) for word, spelled in spellings.items()]
        self._rendered: dict[str, str] = {}

    def render(self, sql: str) -> str:
        rendered = self._rendered.get(sql)
        if rendered is None:
            rendered = sql
            for word, spelled in self._spellings:
                rendered = word.sub(spelled, rendered)
            if len(self._rendered) >= MOST_KEPT:
                self._rendered.clear()
            self._rendered[sql] = rendered
        return rendered
