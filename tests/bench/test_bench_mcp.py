"""A client waits for the list of tools about as long as for the SDK alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCH = Path(__file__).parents[2] / "bench" / "mcp_start.py"


def test_a_client_waits_little_longer_than_for_the_sdk_alone() -> None:
    told = subprocess.run(
        [sys.executable, str(BENCH), "--runs", "2"], check=True, capture_output=True, text=True
    ).stdout
    found = json.loads(told)
    # On a busy machine the SDK takes longer, and so does all the rest.
    assert found["overSeconds"] < found["aimSeconds"] or found["ratio"] < 1.8, found
    assert found["toolsTokens"] < 2_000
