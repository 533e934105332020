"""What one search goes through can be counted, and a bound that is passed is an exit code."""

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "bench" / "reach.py"


def test_one_search_is_counted_and_held_to_the_bounds() -> None:
    ran = subprocess.run([sys.executable, str(SCRIPT), "--list", "--files", "1"], capture_output=True, encoding="utf-8")
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
