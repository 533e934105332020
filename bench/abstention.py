"""Fit the abstention score on dev sets that have unanswerable questions, and print its coefficients and threshold.

    RECALLENS_EVAL_DATA=… python bench/abstention.py locomo-dev longmemeval-dev-pooled

A question counts as answered where `recallens eval --abstention` counts it so: something right is in the first five
results, by session in conversations. Every set weighs the same, whatever its size. The figures that count are
cross-validated: each fifth is scored by a fit on the others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from recallens.config import load
from recallens.evaluate.dataset import read_dataset
from recallens.evaluate.encoder_cache import cached_encoder
from recallens.evaluate.harness import asked, run_judged
from recallens.evaluate.metrics import CONFIDENCES, risk_curve
from recallens.model.recall import Recall
from recallens.recall.certificate import COEFFICIENTS

FEATURES = [name for name in COEFFICIENTS if name != "bias"]
PENALTY = 3.0
SET_WEIGHT = 500.0
FOLDS = 5
STEPS = 40


def feature(name: str, recall: Recall) -> float:
    return float(recall.ledger.notes("certificate")[-1]["abstention"]["features"][name])


def gathered(name: str) -> tuple[np.ndarray, np.ndarray, Mapping[str, np.ndarray]]:
    """Features and right answers of every question of a set, and each raw score as a confidence."""
    dataset = read_dataset(Path(os.environ["RECALLENS_EVAL_DATA"]) / name)
    raw = dict(CONFIDENCES)
    CONFIDENCES.clear()  # type: ignore[attr-defined]
    CONFIDENCES.update(raw | {f"feature {f}": lambda recall, f=f: feature(f, recall) for f in FEATURES})  # type: ignore[attr-defined]
    (run,) = run_judged(
        dataset, asked(dataset, unanswerable=True, most=None), ["default"], encoder=cached_encoder(load({}))
    )
    CONFIDENCES.clear()  # type: ignore[attr-defined]
    CONFIDENCES.update(raw)  # type: ignore[attr-defined]
    right = np.array([question.hit for question in run.questions], dtype=np.float64)
    told = [question.confidences for question in run.questions]
    table = np.array([[own[f"feature {f}"] for f in FEATURES] for own in told])
    single = {name: np.array([own.get(name, 0.0) for own in told]) for name in raw if name != "certificate"}
    return table, right, single


def fitted(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Ridge-penalised logistic regression by Newton's method; the bias comes first and is not penalised."""
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    z = np.column_stack([np.ones(len(x)), (x - mean) / spread])
    ridge = np.diag([1e-3, *[PENALTY] * x.shape[1]])
    beta = np.zeros(z.shape[1])
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-z @ beta))
        gradient = z.T @ (weight * (p - y)) + ridge @ beta
        beta -= np.linalg.solve((z * (weight * p * (1 - p))[:, None]).T @ z + ridge, gradient)
    slopes = beta[1:] / spread
    return np.array([beta[0] - float(slopes @ mean), *slopes])


def logit(x: np.ndarray, beta: np.ndarray) -> np.ndarray:
    return np.asarray(beta[0] + x @ beta[1:])


def best_threshold(doubt: np.ndarray, wrong: np.ndarray, weight: np.ndarray) -> float:
    """Where abstaining catches most mistakes for the fewest right answers withheld (Youden's J)."""
    candidates = np.linspace(0.05, 0.95, 91)
    gains = [
        (weight * wrong * (doubt > t)).sum() / (weight * wrong).sum()
        - (weight * (1 - wrong) * (doubt > t)).sum() / (weight * (1 - wrong)).sum()
        for t in candidates
    ]
    return float(candidates[int(np.argmax(gains))])


def main(names: Sequence[str]) -> None:
    sets = [gathered(name) for name in names]
    x = np.concatenate([table for table, _, _ in sets])
    y = np.concatenate([right for _, right, _ in sets])
    owner = np.repeat(np.arange(len(sets)), [len(right) for _, right, _ in sets])
    weight = SET_WEIGHT / np.bincount(owner)[owner]
    beta = fitted(x, y, weight)
    fold = np.random.default_rng(0).integers(0, FOLDS, len(y))
    held_out = np.zeros(len(y))
    for at in range(FOLDS):
        held_out[fold == at] = logit(x[fold == at], fitted(x[fold != at], y[fold != at], weight[fold != at]))
    for at, (name, (_, right, single)) in enumerate(zip(names, sets, strict=True)):
        wrong = [not one for one in right]
        areas = {raw: risk_curve(list(values), wrong).area for raw, values in single.items()}
        best = min(areas, key=lambda raw: areas[raw])
        own = risk_curve(list(logit(x[owner == at], beta)), wrong).area
        cv = risk_curve(list(held_out[owner == at]), wrong).area
        print(f"{name}: fitted {own:.4f}, cross-validated {cv:.4f}, best raw score {areas[best]:.4f} ({best})")
    doubt = 1.0 - 1.0 / (1.0 + np.exp(-logit(x, beta)))
    print({name: round(float(value), 3) for name, value in zip(["bias", *FEATURES], beta, strict=True)})
    print("threshold", round(best_threshold(doubt, 1 - y, weight), 2))


if __name__ == "__main__":
    main(sys.argv[1:] or ["locomo-dev", "longmemeval-dev-pooled"])
