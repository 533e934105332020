"""Fit the weights of `recall/intents.py` on questions whose kind of answer is known, and say what they are worth.

    python bench/intents.py                 # cross-validation on the questions that are built on, and the weights
    python bench/intents.py --apart         # what the weights in the package are worth on the questions kept apart

Multinomial logistic regression, pulled towards what a cue weighs by its name: with 17 questions a kind and language, a
cue that occurs once must not be worth what chance made of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from recallens.recall.intents import CLASSES, CUES, FAINT, NAMES_CODE, NAMES_ERROR, OTHER, cues_of, own_intent, wish_of

QUESTIONS = Path(__file__).parent / "questions"
ALL_CUES = [*CUES, NAMES_CODE, NAMES_ERROR]
FOLDS = 10
PULL = 2.0
# How a question is put says more than what it is about: an incident can be asked about in every way.
PUT = {
    "how_to_do/how", "how_to_do/steps", "how_to_do/way", "what_happened/when_did", "what_happened/who_did",
    "what_happened/happened", "known_issues/issue", "known_issues/care", "other/reason", "other/review",
}  # fmt: skip
FIRM = 2.5
# What it is about says little by itself, and neither do these.
TOPICS = FAINT | {
    "what_happened/time", "known_issues/often", "known_issues/why", "code_structure/relation", "environment/now",
}  # fmt: skip
USUAL, LITTLE = 1.5, 0.9


def read(name: str) -> list[tuple[str, str, str]]:
    """Intent, language and question; no particular intent is `other`."""
    lines = (QUESTIONS / f"intents-{name}.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [(OTHER if intent == "none" else intent, language, text) for intent, language, text in rows]


def features(texts: list[str]) -> np.ndarray:
    held = [set(cues_of(text)) for text in texts]
    return np.array([[1.0, *(float(cue in cues) for cue in ALL_CUES)] for cues in held])


def prior() -> np.ndarray:
    weights = np.zeros((1 + len(ALL_CUES), len(CLASSES)))
    weights[0] = [float(name == OTHER) for name in CLASSES]
    for at, cue in enumerate(ALL_CUES, 1):
        worth = FIRM if cue in PUT else LITTLE if cue in TOPICS else USUAL
        weights[at, CLASSES.index(own_intent(cue))] = worth
    return weights


def probabilities(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    score = x @ weights
    raised = np.exp(score - score.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def fit(x: np.ndarray, y: np.ndarray, pull: float = PULL, steps: int = 2_000, rate: float = 0.05) -> np.ndarray:
    start = prior()
    weights, wanted = start.copy(), np.eye(len(CLASSES))[y]
    for _ in range(steps):
        weights -= rate * (x.T @ (probabilities(x, weights) - wanted) + pull * (weights - start)) / np.sqrt(len(y))
    return weights


def cross_validated(x: np.ndarray, y: np.ndarray, pull: float) -> np.ndarray:
    """What is read out of each question by weights that were fitted without it."""
    fold = np.random.default_rng(7).permutation(len(y)) % FOLDS
    read_as = np.zeros_like(y)
    for held in range(FOLDS):
        weights = fit(x[fold != held], y[fold != held], pull)
        read_as[fold == held] = (x[fold == held] @ weights).argmax(axis=1)
    return read_as


def tell(rows: list[tuple[str, str, str]], read_as: list[str]) -> None:
    right = np.array([intent == name for (intent, _, _), name in zip(rows, read_as, strict=True)])
    print(f"{'':16}" + "".join(f"{name[:14]:>16}" for name in ("en", "ko", "both")))
    for name in (*CLASSES, None):
        shares = []
        for languages in (("en",), ("ko",), ("en", "ko")):
            of = np.array([lang in languages and name in (None, intent) for intent, lang, _ in rows])
            shares.append(f"{right[of].sum():4d}/{of.sum():<4d}{right[of].mean():7.1%}")
        print(f"{name or 'all':16}" + "".join(f"{share:>16}" for share in shares))


def table(weights: np.ndarray) -> str:
    def numbers(row: np.ndarray) -> str:
        kept = [(name, round(float(value), 1)) for name, value in zip(CLASSES, row, strict=True)]
        return ", ".join(f'"{name}": {value:g}' for name, value in kept if abs(value) >= 0.2)

    lines = [f"BIAS = {{{numbers(weights[0])}}}", "WEIGHTS = {"]
    lines += [f'    "{cue}": {{{numbers(row)}}},' for cue, row in zip(ALL_CUES, weights[1:], strict=True)]
    return "\n".join([*lines, "}"])


def main() -> None:
    if "--apart" in sys.argv:
        rows = read("apart")
        tell(rows, [str(wish_of(text).intent or OTHER) for _, _, text in rows])
        return
    rows = read("build")
    x, y = features([text for _, _, text in rows]), np.array([CLASSES.index(intent) for intent, _, _ in rows])
    read_as = cross_validated(x, y, PULL)
    tell(rows, [CLASSES[at] for at in read_as])
    if "--errors" in sys.argv:
        for (intent, _, text), at in zip(rows, read_as, strict=True):
            if CLASSES[at] != intent:
                print(f"{intent:16}{CLASSES[at]:16}{text}   {cues_of(text)}")
    if "--pulls" in sys.argv:
        for pull in (0.03, 0.1, 0.3, 1.0, 3.0):
            print(pull, np.mean(cross_validated(x, y, pull) == y))
    if "--weights" in sys.argv:
        print(table(fit(x, y)))


if __name__ == "__main__":
    main()
