"""What one search goes through can be counted, and a bound that is passed is an exit code."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

SHORT = """
import sys, reach
reach.EXAMPLES = reach.Path(sys.argv.pop(1))
sys.exit(reach.main())
"""


def few_examples(folder: Path) -> None:
    """The sessions and the first memories, and one folder of notes: encoding all of them is not what is counted."""
    lines = (ROOT / "examples" / "memories.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "memories.jsonl").write_text("".join(lines[:40]), encoding="utf-8")
    shutil.copy(ROOT / "examples" / "tasks.jsonl", folder)
    shutil.copytree(ROOT / "examples" / "vault" / "decisions", folder / "vault")


def test_one_search_is_counted_and_held_to_the_bounds(tmp_path: Path) -> None:
    few_examples(tmp_path)
    command = [sys.executable, "-c", SHORT, str(tmp_path), "--list", "--files", "1"]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT / "bench")
    assert ran.returncode == 1, ran.stderr
    counted = re.search(r"enters (\d+) files and (\d+) functions, (\d+) deep\n(\d+) frames", ran.stdout)
    assert counted is not None
    files, functions, depth, expressions = map(int, counted.groups())
    assert len(re.findall(r"(?m)^\S+\.py: \d+$", ran.stdout)) == files > 20
    listed = re.findall(r"(?m)^ +\d+  (\S+)$", ran.stdout)
    assert sum(name.endswith(("comp>", "genexpr>")) for name in listed) == expressions
    assert len(listed) - expressions == functions > files
    assert depth > 5
    assert "recall/runner.py" in ran.stdout  # the search itself
    assert "render/" not in ran.stdout  # and nothing that explains it
