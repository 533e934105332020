"""The server under load, short and on a small store: no error, and nobody waits much longer than the others."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCH = Path(__file__).parents[2] / "bench"

SHORT = """
import json, load
found = load.run(None, rows=600, seconds=1.0, clients=16)
print(json.dumps([[name, value, holds] for name, value, _, holds in load.judged(*found)]))
"""


def test_sixteen_clients_are_served_fairly() -> None:
    """The bounds are wide: other tests run beside it, and here an answer takes no longer than one of their turns."""
    ran = subprocess.run([sys.executable, "-c", SHORT], check=True, capture_output=True, encoding="utf-8", cwd=BENCH)
    told = {name: (value, holds) for name, value, holds in json.loads(ran.stdout.splitlines()[-1])}
    assert told["errors"] == (0, True)
    assert told["p95 / p50 of the clients at once"][0] < 8, told
    assert told["throughput against one client"][0] > 0.5, told


def test_the_script_and_its_neighbours_can_be_started() -> None:
    for script in ("http.py", "search.py"):
        told = subprocess.run(
            [sys.executable, str(BENCH / script), "--help"], check=True, capture_output=True, encoding="utf-8"
        )
        assert "--" in told.stdout
