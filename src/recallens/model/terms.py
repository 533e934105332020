"""The parts of a score by name, the word for each, and the sum of them as people read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

# What each part stands for: in a word, and as a sentence says it.
WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "vector": ("meaning", "what it means"),
    "bm25": ("words", "the exact words"),
    "translation": ("words in translation", "the words that it says in another language"),
    "pairs": ("words side by side", "words that stand side by side"),
    "code": ("code by meaning", "what its code means"),
    "chat": ("words in chats", "how little the words of a whole turn say in a chat"),
    "talk": ("meaning in talk", "how much more its meaning says than its words in a talk"),
    "wordsHeld": ("words held", "how much of the question it says"),
    "turnBefore": ("turn before", "what the turn before it speaks of"),
    "timeTold": ("time told", "its telling a time"),
    "ownStory": ("own story", "its telling rather than asking"),
    "sections": ("best section", "what its best section says"),
    "path": ("words of the path", "the words of its path"),
    "fileName": ("file named", "its file being named"),
    "identifiers": ("identifiers", "identifiers that it writes as the question does"),
    "length": ("length", "how much it says"),
    "mentioned": ("mentioned", "its being mentioned by one of the first"),
    "session": ("session", "the session that it belongs to"),
    "userTurn": ("user's own words", "its being the user's own words"),
    "namedSpeaker": ("named speaker", "who said it"),
    "symbolic": ("exact name", "a name that it shares with the question"),
    "graph": ("graph", "what it is linked to"),
    "importance": ("importance", "how important it is"),
    "salience": ("salience", "how much it has been in use"),
    "reinforcementBoost": ("reinforcement", "how often it was recalled or confirmed"),
    "recency": ("recency", "how new it is"),
    "intentMatch": ("kind of answer", "the kind of answer that is asked for"),
    "timeMatch": ("time asked about", "the time that is asked about"),
    "timeTurn": ("turn in its time", "whose turn it is to tell of the time"),
    "uplift": ("uplift", "how tasks went that had it"),
    "tierPrior": ("head start", "the tier that found it"),
    "superseded": ("superseded", "its having been replaced"),
    "succession": ("succession", "what it took the place of"),
    "review": ("under review", "its being a draft or rejected"),
    "sectorBoost": ("sector", "the sector that it belongs to"),
    "clamp": ("bounds", "the bounds of a score"),
    "wholeFile": ("rest of the file", "what the rest of its file says"),
    "sourceScale": ("source scale", "how it compares with the best of its source"),
    "sourcePrior": ("source", "the kind of source that it comes from"),
    "lessonBoost": ("lesson", "its being a lesson"),
    "actionability": ("work at hand", "the open file and the latest commands"),
    "levelMatch": ("level", "how abstract it is"),
    "outcome": ("outcome", "how it ended"),
    "warning": ("warning", "its explaining what failed"),
    "success": ("success", "its having worked where others failed"),
    "correction": ("correction", "what it corrects"),
    "statement": ("statement", "what it states otherwise than an older one"),
    "dispute": ("dispute", "the cited fact that speaks against it"),
    "principle": ("principle", "its laying down what others, who are less trusted, speak of"),
    "heap": ("heap", "its heaping up words for searches to find"),
    "proposal": ("proposal", "its only proposing to replace what is more trusted"),
    "aftermath": ("aftermath", "its telling only what came after it"),
    "recap": ("recap", "its summing up what others say"),
    "rerank": ("second look", "what the model thinks that reads it beside the question"),
    "conflictPenalty": ("conflict", "what speaks against it"),
    "mmrPenalty": ("repetition", "how much it repeats what stands above it"),
}
# What a query may weigh. Repetition is measured while the rows are chosen, after all that has a weight.
WEIGHABLE: Final = tuple(name for name in WORDS if name != "mmrPenalty")

_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def plain(name: str) -> str:
    """The word for a part; one that has none is its own name, spelled as words."""
    return WORDS[name][0] if name in WORDS else _HUMP.sub(" ", name).replace("-", " ").lower()


def in_words(name: str) -> str:
    return f"{WORDS[name][1]} ({name})" if name in WORDS else name


def as_share(value: float) -> str:
    """A probability, as fine as it has to be to tell it from 0."""
    return "under 0.001" if value < 0.0005 else f"{value:.3f}" if value < 0.0995 else f"{value:.2f}"


def ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def shown_parts(parts: Mapping[str, float], score: float, scale: int = 100) -> list[tuple[str, int]]:
    """Hundredths, or as fine as `scale` says, that add up to the shown score: each is its part rounded up or down, the
    largest remainders up.
    """
    floors = {name: int(value * scale // 1) for name, value in parts.items()}
    missing = round(score * scale) - sum(floors.values())
    by_remainder = sorted(parts, key=lambda name: floors[name] - parts[name] * scale)
    for name in by_remainder[: max(missing, 0)]:
        floors[name] += 1
    shown = [(name, value) for name, value in floors.items() if value]
    return sorted(shown, key=lambda part: -abs(part[1]))
