"""Two forms of a text: `clean` is what a store keeps, `normalize` is what comparisons read."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import is_normalized
from unicodedata import normalize as unicode_form

# SQLite and C libraries end a string at NUL, and a lone surrogate cannot be written as UTF-8.
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")

# Control characters separate words for a reader, so they become spaces rather than join their neighbours.
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

MAX_TAGS: Final = 64
MAX_TAG: Final = 128


def nfc(text: str) -> str:
    if text.isascii() or is_normalized("NFC", text):
        return text
    return unicode_form("NFC", text)


def clean(text: str) -> str:
    """NFC without NUL and lone surrogates; case, newlines and everything else stay."""
    if text.isascii():
        return text.replace("\x00", "") if "\x00" in text else text
    # Removing comes first: a letter and its accent may become neighbours only then.
    return nfc(_UNSTORABLE.sub("", text))


def normalize(text: str) -> str:
    """Casefolded NFC in which control characters and lone surrogates are spaces."""
    # Folding can leave decomposed letters behind (İ becomes i and a dot), and composing them can
    # give a letter that folds again, so both are repeated until nothing moves.
    folded = fold(_CONTROL.sub(" ", text))
    again = fold(folded)
    while again != folded:
        folded, again = again, fold(again)
    return folded


def fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return nfc(nfc(text).casefold())


def tag_name(tag: str) -> str:
    """A tag without its leading # and surrounding blanks."""
    return clean(tag).strip().lstrip("#").strip()
