"""Fit the relevance of a candidate, a probability, on the dev sets, and print what it is worth on sets left out.

    RECALLENS_EVAL_DATA=… python bench/relevance.py [--gather] [SET …]

Three kinds of questions are asked of each set: its own, in the whole store; its own in stores of a few memories, half
of them without their answer; and questions of the other sets, which nothing there answers. `--gather` asks them all
again, which takes minutes; otherwise what bench/cache holds is used.

The weights are fitted where what nothing answers weighs most, so that they tell an answer from none; then the whole is
stretched and shifted, which changes no order, to be right as a probability where most questions have an answer.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from recallens.config import load
from recallens.engine import Engine
from recallens.evaluate.dataset import Dataset, Haystack, JudgedQuestion, read_dataset
from recallens.evaluate.encoder_cache import cached_encoder
from recallens.evaluate.harness import PreparedUnits, filled
from recallens.evaluate.metrics import calibration_error
from recallens.model.verdict import Judgement
from recallens.recall.judgement import BY_MEANING, BY_WORDS, Model
from recallens.recall.select import LEAST_BESIDE, LEAST_TURN

SETS = (
    "locomo-dev", "longmemeval-dev-pooled", "beam-100k", "scifact", "cosqa-dev", "hotpotqa", "korquad-dev",
    "react-ko2en", "git-k8s-docs",
)  # fmt: skip
CONVERSATIONS = ("locomo-dev", "longmemeval-dev-pooled", "beam-100k")
CACHE = Path(__file__).parent / "cache"
QUESTIONS, FOREIGN, SMALL_STORES, SMALL = 200, 60, 30, (5, 12, 40)
HAYSTACKS = 6
ROWS = 40
Rows = dict[str, np.ndarray]


def data(name: str) -> Dataset:
    return read_dataset(Path(os.environ["RECALLENS_EVAL_DATA"]) / name)


def rows_of(engine: Engine, dataset: Dataset, question: JudgedQuestion, now: int, kind: str) -> Rows:
    """The first candidates of one question in their order, each with its signals and whether it is right."""
    query = engine.recalls.query(question.text, limit=ROWS, now=now, cut=False)
    asked = engine.recalls.query(question.text, now=now)
    recall = engine.recall(query)
    judged = [entry.verdict for entry in recall.ledger.entries if isinstance(entry.verdict, Judgement)]
    count = len(recall.results) if judged else 0
    gold = dataset.gold.get(question.id) if question.answerable else None
    grades = gold.units if gold is not None else {}
    positions = recall.ledger.replay().ranked()[:count]
    table = {name: column[positions] for name, column in judged[-1].signals.items()} if judged else {}
    present = {unit.id for unit in dataset.units}
    return {
        **table,
        "right": np.array([grades.get(result.memory.source_id or "", 0) > 0 for result in recall.results[:count]]),
        "rank": np.arange(count), "k": np.full(count, asked.limit), "kind": np.full(count, kind),
        "gold": np.full(count, sum(grade > 0 and id in present for id, grade in grades.items())),
        "question": np.full(count, f"{kind}/{question.id}"),
    }  # fmt: skip


def gathered(name: str, *, vectors: bool) -> Rows:
    chosen = random.Random(17)
    dataset, encoder = data(name), cached_encoder(load({})) if vectors else None
    own = [question for question in dataset.questions if dataset.is_judged(question) or not question.answerable]
    own = chosen.sample(own, min(QUESTIONS, len(own)))
    dataset = _fewer(dataset, chosen)
    others = [question for other in SETS if other != name for question in data(other).questions[:FOREIGN]]
    foreign = [replace(q, answerable=False, at=None) for q in chosen.sample(others, FOREIGN)]
    tables = list(_asked(dataset, own, encoder, "own", foreign))
    for at in range(SMALL_STORES):
        tables += _asked(*_small(dataset, chosen, SMALL[at % len(SMALL)]), encoder, "small", ())
    names = dict.fromkeys(name for table in tables for name in table)
    return {name: np.concatenate([table[name] for table in tables if len(table["rank"])]) for name in names}


def _fewer(dataset: Dataset, chosen: random.Random) -> Dataset:
    """Of the haystacks a few."""
    return replace(dataset, haystacks=tuple(chosen.sample(dataset.haystacks, min(HAYSTACKS, len(dataset.haystacks)))))


def _small(dataset: Dataset, chosen: random.Random, size: int) -> tuple[Dataset, list[JudgedQuestion]]:
    """A few units: the answers of two questions, and others; and two questions whose answers are not among them."""
    judged = [question for question in dataset.questions if dataset.is_judged(question)]
    asked = chosen.sample(judged, 4)
    right = {unit for question in asked[:2] for unit, grade in dataset.gold[question.id].units.items() if grade > 0}
    wrong = {unit for question in asked[2:] for unit, grade in dataset.gold[question.id].units.items() if grade > 0}
    rest = [unit for unit in dataset.units if unit.id not in right | wrong]
    units = [unit for unit in dataset.units if unit.id in right]
    units = (units + chosen.sample(rest, min(size, len(rest))))[: max(size, len(units))]
    questions = [replace(asked[0], haystack=None), replace(asked[1], haystack=None)]
    questions += [replace(question, haystack=None, answerable=False) for question in asked[2:]]
    gold = {question.id: dataset.gold[question.id] for question in asked[:2]}
    return replace(dataset, units=tuple(units), haystacks=(Haystack(None),), gold=gold), questions


def _asked(
    dataset: Dataset, questions: Sequence[JudgedQuestion], encoder: object, kind: str,
    foreign: Sequence[JudgedQuestion],
) -> Iterator[Rows]:  # fmt: skip
    prepared = PreparedUnits()
    for haystack in dataset.haystacks:
        own = [q for q in questions if haystack.id is None or q.haystack == haystack.id]
        share = foreign if haystack is dataset.haystacks[0] else ()
        if own or share:
            with filled(dataset, haystack, prepared, encoder, lambda done: None) as (engine, latest):
                for question in own:
                    yield rows_of(engine, dataset, question, latest if question.at is None else question.at, kind)
                for question in share:
                    yield rows_of(engine, dataset, question, latest, "foreign")


# ── the fit ──

MEANING, WORDS = "vectors", "words"
SIGNALS = {MEANING: tuple(BY_MEANING.weights), WORDS: tuple(BY_WORDS.weights)}
TELLING_APART = {"own": 1.0, "small": 1.0, "foreign": 3.0}
AS_PROBABILITY = {"own": 1.0, "small": 0.3, "foreign": 0.3}
PENALTY, STEPS = 2.0, 40
FIRST = 5


class Gathered:
    """The rows of one set under one model, sorted by question and rank."""

    def __init__(self, name: str, model: str) -> None:
        rows = dict(np.load(CACHE / f"relevance-{name}-{model}.npz"))
        if model == MEANING:  # a question that the encoder cannot read is judged by its words
            _, question = np.unique(rows["question"], return_inverse=True)
            read = np.bincount(question, weights=~np.isnan(rows["cosine"])) > 0
            rows = {column: values[read[question]] for column, values in rows.items()}
        order = np.lexsort((rows["rank"], rows["question"]))
        self.rows = {column: values[order] for column, values in rows.items()}
        _, self.starts = np.unique(self.rows["question"], return_index=True)
        self.signals = np.stack([np.nan_to_num(self.rows[signal]) for signal in SIGNALS[model]], axis=1)
        self.right = self.rows["right"].astype(np.float64)
        self.own = (self.rows["kind"] == "own") & (self.rows["gold"] > 0)

    def weights(self, shares: Mapping[str, float]) -> np.ndarray:
        """Each kind of question weighs its share, whatever the number of its questions and rows."""
        weights = np.zeros(len(self.right))
        for kind, share in shares.items():
            of_kind = self.rows["kind"] == kind
            if of_kind.any():
                weights[of_kind] = share * QUESTIONS / len(np.unique(self.rows["question"][of_kind]))
        return weights

    def questions(self, kind: str) -> Iterator[slice]:
        for start, end in pairwise([*self.starts, len(self.right)]):
            if self.rows["kind"][start] == kind:
                yield slice(start, end)


def logistic(x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: float) -> np.ndarray:
    """Ridge-penalised logistic regression by Newton's method; the bias comes first and is not penalised."""
    mean = np.average(x, axis=0, weights=weight)
    spread = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weight)) + 1e-9
    z = np.column_stack([np.ones(len(x)), (x - mean) / spread])
    ridge = np.diag([1e-6, *[penalty] * x.shape[1]])
    b = np.zeros(z.shape[1])
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-z @ b))
        step = np.linalg.solve(
            (z * (weight * p * (1.0 - p))[:, None]).T @ z + ridge, z.T @ (weight * (y - p)) - ridge @ b
        )
        b += step
        if np.abs(step).max() < 1e-8:
            break
    slopes = b[1:] / spread
    return np.array([b[0] - slopes @ mean, *slopes])


