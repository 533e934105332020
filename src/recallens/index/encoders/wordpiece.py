"""BERT's tokenizer, lower case and without accents: the ids are those of the model's own tokenizer.json.

Devlin et al., 2019, arXiv:1810.04805. A text is cleaned, split at blanks and at punctuation, and each word is cut into
the longest pieces that the vocabulary has, from its beginning on.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Final

SPECIAL: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LONGEST_WORD: Final = 100  # a longer one is [UNK]
# Words whose pieces are remembered: most of a text was seen before. Past this all are forgotten, and learned again.
MOST_WORDS: Final = 65_536

# Han characters, of which each is a word.
_HAN: Final = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_SPECIAL_IN_TEXT: Final = re.compile("(" + "|".join(map(re.escape, SPECIAL)) + ")")


class CharacterClasses:
    """Which characters are control characters, accents and punctuation to the model: those of the version of Unicode
    that its tokenizer was built with, whatever Python's own is. A line of the file is a class and its ranges."""

    def __init__(self, path: Path) -> None:
        rows = (line.split() for line in path.read_text("ascii").splitlines())
        self._bounds = {name: [int(bound, 16) for bound in bounds] for name, *bounds in rows}

    def has(self, name: str, code: int) -> bool:
        """The bounds are the first of a range and the one behind its last, by turns."""
        return bisect_right(self._bounds[name], code) % 2 == 1


class _Cleaned(dict[int, str | None]):
    """What becomes of a character before anything is decomposed: it goes, is a blank, stands alone or stays."""

    def __init__(self, classes: CharacterClasses) -> None:
        self._classes = classes

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        made: str | None = character
        if self._classes.has("control", code):
            made = None
        elif character.isspace():
            made = " "
        elif any(first <= code <= last for first, last in _HAN):
            made = f" {character} "
        self[code] = made
        return made


class _Lowered(dict[int, str | None]):
    """What becomes of a character that is decomposed: accents go, punctuation stands alone, the rest is lower case."""

    def __init__(self, classes: CharacterClasses) -> None:
        self._classes = classes

    def __missing__(self, code: int) -> str | None:
        made: str | None = chr(code).lower()
        if self._classes.has("accent", code):
            made = None
        elif self._classes.has("punctuation", code):
            made = f" {made} "
        self[code] = made
        return made


class WordPiece:
    """Ids of texts. Any number of threads may use one: what it remembers is only ever added."""

    def __init__(self, vocabulary: Path, characters: Path, longest: int) -> None:
        words = vocabulary.read_text("utf-8").removesuffix("\n").split("\n")
        self._ids = {word: place for place, word in enumerate(words)}
        self._unknown = (self._ids["[UNK]"],)
        self._begin, self._end = self._ids["[CLS]"], self._ids["[SEP]"]
        self._longest = longest
        self._pieces: dict[str, tuple[int, ...]] = {}
        classes = CharacterClasses(characters)
        self._cleaned, self._lowered = _Cleaned(classes), _Lowered(classes)

    def encode(self, text: str) -> list[int]:
        """[CLS], the pieces, as many as fit, and [SEP]."""
        ids, room = [self._begin], self._longest - 1
        for place, piece in enumerate(_SPECIAL_IN_TEXT.split(text) if "[" in text else (text,)):
            if place % 2:
                ids.append(self._ids[piece])
                continue
            for word in self._words(piece):
                ids += self._pieces.get(word) or self._cut(word)
                if len(ids) > room:
                    break
        del ids[room:]
        ids.append(self._end)
        return ids

    def _words(self, text: str) -> Sequence[str]:
        if text.isascii():
            return text.translate(self._cleaned).translate(self._lowered).split()
        cleaned = unicodedata.normalize("NFD", text.translate(self._cleaned))
        return cleaned.translate(self._lowered).split(" ") if cleaned else ()

    def _cut(self, word: str) -> tuple[int, ...]:
        if not word:
            return ()
        if len(self._pieces) >= MOST_WORDS:
            self._pieces.clear()
        pieces = self._unknown if len(word) > LONGEST_WORD else self._cut_longest(word)
        self._pieces[word] = pieces
        return pieces

    def _cut_longest(self, word: str) -> tuple[int, ...]:
        pieces, begin, mark = [], 0, ""
        while begin < len(word):
            for end in range(len(word), begin, -1):
                if (id := self._ids.get(mark + word[begin:end])) is not None:
                    break
            else:
                return self._unknown  # of which one part is unknown, all is
            pieces.append(id)
            begin, mark = end, "##"
        return tuple(pieces)
