"""The library's page: every public name is on it, and its code runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import recallens

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

# Public to the other parts of the program, and to nobody else.
INNER = {
    "core.encoding", "core.given_encoder", "core.index_folder", "core.open_encoder", "core.refresh_encoding",
    "core.resident", "core.settle_encoding", "core.snapshot", "core.changing", "core.close", "core.ensure_session",
    "core.memory", "core.new_id", "core.num", "core.prepare", "core.state", "core.use_encoding", "crafts.put",
    "encoder.change", "encoder.drain_quietly",
}  # fmt: skip


@pytest.mark.parametrize("name", recallens.__all__)
def test_every_public_name_is_loaded_and_documented(name: str) -> None:
    assert getattr(recallens, name) is not None
    assert re.search(rf"\b{name}\b", PAGE), f"docs/python.md does not mention {name}"


def test_every_name_of_the_engine_and_of_its_nouns_is_documented(engine: recallens.Engine) -> None:
    names = {name for name in dir(engine) if not name.startswith("_")}
    nouns = {name for name in names if not callable(getattr(engine, name))}
    names |= {f"{noun}.{name}" for noun in nouns for name in dir(getattr(engine, noun)) if not name.startswith("_")}
    missing = sorted(name for name in names - INNER if not re.search(rf"\b{name.rpartition('.')[2]}\b", PAGE))
    assert not missing, f"docs/python.md does not mention {missing}"
    assert not INNER - names, "INNER names what is no more"


def test_the_names_that_are_imported_lazily_are_the_stable_ones() -> None:
    assert sorted(recallens.__all__) == sorted(set(recallens.__all__))
    assert set(recallens._HOMES) | {"open"} == set(recallens.__all__)


def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "docs/python.md", "exec"), scope)
    assert len(BLOCKS) >= 6


def test_the_tour_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "tour.py")], capture_output=True, encoding="utf-8", timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "Tracking cache is invalidated by events" in done.stdout
    assert "then: Tracking cache TTL is 60 seconds" in done.stdout
