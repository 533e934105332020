"""The words of an event, and how much of them a memory tells: in its own words, in others, or in another language.

A word is an anchor, which says to what or to whom it happened, or says what happened. What happened may be told in many
ways: by another word of the same sort of event, or by one that has a translation in common with it, since two words
that the other language says by one word mean the same. The anchor tells one such event from another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import chain, product
from typing import Final

import numpy as np
from msgspec import Struct

from recallens.index.lexical import BoundLexical
from recallens.model.memory import Memory
from recallens.model.verdict import BoolArray, FloatArray
from recallens.text.languages import PACKS, alternatives, between_bars, each, grammar_of
from recallens.text.languages.korean_words import is_listed
from recallens.text.languages.translation import TranslatedWords
from recallens.text.remembered import remembered
from recallens.text.stopwords import FULL_WEIGHT, expansions, projects_named, token_weight
from recallens.text.times import without_event_phrases
from recallens.text.tokenizer import tokenize
from recallens.text.wordforms import SpokenWords, letters

# How much of a text is read: what says what happened stands early on.
READ_CHARACTERS: Final = 400
# What a word weighs that only says that something changed, or that may be a verb's form, beside its rarity.
FAINT_WORD: Final = 0.4
UNTOLD_WORD: Final = 0.5
# How far a memory holds a word that it tells otherwise.
ANOTHER_WORD: Final = 0.9
WITHIN_A_WORD: Final = 0.7
SAME_MEANING: Final = 0.6
HAPPENED: Final = 0.5
# Letters that two forms of a verb have in common: 바꾼, 바꿔.
_STEM_LETTERS: Final = 3
REMEMBERED: Final = 64
_LATIN: Final = re.compile(r"(?<![a-z])[a-z]{1,2}")


class EventWord(Struct, frozen=True):
    """A word of the phrase, and the tokens by which a text holds it: its own, or those of another word for it."""

    text: str
    written: str
    own: frozenset[str]
    others: tuple[frozenset[str], ...]
    weight: float
    faint: bool  # it says what was done, or that something changed or happened: a text may say that in another way
    inflected: bool  # it may be a verb's form, of which another form begins alike
    changes: bool
    happens: bool
    is_head: bool  # what happened stands last, in a language where it does
    sorts: tuple[str, ...]  # the sorts of event that are told by it
    things: tuple[str, ...]  # what it names, where that has several words

    @property
    def is_anchor(self) -> bool:
        return not self.faint and not self.sorts


class Coverage(Struct, frozen=True, eq=False):
    """What each memory tells of the words."""

    shares: FloatArray  # of all words, by weight
    anchors: FloatArray  # of the anchors; 1 where there is none
    rarest: BoolArray  # whether it holds the weightiest word that is needed
    of_sort: BoolArray  # whether it tells of an event of the same sort
    astray: BoolArray  # whether it tells of an event of another sort that befell an anchor
    happening: FloatArray  # of the words that say what happened; 1 where there is none


def words_of(event: str, lexical: BoundLexical) -> list[EventWord]:
    """What the phrase names: words that say something, nouns without their particles, and the other words for each."""
    others, words = expansions(event, dict.fromkeys(tokenize(event))), dict[str, bool]()
    grammar = grammar_of(event)
    for token in tokenize(event):
        if not grammar_of(token) and token_weight(token) == FULL_WEIGHT:
            words.setdefault(token, False)
    written = re.findall(r"\w+", event)
    nouns = [noun for noun in (grammar.nouns(event) if grammar else ()) if grammar_of(noun)]
    for noun in nouns:
        words[noun] = noun == nouns[-1] and written[-1].startswith(noun)
    if not words:  # what the grammar takes for a verb
        words = {word: word == written[-1] for word in filter(says_something, written)}
    found, names = [], frozenset(map(str.lower, re.findall(r"(?<=\s)[A-Z]\w+", event)))
    for word, is_last in words.items():
        own = frozenset(tokenize(word))
        as_written = next((other.lower() for other in written if word in tokenize(other)), word)
        if not own or pattern("particles").fullmatch(as_written):
            continue
        says_change, happens = (pattern(name).fullmatch(as_written) is not None for name in ("changes", "happenings"))
        sorts, things = (_groups_of(word, as_written, event, of) for of in ("same_events", "same_things"))
        # What was done is said by a participle, and where nouns stand in a row by the last of them, if nobody says it.
        inflected = pattern("done").fullmatch(as_written) is not None and not (grammar and is_listed(word))
        done = inflected and (is_last or not grammar)
        faint = says_change or happens or done or (is_last and not sorts and not any(map(lexical.is_held, own)))
        found.append(
            EventWord(
                text=word,
                written=as_written,
                own=own,
                others=tuple(tokens for other in others.get(word, ()) if (tokens := frozenset(tokenize(other)))),
                weight=_rarity(own, lexical, faint) if faint or sorts else _anchor_weight(word, own, lexical, names),
                faint=faint,
                inflected=inflected or says_change,
                changes=says_change,
                happens=happens,
                is_head=is_last,
                sorts=sorts,
                things=things,
            )
        )
    return found


def _rarity(own: frozenset[str], lexical: BoundLexical, faint: bool) -> float:
    return max(lexical.rarity(sorted(own))) * (FAINT_WORD if faint else 1.0)


def _anchor_weight(word: str, own: frozenset[str], lexical: BoundLexical, names: frozenset[str]) -> float:
    """Its rarity; less for one that no memory holds, since others may tell it, unless it is a name or a number."""
    told = any(map(lexical.is_held, own)) or any(name.startswith(word[:-1]) for name in names) or not word.isalpha()
    return _rarity(own, lexical, False) * (1.0 if told else UNTOLD_WORD)


def other_words_of(words: Sequence[EventWord]) -> list[str]:
    """The words, as they are indexed, by which memories may tell of the same things and sorts of events."""
    groups = [(group, name) for word in words for group in ("same_events", "same_things")
              for name in (word.sorts if group == "same_events" else word.things)]  # fmt: skip
    return list(dict.fromkeys(chain.from_iterable(_literal(*group) for group in groups)))


def says_something(word: str) -> bool:
    return any(token_weight(token) == FULL_WEIGHT for token in tokenize(word))


def read(memory: Memory) -> str:
    return f"{memory.title or ''}\n{memory.content[:READ_CHARACTERS]}"


def coverage(
    words: Sequence[EventWord], memories: Sequence[Memory], translated: Sequence[TranslatedWords],
    changed: BoolArray, tells: BoolArray,
) -> Coverage:  # fmt: skip
    solid = [word for word in words if not word.faint]
    needed = [word for word in solid if not word.sorts] or solid or words
    rarest = max(needed, key=lambda word: word.weight)
    total = sum(word.weight for word in words)
    anchored = sum(word.weight for word in words if word.is_anchor)
    head = next((word for word in words if word.is_head and word.sorts), None)
    asked = dict.fromkeys(chain.from_iterable(word.sorts for word in words))
    shares, anchors, happening = np.zeros((3, len(memories)))
    rare, of_sort, astray = np.zeros((3, len(memories)), dtype=np.bool_)
    for at, memory in enumerate(memories):
        text = _without_modifiers(without_event_phrases(read(memory)), words)
        told = set(_groups_in(text, "same_events", asked))
        of_sort[at] = bool(told) and (head is None or not told.isdisjoint(head.sorts))
        reading = _Reading(memory, text, translated[at], told, bool(changed[at]), bool(tells[at]))
        for word in words:
            held = reading.holds(word)
            shares[at] += held * word.weight / total
            if word.is_anchor:
                anchors[at] += held * word.weight / anchored
            elif of_sort[at] or head is None:
                happening[at] += held * word.weight / (total - anchored)
            rare[at] |= word is rarest and held > SAME_MEANING
        if asked and not of_sort[at] and (anchors[at] or not anchored):  # another event of what it happened to
            astray[at] = any(_groups_in(text, "same_events", _names("same_events")))
    every = np.ones(len(memories))
    return Coverage(
        shares, anchors if anchored else every, rare, of_sort, astray, happening if total > anchored else every
    )


def _without_modifiers(text: str, words: Sequence[EventWord]) -> str:
    """A text without the words that only say of which sort another thing is: the flood of flood insurers."""
    for word in words:
        if not word.is_anchor and word.written.isascii():
            text = re.sub(rf"\b{word.written}(?= ([a-z]+))", _kept_unless_it_modifies, text, flags=re.IGNORECASE)
    return text


def _kept_unless_it_modifies(match: re.Match[str]) -> str:
    following = match[1]
    is_noun = following.islower() and says_something(following) and not pattern("reports").search(following)
    return "" if is_noun else match[0]


class _Reading:
    """A memory's text, as it is asked for one word after another."""

    def __init__(
        self, memory: Memory, text: str, translated: TranslatedWords, told: set[str], changed: bool, tells: bool
    ) -> None:
        self._text, self._translated, self._told, self._changed, self._tells = text, translated, told, changed, tells
        self._project = memory.project
        self._tokens = frozenset(tokenize(text))

    @cached_property
    def _spoken(self) -> SpokenWords:
        return SpokenWords(self._text)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(letters(word)[:_STEM_LETTERS] for word in re.findall(r"\w+", self._text))

    def holds(self, word: EventWord) -> float:
        """How far: 1 in its own words, less in others, 0 not at all."""
        held = self._in_own_words(word)
        if held < ANOTHER_WORD and self._in_other_words(word):
            held = ANOTHER_WORD
        if word.happens and self._tells:
            held = max(held, HAPPENED if self._tokens.isdisjoint(_words_of_trouble()) else ANOTHER_WORD)
        return held or (SAME_MEANING if self._translated.mean(word.text) else 0.0)

    def _in_own_words(self, word: EventWord) -> float:
        has_own, is_figure = word.own <= self._tokens, word.text.isdigit()
        if (has_own and word.text.isascii() and not is_figure) or (word.changes and self._changed):
            return 1.0
        if self._spoken.holds(word.text) or self._names_project(word):
            return 1.0
        if is_figure and not self._spoken.says(word.text):  # 9 within 9,100 is another number
            return 0.0
        if has_own:  # 심사 within 재심사 is another thing
            return 1.0 if word.text.isascii() or self._spoken.begins(word.text) else WITHIN_A_WORD
        may_be_a_form = word.faint and word.inflected and not word.text.isascii()
        return 1.0 if may_be_a_form and letters(word.text)[:_STEM_LETTERS] in self._beginnings else 0.0

    def _in_other_words(self, word: EventWord) -> bool:
        return (
            not self._told.isdisjoint(word.sorts)
            or any(other <= self._tokens for other in word.others)
            or any(_groups_in(self._text, "same_things", word.things))
            or self._translated.hold(word.text)
        )

    def _names_project(self, word: EventWord) -> bool:
        return self._project is not None and bool(projects_named(word.written, {self._project: 0}))


