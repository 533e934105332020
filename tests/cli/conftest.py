"""Every scene has its own home and store; the tiny encoder stands in unless a scene asks for the real one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_scene import Ask, Remember, Run
from click.testing import CliRunner, Result

from recallens.cli.main import main


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("RECALLENS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RECALLENS_ENCODER", "hashing")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def store(home: Path) -> Path:
    return home / "data" / "recallens" / "store.db"


@pytest.fixture
def run() -> Run:
    """The command in this process; `code` is the exit code it must have."""

    def invoke(*args: str | Path, input: str | bytes | None = None, code: int = 0) -> Result:
        result = CliRunner().invoke(main, [str(arg) for arg in args], input=input)
        assert result.exit_code == code, (args, result.exit_code, result.stdout, result.stderr)
        return result

    return invoke


@pytest.fixture
def ask(run: Run) -> Ask:
    """The record that a command gives with --json."""

    def invoke(*args: str | Path, input: str | bytes | None = None) -> object:
        return json.loads(run(*args, "--json", input=input).stdout)

    return invoke


@pytest.fixture
def remember(ask: Ask) -> Remember:
    def keep(text: str, *options: str) -> str:
        return str(ask("remember", text, *options)["id"])

    return keep
