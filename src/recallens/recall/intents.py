"""What kind of answer a question wants: an additive model over the cues of the languages.

A cue is named by the intent that it speaks for, and every cue may weigh for every intent: "how did" is no "how do". The
weights were fitted by `bench/intents.py` on the questions of `bench/questions/intents-build.tsv`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from recallens.model.plan import Intent
from recallens.text.annotation import annotate
from recallens.text.languages import PACKS, Phrases, alternatives
from recallens.text.remembered import remembered

OTHER: Final = "other"  # no kind of answer in particular
CLASSES: Final = (*Intent, OTHER)
UNFITTED: Final = 2.5  # what a cue weighs for its own intent that was not fitted
SURE_ENOUGH: Final = 0.4  # below this it is as likely something else
DECIDED: Final = "what_happened/decided"  # not what happened, but what was made of it
# Cues that ask for the course of events, and not for one fact of it.
COURSE: Final = frozenset(f"what_happened/{word}" for word in ("happened", "history", "incident", "decided"))
# Of these, those that ask for one thing after the other.
TELLS_A_COURSE: Final = COURSE - {DECIDED}
# Cues that are no words: names of code, names of errors.
NAMES_CODE, NAMES_ERROR = "code_structure/name", "known_issues/name"
# What a question is about says little by itself: two words of a search box want nothing in particular, and a statement
# that names a protein or a class does not ask where it is.
FAINT: Final = frozenset((
    "environment/quantity", "environment/place", "what_happened/incident", "what_happened/past", "what_happened/time",
    NAMES_CODE,
))  # fmt: skip
# A past tense and a date make a fact of the past, and nobody asks for the course of events.
PAST: Final = frozenset(("what_happened/past", "what_happened/time"))
# Cues whose words say what kind of answer is wanted, and nothing of what it is about: "steps", "gotchas", "which file".
KIND_WORDS: Final = frozenset((
    "how_to_do/steps", "how_to_do/way", "known_issues/issue", "known_issues/care", "code_structure/code",
    "environment/now",
))  # fmt: skip
# Cues of how a question is put: a text that states something asks for a kind of answer by these alone.
PUT: Final = frozenset((
    "how_to_do/how", "how_to_do/way", "how_to_do/task", "what_happened/happened", "what_happened/when_did",
    "what_happened/who_did", "known_issues/why", "code_structure/where",
))  # fmt: skip
REMEMBERED: Final = 256

_STATEMENT: Final = re.compile(alternatives(lambda pack: pack.questions.statement), re.IGNORECASE)

BIAS: Final[Mapping[str, float]] = {"environment": 0.2, "code_structure": -0.2, "other": 1}
WEIGHTS: Final[Mapping[str, Mapping[str, float]]] = {
    "how_to_do/how": {"how_to_do": 3.3, "environment": -0.2, "code_structure": -0.2, "other": -0.2},
    "how_to_do/steps": {"how_to_do": 3.5, "environment": -0.3, "other": -0.4},
    "how_to_do/way": {"how_to_do": 2.7},
    "how_to_do/task": {"how_to_do": 2.2, "other": -0.2},
    "what_happened/happened": {"what_happened": 2.8},
    "what_happened/incident": {"what_happened": 1.2},
    "what_happened/when_did": {"what_happened": 2.7},
    "what_happened/did": {"what_happened": 2.3, "code_structure": -0.2, "other": -0.4},
    "what_happened/decided": {"what_happened": 1.6},
    "what_happened/who_did": {"what_happened": 2.9, "environment": -0.3},
    "what_happened/history": {"what_happened": 2, "known_issues": -0.2, "other": -0.2},
    "what_happened/time": {"what_happened": 1.4, "other": -0.2},
    "known_issues/issue": {"known_issues": 3.2, "code_structure": -0.2, "other": -0.2},
    "known_issues/care": {"known_issues": 2.7, "code_structure": -0.2},
    "known_issues/broken": {
        "how_to_do": -0.2,
        "known_issues": 2.5,
        "environment": -0.2,
        "code_structure": -0.2,
        "other": -0.4,
    },
    "known_issues/error": {"known_issues": 1.8, "other": -0.2},
    "known_issues/often": {"known_issues": 1.4},
    "known_issues/why": {"known_issues": 1.1},
    "environment/where": {
        "how_to_do": -0.2,
        "what_happened": 0.2,
        "known_issues": -0.2,
        "environment": 2.1,
        "other": -0.3,
    },
    "environment/setting": {"environment": 2, "code_structure": 0.2, "other": -0.4},
    "environment/quantity": {"environment": 1.5, "other": -0.3},
    "environment/now": {"environment": 1.6, "other": -0.3},
    "environment/runs": {"environment": 1.9, "other": -0.2},
    "environment/place": {"known_issues": -0.2, "environment": 1.6, "code_structure": -0.3, "other": -0.4},
    "environment/version": {"environment": 1.7},
    "code_structure/where": {"environment": 0.2, "code_structure": 2, "other": -0.3},
    "code_structure/code": {"what_happened": -0.3, "environment": -0.5, "code_structure": 2.6, "other": -0.3},
    "code_structure/relation": {"how_to_do": -0.2, "known_issues": -0.2, "code_structure": 1.7, "other": -0.3},
    "other/who": {"other": 1.7},
    "other/norm": {"known_issues": -0.2, "other": 1.9},
    "other/reason": {"other": 2.7},
    "other/meaning": {"how_to_do": -0.2, "other": 1.9},
    "other/person": {"code_structure": -0.3, "other": 2},
    "other/amount": {"other": 1.9},
    "other/review": {"other": 2.6},
    "what_happened/past": {"what_happened": 2.1, "other": -0.2},
    "environment/use": {"environment": 1.6},
    "code_structure/name": {"code_structure": 1.9},
    "known_issues/name": {"known_issues": 1.8},
}


class Wish(Struct, frozen=True):
    """The intent that a question was read as, how sure that is, and the cues that spoke for it."""

    intent: Intent | None
    confidence: float
    cues: tuple[str, ...] = ()


def _phrases(cue: str) -> Phrases:
    return Phrases.of(lambda pack: pack.questions.intents.get(cue, ""))


CUES: Final = {cue: _phrases(cue) for pack in PACKS for cue in pack.questions.intents}


def cues_of(text: str) -> list[str]:
    noticed = annotate(text)
    names = {NAMES_ERROR: noticed.errors, NAMES_CODE: (*noticed.symbols, *noticed.paths)}
    return [cue for cue, phrases in CUES.items() if phrases.within(text)] + [cue for cue in names if names[cue]]


def own_intent(cue: str) -> str:
    return cue.partition("/")[0]


def weights_of(cue: str) -> Mapping[str, float]:
    return WEIGHTS.get(cue) or {own_intent(cue): UNFITTED}


def names_a_kind(word: str, text: str, cues: Iterable[str]) -> bool:
    """Whether a word of the question belongs to the cues that it was read by, alone or in a phrase of the question, and
    not to what it is about.
    """
    spoken = [CUES[cue] for cue in KIND_WORDS.intersection(cues)]
    lowered = word.lower()
    return any(cue.within(word) or any(lowered in phrase.split() for phrase in cue.found_in(text)) for cue in spoken)


def _states(text: str, cues: Iterable[str]) -> bool:
    """Whether a text states something, and does not begin with the kind of answer that it wants."""
    return _STATEMENT.search(text) is not None and not names_a_kind(" ".join(text.split()[:2]), "", cues)


@remembered(REMEMBERED)
def wish_of(text: str, stated: Intent | None = None) -> Wish:
    cues = cues_of(text)
    if stated is not None:
        return Wish(stated, 1.0, tuple(cue for cue in cues if weights_of(cue).get(stated, 0.0) > 0))
    score = {name: BIAS.get(name, 0.0) + sum(weights_of(cue).get(name, 0.0) for cue in cues) for name in CLASSES}
    likely = max(CLASSES, key=lambda name: score[name])
    confidence = 1.0 / sum(math.exp(score[name] - score[likely]) for name in CLASSES)
    speaking = tuple(cue for cue in cues if weights_of(cue).get(likely, 0.0) > 0)
    if (
        likely == OTHER
        or confidence < SURE_ENOUGH
        or (len(speaking) == 1 and speaking[0] in FAINT)
        or PAST.issuperset(speaking)
        or (PUT.isdisjoint(speaking) and _states(text, speaking))
    ):
        return Wish(None, 0.0)
    return Wish(Intent(likely), confidence, speaking)