@cache
def _words_of_trouble() -> frozenset[str]:
    return frozenset(tokenize(" ".join(each(lambda pack: pack.memories.trouble))))


def _groups_of(word: str, as_written: str, event: str, of: str) -> tuple[str, ...]:
    """The groups that the word is of, by itself or with its neighbours: the go-live, turned down."""
    event = event.lower()
    start = event.find(as_written)
    end = start + len(as_written)

    def holds(group: re.Pattern[str]) -> bool:
        if group.fullmatch(as_written) or group.fullmatch(word):
            return True
        return start >= 0 and any(match.start() < end and start < match.end() for match in group.finditer(event))

    possible = _possible(f"{event} {word}", of)
    return tuple(name for name in _names(of) if name in possible and holds(_group(of, name)))


def _groups_in(text: str, of: str, names: Iterable[str]) -> Iterator[str]:
    """Those of the groups of which the text holds a word."""
    lowered, possible = text.lower(), _possible(text, of)
    return (name for name in names if name in possible and _group(of, name).search(lowered))


@remembered(REMEMBERED)  # each text is asked for several words
def _possible(text: str, of: str) -> frozenset[str]:
    """The groups of which a word opens as one of the text does: nearly all others need not be tried, nor compiled."""
    lowered, groups = text.lower(), _by_opening(of)
    openings = {opening for word in _LATIN.findall(lowered) for opening in (word, word[0])}
    if not lowered.isascii():
        openings.update(lowered)
    return frozenset(chain.from_iterable(groups[opening] for opening in openings & groups.keys()))


