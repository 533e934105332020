"""A document as sections: cut at blank lines, joined up to a target size; a paragraph that fits is never cut."""

from __future__ import annotations

import re
from dataclasses import dataclass

TARGET_CHARACTERS = 1_200

_PARAGRAPH = re.compile(r"(?:[^\n]*\S[^\n]*\n?)+")


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of the document, with the lines it stands on, counted from 1."""

    text: str
    first_line: int
    last_line: int


def sections(text: str, target: int = TARGET_CHARACTERS) -> list[Section]:
    pieces = [
        piece for match in _PARAGRAPH.finditer(text) for piece in _split(text, match.start(), match.end(), target)
    ]
    joined: list[tuple[int, int]] = []
    for start, end in pieces:
        if joined and end - joined[-1][0] <= target:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return [
        Section(text[start:end].strip("\n"), text.count("\n", 0, start) + 1, text.count("\n", 0, end - 1) + 1)
        for start, end in joined
        if text[start:end].strip()
    ]


def _split(text: str, start: int, end: int, target: int) -> list[tuple[int, int]]:
    """A paragraph longer than the target, cut at line ends, else at spaces, else where it must be."""
    cuts = []
    while end - start > target:
        window = text[start : start + target]
        at = max(window.rfind("\n"), window.rfind(". ") + 1)
        if at < target // 2:
            at = window.rfind(" ")
        cut = start + (at + 1 if at > 0 else target)
        cuts.append((start, cut))
        start = cut
    return [*cuts, (start, end)]
