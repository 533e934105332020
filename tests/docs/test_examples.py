"""The sample's ten questions and the demo are true: each stated answer comes first, and no line contradicts another."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from recallens.cli.main import main
from recallens.engine import Engine
from recallens.render.brief import NOTHING
from sites import load_sample

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTION = re.compile(r"^\| \d+ \| (?P<question>[^|]+) \| `(?P<key>[\w-]+)` \|", re.MULTILINE)
# A page of the handbook that states the same: whichever of the two is first.
ALSO_STATED = {"naru-feed-kst": "나루 피드의 시간대"}
TEN = QUESTION.findall((EXAMPLES / "README.md").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=["memories alone", "with the handbook"])
def store(tmp_path_factory: pytest.TempPathFactory, request: Any) -> Path:
    path = tmp_path_factory.mktemp("examples") / "harbor.db"
    load_sample(path, vault=request.param != "memories alone", encoder="minilm")
    return path


def shown(store: Path, *words: str) -> list[str]:
    done = CliRunner().invoke(main, ["--store", str(store), *words, "--no-record"])
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def handle(store: Path, key: str) -> str:
    with Engine.open(store, create=False) as engine:
        return engine.get(engine.memories.resolve([key])[key]).handle


def test_there_are_ten_questions() -> None:
    assert len(TEN) == 10


@pytest.mark.parametrize(("question", "key"), TEN)
def test_the_stated_answer_comes_first_and_nothing_contradicts_it(store: Path, question: str, key: str) -> None:
    lines = shown(store, "search", question)
    expected = handle(store, key)
    results = [line for line in lines if re.match(r"\d+ +m\d+", line)]
    if (page := ALSO_STATED.get(key)) and page in results[0]:
        expected = results[0].split()[1]
    assert re.match(rf"1 +{expected}\b", results[0]), lines
    assert NOTHING not in lines
    assert not any(line.startswith("nothing here speaks of") for line in lines)
    source = next(line for line in lines if re.match(r"m\d+", line))
    assert source.split()[0] == expected
    xray = CliRunner().invoke(main, ["--store", str(store), "xray", question]).stdout
    assert re.search(rf"^(Answered|Perhaps answered) by {expected} ", xray, re.MULTILINE)
    assert "Missing:" not in xray


def test_the_first_question_asked_about_the_past(store: Path) -> None:
    lines = shown(store, "search", TEN[0][0], "--as-of", "2026-05-01", "-k", "1")
    assert any(line.split()[0] == handle(store, "cache-ttl-60") for line in lines if line), lines


# What each search of the demo must say first: the memory that answers, or that nothing does.
ANSWERS = {
    "How long do we cache tracking lookups now?": "cache-event-invalidation",
    "나루물류요청한도": "naru-rate-limit-50",
    "E-AUTH-4012": "auth-clock-skew",
    "When do trucks wait longest to enter the warehouse?": "depot-queue-vans",
    "Who waters the plants in the office?": None,
}


@pytest.mark.slow
@pytest.mark.timeout(400)  # twenty commands, one process each
def test_the_demo_says_what_is_so(tmp_path: Path) -> None:
    store = tmp_path / "demo" / "harbor.db"
    command = [sys.executable, str(EXAMPLES / "demo.py"), "--store", str(store)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    steps = [step.splitlines() for step in re.split(r"^\$ recallens ", done.stdout, flags=re.MULTILINE)[1:]]
    spec = importlib.util.spec_from_file_location("demo", EXAMPLES / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    assert len(steps) == len(demo.STEPS)
    for (_, words), (_, *lines) in zip(demo.STEPS, steps, strict=True):
        if words[0] != "search" or "--brief" in words:
            continue
        key = "cache-ttl-60" if "--as-of" in words else ANSWERS[words[1]]
        said = "\n".join(lines)
        assert (NOTHING in said) == (key is None), words
        if key is not None:
            assert re.search(rf"^{handle(store, key)}\b", said, re.MULTILINE), said
            assert "nothing here speaks of" not in said
