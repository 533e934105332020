"""The words of a query: how much each counts, which others stand for it, and which of some known names it holds.

Documents keep every token; only queries are weighed. Function words get 0 and words that frame a question get 0.5: on
locomo-dev this took BM25 alone from 74.1 to 79.5 recall_all@5.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from recallens.text.languages import PACKS, each, grammar_of, packs_for
from recallens.text.normalize import nfc
from recallens.text.tokenizer import tokenize

FULL_WEIGHT: Final = 1.0
FRAME_WEIGHT: Final = 0.5

# A word brings at most so many others, at half its weight: they find what was written in other words or in another
# language, and a memory that holds the word itself stays ahead.
MOST_PER_WORD: Final = 3
EXPANSION_WEIGHT: Final = 0.5

MOST_WORDS: Final = 3  # of a name

_WORD: Final = re.compile(r"\w+")
_POSSESSIVE: Final = re.compile(rf"(?:{'|'.join(ending for pack in PACKS for ending in pack.names.possessives)})\b")


@cache
def query_stopwords() -> frozenset[str]:
    return frozenset().union(*map(tokenize, each(lambda pack: pack.function_words)))


@cache
def frame_words() -> frozenset[str]:
    return frozenset().union(*map(tokenize, each(lambda pack: pack.frame_words))) - query_stopwords()


def query_weights(tokens: Sequence[str]) -> dict[str, float]:
    """Each distinct token, as first seen, and its weight; a query of function words alone keeps all."""
    weights = {token: token_weight(token) for token in tokens}
    return weights if any(weights.values()) else dict.fromkeys(weights, FULL_WEIGHT)


def token_weight(token: str) -> float:
    if token in query_stopwords():
        return 0.0
    return FRAME_WEIGHT if token in frame_words() else FULL_WEIGHT


@cache
def _table() -> dict[str, tuple[str, ...]]:
    """For each word as a query holds it, the other words for its meanings."""
    meanings: dict[str, list[str]] = {}
    for entry in ",".join(each(lambda pack: pack.synonyms)).split(","):
        name, _, words = entry.rpartition(":")
        meanings.setdefault(name.strip() or words.split()[0], []).extend(words.split())
    others: dict[str, list[str]] = {}
    for words_for_it in meanings.values():
        keys = {word: word if grammar_of(word) else " ".join(tokenize(word)) for word in words_for_it}
        for key in keys.values():
            kept = others.setdefault(key, [])
            kept.extend(other for other in keys if other not in kept and keys[other] != key)
    return {key: tuple(words) for key, words in others.items()}


def other_words(word: str) -> tuple[str, ...]:
    """The words that stand for the same as this one, as written or as a query holds it."""
    return _table().get(word) or _table().get(" ".join(tokenize(word)), ())


def expansions(text: str, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For the query's whole words and the nouns that its others carry: the words that stand for each, those in another
    script first.
    """
    expanded: dict[str, tuple[str, ...]] = {}
    grammar = grammar_of(text)
    whole = [word for word in words if not grammar_of(word)]
    for word in [*whole, *(grammar.nouns(text) if grammar else ())]:
        others = _table().get(word)
        if others and word not in expanded:
            ranked = sorted(others, key=lambda other: other.isascii() == word.isascii())
            expanded[word] = tuple(ranked[:MOST_PER_WORD])
    return expanded


class Name(NamedTuple):
    start: int
    end: int
    code: int


def names_in(text: str, known: Mapping[str, int], ignored: Collection[str] = ()) -> list[Name]:
    """The known names as written, the longest first where they overlap; case matters: Will asks, will does not."""
    if not known:
        return []
    words = [(word.start(), word.end()) for word in _WORD.finditer(text)]
    names: list[Name] = []
    at = 0
    while at < len(words):
        start = words[at][0]
        for size in range(min(MOST_WORDS, len(words) - at), 0, -1):
            if name := _known_name(text[start : words[at + size - 1][1]], known, ignored):
                names.append(Name(start, start + len(name), known[nfc(name)]))
                break
        at += size
    return names


def _known_name(written: str, known: Mapping[str, int], ignored: Collection[str]) -> str:
    """How much of this is a known name: all of it, or all but a particle."""
    if written.lower() in ignored:
        return ""
    if nfc(written) in known:
        return written
    for pack in packs_for(written):
        for particle in pack.names.particles:
            if written.endswith(particle) and nfc(written.removesuffix(particle)) in known:
                return written.removesuffix(particle)
    return ""


def projects_named(text: str, known: Mapping[str, int]) -> dict[str, int]:
    """The projects that a text names, as written there: in any case, with or without its signs and particles, and in
    the letters of another language.
    """
    codes = {plain: code for name, code in known.items() if (plain := _plain(name))}
    found: dict[str, int] = {}
    words = list(_WORD.finditer(text)) if codes else []
    for at, word in enumerate(words):
        for size in range(min(MOST_WORDS, len(words) - at), 0, -1):
            written = text[word.start() : words[at + size - 1].end()]
            names = [_plain(written)]
            if grammar := grammar_of(written):
                bare = grammar.stem(written) if size == 1 else ""
                names += [_plain(name) for name in (bare, grammar.latin(written), grammar.latin(bare))]
            code = next((codes[name] for name in names if name in codes), None)
            if code is not None:
                found[written] = code
                break
    return found


def _plain(name: str) -> str:
    return "".join(_WORD.findall(nfc(name).casefold())).replace("_", "")


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
