"""What a new user stumbled over on the first day, where no other test has it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from recallens.engine import Engine

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_hint_to_install_names_this_package() -> None:
    """The product was called otherwise once, and that name is another's package."""
    command = [
        "git",
        "grep",
        "-h",
        "-E",
        "-o",
        "(pip|pipx) install '?\"?[a-z]+(\\[|')",
        "--",
        "src",
        "docs",
        "README*.md",
    ]
    hints = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False).stdout.splitlines()
    if not hints:
        pytest.skip("this is no checkout: git cannot list its files")
    assert {re.sub(r".*install '?\"?([a-z]+).*", r"\1", hint) for hint in hints} == {"recallens"}


@pytest.mark.parametrize("way", ["pipx install", "uvx", "python3 -m venv"])
@pytest.mark.parametrize("page", ["README.md", "README.ko.md", "docs/quickstart.md", "docs/ko/quickstart.md"])
def test_there_is_a_line_for_every_way_to_install(page: str, way: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert way in text


@pytest.mark.parametrize("limit", [1, 2, 3, 10, 18])
def test_as_many_come_as_are_asked_for_and_a_score_is_the_same_whatever_the_limit(engine: Engine, limit: int) -> None:
    for number in range(30):
        engine.remember(f"The gateway of pier {number} listens on port {8000 + number}", dedupe=False)
    asked = {"cut": False, "record": False}
    every = engine.search("which port does a gateway listen on", limit=30, **asked).results
    whole = {result.memory.id: result.parts for result in every}
    recall = engine.search("which port does a gateway listen on", limit=limit, **asked)
    assert len(recall.results) == limit
    assert len(engine.recalls.snapshot_of(recall).results) == limit
    for result in recall.results:
        for part in ("vector", "bm25"):
            assert result.parts.get(part) == whole[result.memory.id].get(part)


# Put together, so that this file does not hold them.
AWKWARD = tuple(" ".join(words) for words in (
    ("twice", "is as once"), ("is", "no time;"), ("Start Claude Code", "anew"), ("mmr-diversify", "kept everything"),
))  # fmt: skip


@pytest.mark.parametrize("phrase", AWKWARD)
def test_no_page_and_no_message_speaks_so(phrase: str) -> None:
    command = ["git", "grep", "-l", "-i", "-F", "-e", phrase, "--", "docs", "README.md", "src/recallens/cli"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert found.stdout.splitlines() == []


def test_the_readme_begins_with_a_short_answer_and_its_xray() -> None:
    blocks = re.findall(r"^```console\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    answer, xray = blocks[0], blocks[1]
    assert answer.startswith("$ recallens search ")
    assert len(answer.splitlines()) <= 10
    assert xray.startswith("$ recallens xray ")
    assert len(xray.splitlines()) <= 25
