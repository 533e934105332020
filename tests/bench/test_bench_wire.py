"""The server's real bytes over a small store of long and short notes in two languages."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "bench" / "wire.py"


def test_what_is_sent_is_small_whole_and_answers() -> None:
    asked = [sys.executable, str(SCRIPT), "--questions", "24", "--limits", "60", "--encoder", "hashing:384"]
    ran = subprocess.run(asked, capture_output=True, encoding="utf-8")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    figures = json.loads(ran.stdout)
    assert figures["delivered"] >= 18
    assert figures["short"] >= 5
    assert (figures["exceeded"], figures["whole"]) == (0, 1.0)
