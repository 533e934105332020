"""Fit the relevance of a candidate, a probability, on the dev sets, and print what it is worth on sets left out.

    RECALLENS_EVAL_DATA=… python bench/relevance.py [--gather] [--model vectors|words|second] [SET …]

Three kinds of questions are asked of each set: its own, in the whole store; its own in stores of a few memories, half
of them without their answer; and questions of the other sets, which nothing there answers. `--gather` asks them all
again, which takes minutes; otherwise what bench/cache holds is used.

Notes, turns of a talk and turns of a chat have weights of their own, fitted on the sets that consist of them. They are
fitted where what nothing answers weighs much, so that they tell an answer from none; then the whole is stretched and
shifted, which changes no order, to be right as a probability where most questions have an answer. A set that is left
out is judged by the weights of the others of its company; the only one of a company, by those of all others.
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

from answers import HALVES, NOW, lines
from recallens.config import load
from recallens.engine import Engine
from recallens.evaluate.dataset import Dataset, Gold, Haystack, JudgedQuestion, Scoring, Unit, read_dataset
from recallens.evaluate.encoder_cache import cached_encoder
from recallens.evaluate.harness import PreparedUnits, filled
from recallens.evaluate.metrics import calibration_error
from recallens.model.verdict import Judgement
from recallens.recall.judgement import BY_MEANING, BY_SECOND, BY_WORDS, SHARE_OF_CODE, Company, Model

SETS = (
    "locomo-dev", "longmemeval-dev-pooled", "beam-100k", "scifact", "cosqa-dev", "hotpotqa", "korquad-dev",
    "react-ko2en", "git-k8s-docs",
)  # fmt: skip
# Memories of a sentence or two, as people write them: the half of bench/answers.py that rules are made on, and of one
# store that somebody else wrote all that was looked at.
SHORT_NOTES, STRANGER = "short-notes", "stranger-one"
NOTES = {SHORT_NOTES: HALVES[:1], STRANGER: HALVES}
TURNS = {"locomo-dev": Company.TALK, "longmemeval-dev-pooled": Company.CHAT, "beam-100k": Company.CHAT}
CODE = ("cosqa-dev",)
CACHE = Path(__file__).parent / "cache"
QUESTIONS, FOREIGN, SMALL_STORES, SMALL = 300, 100, 40, (5, 12, 40)
ROWS = 50
Rows = dict[str, np.ndarray]


def data(name: str) -> Dataset:
    return notes(name) if name in NOTES else read_dataset(Path(os.environ["RECALLENS_EVAL_DATA"]) / name)


def notes(name: str) -> Dataset:
    told = lines("answers" if name == SHORT_NOTES else name)
    memories = {line.memory: f"m{at}" for at, line in enumerate(told) if line.memory}
    asked = [line for line in told if line.question and line.kind != "U" and line.half in NOTES[name]]
    return Dataset(
        name, Scoring.DOCUMENTS, tuple(Unit(id, text, at=NOW) for text, id in memories.items()),
        tuple(JudgedQuestion(line.question, line.question, answerable=line.kind == "A") for line in asked),
        {line.question: Gold({memories[line.memory]: 1.0}, {}) for line in asked if line.kind == "A"},
        (Haystack(None),),
    )  # fmt: skip


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
    others = [question for other in SETS if other != name for question in data(other).questions[:FOREIGN]]
    foreign = [replace(q, answerable=False, at=None) for q in chosen.sample(others, FOREIGN)]
    if name in NOTES:  # its off-topic questions are such as people ask
        foreign, own = [q for q in own if not q.answerable], [q for q in own if q.answerable]
    tables = list(_asked(dataset, own, encoder, "own", foreign))
    for at in range(SMALL_STORES):
        tables += _asked(*_small(dataset, chosen, SMALL[at % len(SMALL)]), encoder, "small", ())
    tables = [table for table in tables if len(table["rank"])]
    names = dict.fromkeys(name for table in tables for name in table)
    # What only some questions have a signal for, as those that a second encoder reads, the others say nothing of.
    return {
        name: np.concatenate([table.get(name, np.full(len(table["rank"]), np.nan)) for table in tables])
        for name in names
    }


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

MEANING, WORDS, SECOND = "vectors", "words", "second"
MODELS = {MEANING: BY_MEANING, WORDS: BY_WORDS, SECOND: BY_SECOND}
# The sets that hold questions which the second encoder reads.
READ_BY_SECOND = ("korquad-dev", "react-ko2en", SHORT_NOTES, STRANGER)
# What each kind of question weighs. Words alone tell little apart, so there what nothing answers weighs more; chats are
# about anything, and the more it weighs the less of what is right in them is left.
TELLING_APART = {
    Company.NOTE: {"own": 1.0, "small": 1.0, "foreign": 2.0}, Company.TALK: {"own": 1.0, "small": 0.5, "foreign": 1.0},
    Company.CHAT: {"own": 1.0, "small": 0.5, "foreign": 0.5},
}  # fmt: skip
TELLING_BY_WORDS = {**TELLING_APART, Company.NOTE: {"own": 1.0, "small": 1.0, "foreign": 3.0}}
TELLING = {MEANING: TELLING_APART, WORDS: TELLING_BY_WORDS, SECOND: TELLING_BY_WORDS}
AS_PROBABILITY = {"own": 1.0, "small": 0.3, "foreign": 0.3}
PENALTY, STEPS = {MEANING: 2.0, WORDS: 80.0, SECOND: 2.0}, 40
FIRST = 5


class Gathered:
    """The rows of one set under one model, sorted by question and rank."""

    def __init__(self, name: str, model: str) -> None:
        rows = dict(np.load(CACHE / f"relevance-{name}-{MEANING if model == SECOND else model}.npz"))
        if model != WORDS:  # a question that no encoder can read is judged by its words
            _, question = np.unique(rows["question"], return_inverse=True)
            read = np.bincount(question, weights=~np.isnan(rows["cosine"])) > 0
            if model == SECOND:
                read = ~read & (np.bincount(question, weights=~np.isnan(rows["secondStandsOut"])) > 0)
            rows = {column: values[read[question]] for column, values in rows.items()}
        order = np.lexsort((rows["rank"], rows["question"]))
        self.name, self.model, self.company = name, model, TURNS.get(name, Company.NOTE)
        self.rows = {column: values[order] for column, values in rows.items()}
        _, self.starts = np.unique(self.rows["question"], return_index=True)
        self.right = self.rows["right"].astype(np.float64)
        self.own = (self.rows["kind"] == "own") & (self.rows["gold"] > 0)

    def signals(self, company: Company) -> np.ndarray:
        """Those that the weights of this company are for."""
        return np.stack([np.nan_to_num(self.rows[name]) for name in MODELS[self.model][company].weights], axis=1)

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


def fitted(sets: Sequence[Gathered], company: Company) -> np.ndarray:
    model = sets[0].model
    x, y = np.concatenate([own.signals(company) for own in sets]), np.concatenate([own.right for own in sets])
    said = x.std(axis=0) > 1e-9  # what none of the sets says has no weight
    apart = TELLING[model][company]
    telling = np.zeros(1 + x.shape[1])
    telling[np.r_[True, said]] = logistic(
        x[:, said], y, np.concatenate([own.weights(apart) for own in sets]), PENALTY[model]
    )
    odds = telling[0] + x @ telling[1:]
    shift, stretch = logistic(odds[:, None], y, np.concatenate([own.weights(AS_PROBABILITY) for own in sets]), 1e-3)
    return np.array([shift + stretch * telling[0], *(stretch * telling[1:])])


def probability(weights: np.ndarray, own: Gathered) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-(weights[0] + own.signals(own.company) @ weights[1:])))


# ── what it is worth ──


def error_of(own: Gathered, relevance: np.ndarray) -> float:
    first = own.own & (own.rows["rank"] < FIRST)
    return calibration_error(list(zip(relevance[first].tolist(), (own.right[first] > 0).tolist(), strict=True)))


def delivered(own: Gathered, relevance: np.ndarray, model: Model, *, plain: bool = False) -> dict[str, float]:
    """Precision over the literal count's, the share of its recall that is left, results a question, and silence."""
    share = max(model.share, SHARE_OF_CODE) if own.name in CODE and not plain else model.share
    before, after = np.zeros(2), np.zeros(2)
    recall, asked, silent, foreign = [], 0, 0, []
    for kind in ("own", "foreign"):
        for question in own.questions(kind):
            asked_for = int(own.rows["k"][question][0])
            right, likely = own.right[question], relevance[question]
            kept = likely >= (share * np.sqrt(likely.max()) if likely.max() >= model.least else 2.0)
            kept &= np.cumsum(kept) <= asked_for
            if kind == "foreign":
                foreign.append(not kept.any())
            elif (gold := own.rows["gold"][question][0]) > 0:
                first = right[:asked_for]
                before += first.sum(), len(first)
                after += right[kept].sum(), kept.sum()
                recall.append((first.sum() / gold, right[kept].sum() / gold))
                asked, silent = asked + 1, silent + (not kept.any())
    if not recall:  # the encoder reads none of its questions
        return {}
    all_recall, kept_recall = np.mean(recall, axis=0)
    return {
        "precision": (after[0] / max(after[1], 1)) / (before[0] / before[1]), "recall": kept_recall / all_recall,
        "results": after[1] / asked, "silent": silent / asked, "foreign": float(np.mean(foreign)),
    }  # fmt: skip


