"""Whether a text holds a word in another form: inflected, misspelt, or with its spaces elsewhere.

Words are compared by their letters; a syllable of Hangul is two or three. What has a figure in it is one thing and no
other, so it is never taken for something else.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property
from operator import add
from typing import Final
from unicodedata import normalize

from recallens.text.content import morphemes
from recallens.text.languages import alternatives, grammar_of
from recallens.text.stopwords import token_weight

# Two words are forms of one if they begin alike for this share of both, and for so many letters.
ALIKE: Final = 0.75
LEAST_ALIKE: Final = 5
# From so many letters on, one that differs is a slip.
LEAST_MISSPELT: Final = 6
# A stem of so many syllables is a word of its own.
LEAST_STEM: Final = 2
# So many syllables are one name, wherever its blanks stand.
LEAST_NAME: Final = 4
# What is read of a long text.
MOST_CHARACTERS: Final = 20_000

_WORD: Final = re.compile(r"[^\W_]+")
_HANGUL: Final = re.compile(r"[\uac00-\ud7a3]+")
_FIGURE: Final = re.compile(r"\d")


def letters(text: str) -> str:
    return normalize("NFD", text.casefold())


def one_apart(word: str, other: str) -> bool:
    """Whether a letter more, less or other makes one of the other."""
    if word == other:
        return True
    short, long = sorted((word, other), key=len)
    if len(long) - len(short) > 1:
        return False
    at = next((at for at, (one, two) in enumerate(zip(short, long, strict=False)) if one != two), len(short))
    return short[at + (len(short) == len(long)) :] == long[at + 1 :]


class SpokenWords:
    """The words of a text and what two neighbours make together."""

    def __init__(self, text: str) -> None:
        self._text = text[:MOST_CHARACTERS]
        self._written = _WORD.findall(self._text)
        words = list(map(letters, self._written))
        self._by_first_letter = defaultdict[str, set[str]](set)
        for word in {*words, *map(add, words, words[1:])}:
            self._by_first_letter[word[0]].add(word)

    def holds(self, word: str) -> bool:
        if _FIGURE.search(word):
            return False
        wanted = letters("".join(_WORD.findall(word)))
        if len(wanted) < LEAST_ALIKE:
            return False
        if any(_alike(wanted, spoken) for spoken in self._by_first_letter.get(wanted[0], ())):
            return True
        grammar = grammar_of(word)
        stem = grammar.morpheme(word) if grammar else ""
        return len(stem) >= LEAST_STEM and stem in self._stems

    def says(self, figure: str) -> bool:
        """Whether the number stands in the text by itself, and not within another."""
        return re.search(rf"(?<![\d.,]){re.escape(figure)}(?![\d]|[.,]\d)", self._text) is not None

    def begins(self, word: str) -> bool:
        """Whether a word of the text begins with this one."""
        wanted = letters(word)
        return any(spoken.startswith(wanted) for spoken in self._by_first_letter.get(wanted[:1], ()))

    @cached_property
    def _stems(self) -> frozenset[str]:
        """Of words that are inflected by syllables: 바뀌 of 바뀐다."""
        return frozenset(grammar.morpheme(word) for word in self._written if (grammar := grammar_of(word)))


def words_named(topic: str, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a topic that a text says in any form, and those that it does not. Words of grammar are neither.

    A Korean word also names what a longer one begins with (결제시스템), and is one name with its neighbours.
    """
    spoken, tight = morphemes(text), "".join(text.split())
    stems = {word: _stems_of(word) for word in topic.split()}
    whole = "".join(stem for parts in stems.values() for stem in parts)
    joined = len(whole) >= LEAST_NAME and whole in tight
    said, lacking = list[str](), list[str]()
    for word, parts in stems.items():
        forms = morphemes(_HANGUL.sub(" ", word))
        if not forms and not parts:
            continue
        named = forms <= spoken and (joined or all(_begins_a_word(part, text, tight) for part in parts))
        (said if named else lacking).append(word)
    return tuple(said), tuple(lacking)


def _stems_of(word: str) -> list[str]:
    grammar = grammar_of(word)
    stems = [(grammar.stem(part) or part) for part in _HANGUL.findall(word)] if grammar is not None else []
    return [stem for stem in stems if token_weight(stem) > 0]


def _begins_a_word(stem: str, text: str, tight: str) -> bool:
    if len(stem) >= LEAST_NAME and stem in tight:
        return True
    # One syllable begins too many words: it is named where it is the word, particles aside.
    particles = alternatives(lambda pack: "|".join(pack.names.particles))
    ends = {stem, *(f"{stem}{particle}" for particle in particles.split("|"))}
    spoken = _HANGUL.findall(text)
    return any(word in ends for word in spoken) if len(stem) < LEAST_STEM else any(w.startswith(stem) for w in spoken)


def _alike(wanted: str, spoken: str) -> bool:
    """Of two words with the same first letter."""
    if spoken.startswith(wanted):
        return True
    same = next((at for at, (one, two) in enumerate(zip(wanted, spoken, strict=False)) if one != two), len(spoken))
    if same >= LEAST_ALIKE and same >= ALIKE * len(wanted) and (not wanted.isascii() or same >= ALIKE * len(spoken)):
        return True
    return len(wanted) >= LEAST_MISSPELT and one_apart(wanted, spoken)