def fitted(sets: Sequence[Gathered]) -> np.ndarray:
    x, y = np.concatenate([own.signals for own in sets]), np.concatenate([own.right for own in sets])
    telling = logistic(x, y, np.concatenate([own.weights(TELLING_APART) for own in sets]), PENALTY)
    odds = telling[0] + x @ telling[1:]
    shift, stretch = logistic(odds[:, None], y, np.concatenate([own.weights(AS_PROBABILITY) for own in sets]), 1e-3)
    return np.array([shift + stretch * telling[0], *(stretch * telling[1:])])


def probability(weights: np.ndarray, own: Gathered) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-(weights[0] + own.signals @ weights[1:])))


# ── what it is worth ──


def error_of(own: Gathered, relevance: np.ndarray) -> float:
    first = own.own & (own.rows["rank"] < FIRST)
    return calibration_error(list(zip(relevance[first].tolist(), (own.right[first] > 0).tolist(), strict=True)))


def delivered(own: Gathered, relevance: np.ndarray, least: float, beside: float) -> dict[str, float]:
    """Precision over today's, the share of today's recall that is left, results a question, and how much is silent."""
    before, after = np.zeros(2), np.zeros(2)
    recall, asked, silent, foreign = [], 0, 0, []
    for kind in ("own", "foreign"):
        for question in own.questions(kind):
            first = own.rows["rank"][question] < own.rows["k"][question]
            right, likely = own.right[question][first], relevance[question][first]
            kept = likely >= (beside if likely.max() >= least else 2.0)
            if kind == "foreign":
                foreign.append(not kept.any())
            elif (gold := own.rows["gold"][question][0]) > 0:
                before += right.sum(), len(right)
                after += right[kept].sum(), kept.sum()
                recall.append((right.sum() / gold, right[kept].sum() / gold))
                asked, silent = asked + 1, silent + (not kept.any())
    all_recall, kept_recall = np.mean(recall, axis=0)
    return {
        "precision": (after[0] / max(after[1], 1)) / (before[0] / before[1]), "recall": kept_recall / all_recall,
        "results": after[1] / asked, "silent": silent / asked, "foreign": float(np.mean(foreign)),
    }  # fmt: skip


