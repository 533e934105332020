"""What a text is about, whatever form its words have: English stems, Korean words without particles and endings."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Final

from recallens.text.languages import each, grammar_of
from recallens.text.stopwords import FULL_WEIGHT, token_weight
from recallens.text.tokenizer import tokenize

_SYLLABLES: Final = re.compile(r"[\uac00-\ud7a3]+")


@lru_cache(maxsize=2_048)
def content_words(text: str) -> frozenset[str]:
    """The words that say what it is about. A Korean word counts by its pairs of syllables."""
    grammar = grammar_of(text)
    words = {word for word in tokenize(_SYLLABLES.sub(" ", text)) if token_weight(word) == FULL_WEIGHT}
    if grammar is not None:
        for written in _SYLLABLES.findall(text):
            stem = grammar.stem(written)
            words.update(stem[at : at + 2] for at in range(len(stem) - 1))
    return frozenset(words)


@lru_cache(maxsize=2_048)
def morphemes(text: str) -> frozenset[str]:
    """The same by whole words: a Korean noun or verb is one, whatever it ends in."""
    grammar = grammar_of(text)
    words = {word for word in tokenize(_SYLLABLES.sub(" ", text)) if token_weight(word) == FULL_WEIGHT}
    if grammar is not None:
        words.update(filter(None, map(grammar.morpheme, _SYLLABLES.findall(text))))
    return frozenset(words)


def subject_words(text: str, tokens: Iterable[str]) -> frozenset[str]:
    """The same of a text whose tokens are known."""
    if grammar_of(text) is not None:
        return morphemes(text)
    return frozenset(word for word in set(tokens) if token_weight(word) == FULL_WEIGHT)


def gist(text: str, tokens: Iterable[str]) -> int:
    """64 bits that two texts about the same have in common, whatever forms their words have and in whatever order."""
    words = "\n".join(sorted(subject_words(text, tokens)))
    return int.from_bytes(blake2b(words.encode("utf-8", "replace"), digest_size=8).digest(), "little")


# So many words in a row are no chance: who has them has them from there.
QUOTED_WORDS: Final = 6


def quotes(text: str, source: str) -> bool:
    """Whether a text holds some words of another in a row, blanks and capitals aside."""
    told, words = text.casefold().split(), source.casefold().split()
    size = min(QUOTED_WORDS, len(words))

    def runs(of: list[str]) -> set[tuple[str, ...]]:
        return {tuple(of[start : start + size]) for start in range(len(of) - size + 1)}

    return size > 0 and not runs(told).isdisjoint(runs(words))


SHORTEST_QUOTE: Final = 20
MOST_PIECES: Final = 2_000
_PIECE_ENDS: Final = (re.compile(r"\n[ \t]*\n"), re.compile(r"\n"), re.compile(r"(?<=[.!?。])\s"))


def quotable(text: str) -> list[str]:
    """A text, its paragraphs, lines and sentences: whoever repeats another text word for word has it among these."""
    pieces = [piece.strip() for end in _PIECE_ENDS for piece in end.split(text)]
    long_ones = (piece for piece in pieces if len(piece) >= SHORTEST_QUOTE)
    return list(dict.fromkeys([text.strip(), *long_ones]))[:MOST_PIECES]


def held_share(words: Collection[str], text: Collection[str]) -> float:
    """How many of the words another text holds; 0 where there are none."""
    return sum(word in text for word in words) / len(words) if words else 0.0


def overlap(one: Collection[str], other: Collection[str]) -> float:
    """Of the shorter one's words, the share that the other holds."""
    shorter, longer = sorted((one, other), key=len)
    return held_share(shorter, longer)


@cache
def actions() -> dict[str, str]:
    """What is done, by every word for it, as `content_words` has it."""
    return _meanings(content_words)


@cache
def action_morphemes() -> dict[str, str]:
    """The same, as `morphemes` has it."""
    return _meanings(morphemes)


def _meanings(words_of: Callable[[str], frozenset[str]]) -> dict[str, str]:
    meanings: dict[str, str] = {}
    for entry in ",".join(each(lambda pack: pack.work.actions)).split(","):
        name, _, words = entry.rpartition(":")
        for word in words.split():
            for form in words_of(word) or tokenize(word):
                meanings.setdefault(form, name.strip() or words.split()[0])
    return meanings


@cache
def generic_words() -> frozenset[str]:
    return _generic(content_words)


@cache
def generic_morphemes() -> frozenset[str]:
    return _generic(morphemes)


def _generic(words_of: Callable[[str], frozenset[str]]) -> frozenset[str]:
    return frozenset().union(
        *(words_of(word) for words in each(lambda pack: pack.work.generic) for word in words.split())
    )
