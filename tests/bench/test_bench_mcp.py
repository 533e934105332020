"""A client has the answer of its first search within two seconds of the server's start."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCH = Path(__file__).parents[2] / "bench" / "mcp_start.py"


def test_the_first_search_is_answered_within_two_seconds_of_the_start() -> None:
    told = subprocess.run(
        [sys.executable, str(BENCH), "--runs", "3"], check=True, capture_output=True, text=True
    ).stdout
    found = json.loads(told)
    # On a busy machine everything takes longer, but not more of a processor.
    assert found["leastFirstSearchSeconds"] < found["aimSeconds"] or found["cpuSeconds"] < found["aimSeconds"], found
    assert found["toolsTokens"] <= 2_000
