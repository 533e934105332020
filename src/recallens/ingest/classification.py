"""Sector and kind by rule, where the writer names none. The first rule that matches decides.

Sector, in order:
1. reflective: a decision, a lesson or a principle, whatever else the text tells
2. emotional: a feeling is stated
3. procedural: steps, commands, how-to
4. episodic: something that happened at a time
5. semantic: everything else

Kind: the words of the text first (summary, gotcha, decision, preference, lesson, principle, pattern, how-to),
then the sector's own kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from recallens.model.memory import Kind, Sector
from recallens.text.languages import alternatives
from recallens.text.languages.pack import MemoryWords

# A text says what it is near its beginning; reading further would let one word in a long log decide.
HEAD: Final = 2_000


def _cues(pick: Callable[[MemoryWords], str], around: str = "{}") -> re.Pattern[str]:
    # Matched against lower-cased text, since ignoring case in the pattern is several times slower.
    return re.compile(around.format(alternatives(lambda pack: pick(pack.memories))), re.MULTILINE)


_FIRST_WORD: Final = r"\A\s*(?:#+\s*)?(?:{})\b"

_DECISION: Final = _cues(lambda words: words.decision)
_GOTCHA: Final = _cues(lambda words: words.gotcha)
_PREFERENCE: Final = _cues(lambda words: words.preference)
_LESSON: Final = _cues(lambda words: words.lesson)
_PRINCIPLE: Final = _cues(lambda words: words.principle)
_PATTERN: Final = _cues(lambda words: words.pattern)
_SUMMARY: Final = _cues(lambda words: words.summary, _FIRST_WORD)
_NOTE: Final = _cues(lambda words: words.note, _FIRST_WORD)
_STEPS: Final = _cues(lambda words: words.steps)
_FEELING: Final = _cues(lambda words: words.feeling)
_EVENT: Final = _cues(lambda words: words.event)

_SECTOR_RULES: Final = (
    (_DECISION, Sector.REFLECTIVE),
    (_LESSON, Sector.REFLECTIVE),
    (_PRINCIPLE, Sector.REFLECTIVE),
    (_FEELING, Sector.EMOTIONAL),
    (_STEPS, Sector.PROCEDURAL),
    (_EVENT, Sector.EPISODIC),
)

_KIND_RULES: Final = (
    (_SUMMARY, Kind.SUMMARY),
    (_NOTE, Kind.NOTE),
    (_GOTCHA, Kind.GOTCHA),
    (_DECISION, Kind.DECISION),
    (_PREFERENCE, Kind.PREFERENCE),
    (_LESSON, Kind.LESSON),
    (_PRINCIPLE, Kind.PRINCIPLE),
    (_STEPS, Kind.SKILL),
    (_PATTERN, Kind.PATTERN),
)

_KIND_OF_SECTOR: Final = {
    Sector.EPISODIC: Kind.EPISODE,
    Sector.SEMANTIC: Kind.FACT,
    Sector.PROCEDURAL: Kind.SKILL,
    Sector.EMOTIONAL: Kind.OBSERVATION,
    Sector.REFLECTIVE: Kind.LESSON,
}


def classify_sector(text: str) -> Sector:
    head = text[:HEAD].lower()
    for cues, sector in _SECTOR_RULES:
        if cues.search(head):
            return sector
    return Sector.SEMANTIC


def classify_kind(text: str, sector: Sector) -> Kind:
    head = text[:HEAD].lower()
    for cues, kind in _KIND_RULES:
        if cues.search(head):
            return kind
    return _KIND_OF_SECTOR[sector]
