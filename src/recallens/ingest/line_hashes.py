"""Hashes by which cited lines are known again, so that nothing of a file is kept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from recallens.model.citation import CitedLines

# A line that says something: a bracket or a blank line stands in too many places to be known again.
SAYS: Final = re.compile(r"\w\W*\w")
# How the hash of lines begins in which blank ones do not count.
SAID: Final = "said:"
_LINE_DIGITS: Final = 8


def hashes_of(lines: Sequence[str]) -> list[str]:
    """A hash of each line, and none of one that says nothing."""
    return [line_hash(line) if SAYS.search(line) else "" for line in lines]


def line_hash(line: str) -> str:
    return hashlib.sha256(line.rstrip().encode("utf-8", "replace")).hexdigest()[:_LINE_DIGITS]


def same(known: CitedLines, lines: Sequence[str]) -> bool:
    """Whether these are the lines; blank ones do not count, except in hashes of an older kind."""
    return known.hash in (said_hash(lines), whole_hash(lines))


def said_hash(lines: Sequence[str]) -> str:
    return SAID + whole_hash([line for line in lines if line.strip()])


def whole_hash(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(line.rstrip() for line in lines).encode("utf-8", "replace")).hexdigest()
