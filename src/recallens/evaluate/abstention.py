"""What answering only when sure is worth: risk against coverage, by confidence.

A question is a mistake if it is unanswerable, or if nothing right is in the first five results. Answering the
surest share c of the questions has the risk r(c): the share of mistakes among those answered. AURC is the mean of r
over all c.
El-Yaniv and Wiener, "On the Foundations of Noise-free Selective Classification", JMLR 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallens.model.verdict import FloatArray

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class RiskCurve:
    """`risks` are those at COVERAGES."""

    area: float
    risks: tuple[float, ...]


def risk_curve(confidence: Sequence[float], mistakes: Sequence[bool]) -> RiskCurve:
    risks = _risks(np.asarray(confidence, dtype=np.float64), np.asarray(mistakes, dtype=np.float64))
    if not len(risks):
        return RiskCurve(0.0, tuple(0.0 for _ in COVERAGES))
    at = [max(1, round(coverage * len(risks))) - 1 for coverage in COVERAGES]
    return RiskCurve(float(risks.mean()), tuple(float(risk) for risk in risks[at]))


def best_possible(mistakes: Sequence[bool]) -> RiskCurve:
    """Of one who knows which answers are right."""
    return risk_curve([0.0 if mistake else 1.0 for mistake in mistakes], mistakes)


def _risks(confidence: FloatArray, mistakes: FloatArray) -> FloatArray:
    """The risk after each question, the surest first. Equal confidence tells nothing apart: it shares its mistakes."""
    _, level, counts = np.unique(-confidence, return_inverse=True, return_counts=True)
    shared = np.bincount(level, weights=mistakes, minlength=len(counts)) / np.maximum(counts, 1)
    expected = np.repeat(shared, counts)
    risks: FloatArray = np.cumsum(expected) / np.arange(1, len(expected) + 1)
    return risks
