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
NUMBER = re.compile(r"(?<![\w.-])\d+\.\d+(?![\w.])")
ID = re.compile(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b")
MEASURED = (
    (re.compile(r"(?<=snapshot-id: )[0-9a-f-]{36}"), "5f6b1a2c-9d8e-5c01-8f3a-1b2c3d4e5f60"),
    (re.compile(r"(?<=digest: )[0-9a-f]{64}"), "0" * 64),
    (re.compile(r"(?<=latency-ms: )[\d.]+"), "1.522"),
    (re.compile(r"(?<=: )[\d.]+ ms$", re.MULTILINE), "0.500 ms"),
)


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
    """Ids are made anew at every load and times are measured; what only pads a line is nobody's business."""
    seen: dict[str, str] = {}
    text = ID.sub(lambda found: seen.setdefault(found.group(), f"01M7GPP8JD13DP4C2X4F8NR3{len(seen):02d}"), text)
    for pattern, shown in MEASURED:
        text = pattern.sub(shown, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def test_the_transcript_is_what_the_command_prints(store: Path) -> None:
    text = README.read_text(encoding="utf-8")
    found = TRANSCRIPT.search(text)
    assert found is not None
    printed = _masked(_run(store, *shlex.split(found["words"])))
    if os.environ.get("UPDATE_README"):
        README.write_text(text[: found.start("shown")] + printed + "\n" + text[found.end("shown") :], encoding="utf-8")
        return
    shown = _masked(found["shown"])
    assert NUMBER.sub("0", shown) == NUMBER.sub("0", printed)
    # Another processor rounds a vector's last bit otherwise.
    numbers = [list(map(float, NUMBER.findall(text))) for text in (shown, printed)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.005)


def test_the_first_screen_offers_two_commands() -> None:
    first = README.read_text(encoding="utf-8").split("<!-- transcript -->")[0]
    assert re.findall(r"^make (\w+)", first, re.MULTILINE) == ["demo", "test"]
