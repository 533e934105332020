"""How good a ranked list is, how sure a recall may be of it, and what answering only when sure is worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct

from recallens.evaluate.dataset import Gold, Scoring
from recallens.evaluate.runs import Delivered
from recallens.model.recall import Recall
from recallens.model.verdict import FloatArray, Found
from recallens.text.stopwords import query_weights
from recallens.text.tokenizer import tokenize

# ── ranking, one formula a function: `ranked` is best first, `gold` gives each right id its grade ──

Grades = Mapping[str, float]


def recall(ranked: Sequence[str], gold: Grades, k: int) -> float:
    """The share of what is right that stands in the first k."""
    right = _right(gold)
    return len(right & set(ranked[:k])) / len(right) if right else 0.0


def recall_any(ranked: Sequence[str], gold: Grades, k: int) -> float:
    """1 where something right stands in the first k."""
    return float(recall(ranked, gold, k) > 0)


def recall_all(ranked: Sequence[str], gold: Grades, k: int) -> float:
    """1 where all that is right stands in the first k."""
    return float(recall(ranked, gold, k) == 1)


def reciprocal_rank(ranked: Sequence[str], gold: Grades, k: int) -> float:
    """1 over the rank of the first that is right, 0 where none is in the first k."""
    right = _right(gold)
    return next((1.0 / rank for rank, id in enumerate(ranked[:k], start=1) if id in right), 0.0)


def ndcg(ranked: Sequence[str], gold: Grades, k: int) -> float:
    """Σ grade / log2(rank + 1) over the first k, against the best order of what is right.

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002; the grades are the gains.
    """
    best = _discounted(sorted(gold.values(), reverse=True)[:k])
    return _discounted([gold.get(id, 0.0) for id in ranked[:k]]) / best if best > 0 else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _right(gold: Grades) -> set[str]:
    return {id for id, grade in gold.items() if grade > 0}


FORMULAS: Mapping[str, Callable[[Sequence[str], Grades, int], float]] = {
    "recall": recall, "recall_any": recall_any, "recall_all": recall_all, "mrr": reciprocal_rank, "ndcg": ndcg,
}  # fmt: skip
GOLDEN = ("recall@1", "recall@3", "recall@5", "recall@10", "recall_any@5", "mrr@10", "ndcg@10")
BY_SESSION = ("recall_any@5", "recall_all@5", "recall_all@10", "ndcg@10", "mrr@10")
BY_DOCUMENT = ("ndcg@10", "recall@10", "recall_all@5", "mrr@10")
BY_TURN = "unit ndcg@10"
JUDGED = {Scoring.CONVERSATION: (*BY_SESSION, BY_TURN), Scoring.DOCUMENTS: BY_DOCUMENT}


def measured(metrics: Iterable[str], ranked: Sequence[str], gold: Grades) -> dict[str, float]:
    """A metric is named by its formula and how many results it looks at."""
    named = ((metric, *metric.split("@")) for metric in metrics)
    return {metric: FORMULAS[formula](ranked, gold, int(k)) for metric, formula, k in named}


def score(scoring: Scoring, units: Sequence[str], groups: Sequence[str], gold: Gold) -> dict[str, float]:
    """Every metric of one judged question; by turn only where turns were judged."""
    if scoring is Scoring.DOCUMENTS:
        return measured(BY_DOCUMENT, units, gold.units)
    by_turn = {BY_TURN: ndcg(units, gold.units, 10)} if gold.units else {}
    return measured(BY_SESSION, groups, gold.groups) | by_turn


# ── confidence: a function of the recall alone, the higher the surer ──

# None where this recall has nothing of the kind to say: the view was not asked, or the field is not there.
Confidence = Callable[[Recall], float | None]

CERTIFICATE, ABSTENTION = "certificate", "abstention"


def top_raw(view: str) -> Confidence:
    """The raw score of the view's best row."""

    def confidence(recall: Recall) -> float | None:
        verdicts = (entry.verdict for entry in recall.ledger.entries)
        scores = [verdict.raw for verdict in verdicts if isinstance(verdict, Found) and verdict.view == view]
        return max((float(raw.max()) for raw in scores if len(raw)), default=0.0) if scores else None

    return confidence


def gap(recall: Recall) -> float | None:
    """How far the first result stands above the second."""
    scores = [result.score for result in recall.results[:2]]
    return scores[0] - scores[1] if len(scores) == 2 else 0.0