@cache
def _by_opening(of: str) -> dict[str, list[str]]:
    groups = dict[str, list[str]]()
    for name in _names(of):
        for opening in _openings(_source(of, name)):
            groups.setdefault(opening, []).append(name)
    return groups


def _openings(pattern: str) -> set[str]:
    """The first letter of whatever the pattern matches, or the first two of ASCII where both are plain."""
    found = set[str]()
    for part in between_bars(pattern.lower()):
        if part.startswith("(?:"):
            found |= _openings(part[len("(?:") : part.index(")")])
        elif part.startswith("["):
            found.update(part[1 : part.index("]")])
        else:
            plain = part.isascii() and part[1:2].isalpha() and part[2:3] not in ("?", "*")
            found.add(part[: 2 if plain else 1])
    return found


@cache
def _names(of: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(getattr(pack.times, of) for pack in PACKS)))


@cache
def _group(of: str, name: str) -> re.Pattern[str]:
    """Words that stand for one another in telling of events, of all languages together. Give it small letters."""
    return re.compile(rf"(?<![a-z])(?:{_source(of, name).lower()})(?![a-z])")


def _source(of: str, name: str) -> str:
    return "|".join(getattr(pack.times, of)[name] for pack in PACKS if name in getattr(pack.times, of))


@cache
def _literal(of: str, name: str) -> tuple[str, ...]:
    """The words of a group that are written out or differ in their endings alone, as they are indexed."""
    written = re.sub(r"\\s\?", "", _source(of, name))
    words = (re.sub(r"\\w[*+]$|s\?$", "", word) for word in re.split(r"\||\(\?:|\)", written))
    spelt = chain.from_iterable(map(_spelt_out, words))
    return tuple(dict.fromkeys(token for word in spelt if word.isalpha() for token in tokenize(word)))


def _spelt_out(word: str) -> list[str]:
    """Each word that a pattern with classes of letters stands for: 옮[겼긴]."""
    parts = [part[1:-1] if part.startswith("[") else (part,) for part in re.findall(r"\[[^]]+\]|[^[]+", word)]
    return ["".join(letters) for letters in product(*parts)]


@cache
def pattern(name: str) -> re.Pattern[str]:
    """One of the patterns by which the languages tell of events."""
    if name == "corrections":
        return re.compile(alternatives(lambda pack: pack.work.corrections), re.IGNORECASE)
    return re.compile(alternatives(lambda pack: getattr(pack.times, name)), re.IGNORECASE)
