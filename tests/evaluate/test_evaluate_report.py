"""Significance and abstention by hand, and what a run tells."""

import json
from pathlib import Path

import pytest

from recallens.evaluate.comparison import compare_runs, paired_bootstrap
from recallens.evaluate.dataset import read_dataset
from recallens.evaluate.harness import asked, run_judged
from recallens.evaluate.metrics import (
    CERTIFICATE,
    COVERAGES,
    best_possible,
    calibration_error,
    confidences,
    delivery,
    reliability,
    risk_curve,
)
from recallens.evaluate.report import abstention_summary, judged_summary
from recallens.evaluate.runs import Delivered, write_lists
from recallens.index.encoders.hashing import HashingEncoder
from recallens.model.ledger import Entry, Ledger
from recallens.model.query import Query
from recallens.model.recall import Recall
from recallens.model.verdict import Note


def test_a_clear_difference_is_shown_and_a_small_one_is_not() -> None:
    assert paired_bootstrap([1.0] * 60 + [0.0] * 40, [0.0] * 40 + [1.0] * 20 + [0.0] * 40).verdict == "better"
    assert paired_bootstrap([0.0] * 50, [1.0] * 50).verdict == "worse"
    close = paired_bootstrap([1.0, 0.0] * 20 + [1.0], [0.0, 1.0] * 20 + [1.0])
    assert close.difference == 0
    assert close.low < 0 < close.high
    assert close.verdict == "no difference shown"


def test_the_interval_is_that_of_the_mean() -> None:
    # Of n differences of ±1 with mean 0.2, the standard error is sqrt(0.96 / n): about 0.049 for 400.
    found = paired_bootstrap([1.0] * 240 + [0.0] * 160, [0.0] * 240 + [1.0] * 160)
    assert found.difference == pytest.approx(0.2)
    assert found.low == pytest.approx(0.2 - 1.96 * 0.049, abs=0.01)
    assert found.high == pytest.approx(0.2 + 1.96 * 0.049, abs=0.01)
    assert found == paired_bootstrap([1.0] * 240 + [0.0] * 160, [0.0] * 240 + [1.0] * 160)


def test_risk_by_hand() -> None:
    mistakes = [False, True, False, True]
    # Surest first: right, wrong, right, wrong, so the risk is 0, 1/2, 1/3, 1/2.
    curve = risk_curve([0.9, 0.8, 0.7, 0.6], mistakes)
    assert curve.area == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert curve.risks[-1] == 0.5
    # Who knows answers the two right ones first: 0, 0, 1/3, 1/2.
    assert best_possible(mistakes).area == pytest.approx((1 / 3 + 1 / 2) / 4)
    # Equal confidence tells nothing apart: the risk is the share of mistakes everywhere.
    assert set(risk_curve([1.0] * 4, mistakes).risks) == {0.5}


def test_the_certificate_speaks_where_there_is_one() -> None:
    query = Query("x", now=0)
    note = Note(CERTIFICATE, {"abstention": {"score": 0.25}})
    entry = Entry(stage="certificate", verdict=note, considered=0, admitted=0)
    with_one = Recall(query, (), Ledger({}, (entry,)), None)
    assert confidences(with_one)["certificate"] == 0.75
    assert "certificate" not in confidences(Recall(query, (), Ledger({}, ()), None))


def test_what_is_delivered_by_hand() -> None:
    silent, right_one, both = Delivered(0, 0, 1), Delivered(4, 1, 2), Delivered(2, 2, 2)
    found = delivery([silent, right_one, both])
    assert found == pytest.approx({"precision": 3 / 6, "recall": (0 + 1 / 2 + 1) / 3, "size": 2.0, "silent": 1 / 3})
    unanswerable = Delivered(3, 0, 0)
    assert delivery([both, unanswerable])["recall"] == 1.0
    assert delivery([both, unanswerable])["precision"] == pytest.approx(2 / 5)
    assert set(delivery([]).values()) == {0.0}


def test_calibration_by_hand() -> None:
    """Ten bins of ten: said 0.2 and right once in ten, said 0.8 and right nine times in ten."""
    judged = [(0.2, at % 10 == 0) for at in range(50)] + [(0.8, at % 10 != 0) for at in range(50)]
    assert sum(count for _, _, count in reliability(judged)) == 100
    assert calibration_error(judged) == pytest.approx(0.1)
    assert calibration_error([(1.0, True)] * 30 + [(0.0, False)] * 30) == 0.0
    assert calibration_error([]) == 0.0


def test_a_run_told_in_full(talks: Path, tmp_path: Path) -> None:
    dataset = read_dataset(talks)
    questions = asked(dataset, unanswerable=True, most=None)
    bm25, dense = run_judged(dataset, questions, ("bm25", "dense"), encoder=HashingEncoder())
    told = judged_summary(bm25)
    assert list(told) == [
        "dataset", "preset", "encoder", "metrics", "intervals", "byType", "queries", "seconds", "delivered",
        "calibration", "leftOut",
    ]  # fmt: skip
    for name, value in told["metrics"].items():
        low, high = told["intervals"][name]
        assert low <= value <= high
    assert told["dataset"] == "talks"
    assert told["queries"] == 3
    assert told["metrics"]["recall_all@5"] == 1.0
    assert list(told["byType"]) == ["korean", "single"]
    assert told["calibration"] is None  # a baseline judges nothing

    abstention = abstention_summary(bm25)
    assert abstention["unanswerable"] == 1
    assert abstention["coverage"] == list(COVERAGES)
    # Nothing matches the fourth question's words, so BM25 knows that it has no answer: 0, 0, 0, 1/4.
    assert abstention["aurc"]["top BM25"] == pytest.approx(1 / 16)
    assert abstention["aurc"]["top BM25"] == abstention["aurc"]["best possible"]
    assert "top cosine" not in abstention["aurc"]
    assert "top cosine" in abstention_summary(dense)["aurc"]

    (default,) = run_judged(dataset, questions, ("default",), encoder=HashingEncoder())
    summary = judged_summary(default)
    assert 0 < summary["delivered"]["precision"] <= 1
    # Literal lists hold whatever there is; what is delivered is what is likely to help.
    assert summary["delivered"]["size"] < len(default.questions[0].places)
    assert sum(row["count"] for row in summary["calibration"]["bins"]) > 0

    assert compare_runs(bm25, bm25).metrics["ndcg@10"].difference == 0
    (path,) = write_lists(tmp_path / "out", [bm25])
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert path.name == "talks.bm25.jsonl"
    assert [row["query"] for row in rows] == ["q1", "q2", "q3", "q4"]
    assert rows[0]["ranked"][0]["unit"] == "u1"
    assert rows[3]["metrics"] == {}
