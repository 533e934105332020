"""The parts of a score by name, and the word for each that stands in a `why` line."""

from __future__ import annotations

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
