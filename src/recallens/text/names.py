"""Which of some known names a text holds, and the text without them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from recallens.text.normalize import nfc
from recallens.text.stopwords import query_stopwords
from recallens.text.tokenizer import tokenize

# The longest name, in words.
MOST_WORDS: Final = 3

_WORD: Final = re.compile(r"\w+")
_POSSESSIVE: Final = re.compile(r"['’]s\b")
# A Korean name carries its particle: 민아가, 민아에게.
_PARTICLES: Final = (
    "에게서", "한테서", "에게", "한테", "이가", "이는", "이의", "이랑",
    "가", "이", "는", "은", "를", "을", "의", "와", "과", "도", "랑", "께",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Name:
    start: int
    end: int
    code: int


def names_in(text: str, known: Mapping[str, int], ignored: Collection[str] = ()) -> list[Name]:
    """The known names as written, the longest first where they overlap; case matters: Will asks, will does not."""
    if not known:
        return []
    words = [(word.start(), word.end()) for word in _WORD.finditer(text)]
    found: list[Name] = []
    at = 0
    while at < len(words):
        step = 1
        for size in range(min(MOST_WORDS, len(words) - at), 0, -1):
            start, end = words[at][0], words[at + size - 1][1]
            length = _known_length(text[start:end], known, ignored)
            if length:
                found.append(Name(start, start + length, known[nfc(text[start : start + length])]))
                step = size
                break
        at += step
    return found


def _known_length(written: str, known: Mapping[str, int], ignored: Collection[str]) -> int:
    """How much of this is a known name: all of it, or all but a Korean particle."""
    if written.lower() in ignored:
        return 0
    if nfc(written) in known:
        return len(written)
    for particle in () if written.isascii() else _PARTICLES:
        if written.endswith(particle) and nfc(written[: -len(particle)]) in known:
            return len(written) - len(particle)
    return 0


def without_names(text: str, names: Sequence[Name]) -> str:
    """What is left to be meant; the whole text where the names are all that it says."""
    if not names:
        return text
    rest, at = [], 0
    for name in names:
        rest.append(text[at : name.start])
        possessive = _POSSESSIVE.match(text, name.end)
        at = possessive.end() if possessive else name.end
    left = " ".join(" ".join([*rest, text[at:]]).split())
    return left if set(tokenize(left)) - query_stopwords() else text
