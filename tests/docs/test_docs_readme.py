"""The README's transcript is a real run. `UPDATE_README=1` writes it anew."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from sample import newcomer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
TRANSCRIPT = re.compile(r"<!-- transcript -->\n```console\n\$ recallens (?P<words>.+)\n(?P<shown>[\s\S]*?)```")
NUMBER = re.compile(r"(?<![\w.-])\d+\.\d+(?![\w.])")
ID = re.compile(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b")
MEASURED = (
    (
        re.compile(r"(?<=snapshot-id: )[0-9a-f-]{36}|(?<=^snapshot )[0-9a-f-]{36}", re.MULTILINE),
        "5f6b1a2c-9d8e-5c01-8f3a-1b2c3d4e5f60",
    ),
    (re.compile(r"(?<=digest: )[0-9a-f]{64}"), "0" * 64),
    (re.compile(r"(?<=latency-ms: )[\d.]+"), "1.522"),
    (re.compile(r"(?<=: )[\d.]+ ms$", re.MULTILINE), "0.500 ms"),
)


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = shutil.copytree(newcomer(tmp_path_factory), tmp_path_factory.mktemp("readme") / "data")
    return Path(data) / "recallens" / "store.db"


def _run(store: Path, *words: str) -> str:
    command = [sys.executable, "-m", "recallens", "--store", str(store), *words]
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8", env=environment).stdout


def _masked(text: str) -> str:
    """Ids are made anew at every load and times are measured; what only pads a line is nobody's business."""
    seen: dict[str, str] = {}
    text = ID.sub(lambda found: seen.setdefault(found.group(), f"01M7GPP8JD13DP4C2X4F8NR3{len(seen):02d}"), text)
    for pattern, shown in MEASURED:
        text = pattern.sub(shown, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


@pytest.mark.parametrize("place", [0, 1], ids=["answer", "xray"])
def test_the_transcript_is_what_the_command_prints(store: Path, place: int) -> None:
    text = README.read_text(encoding="utf-8")
    found = list(TRANSCRIPT.finditer(text))[place]
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


# ── a new user's first steps ──

STEPS = re.compile(r"<!-- steps -->\n```console\n(?P<shown>[\s\S]*?)```")
WHEN = re.compile(r"\b20\d\d-\d\d-\d\d(?:T[\d:.]+Z| \d\d:\d\d(?= UTC))?")
# Done for the reader by whoever reads: the test stands in an environment that is installed already.
BEFOREHAND = ("pip install",)


def _first_steps(folder: Path, commands: list[str]) -> Iterator[str]:
    """Each command, and what it prints, in a folder and a home of its own."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("RECALLENS_")},
        "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config"),
        "NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8",
    }  # fmt: skip
    project = folder / "harbor"
    project.mkdir()
    for command in commands:
        yield f"$ {command}"
        if command.startswith(BEFOREHAND):
            continue
        command, _, piped = command.partition(" | head -n ")
        words = [sys.executable, "-m", "recallens", *shlex.split(command)[1:]]
        if "serve" in words:
            yield from _served([word for word in words if word != "--open"], environment, project)
            continue
        done = subprocess.run(words, cwd=project, env=environment, capture_output=True, encoding="utf-8", check=True)
        yield "\n".join(done.stdout.rstrip("\n").split("\n")[: int(piped) if piped else None])


def _served(words: list[str], environment: dict[str, str], project: Path) -> Iterator[str]:
    """The server is asked for its page before it is stopped as a person would stop it."""
    command = [*words, "--port", "0"]
    with subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.PIPE, encoding="utf-8") as running:
        try:
            assert running.stdout is not None
            link = running.stdout.readline().strip()
            browser = build_opener(HTTPCookieProcessor())
            browser.open(link, timeout=30).close()
            with browser.open(urljoin(link, "/?q=lookups"), timeout=30) as page:
                assert "Tracking lookups are cached" in re.sub("</?mark>", "", page.read().decode())
            yield re.sub(r":\d+/open/.*$", ":8765/open/q3zLWm…", link)
        finally:
            running.send_signal(signal.SIGINT)
            assert running.wait(timeout=30) == 0


def _told(folder: Path, text: str) -> str:
    text = text.replace(str(folder), "~")
    text = re.sub(
        r'"command": ".*?"(,\n\+ +"args": \[\n)(\+ +"-m",\n\+ +"recallens",\n)?', r'"command": "recallens"\1', text
    )
    return WHEN.sub("2026-09-01", _masked(text))


def test_the_first_steps_are_what_a_new_user_sees(tmp_path: Path) -> None:
    text = README.read_text(encoding="utf-8")
    found = STEPS.search(text)
    assert found is not None
    commands = [line[2:] for line in found["shown"].splitlines() if line.startswith("$ ")]
    printed = _told(tmp_path, "\n".join(_first_steps(tmp_path, commands)))
    if os.environ.get("UPDATE_README"):
        README.write_text(text[: found.start("shown")] + printed + "\n" + text[found.end("shown") :], encoding="utf-8")
        return
    shown = found["shown"].strip()
    assert NUMBER.sub("0", shown) == NUMBER.sub("0", printed)
