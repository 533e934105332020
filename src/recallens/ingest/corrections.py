"""A text that says what holds instead of something ("we now", "no longer", "instead of") may correct an older memory.

Nothing is superseded by a rule: what is found here is proposed, and somebody accepts or rejects it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from recallens.model.memory import Kind, Memory, Status, Zone
from recallens.text.content import content_words, held_share, overlap
from recallens.text.languages import PACKS, alternatives
from recallens.text.normalize import fold
from recallens.text.tokenizer import tokenize

# How much of what holds no longer an older memory must say; how much of its subject, where that is not said; and how
# much of all their words two short texts share that differ in one name.
NAMES_OLD: Final = 0.5
SAME_SUBJECT: Final = 0.6
SAME_FRAME: Final = 0.3
LEAST_SHARED: Final = 2
ABOUT_AS_LIKE: Final = 0.15
MOST_LIKENESS: Final = 2.0
LEAST_SURE: Final = 0.4
LONGEST_TEXT: Final = 1_000
# A statement corrects a statement: a passage of an encyclopaedia says "now" and "instead" of many things.
LONGEST_STATEMENT: Final = 300
# What happened stays true, whatever has changed since.
_HISTORY: Final = frozenset((Kind.EPISODE, Kind.SUMMARY, Kind.OBSERVATION))

_SIGNS: Final = re.compile(alternatives(lambda pack: pack.work.corrections))
_SENTENCE_END: Final = re.compile(r"[.!?;]\s")
_REPLACED: Final = tuple(re.compile(pattern) for pack in PACKS for pattern in pack.work.replaced)


class Correction(Struct, frozen=True):
    """What a correcting text is about, the subject first, and what it says holds no longer."""

    words: tuple[str, ...]
    topic: frozenset[str]  # what it speaks of before it says that something has changed
    old: frozenset[str]
    tokens: frozenset[str]


def correction_in(text: str) -> Correction | None:
    folded = fold(text[:LONGEST_TEXT])
    sign = _SIGNS.search(folded)
    if sign is None:
        return None
    old: set[str] = set()
    for pattern in _REPLACED:
        for match in pattern.finditer(folded):
            old |= content_words(match["old"])
    rest = _SIGNS.sub(" ", folded)
    ordered = dict.fromkeys(word for part in rest.split() for word in sorted(content_words(part)))
    topic = content_words(_SENTENCE_END.split(folded[: sign.start()])[-1])
    return Correction(
        tuple(word for word in ordered if not word.isdigit()), topic, frozenset(old), frozenset(tokenize(rest))
    )


def likeness(correction: Correction, memory: Memory) -> float:
    """How surely the memory says what is corrected; 0 where it does not."""
    words, tokens = _words(memory), frozenset(tokenize(_text(memory)))
    shared = [word for word in correction.words if word in words]
    subject = _subject(correction, memory)
    frame = len(correction.tokens & tokens) / max(len(correction.tokens | tokens), 1)
    if correction.topic and not correction.topic & words:
        return 0.0
    if correction.old:
        named = held_share(correction.old, words)
        return named + subject + frame if named >= NAMES_OLD and len(shared) >= LEAST_SHARED else 0.0
    alike = len(shared) >= LEAST_SHARED and overlap(correction.words, words) >= SAME_SUBJECT
    return subject + frame if alike or (shared and frame >= SAME_FRAME) else 0.0


def _subject(correction: Correction, memory: Memory) -> float:
    """How much of the words the memory has, the first ones above all: a text says first what it is about."""
    words = _words(memory)
    weights = {word: 1.0 / (1 + place) for place, word in enumerate(correction.words)}
    return sum(weight for word, weight in weights.items() if word in words) / (sum(weights.values()) or 1.0)


def _text(memory: Memory) -> str:
    return f"{memory.title or ''}\n{memory.content[:LONGEST_TEXT]}"


def _words(memory: Memory) -> frozenset[str]:
    return content_words(_text(memory))


def corrected(correction: Correction, memory: Memory, candidates: Sequence[Memory]) -> tuple[Memory, float] | None:
    """Of some memories, as a recall ranks them, the one that is corrected, and how sure that is: the likest, or the
    only one of its subject. What tells what happened, or belongs to another project, is not corrected.
    """
    older = []
    for other in candidates:
        earlier = (other.created, other.num) < (memory.created, memory.num)
        here = other.project is None or memory.project is None or other.project == memory.project
        told = other.kind in _HISTORY or len(other.content) > LONGEST_STATEMENT
        if earlier and here and other.status is Status.ACTIVE and not told:
            older.append(other)
    alike = [likeness(correction, other) for other in older]
    if max(alike, default=0.0) > 0:
        # Of those that are about as like, the first that the recall found, which knows more than words.
        place = next(place for place, sure in enumerate(alike) if sure >= max(alike) - ABOUT_AS_LIKE)
        return older[place], round(min(1.0, alike[place] / MOST_LIKENESS), 2)
    same = [other for other in older if not correction.old and _subject(correction, other) >= SAME_SUBJECT]
    return (same[0], LEAST_SURE) if len(same) == 1 else None


def may_correct(memory: Memory) -> bool:
    """What nobody has looked at yet corrects nothing; nor does what was said in a conversation, the episode of a task,
    a summary, a passage, or a note, whose own marks say what it replaces.
    """
    told = memory.kind is Kind.SUMMARY or memory.reward is not None or memory.author or memory.document
    stated = not told and len(memory.content) <= LONGEST_STATEMENT
    return memory.zone is not Zone.QUARANTINE and memory.status is Status.ACTIVE and stated