def report(sets: Mapping[str, Gathered], model: str, current: Model) -> None:
    weights = fitted(list(sets.values()))
    print(f"{model}: bias {weights[0]:.2f}")
    print("   ", {signal: round(float(weight), 2) for signal, weight in zip(SIGNALS[model], weights[1:], strict=True)})
    print("calibration error of each set: fitted with it, left out; what is delivered of it")
    for name, own in sets.items():
        without = fitted([other for other_name, other in sets.items() if other_name != name])
        left_out, within = probability(without, own), probability(weights, own)
        floor = LEAST_TURN if name in CONVERSATIONS else LEAST_BESIDE
        figures = delivered(own, within, current.least, floor)
        told = " ".join(f"{figure} {value:.2f}" for figure, value in figures.items())
        print(f"{name:24} {error_of(own, within):.3f} {error_of(own, left_out):.3f} | {told}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--gather", action="store_true")
    options = parser.parse_args()
    CACHE.mkdir(exist_ok=True)
    for name in options.sets:
        for vectors in (True, False):
            kept = CACHE / f"relevance-{name}-{'vectors' if vectors else 'words'}.npz"
            if options.gather or not kept.exists():
                np.savez_compressed(kept, **gathered(name, vectors=vectors))
    for name, model in ((MEANING, BY_MEANING), (WORDS, BY_WORDS)):
        report({own: Gathered(own, name) for own in options.sets}, name, model)


if __name__ == "__main__":
    main()
