"""Sector and kind by rule, where the writer names none. The first rule that matches decides.

Sector: that of the kind, where the writer names a kind that has one; else, in order:
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
from functools import lru_cache
from typing import Final

from recallens.model.memory import Kind, Sector
from recallens.text.languages import alternatives, between_bars
from recallens.text.sieve import Sieve, sets_met

# A text says what it is in its first sentences; reading further would let one word in a long text decide.
HEAD: Final = 300


# Each rule is a field of the language packs' memory words, and what a text is that has one of them.
_SECTOR_RULES: Final = {
    "decision": Sector.REFLECTIVE,
    "lesson": Sector.REFLECTIVE,
    "principle": Sector.REFLECTIVE,
    "feeling": Sector.EMOTIONAL,
    "steps": Sector.PROCEDURAL,
    "event": Sector.EPISODIC,
}
_KIND_RULES: Final = {
    "summary": Kind.SUMMARY,
    "note": Kind.NOTE,
    "gotcha": Kind.GOTCHA,
    "decision": Kind.DECISION,
    "preference": Kind.PREFERENCE,
    "lesson": Kind.LESSON,
    "principle": Kind.PRINCIPLE,
    "steps": Kind.SKILL,
    "pattern": Kind.PATTERN,
}
_KIND_OF_SECTOR: Final = {
    Sector.EPISODIC: Kind.EPISODE,
    Sector.SEMANTIC: Kind.FACT,
    Sector.PROCEDURAL: Kind.SKILL,
    Sector.EMOTIONAL: Kind.OBSERVATION,
    Sector.REFLECTIVE: Kind.LESSON,
}


_SECTOR_OF_KIND: Final = {
    Kind.EPISODE: Sector.EPISODIC,
    Kind.SKILL: Sector.PROCEDURAL,
    Kind.PATTERN: Sector.PROCEDURAL,
    Kind.DECISION: Sector.REFLECTIVE,
    Kind.LESSON: Sector.REFLECTIVE,
    Kind.PRINCIPLE: Sector.REFLECTIVE,
}


def _cues(name: str) -> Sieve:
    # Matched against lower-cased text, since ignoring case in the pattern is several times slower.
    pattern = alternatives(lambda pack: getattr(pack.memories, name))
    opens = name in ("summary", "note")  # only where it is the first word
    return Sieve([rf"\A\s*(?:#+\s*)?(?:{pattern})\b"] if opens else between_bars(pattern), re.MULTILINE)


_CUES: Final = {name: _cues(name) for name in (_SECTOR_RULES | _KIND_RULES)}


class _Cues:
    """The rules whose words a text has near its beginning, each looked for once."""

    def __init__(self, head: str) -> None:
        self._head = head.lower()
        self._met = sets_met(self._head)
        self._found: dict[str, bool] = {}

    def has(self, rule: str) -> bool:
        if rule not in self._found:
            self._found[rule] = _CUES[rule].holds(self._head, self._met)
        return self._found[rule]


_cues_in: Final = lru_cache(maxsize=4)(
    _Cues
)  # sector and kind are asked for one after the other, by some rules of both


def classify_sector(text: str, kind: Kind | None = None) -> Sector:
    if kind in _SECTOR_OF_KIND:
        return _SECTOR_OF_KIND[kind]
    cues = _cues_in(text[:HEAD])
    return next((sector for rule, sector in _SECTOR_RULES.items() if cues.has(rule)), Sector.SEMANTIC)


def classify_kind(text: str, sector: Sector) -> Kind:
    cues = _cues_in(text[:HEAD])
    return next((kind for rule, kind in _KIND_RULES.items() if cues.has(rule)), _KIND_OF_SECTOR[sector])
