"""docs/xray.md is a real run over the sample store. `UPDATE_DOCS=1` writes its transcripts anew."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from itertools import count
from pathlib import Path
from random import Random

import pytest
from cli_scene import EXAMPLES, Run

from recallens.cli import jsonl
from recallens.cli.given import Given
from recallens.engine import Engine
from recallens.model.memory import IdSource

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "xray.md"
TRANSCRIPT = re.compile(
    r"```console\n\$ recallens (?P<words>.+?)(?: \| tail -n (?P<tail>\d+))?\n(?P<shown>[\s\S]*?)```"
)
LOADED = 1_788_220_800_000  # 2026-09-01
# Measured times, and what is derived from every bit of every score, differ from machine to machine.
UNSTABLE = re.compile(
    r"(?<=: )[\d.]+(?= ms$)|(?<=latency-ms: )[\d.]+|(?<=snapshot-id: ).+|(?<=^snapshot )[0-9a-f-]{36}|(?<=digest: ).+",
    re.MULTILINE,
)
DECIMAL = re.compile(r"-?\d+\.\d+")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample in a store, with ids that are the same at every load."""
    folder, ticks = tmp_path_factory.mktemp("sample"), count(LOADED, 1000)
    ids = IdSource(lambda: next(ticks), Random(570).getrandbits)
    with Engine.open(folder / "harbor.db", encoder="minilm", clock=lambda: LOADED, ids=ids) as engine:
        found = jsonl.read(str(EXAMPLES), {})
        jsonl.load(engine, found, jsonl.LineNames(engine, found), given=Given(json=True), dedupe=None)
        engine.encoder.drain()
    return folder


@pytest.fixture
def sample(home: Path, loaded: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = shutil.copytree(loaded, home / "sample") / "harbor.db"
    monkeypatch.setenv("RECALLENS_ENCODER", "minilm")
    monkeypatch.setenv("RECALLENS_STORE", str(path))
    return path


def printed(run: Run, found: re.Match[str]) -> str:
    lines = run(*shlex.split(found["words"])).stdout.splitlines(keepends=True)
    return "".join(lines[-int(found["tail"] or len(lines)) :])


def masked(text: str) -> str:
    return DECIMAL.sub("0.0", UNSTABLE.sub("…", text))


def numbers(text: str) -> list[float]:
    return [float(number) for number in DECIMAL.findall(UNSTABLE.sub("…", text))]


def test_every_transcript_is_what_the_command_prints(sample: Path, run: Run) -> None:
    page = PAGE.read_text(encoding="utf-8")
    found = list(TRANSCRIPT.finditer(page))
    assert len(found) >= 4
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(TRANSCRIPT.sub(lambda one: _with(one, printed(run, one)), page), encoding="utf-8")
        return
    for one in found:
        shown, now = one["shown"], printed(run, one)
        assert masked(shown) == masked(now)
        assert numbers(shown) == pytest.approx(numbers(now), abs=0.05)


def _with(found: re.Match[str], shown: str) -> str:
    return found[0][: found.start("shown") - found.start()] + UNSTABLE.sub("…", shown) + "```"


def test_the_command_that_why_not_gives_is_asked_in_the_page_too(sample: Path, run: Run) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for found in TRANSCRIPT.finditer(page):
        words = shlex.split(found["words"])
        if words[0] == "why-not":
            suggested = re.search(r"confirmed:\n  recallens (.+)", found["shown"])
            assert suggested is not None
            full = run(*shlex.split(suggested[1]), "--format", "text").stdout
            assert words[1] in full.split("--- tier explain ---")[0]
