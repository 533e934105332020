"""A text that says what holds instead of something ("we now", "no longer", "instead of") may correct an older memory.

Nothing is superseded by a rule: what is found here is proposed, and somebody accepts or rejects it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from recallens.model.memory import Kind, Memory, Status, Zone
from recallens.text.amounts import Amount, amounts_in
from recallens.text.content import held_share, morphemes, overlap
from recallens.text.languages import PACKS, alternatives
from recallens.text.normalize import fold
from recallens.text.sieve import Sieve
from recallens.text.statements import measured_in
from recallens.text.subjects import speak_of_two_things
from recallens.text.tokenizer import tokenize

# How much of what holds no longer an older memory must say; how much of its subject, where that is not said; and how
# much of all their words two short texts share that differ in one name.
NAMES_OLD: Final = 0.5
SAME_SUBJECT: Final = 0.6
SAME_FRAME: Final = 0.3
LEAST_SHARED: Final = 2
# Where both say how much of one measure it is, in other amounts, so much less has to be shared; nothing beyond what
# both speak of first.
RESIZED_SUBJECT: Final = 0.4
LEAST_RESIZED: Final = 3
ABOUT_AS_LIKE: Final = 0.15
MOST_LIKENESS: Final = 2.0
LEAST_SURE: Final = 0.4
LONGEST_TEXT: Final = 1_000
# A statement corrects a statement: a passage of an encyclopaedia says "now" and "instead" of many things.
LONGEST_STATEMENT: Final = 300
# What happened stays true, whatever has changed since.
HISTORY: Final = frozenset((Kind.EPISODE, Kind.SUMMARY, Kind.OBSERVATION))

_SIGNS: Final = re.compile(alternatives(lambda pack: pack.work.corrections))
_MAY_CORRECT: Final = Sieve.of(_SIGNS.pattern)
_ADDS: Final = re.compile(alternatives(lambda pack: pack.work.additions))
_REASON: Final = re.compile(alternatives(lambda pack: pack.work.reasons))
_MAY_REASON: Final = Sieve.of(_REASON.pattern)
_SENTENCE_END: Final = re.compile(r"[.!?;]\s")
_REPLACED: Final = tuple(re.compile(pattern) for pack in PACKS for pattern in pack.work.replaced)
_MOVED: Final = re.compile(alternatives(lambda pack: pack.work.moved))

# What is measured, and how much.
Sizes = frozenset[tuple[str, str | float]]


class Correction(Struct, frozen=True):
    """What a correcting text is about, the subject first, and what it says holds no longer."""

    words: tuple[str, ...]
    topic: frozenset[str]  # what it speaks of before it says that something has changed
    old: frozenset[str]
    old_sizes: Sizes
    measures: frozenset[str]  # what it states amounts of
    sizes: Sizes
    tokens: frozenset[str]
    subject: frozenset[str]  # what it speaks of, without what it says of amounts and of before


def tells_change(text: str) -> bool:
    """Whether a text may correct another: one that is too long, or says of nothing that it has changed, does not."""
    return len(text) <= LONGEST_STATEMENT and _MAY_CORRECT.holds(_without_reasons(text))


def correction_in(text: str) -> Correction | None:
    """None where nothing is said to have changed; what is better now, or is so now too, replaces nothing."""
    folded = _without_reasons(text)
    sign = _SIGNS.search(folded) if _MAY_CORRECT.holds(folded) else None
    if sign is None:
        return None
    amounts = list(amounts_in(folded))
    old, old_sizes = set[str](), set[tuple[str, str | float]]()
    for pattern in _REPLACED:
        for match in pattern.finditer(folded):
            old |= morphemes(match["old"])
            old_sizes |= _sizes(amounts_in(match["old"]))
            figure = match["old"].strip().replace(",", "")
            if figure.isdigit():  # from 8 to 10 euros, from 18,000 to 23,500
                behind = (amount for amount in amounts if amount.start >= match.end("old"))
                old_sizes |= {(amount.measure, float(figure)) for amount in behind}
    if not old and not old_sizes and _ADDS.search(folded):
        return None
    rest = _SIGNS.sub(" ", folded)
    ordered = dict.fromkeys(word for part in rest.split() for word in sorted(morphemes(part)))
    topic = morphemes(_SENTENCE_END.split(folded[: sign.start()])[-1])
    if not topic and (moved := _MOVED.match(folded[sign.end() :])):
        topic = morphemes(moved["topic"])
    return Correction(
        words=tuple(word for word in ordered if not word.isdigit()),
        topic=topic,
        old=frozenset(word for word in old if not word.isdigit()),
        old_sizes=frozenset(old_sizes),
        measures=frozenset(amount.measure for amount in amounts),
        sizes=_sizes(amounts),
        tokens=frozenset(tokenize(rest)),
        subject=morphemes(_SIGNS.sub(" ", _without_amounts(folded))) - old,
    )


def _without_reasons(text: str) -> str:
    folded = fold(text[:LONGEST_TEXT])
    return _REASON.sub(" ", folded) if _MAY_REASON.holds(folded) else folded


def _without_amounts(text: str) -> str:
    for amount in reversed(list(amounts_in(text))):
        text = f"{text[: amount.start]} {text[amount.end :]}"
    return text


def _sizes(amounts: Iterable[Amount]) -> Sizes:
    return frozenset((amount.measure, amount.size) for amount in amounts if amount.measure)


def likeness(correction: Correction, memory: Memory) -> float:
    """How surely the memory says what is corrected; 0 where it does not. One that only says how much something costs or
    lasts says nothing of what a correction without an amount changes.
    """
    text = _text(memory)
    words, tokens = morphemes(text), frozenset(tokenize(text))
    shared = [word for word in correction.words if word in words]
    said = correction.old_sizes & _sizes(amounts_in(text)) if correction.old_sizes else frozenset()
    frame = len(correction.tokens & tokens) / max(len(correction.tokens | tokens), 1)
    if correction.topic and not correction.topic & words and not (len(said) >= LEAST_SHARED and shared):
        return 0.0
    named = 0.0
    if correction.old or correction.old_sizes:
        named = 1.0 if said else held_share(correction.old, words)
        others = [
            word for word in shared if not any(word.startswith(str(size)) for _, size in said)
        ]  # Wednesdays, once
        is_told = named >= NAMES_OLD and len(others) + len(said) >= LEAST_SHARED
        if not is_told and not _is_resized(correction, memory):
            return 0.0
    else:
        like = overlap(correction.words, words)
        alike = (len(shared) >= LEAST_SHARED and like >= SAME_SUBJECT) or (shared and frame >= SAME_FRAME)
        if not alike and not (
            _is_another_size(correction, memory)
            and (
                _lead(memory.content) in correction.words[:1]
                or (len(shared) >= LEAST_RESIZED and like >= RESIZED_SUBJECT)
            )
        ):
            return 0.0
    return named + _subject(correction, memory) + frame if _is_measured_alike(correction, memory) else 0.0


def _is_resized(correction: Correction, memory: Memory) -> bool:
    """Whether the memory says of the same how much it was: no word of it says "no longer at the old pace"."""
    measured = frozenset(amount.measure for amount in amounts_in(memory.content) if amount.measure)
    subject = morphemes(_without_amounts(fold(_text(memory))))
    is_of_it = (
        len(subject & correction.subject) >= LEAST_SHARED and overlap(correction.subject, subject) >= SAME_SUBJECT
    )
    return not correction.old_sizes and bool(measured & correction.measures) and is_of_it


def _is_another_size(correction: Correction, memory: Memory) -> bool:
    """Whether both say how much of some measure it is, and the memory says another amount of it."""
    said = _sizes(amounts_in(memory.content))
    return any(measure in correction.measures and (measure, size) not in correction.sizes for measure, size in said)


def _lead(text: str) -> str:
    """The first word that says what a text is about."""
    return next((word for part in fold(text[:LONGEST_TEXT]).split() for word in sorted(morphemes(part))), "")


def _is_measured_alike(correction: Correction, memory: Memory) -> bool:
    measured = measured_in(memory.content)
    return not measured or bool(measured & correction.measures)


def _subject(correction: Correction, memory: Memory) -> float:
    """How much of the words the memory has, the first ones above all: a text says first what it is about."""
    words = morphemes(_text(memory))
    weights = {word: 1.0 / (1 + place) for place, word in enumerate(correction.words)}
    return sum(weight for word, weight in weights.items() if word in words) / (sum(weights.values()) or 1.0)


def _text(memory: Memory) -> str:
    return f"{memory.title or ''}\n{memory.content[:LONGEST_TEXT]}"


def corrected(correction: Correction, memory: Memory, candidates: Sequence[Memory]) -> tuple[Memory, float] | None:
    """Of some memories, as a recall ranks them, the one that is corrected, and how sure that is: the likest, or the
    only one of its subject. What tells what happened, or belongs to another project, is not corrected.
    """
    older = []
    for other in candidates:
        earlier = (other.created, other.num) < (memory.created, memory.num)
        here = other.project is None or memory.project is None or other.project == memory.project
        told = other.kind in HISTORY or len(other.content) > LONGEST_STATEMENT
        if earlier and here and other.status is Status.ACTIVE and not told:
            older.append(other)

    def of_one_thing(other: Memory) -> bool:
        return not speak_of_two_things(memory.content, other.content)

    sure = [(likeness(correction, other), other) for other in older]
    alike = [(likely, other) for likely, other in sure if likely > 0 and of_one_thing(other)]
    if alike:
        # Of those that are about as like, the first that was found, by more than these words.
        most = max(likely for likely, _ in alike)
        likely, old = next(each for each in alike if each[0] >= most - ABOUT_AS_LIKE)
        likely, old = _in_force(correction, likely, old, alike)
        return old, round(min(1.0, likely / MOST_LIKENESS), 2)
    if correction.old or correction.old_sizes:
        return None
    same = [other for other in older if _subject(correction, other) >= SAME_SUBJECT and of_one_thing(other)]
    same = [other for other in same if not measured_in(other.content) or correction.measures]
    return (same[0], LEAST_SURE) if len(same) == 1 else None


def _in_force(
    correction: Correction, likely: float, old: Memory, alike: Sequence[tuple[float, Memory]]
) -> tuple[float, Memory]:
    """The latest change to what `old` states an amount of: a price that was raised since is the one that holds now."""
    measures = _measures(old) & correction.measures
    later = [
        (sure, other)
        for sure, other in alike
        if (other.created, other.num) > (old.created, old.num)
        and measures & _measures(other)
        and _subject(correction, other) >= SAME_SUBJECT
        and correction_in(other.content) is not None
        and not speak_of_two_things(other.content, old.content)
    ]
    return max(later, key=lambda each: (each[1].created, each[1].num), default=(likely, old))


def _measures(memory: Memory) -> set[str]:
    return {amount.measure for amount in amounts_in(memory.content[:LONGEST_TEXT]) if amount.measure}


def may_correct(memory: Memory) -> bool:
    """What nobody has looked at yet corrects nothing; nor does what was said in a conversation, the episode of a task,
    a summary, a passage, or a note, whose own marks say what it replaces.
    """
    told = memory.kind is Kind.SUMMARY or memory.reward is not None or memory.is_turn or memory.document
    stated = not told and len(memory.content) <= LONGEST_STATEMENT
    return memory.zone is not Zone.QUARANTINE and memory.status is Status.ACTIVE and stated
