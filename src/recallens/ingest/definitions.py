"""Where a name is defined in a source text, and how far the definition goes: by keywords, brackets and indentation, the
same for every language. It finds what a reader would; it does not parse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

# A definition that is longer than this is cut here.
LONGEST_BLOCK: Final = 2_000
# Lines below the first on which the bracket of the block may open.
_OPENS_WITHIN: Final = 6

_MODIFIERS: Final = (
    r"(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|sealed|override|virtual|inline"
    r"|unsafe|extern|open|data|pub(?:\([^)\n]*\))?|declare|create(?: or replace)?)\s+)*"
)
_KEYWORDS: Final = (
    r"(?:def|class|function\*?|func|fn|fun|sub|proc|macro|interface|struct|enum|union|trait|impl|type|module|namespace"
    r"|package|record|object|protocol|extension|const|let|var|val|table|view|index|trigger|procedure)"
)
# What may stand before a name that is called and not defined.
_STATEMENTS: Final = r"(?:return|await|yield|throw|raise|new|if|elif|else|while|for|in|not|and|or|assert|del|case)"
# The closing line of a block stands as far left as its first.
_CLOSING: Final = re.compile(r"\s*(?:[)\]}]|end\b)")
_COMMENT: Final = re.compile(r"\s(?:#|//|--).*$")
_PARTS: Final = re.compile(r"::|[.#/]")


def definition(lines: Sequence[str], name: str) -> tuple[int, int] | None:
    """The first and the last line of the definition, counted from 1. `Class.method` is looked for within its class."""
    low, high = 0, len(lines)
    found: tuple[int, int] | None = None
    parts = [part for part in _PARTS.split(name.removesuffix("()")) if part]
    for at, part in enumerate(parts):
        place = next(_places(lines, part, low, high), None)
        if place is None and at == len(parts) - 1:
            # Some languages define what belongs to a type outside of it.
            high, place = len(lines), next(_places(lines, part, 0, len(lines)), None)
            if place is None:
                return None
        if place is None:
            continue  # an outer name may be a module, which no line defines
        low, high = place, _end(lines, place, high)
        found = low + 1, high
        low += 1
    return found


def _places(lines: Sequence[str], name: str, low: int, high: int) -> Iterator[int]:
    """Lines that define the name: by a keyword first, then as something called, then as something assigned."""
    word = rf"(?<![\w$]){re.escape(name)}(?![\w$])"
    forms = (
        rf"\s*{_MODIFIERS}{_KEYWORDS}\s+(?:\([^)\n]*\)\s*)?(?:[\w$.:]*[.:])?{word}",
        rf"\s*(?!{_STATEMENTS}\b)(?:[\w$<>,:*&~?\[\]]+\s+)*{word}\s*(?:<[^>\n]*>)?\([^;\n]*$",
        rf"\s*[\"']?(?:[\w$]+\.)*{word}[\"']?\s*(?::=|[:=])(?!=)",
    )
    for form in forms:
        pattern = re.compile(form)
        yield from (at for at in range(low, high) if len(lines[at]) < 2_000 and pattern.match(lines[at]))


def _end(lines: Sequence[str], start: int, high: int) -> int:
    """The line behind the block: where its brackets are balanced again, else where the text is no longer indented."""
    high = min(high, start + LONGEST_BLOCK)
    for at in range(start, min(high, start + _OPENS_WITHIN)):
        head = _COMMENT.sub("", lines[at]).rstrip()
        if "{" in head and not head.endswith(":"):
            return _balanced(lines, start, high)
        if head.endswith(";"):
            return at + 1
        if head.endswith(":"):
            break
    return _indented(lines, start, high)


def _balanced(lines: Sequence[str], start: int, high: int) -> int:
    depth, opened = 0, False
    for at in range(start, high):
        depth += lines[at].count("{") - lines[at].count("}")
        opened = opened or "{" in lines[at]
        if opened and depth <= 0:
            return at + 1
    return high


def _indented(lines: Sequence[str], start: int, high: int) -> int:
    own, end = _indent(lines[start]), start + 1
    for at in range(start + 1, high):
        line = lines[at]
        if not line.strip():
            continue
        if _indent(line) <= own and not (_CLOSING.match(line) and _indent(line) == own):
            break
        end = at + 1
    return end


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())