SHARES, LEASTS = np.geomspace(0.002, 0.2, 24), (0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.2)
RECALL_LEFT = 0.95


def most_share(own: Gathered, relevance: np.ndarray, model: Model) -> float:
    """The largest share of the best one's root that leaves as much of the recall as is asked for."""
    recall = {share: delivered(own, relevance, replace(model, share=float(share), least=0.0), plain=True)["recall"]
              for share in SHARES}  # fmt: skip
    left = [share for share, recall_left in recall.items() if recall_left >= RECALL_LEFT]
    return float(left[-1]) if left else 0.0


def silences(own: Gathered, relevance: np.ndarray, model: Model) -> str:
    """For each bound below which nothing is delivered, how many of its own questions and of others' get silence."""
    told = [(least, delivered(own, relevance, replace(model, least=least))) for least in LEASTS]
    return " ".join(f"{least}: {cut['silent']:.2f}/{cut['foreign']:.2f}" for least, cut in told)


def report(sets: Sequence[Gathered]) -> None:
    for company in Company:
        # A set none of whose questions the encoder reads says nothing of it.
        of_company = [own for own in sets if own.company is company and own.own.any()]
        if not of_company:
            continue
        model = MODELS[of_company[0].model][company]
        weights = fitted(of_company, company)
        told = {signal: round(float(weight), 2) for signal, weight in zip(model.weights, weights[1:], strict=True)}
        print(f"{company}, by {of_company[0].model}: bias {weights[0]:.2f}\n    {told}")
        print("calibration error of each set: fitted with it, left out; what is delivered of it")
        for own in of_company:
            others = [other for other in of_company if other is not own] or [
                other for other in sets if other is not own
            ]
            within = probability(weights, own)
            left_out = probability(fitted(others, company), own) if others else within
            figures = " ".join(f"{figure} {value:.2f}" for figure, value in delivered(own, within, model).items())
            print(f"{own.name:24} {error_of(own, within):.3f} {error_of(own, left_out):.3f} | {figures}", flush=True)
            print(f"    share {most_share(own, within, model):.3f}; silence {silences(own, within, model)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--gather", action="store_true")
    parser.add_argument("--model", choices=MODELS, action="append")
    options = parser.parse_args()
    CACHE.mkdir(exist_ok=True)
    gathered_now = set[Path]()
    for model in options.model or MODELS:
        sets = options.sets or (READ_BY_SECOND if model == SECOND else SETS)
        for name in sets:
            kept = CACHE / f"relevance-{name}-{WORDS if model == WORDS else MEANING}.npz"
            if not kept.exists() or (options.gather and kept not in gathered_now):
                np.savez_compressed(kept, **gathered(name, vectors=model != WORDS))
                gathered_now.add(kept)
        report([Gathered(name, model) for name in sets])


if __name__ == "__main__":
    main()
