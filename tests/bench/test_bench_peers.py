"""bench/peers.py with Recallens alone: it is filled, opened anew and searched, and a second run measures nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "peers.py"

pytestmark = pytest.mark.slow


def run(folder: Path) -> str:
    command = [sys.executable, str(SCRIPT), "--folder", str(folder), "--sizes", "300", "--sets", "--peers", "recallens"]
    command += ["--json", str(folder / "all.json"), "--plot", str(folder / "plot.svg")]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def test_a_run_measures_once_and_goes_on_from_there(tmp_path: Path) -> None:
    table = run(tmp_path)
    assert "300 memories" in table
    assert "| recallens, hybrid with X-ray |" in table
    figures = json.loads((tmp_path / "all.json").read_text())["300"]["recallens"]
    assert figures["searches"]["vector"]["recall"] > 0.95  # a text in which something was redacted has no given vector
    assert figures["diskMiB"] > figures["yardstickMiB"] > 0
    assert figures["memoryMiB"] > figures["anonymousMiB"] > 0
    assert "recallens, hybrid with X-ray" in (tmp_path / "plot.svg").read_text()
    assert not list((tmp_path / "stores").glob("*/"))
    assert run(tmp_path) == table
