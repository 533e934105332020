"""Whether a text says a word of the question in the other language: by a list of common words, or by its sound.

The list was written by hand for everyday and office life; what it does not hold is left to the encoder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from recallens.text.languages import grammar_of
from recallens.text.languages.korean_sounds import sound_alike
from recallens.text.tokenizer import tokenize

WORDS: Final = Path(__file__).parents[1] / "data" / "korean_english.txt"
MOST_CHARACTERS: Final = 800
# A Korean word of one syllable is the beginning of too many others.
LEAST_SYLLABLES: Final = 2

_LATIN: Final = re.compile(r"[A-Za-z]{2,}")
_HANGUL: Final = re.compile(r"[가-힣]+")


class TranslatedWords:
    """The words of a text as another language would say them."""

    def __init__(self, text: str) -> None:
        text = text[:MOST_CHARACTERS]
        self._latin = frozenset(_LATIN.findall(text))
        self._tokens = frozenset(tokenize(" ".join(sorted(self._latin))))
        self._hangul = frozenset(form for word in _HANGUL.findall(text) for form in _forms(word))
        self._held: dict[str, bool] = {}  # relevance, score and certificate ask for the same words

    def hold(self, phrase: str) -> bool:
        """Whether every word of it is said in the other language."""
        if phrase not in self._held:
            words = phrase.split()
            self._held[phrase] = bool(words) and all(map(self._holds, words))
        return self._held[phrase]

    def _holds(self, word: str) -> bool:
        if _HANGUL.fullmatch(word):
            readings = _readings(word)
            if readings:
                return any(all(not words.isdisjoint(self._tokens) for words in reading) for reading in readings)
            return any(sound_alike(word, own) for own in self._latin)
        if not self._hangul or not _LATIN.fullmatch(word):
            return False
        meant = {korean for token in tokenize(word) for korean in _korean().get(token, ())}
        if any(own == korean or (len(korean) >= LEAST_SYLLABLES and own.startswith(korean))
               for own in self._hangul for korean in meant):  # fmt: skip
            return True
        return any(sound_alike(own, word) for own in self._hangul)


@lru_cache(maxsize=4_096)
def _readings(word: str) -> tuple[tuple[frozenset[str], ...], ...]:
    """What a Korean word may mean in English: itself, or two words that it is made of, or one and a syllable more."""
    english = _english()
    if word in english:
        return ((english[word],),)
    halves = [(word[:at], word[at:]) for at in range(LEAST_SYLLABLES, len(word))]
    both = tuple((english[one], english[two]) for one, two in halves if one in english and two in english)
    return both or tuple((english[one],) for one, two in halves if one in english and len(two) == 1)


@cache
def _english() -> Mapping[str, frozenset[str]]:
    lines = [line.split() for line in WORDS.read_text(encoding="utf-8").splitlines()]
    return {korean: frozenset(token for word in english for token in tokenize(word)) for korean, *english in lines}


@cache
def _korean() -> Mapping[str, frozenset[str]]:
    words: dict[str, set[str]] = {}
    for korean, english in _english().items():
        for token in english:
            words.setdefault(token, set()).add(korean)
    return {token: frozenset(korean) for token, korean in words.items()}


@lru_cache(maxsize=16_384)
def _forms(word: str) -> tuple[str, ...]:
    """A Korean word as it stands, and without its particles."""
    grammar = grammar_of(word)
    bare = grammar.stem(word) if grammar is not None else ""
    return (word, bare) if len(bare) > 1 and bare != word else (word,)