def words_covered(recall: Recall) -> float | None:
    """The share of the question's words, by weight, that the first result holds."""
    if not recall.results:
        return 0.0
    memory = recall.results[0].memory
    held = set(tokenize(" \n".join(filter(None, (memory.title, memory.author, memory.content)))))
    weights = query_weights(tokenize(recall.query.text))
    total = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in held) / total if total else 0.0


def not_abstaining(recall: Recall) -> float | None:
    """1 − the abstention score of the product's own certificate."""
    notes = recall.ledger.notes(CERTIFICATE)
    return 1.0 - float(notes[-1][ABSTENTION]["score"]) if notes else None


CONFIDENCES: Mapping[str, Confidence] = {
    "top cosine": top_raw("semantic"), "top BM25": top_raw("lexical"),
    "top score": lambda recall: recall.results[0].score if recall.results else 0.0,
    "words covered": words_covered, "gap": gap, "certificate": not_abstaining,
}  # fmt: skip


def confidences(recall: Recall) -> dict[str, float]:
    values = {name: confidence(recall) for name, confidence in CONFIDENCES.items()}
    return {name: value for name, value in values.items() if value is not None}


# ── what is delivered, and whether a relevance of 0.3 is right in three of ten ──


def delivery(delivered: Sequence[Delivered]) -> dict[str, float]:
    """Precision over all that is delivered; recall, size and silence are means over the questions."""
    size = sum(each.size for each in delivered)
    asked = [each for each in delivered if each.gold]
    return {
        "precision": sum(each.right for each in delivered) / size if size else 0.0,
        "recall": sum(each.right / each.gold for each in asked) / len(asked) if asked else 0.0,
        "size": size / len(delivered) if delivered else 0.0,
        "silent": sum(not each.size for each in delivered) / len(delivered) if delivered else 0.0,
    }


BINS = 10


def reliability(judged: Sequence[tuple[float, bool]]) -> list[tuple[float, float, int]]:
    """In bins of equal mass: the mean relevance, the share that is right, and how many there are."""
    ordered = sorted(judged, key=lambda each: each[0])  # by relevance alone: equals are not told apart by being right
    edges = [round(at * len(ordered) / BINS) for at in range(BINS + 1)]
    bins = [ordered[start:end] for start, end in pairwise(edges) if end > start]
    return [(sum(p for p, _ in own) / len(own), sum(right for _, right in own) / len(own), len(own)) for own in bins]


def calibration_error(judged: Sequence[tuple[float, bool]]) -> float:
    """Naeini, Cooper and Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian Binning", AAAI 2015."""
    return sum(count * abs(mean - share) for mean, share, count in reliability(judged)) / max(len(judged), 1)


# ── abstention: risk against coverage, by confidence ──
#
# A question is a mistake if it is unanswerable, or if nothing right is in the first five results. Answering the
# surest share c of the questions has the risk r(c): the share of mistakes among those answered. AURC is the mean of r
# over all c.
# El-Yaniv and Wiener, "On the Foundations of Noise-free Selective Classification", JMLR 2010.

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class RiskCurve(Struct, frozen=True):
    area: float
    risks: tuple[float, ...]  # at COVERAGES


def risk_curve(confidence: Sequence[float], mistakes: Sequence[bool]) -> RiskCurve:
    """The risk after each question, the surest first. Equal confidence tells nothing apart: it shares its mistakes."""
    if not len(confidence):
        return RiskCurve(0.0, tuple(0.0 for _ in COVERAGES))
    _, level, counts = np.unique(-np.asarray(confidence, np.float64), return_inverse=True, return_counts=True)
    shared = np.bincount(level, weights=np.asarray(mistakes, np.float64), minlength=len(counts)) / counts
    expected = np.repeat(shared, counts)
    risks: FloatArray = np.cumsum(expected) / np.arange(1, len(expected) + 1)
    at = [max(1, round(coverage * len(risks))) - 1 for coverage in COVERAGES]
    return RiskCurve(float(risks.mean()), tuple(float(risk) for risk in risks[at]))


def best_possible(mistakes: Sequence[bool]) -> RiskCurve:
    """Of one who knows which answers are right."""
    return risk_curve([0.0 if mistake else 1.0 for mistake in mistakes], mistakes)
