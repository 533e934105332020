"""The README's transcript is a real run. `UPDATE_README=1` writes it anew."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
TRANSCRIPT = re.compile(r"<!-- transcript -->\n```console\n\$ recollect (?P<words>.+)\n(?P<shown>[\s\S]*?)```")
ID = re.compile(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b")
SAMPLE_ID = "01M7GPP8JD13DP4C2X4F8NR35Y"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("readme") / "harbor.db"
    _run(path, "remember", "--jsonl", str(ROOT / "examples" / "memories.jsonl"))
    return path


def _run(store: Path, *words: str) -> str:
    command = [sys.executable, "-m", "recollect", "--store", str(store), *words]
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8", env=environment).stdout


def _masked(text: str) -> str:
    """Ids are made anew at every load, and what only pads a line is nobody's business."""
    return "\n".join(line.rstrip() for line in ID.sub(SAMPLE_ID, text).strip().splitlines())


def test_the_transcript_is_what_the_command_prints(store: Path) -> None:
    text = README.read_text(encoding="utf-8")
    found = TRANSCRIPT.search(text)
    assert found is not None
    printed = _masked(_run(store, *shlex.split(found["words"])))
    if os.environ.get("UPDATE_README"):
        README.write_text(text[: found.start("shown")] + printed + "\n" + text[found.end("shown") :], encoding="utf-8")
        return
    assert _masked(found["shown"]) == printed


def test_the_first_screen_offers_two_commands() -> None:
    first = README.read_text(encoding="utf-8").split("<!-- transcript -->")[0]
    assert re.findall(r"^make (\w+)", first, re.MULTILINE) == ["demo", "test"]
