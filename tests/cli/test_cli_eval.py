"""`recallens eval` on a set that the test writes, and on a real one where it is at hand."""

import json
import os
import sys
from pathlib import Path

import pytest
from cli_scene import Ask, Run

sys.path.insert(0, str(Path(__file__).parents[1] / "evaluate"))
from judged_sets import conversation, documents

# Read before each scene gets an environment of its own.
DATA = os.environ.get("RECALLENS_EVAL_DATA")


@pytest.fixture
def talks(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RECALLENS_EVAL_CACHE", str(home / "vectors"))
    return conversation(home / "talks")


def test_json_is_one_object_a_set_and_preset(run: Run, talks: Path, home: Path) -> None:
    pages = documents(home / "pages")
    shown = run("eval", "--dataset", talks, "--dataset", pages, "--preset", "default", "--preset", "bm25", "--json")
    told = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [(row["dataset"], row["preset"]) for row in told] == [
        ("talks", "default"), ("talks", "bm25"), ("pages", "default"), ("pages", "bm25"),
    ]  # fmt: skip
    for row in told:
        assert set(row) == {
            "dataset",
            "preset",
            "encoder",
            "metrics",
            "intervals",
            "leftOut",
            "byType",
            "queries",
            "seconds",
            "delivered",
            "calibration",
        }
    assert told[1]["metrics"]["recall_all@5"] == 1.0
    assert set(told[2]["metrics"]) == {"ndcg@10", "recall@10", "recall_all@5", "mrr@10"}
    assert not (home / "data").exists()  # the user's own store is not touched


def test_people_get_tables_with_the_comparison(run: Run, talks: Path) -> None:
    shown = run("eval", "--dataset", talks, "--preset", "bm25", "--preset", "dense").stdout
    assert "recall_all" in shown
    assert "no difference" in shown
    assert "korean" in shown


def test_abstention_asks_what_has_no_answer(run: Run, talks: Path) -> None:
    shown = run("eval", "--dataset", talks, "--preset", "bm25", "--abstention", "--json").stdout
    _, abstention = (json.loads(line) for line in shown.splitlines())
    assert abstention["queries"] == 4
    assert abstention["unanswerable"] == 1
    assert set(abstention["risk"]) == set(abstention["aurc"])
    assert "AURC" in run("eval", "--dataset", talks, "--preset", "bm25", "--abstention").stdout


def test_a_folder_of_sets_is_all_of_them_and_each_mean_has_its_interval(run: Run, talks: Path, home: Path) -> None:
    documents(home / "pages")
    shown = run("eval", "--dataset", home, "--preset", "bm25", "--json").stdout
    assert [json.loads(line)["dataset"] for line in shown.splitlines()] == ["pages", "talks"]
    assert "±" in run("eval", "--dataset", talks, "--preset", "bm25").stdout


def test_out_writes_the_ranked_lists(run: Run, talks: Path, home: Path) -> None:
    run("eval", "--dataset", talks, "--limit-queries", "2", "--out", home / "lists", "--json")
    lines = (home / "lists" / "talks.default.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["query"] for line in lines] == ["q1", "q2"]


@pytest.mark.parametrize(
    ("args", "code", "complaint"),
    [
        (["--dataset", "nowhere"], 3, "it has no dataset.json"),
        (
            ["--dataset", "talks", "--preset", "best"],
            2,
            "use one of: default, fusion, classic, adaptive, bm25, dense, rrf",
        ),
        (["--dataset", "talks", "--limit-queries", "0"], 2, "positive whole number"),
        (["--dataset", "talks", "--out", "talks/qrels.tsv"], 2, "cannot be written"),
    ],
)
def test_wrong_input_is_named(run: Run, talks: Path, args: list[str], code: int, complaint: str) -> None:
    assert complaint in run("eval", *args, code=code).stderr


@pytest.mark.data
@pytest.mark.timeout(600)
@pytest.mark.skipif(not DATA, reason="RECALLENS_EVAL_DATA names no folder of evaluation sets")
def test_words_alone_reach_the_published_baseline_on_a_real_set(
    ask: Ask, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert DATA is not None
    monkeypatch.setenv("RECALLENS_ENCODER", "none")
    monkeypatch.setenv("RECALLENS_EVAL_CACHE", str(home / "vectors"))
    told = ask("eval", "--dataset", Path(DATA) / "scifact", "--preset", "bm25")
    assert told["queries"] == 300
    assert told["metrics"]["ndcg@10"] == pytest.approx(0.686, abs=0.015)
