"""The library's page: every public name is on it, and its code runs as it stands."""

import inspect
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
    "encoding", "index_folder", "open_encoder", "refresh_encoding", "resident", "settle_encoding", "snapshot",
}  # fmt: skip


@pytest.mark.parametrize("name", recallens.__all__)
def test_every_public_name_is_loaded_and_documented(name: str) -> None:
    assert getattr(recallens, name) is not None
    assert re.search(rf"\b{name}\b", PAGE), f"docs/python.md does not mention {name}"


def test_every_method_of_the_engine_is_documented() -> None:
    methods = {name for name, _ in inspect.getmembers(recallens.Engine) if not name.startswith("_")}
    missing = sorted(name for name in methods - INNER if not re.search(rf"\b{name}\b", PAGE))
    assert not missing, f"docs/python.md does not mention {missing}"
    assert not INNER - methods, "INNER names what is no more"


def test_the_names_that_are_imported_lazily_are_the_stable_ones() -> None:
    assert sorted(recallens.__all__) == sorted(set(recallens.__all__))
    assert set(recallens._HOMES) | {"open"} == set(recallens.__all__)


def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "docs/python.md", "exec"), scope)
    assert len(BLOCKS) >= 6


@pytest.mark.slow
def test_the_tour_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "tour.py")], capture_output=True, encoding="utf-8", timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "Tracking cache is invalidated by events" in done.stdout
    assert "then: Tracking cache TTL is 60 seconds" in done.stdout
