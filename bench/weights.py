"""Fit what each term of the default ranking is worth on a set of conversations, leaving one out after the other.

    RECALLENS_EVAL_DATA=… python bench/weights.py [SET] [TERM …]

Each question is asked once, and the terms of its first candidates are taken from its ledger. A factor a term is then
fitted, so that what is right stands first, half by turn and half by session, and is measured on the conversation that
was left out (on a fifth of the questions, where there are fewer than three). A factor of 1 leaves a term as it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from recallens.config import load
from recallens.evaluate.dataset import Dataset, read_dataset
from recallens.evaluate.encoder_cache import cached_encoder
from recallens.evaluate.harness import PreparedUnits, filled

ROWS, FOLDS, PENALTY = 60, 5, 3.0
TERMS = (
    "vector", "bm25", "pairs", "session", "talk", "wordsHeld", "turnBefore", "timeTold", "ownStory", "userTurn",
    "namedSpeaker", "timeMatch", "sections", "path", "fileName", "identifiers", "length", "mentioned",
)  # fmt: skip


class Asked:
    """One question: the terms of its candidates, which of them are right, and the session of each."""

    def __init__(self, fold: str, kind: str, terms: np.ndarray, rest: np.ndarray, grades: np.ndarray,
                 sessions: list[str], ideal: list[float], wanted: set[str]) -> None:  # fmt: skip
        self.fold, self.kind, self.terms, self.rest, self.grades = fold, kind, terms, rest, grades
        self.sessions, self.ideal, self.wanted = sessions, ideal, wanted
        names = list(dict.fromkeys(sessions))
        self.session = np.array([names.index(name) for name in sessions])
        self.right_sessions = np.array([name in wanted for name in names], dtype=float)


def asked(dataset: Dataset, terms: Sequence[str]) -> list[Asked]:
    encoder, prepared, told = cached_encoder(load({})), PreparedUnits(), []
    group = {unit.id: unit.group or unit.id for unit in dataset.units}
    for haystack in dataset.haystacks:
        own = [q for q in dataset.questions_of(haystack) if dataset.is_judged(q)]
        if not own:
            continue
        with filled(dataset, haystack, prepared, encoder, lambda done: None) as (engine, latest):
            for question in own:
                now = latest if question.at is None else question.at
                recall = engine.recall(engine.recalls.query(question.text, limit=ROWS, now=now, cut=False))
                parts = [result.parts for result in recall.results]
                ids = [result.memory.source_id or "" for result in recall.results]
                if not ids:
                    continue
                gold = dataset.gold[question.id]
                own_terms = np.array([[row.get(term, 0.0) for term in terms] for row in parts])
                rest = np.array([sum(value for term, value in row.items() if term not in terms) for row in parts])
                told.append(Asked(
                    str(haystack.id), question.type or "", own_terms, rest,
                    np.array([gold.units.get(id, 0.0) for id in ids]), [group[id] for id in ids],
                    sorted(gold.units.values(), reverse=True), {g for g, grade in gold.groups.items() if grade > 0},
                ))  # fmt: skip
    return told


def fitted(questions: Sequence[Asked], count: int) -> np.ndarray:
    spread = np.concatenate([q.terms for q in questions]).std(axis=0) + 1e-9
    useful = [q for q in questions if q.grades.any() and q.right_sessions.any()]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = 0.0, np.zeros(count)
        for q in useful:
            z = q.terms / spread
            score = z @ w + q.rest
            p = np.exp(score - score.max())
            p /= p.sum()
            right = (q.grades > 0) / (q.grades > 0).sum()
            of_session = np.bincount(q.session, weights=p) + 1e-12
            wanted = q.right_sessions / q.right_sessions.sum()
            total -= 0.5 * (right @ np.log(p + 1e-12) + wanted @ np.log(of_session))
            slope -= 0.5 * (z.T @ (right - p) + z.T @ ((wanted / of_session)[q.session] * p - p))
        return (total + PENALTY / 2 * (w @ w)) / len(questions), (slope + PENALTY * w) / len(questions)

    bounds = [(0.0, None)] * count
    return minimize(loss, spread, jac=True, method="L-BFGS-B", bounds=bounds).x / spread


def measured(questions: Sequence[Asked], scores: Sequence[np.ndarray]) -> str:
    gains, whole = [], []
    for q, score in zip(questions, scores, strict=True):
        order = np.argsort(-score, kind="stable")
        discount = 1.0 / np.log2(np.arange(2, 12))
        ideal = np.array(q.ideal[:10])
        if ideal.sum():
            gains.append((q.grades[order][:10] @ discount[: min(10, len(order))]) / (ideal @ discount[: len(ideal)]))
        first = list(dict.fromkeys(q.sessions[at] for at in order))[:5]
        whole.append((q.kind, q.wanted <= set(first)))
    several = [right for kind, right in whole if "multi" in kind]
    told = (
        f"recall_all@5 {100 * np.mean([right for _, right in whole]):.1f}, by turn nDCG@10 {100 * np.mean(gains):.1f}"
    )
    return told + (f", several sessions {100 * np.mean(several):.1f}" if several else "")


def main() -> None:
    name, *terms = sys.argv[1:] or ["locomo-dev"]
    terms = terms or list(TERMS)
    questions = asked(read_dataset(Path(os.environ["RECALLENS_EVAL_DATA"]) / name), terms)
    folds = sorted({q.fold for q in questions})
    if len(folds) < 3 or len(folds) > 50:
        for at, q in enumerate(questions):
            q.fold = str(at % FOLDS)
        folds = sorted({q.fold for q in questions})
    print(f"{name}, {len(questions)} questions, {len(folds)} folds")
    print("as it is    ", measured(questions, [q.terms.sum(axis=1) + q.rest for q in questions]))
    left_out: dict[int, np.ndarray] = {}
    for fold in folds:
        factors = fitted([q for q in questions if q.fold != fold], len(terms))
        left_out |= {at: q.terms @ factors + q.rest for at, q in enumerate(questions) if q.fold == fold}
    print("left out    ", measured(questions, [left_out[at] for at in range(len(questions))]))
    factors = fitted(questions, len(terms))
    print("fitted on it", measured(questions, [q.terms @ factors + q.rest for q in questions]))
    print("  ".join(f"{term} × {factor:.2f}" for term, factor in zip(terms, factors, strict=True)))


if __name__ == "__main__":
    main()
