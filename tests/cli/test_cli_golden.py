"""`recallens eval FILE` on a small vault: tables, JSON, sweeps, gates, two runs, and a set to begin with."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_scene import Run

from recallens.cli.commands.evaluation import variants
from recallens.evaluate.harness import Variant

sys.path.insert(0, str(Path(__file__).parents[1] / "evaluate"))
from judged_sets import documents

NOTES = {
    "cache.md": "# Tracking cache\n\nLookups are cached for sixty seconds in Redis.\n",
    "deploy.md": "# Deploy days\n\nWe deploy on Tuesday and Thursday.\n",
    "한도.md": "# 나루 요청 한도\n\n나루물류는 초당 50건까지 요청할 수 있다.\n",
}
GOLDEN = """\
- {query: how long are lookups cached, expect: [cache.md]}
- {query: 나루 요청 한도, expect: [한도.md], tags: [korean]}
- {query: which days do we deploy, expect: [deploy.md, gone.md], id: days}
"""


@pytest.fixture
def golden(home: Path, run: Run) -> Path:
    for name, text in NOTES.items():
        (home / "notes").mkdir(exist_ok=True)
        (home / "notes" / name).write_text(text, encoding="utf-8")
    run("vault", "add", home / "notes", "--name", "notes")
    (home / "golden.yaml").write_text(GOLDEN, encoding="utf-8")
    return home / "golden.yaml"


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_json_has_metrics_tags_and_the_misses_with_their_why_not(run: Run, golden: Path) -> None:
    (told,) = lines(run("eval", golden, "--misses", "--json").stdout)
    assert list(told) == [
        "golden", "preset", "options", "encoder", "metrics", "byTag", "queries", "seconds", "delivered", "misses",
    ]  # fmt: skip
    assert (told["golden"], told["preset"], told["queries"]) == ("golden", "default", 3)
    assert told["metrics"]["recall@5"] == pytest.approx(2.5 / 3, abs=1e-6)
    assert told["byTag"]["korean"]["recall@1"] == 1.0
    assert [(one["id"], one["expected"], one["whyNot"]) for one in told["misses"]] == [("days", "gone.md", None)]


def test_people_get_a_table_that_fits(run: Run, golden: Path) -> None:
    shown = run("eval", golden, "--misses").stdout
    assert "golden: 3 questions" in shown
    assert "83.3" in shown
    assert "the store holds no file" in " ".join(shown.split())
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_a_sweep_is_a_row_each_and_repeats_make_combinations(run: Run, golden: Path) -> None:
    args = ["--sweep", "alpha=0.1,0.7", "--sweep", "weight:bm25=0,2", "--preset", "default", "--preset", "bm25"]
    told = lines(run("eval", golden, *args, "--json").stdout)
    assert [(one["preset"], one["options"]) for one in told[:4]] == [
        ("default", {"alpha": "0.1", "weight:bm25": "0"}), ("default", {"alpha": "0.1", "weight:bm25": "2"}),
        ("default", {"alpha": "0.7", "weight:bm25": "0"}), ("default", {"alpha": "0.7", "weight:bm25": "2"}),
    ]  # fmt: skip
    assert len(told) == 8
    assert variants(["default"], ["mode=keyword", "weight:bm25=2", "beta=0"]) == [
        Variant(
            "default",
            {"mode": "keyword", "beta": 0.0, "weights": {"bm25": 2.0}},
            {"mode": "keyword", "weight:bm25": "2", "beta": "0"},
        )
    ]
    blends = lines(run("eval", golden, "--sweep", "blend=0,1", "--sweep", "chunk_level=true,false", "--json").stdout)
    assert [(one["preset"], one["options"]) for one in blends] == [
        ("fusion", {"blend": blend, "chunk_level": level}) for blend in ("0", "1") for level in ("true", "false")
    ]
    run("eval", golden, "--sweep", "chunk_level=yes", code=2)
    (golden.parent / "notes" / "cache.md").write_text(NOTES["cache.md"] * 20, encoding="utf-8")
    before = run("vault", "list", "--json").stdout
    chunks = lines(run("eval", golden, "--sweep", "chunk=200,1200", "--json").stdout)
    assert [one["options"] for one in chunks] == [{"chunk": "200"}, {"chunk": "1200"}]
    assert chunks[0]["metrics"]["recall@5"] == pytest.approx(2.5 / 3, abs=1e-6)
    assert run("vault", "list", "--json").stdout == before  # a store of its own was cut, and this one was not touched
    run("eval", golden, "--sweep", "chunk=long", code=2)
    presets = lines(run("eval", golden, "--sweep", "preset=bm25,dense", "--json").stdout)
    assert [one["preset"] for one in presets] == ["bm25", "dense"]
    assert "against bm25" in run("eval", golden, "--sweep", "preset=bm25,dense").stdout


def test_a_gate_that_is_missed_exits_with_1_and_says_so_in_json(run: Run, golden: Path) -> None:
    shown = run("eval", golden, "--min", "recall@1=0.5", "--min", "recall@5=0.99", "--json", code=1)
    _, gates = lines(shown.stdout)
    assert gates["passed"] is False
    assert [(one["metric"], one["passed"]) for one in gates["gates"]] == [("recall@1", True), ("recall@5", False)]
    assert "recall@5 is 0.8333, at least 0.99" in json.loads(shown.stderr)["error"]["message"]
    assert "passed" in run("eval", golden, "--min", "recall@5=0.83").stdout
    assert "missed" in run("eval", golden, "--min", "recall@5=0.84", code=1).stdout


def test_two_runs_are_compared_with_what_moved(run: Run, golden: Path, home: Path) -> None:
    run("eval", golden, "--out", "before.json")
    (home / "notes" / "deploy.md").write_text("# Release calendar\n\nNothing is said here.\n", encoding="utf-8")
    (home / "notes" / "days.md").write_text("# Which days we deploy\n\nWe deploy on these days.\n", encoding="utf-8")
    run("vault", "sync")
    _, told = lines(run("eval", golden, "--compare", "before.json", "--json").stdout)
    (pair,) = told["runs"]
    (moved,) = pair["moved"]
    assert (moved["id"], moved["expected"], moved["before"]) == ("days", "deploy.md", 1)
    assert moved["after"] is None or moved["after"] > 1
    assert pair["metrics"]["mrr@10"]["difference"] < 0
    assert pair["metrics"]["mrr@10"]["low"] <= pair["metrics"]["mrr@10"]["difference"]
    shown = run("eval", golden, "--compare", "before.json").stdout
    assert "95% interval" in shown
    assert "what is expected and moved: 1" in shown


def test_datasets_are_gated_and_compared_the_same_way(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALLENS_EVAL_CACHE", str(home / "vectors"))
    pages = documents(home / "pages")
    run("eval", "--dataset", pages, "--preset", "bm25", "--out", "bm25.json")
    shown = run("eval", "--dataset", pages, "--compare", "bm25.json", "--min", "mrr@10=0.5", "--json")
    row, compared, gates = lines(shown.stdout)
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
    assert compared["runs"][0]["against"] == "bm25"
    assert {one["expected"] for one in compared["runs"][0]["moved"]} <= {"d1", "d2", "d3"}
    assert gates["passed"] is True
    run("eval", "--dataset", pages, "--min", "recall@10=1", "--preset", "bm25", code=1)


def test_init_proposes_a_set_that_can_be_asked_and_never_writes_over_one(run: Run, golden: Path, home: Path) -> None:
    run("eval", "--init", "notes", "-o", "mine.yaml")
    text = (home / "mine.yaml").read_text(encoding="utf-8")
    assert "recallens eval mine.yaml" in text
    run("eval", "mine.yaml", "--min", "recall@5=1")
    assert "is there already" in run("eval", "--init", "-o", "mine.yaml", code=2).stderr
    assert (home / "mine.yaml").read_text(encoding="utf-8") == text
    assert run("eval", "--init").stdout.count("- query:") == 3
    assert len(json.loads(run("eval", "--init", "--limit-queries", "2", "--json").stdout)["questions"]) == 2


@pytest.mark.parametrize(
    ("args", "code", "complaint"),
    [
        ([], 2, "give golden sets or datasets, one at least"),
        (["golden.yaml", "--dataset", "pages"], 2, "not both"),
        (["none.yaml"], 3, "no golden set none.yaml"),
        (["golden.yaml", "--sweep", "gamma=1"], 2, "use one of: preset, alpha, beta"),
        (["golden.yaml", "--sweep", "alpha"], 2, "names no values"),
        (["golden.yaml", "--sweep", "alpha=2"], 2, "alpha"),
        (["golden.yaml", "--sweep", "alpha=x"], 2, "must be a number from 0 to 1, not 'x'"),
        (["golden.yaml", "--sweep", "weight:bm25=-1"], 2, "must be a number from 0"),
        (["golden.yaml", "--sweep", "preset=best"], 2, "use one of: default"),
        (["golden.yaml", "--min", "precision=1"], 2, "use one of: recall@1"),
        (["golden.yaml", "--compare", "none.json"], 3, "no run in none.json"),
        (["golden.yaml", "--compare", "golden.yaml"], 2, "holds no run"),
        (["golden.yaml", "--out", "golden.yaml"], 2, "ends in .json"),
        (["golden.yaml", "--abstention"], 2, "--abstention is for --dataset"),
        (["--dataset", "pages", "--sweep", "alpha=1"], 2, "are for golden sets"),
        (["--init", "nowhere"], 3, "the vaults are: notes"),
    ],
)
def test_wrong_input_is_named(run: Run, golden: Path, args: list[str], code: int, complaint: str) -> None:
    assert complaint in run("eval", *args, code=code).stderr
    assert golden.read_text(encoding="utf-8") == GOLDEN
