"""The sample that ships with the project, and a new user who has loaded it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from made import made_once

EXAMPLES = Path(__file__).parents[1] / "examples" / "memories.jsonl"
FIRST_COMMANDS = {"init": ["init"], "remember": ["remember", "--jsonl", str(EXAMPLES)]}


def newcomer(factory: pytest.TempPathFactory) -> Path:
    """The XDG_DATA_HOME of someone who has loaded the sample with the packaged encoder, by real commands.

    What each command printed is beside the store, in a file of its name.
    """
    return made_once(factory, "newcomer", _first_steps)


def _first_steps(folder: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RECALLENS_")}
    environment = {**kept, "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "PYTHONIOENCODING": "utf-8"}
    for name, words in FIRST_COMMANDS.items():
        command = [sys.executable, "-m", "recallens", *words]
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
        (folder / name).write_bytes(done.stdout)
