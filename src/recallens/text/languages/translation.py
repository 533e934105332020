"""Whether a text says a word of the question in the other language: by a list of common words, or by its sound.

What the list does not hold is left to the encoder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, cached_property, lru_cache, reduce
from itertools import chain
from operator import or_
from typing import Final

from msgspec import Struct

from recallens.text.languages import grammar_of
from recallens.text.languages.korean_forms import LONGEST_FIRST, carries, morpheme, stems_of
from recallens.text.languages.korean_sounds import opening, openings, sound_alike
from recallens.text.languages.korean_words import korean_english
from recallens.text.tokenizer import tokenize, tokens_of

MOST_CHARACTERS: Final = 800
BEGINNING: Final = 3  # letters that all forms of a word begin with
# A Korean word of one syllable is the beginning of too many others.
LEAST_SYLLABLES: Final = 2
# What is said by more words than this (go, leave, take) says nothing of what they have in common.
MOST_WORDS_FOR_IT: Final = 16

# A verb or an adjective stands in the list as in a dictionary.
_VERB: Final = "다"

_LATIN: Final = re.compile(r"[A-Za-z]{2,}")
_HANGUL: Final = re.compile(r"[가-힣]+")
_ROUND: Final = re.compile(r"\d\s?차(?=[은는이가을를에로의도\s]|$)")  # the second time, and no car


class _KoreanWord(Struct, frozen=True):
    """What says a Korean word of a question in English."""

    text: str
    readings: tuple[tuple[frozenset[str], ...], ...]
    words: frozenset[str]  # of all readings together
    opening: int  # of what sounds like it; 0 where only a reading says it

    def is_said(self, text: TranslatedWords) -> bool:
        is_near = bool(self.words) and not self.words.isdisjoint(text.tokens)
        if is_near and any(not any(map(text.tokens.isdisjoint, reading)) for reading in self.readings):
            return True
        alike = text.latin if self.opening and self.opening & text.latin_openings else ()
        return any(self.opening & openings(word) and sound_alike(self.text, word) for word in alike)


class _EnglishWord(Struct, frozen=True):
    """What says an English word of a question in Korean."""

    text: str
    syllables: frozenset[str]
    nouns: tuple[str, ...]
    stems: frozenset[str]
    openings: int  # of what sounds like it

    def is_said(self, text: TranslatedWords) -> bool:
        if not text.written:
            return False
        if not self.syllables.isdisjoint(text.hangul) or not self.stems.isdisjoint(text.verbs):
            return True
        if any(map(text.one_text.__contains__, self.nouns)):
            return True
        # One syllable sounds like many words: 문 or 만 is no moon.
        alike = text.hangul if self.openings & text.hangul_openings else ()
        return any(len(form) >= LEAST_SYLLABLES and self.openings & opening(form) and sound_alike(form, self.text)
                   for form in alike)  # fmt: skip


class TranslatedWords:
    """The words of a text as another language would say them."""

    def __init__(self, text: str) -> None:
        self._text = text[:MOST_CHARACTERS]
        self._meanings: frozenset[str] | None = None
        self._held: dict[str, bool] = {}  # relevance, score and certificate ask for the same words

    # What only a question of the one language needs, or only one of the other.

    @cached_property
    def latin(self) -> frozenset[str]:
        return frozenset(_LATIN.findall(self._text))

    @cached_property
    def written(self) -> frozenset[str]:
        return frozenset() if self._text.isascii() else frozenset(_HANGUL.findall(_ROUND.sub(" ", self._text)))

    @cached_property
    def tokens(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(map(tokens_of, self.latin)))

    @cached_property
    def hangul(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(map(_forms, self.written)))

    @cached_property
    def one_text(self) -> str:
        """A word that is within any of the forms is within this."""
        return " ".join(self.hangul)

    @cached_property
    def verbs(self) -> frozenset[str]:
        return frozenset(map(morpheme, self.written))

    @cached_property
    def latin_openings(self) -> int:
        """Of all words together."""
        return reduce(or_, map(openings, self.latin), 0)

    @cached_property
    def hangul_openings(self) -> int:
        """Of all forms together."""
        return reduce(or_, map(opening, self.hangul), 0)

    def hold(self, phrase: str) -> bool:
        """Whether every word of it is said in the other language."""
        if phrase not in self._held:
            words = _words_of(phrase)
            self._held[phrase] = bool(words) and all(word.is_said(self) for word in words)
        return self._held[phrase]

    def mean(self, word: str) -> bool:
        """Whether a word of the text, of whichever language, has a translation in common with this one."""
        meant = _meanings(word)
        if meant and self._meanings is None:
            self._meanings = self.tokens.union(*map(_every_meaning, self.written))
        return self._meanings is not None and not meant.isdisjoint(self._meanings)


@lru_cache(maxsize=1_024)
def _words_of(phrase: str) -> tuple[_KoreanWord | _EnglishWord, ...]:
    """The words of a phrase; none where one of them is of neither language."""
    words = phrase.split()
    if not all(_HANGUL.fullmatch(word) or _LATIN.fullmatch(word) for word in words):
        return ()
    return tuple(_korean_word(word) if _HANGUL.fullmatch(word) else _english_word(word) for word in words)


def _korean_word(word: str) -> _KoreanWord:
    readings = _readings(word)
    sounds = word not in korean_english() and len(word) >= LEAST_SYLLABLES
    words = frozenset(token for reading in readings for words in reading for token in words)
    return _KoreanWord(word, readings, words, opening(word) if sounds else 0)


def _english_word(word: str) -> _EnglishWord:
    meant = _meant(word)
    syllables = frozenset(noun for noun in meant if len(noun) < LEAST_SYLLABLES)
    stems = frozenset(stem for verb in meant if _is_verb(verb) for stem in stems_of(verb))
    return _EnglishWord(word, syllables, tuple(noun for noun in meant if noun not in syllables), stems, openings(word))


def words_of_the_same_meaning(word: str) -> tuple[str, ...]:
    """The Korean words of the list that have a translation in common with a word."""
    return tuple(dict.fromkeys(korean for meaning in sorted(_meanings(word)) for korean in _meant(meaning)))


def words_in_translation(phrase: str) -> tuple[str, ...]:
    """The words by which the other language may say those of the phrase, as they are indexed."""
    words = dict[str, None]()
    for word in phrase.split():
        if _HANGUL.fullmatch(word):
            words |= dict.fromkeys(token for reading in _readings(word) for part in reading for token in sorted(part))
        elif _LATIN.fullmatch(word):
            nouns = (noun for noun in _meant(word) if len(noun) >= LEAST_SYLLABLES and not _is_verb(noun))
            words |= dict.fromkeys(token for noun in nouns for token in tokenize(noun))
    return tuple(words)


@lru_cache(maxsize=4_096)
def _readings(word: str) -> tuple[tuple[frozenset[str], ...], ...]:
    """What a Korean word may mean in English: itself, with a particle or as a form of a verb; or two words that it is
    made of, or one and a syllable more.
    """
    listed = korean_english()
    bare = [word, *(word.removesuffix(end) for end in LONGEST_FIRST if word.endswith(end) and len(word) > len(end))]
    whole = [each for each in bare if each in listed and (each == word or carries(each, word[len(each) :]))]
    if word not in listed:
        stem = morpheme(word)  # and again: 느려졌어 is 느려, which is a form of 느리다
        whole += [verb for each in (stem, morpheme(stem)) for verb in verbs_by_stem().get(each, ())]
    readings: list[tuple[frozenset[str], ...]] = [(_english(each),) for each in dict.fromkeys(whole)]
    halves = [(word[:at], word[at:]) for at in range(LEAST_SYLLABLES, len(word))]
    readings += [(_english(one), _english(two)) for one, two in halves if one in listed and two in listed]
    return tuple(readings) or tuple((_english(one),) for one, two in halves if one in listed and len(two) == 1)


@lru_cache(maxsize=8_192)
def _meanings(word: str) -> frozenset[str]:
    """What a word may mean, but for what is said by too many words."""
    return frozenset(token for token in _every_meaning(word) if _said_by(token) <= MOST_WORDS_FOR_IT)


@lru_cache(maxsize=8_192)
def _every_meaning(word: str) -> frozenset[str]:
    """What a word may mean, as words of English: of an English one, what the Korean words for it mean besides."""
    if _HANGUL.fullmatch(word):
        return frozenset(token for reading in _readings(word) if len(reading) == 1 for token in reading[0])
    return frozenset(token for korean in _meant(word) for token in _english(korean))


@lru_cache(maxsize=4_096)
def _said_by(token: str) -> int:
    """How many Korean words of the list a word of English says, as it is indexed."""
    alike = _by_beginning().get(token[:BEGINNING], {})
    return len({korean for word, own in alike.items() if token in _tokens(word) for korean in own})


def _is_verb(korean: str) -> bool:
    return korean.endswith(_VERB) and len(korean) > len(_VERB)


@lru_cache(maxsize=16_384)
def _tokens(word: str) -> tuple[str, ...]:
    return tuple(tokenize(word))


@lru_cache(maxsize=4_096)
def _english(korean: str) -> frozenset[str]:
    """The words of English that say one of the list, as they are indexed."""
    return frozenset(token for word in korean_english()[korean] for token in _tokens(word))


@cache
def verbs_by_stem() -> Mapping[str, tuple[str, ...]]:
    """The verbs of the list by what all forms of each have in common."""
    verbs: dict[str, list[str]] = {}
    for korean in filter(_is_verb, korean_english()):
        for stem in stems_of(korean):
            verbs.setdefault(stem, []).append(korean)
    return {stem: tuple(korean) for stem, korean in verbs.items()}


@cache
def _by_beginning() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The list from English: under its first letters, each word and the Korean words for it."""
    words: dict[str, dict[str, list[str]]] = {}
    for korean, english in korean_english().items():
        for word in english:
            words.setdefault(word[:BEGINNING], {}).setdefault(word, []).append(korean)
    return {begun: {word: tuple(own) for word, own in of.items()} for begun, of in words.items()}


@lru_cache(maxsize=4_096)
def _meant(word: str) -> tuple[str, ...]:
    """The Korean words of the list that say an English one, whichever of its forms stands there."""
    tokens = set(_tokens(word))
    alike = _by_beginning().get(word.lower()[:BEGINNING], {})
    return tuple(dict.fromkeys(korean for own in alike if not tokens.isdisjoint(_tokens(own)) for korean in alike[own]))


@lru_cache(maxsize=16_384)
def _forms(word: str) -> tuple[str, ...]:
    """A Korean word as it stands, and without its particles."""
    grammar = grammar_of(word)
    bare = grammar.stem(word) if grammar is not None else ""
    return (word, bare) if len(bare) > 1 and bare != word else (word,)
