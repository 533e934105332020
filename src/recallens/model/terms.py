"""The parts of a score by name, the word for each, and the sum of them as people read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

WORDS: Final[Mapping[str, str]] = {
    "vector": "meaning",
    "bm25": "words",
    "pairs": "words side by side",
    "code": "code by meaning",
    "session": "session",
    "userTurn": "user's own words",
    "namedSpeaker": "named speaker",
    "symbolic": "exact name",
    "graph": "graph",
    "importance": "importance",
    "salience": "salience",
    "reinforcementBoost": "reinforcement",
    "recency": "recency",
    "intentMatch": "kind of answer",
    "timeMatch": "time asked about",
    "uplift": "uplift",
    "tierPrior": "head start",
    "superseded": "superseded",
    "sectorBoost": "sector",
    "clamp": "bounds",
    "sourceScale": "source scale",
    "sourcePrior": "source",
    "lessonBoost": "lesson",
    "actionability": "work at hand",
    "levelMatch": "level",
    "conflictPenalty": "conflict",
    "mmrPenalty": "repetition",
}
# What a query may weigh. Repetition is measured while the rows are chosen, after all that has a weight.
WEIGHABLE: Final = tuple(name for name in WORDS if name != "mmrPenalty")

_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def plain(name: str) -> str:
    return WORDS.get(name) or _HUMP.sub(" ", name).replace("-", " ").lower()


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
