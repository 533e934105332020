"""The real clients, as npm has them, each scene in an empty home of its own. `.ci/clients` installs them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Told = subprocess.CompletedProcess[str]
Client = Callable[..., Told]

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "recallens" / "clients"
BIN = Path(os.environ.get("RECALLENS_CLIENTS") or CACHE) / "node_modules" / ".bin"
REQUIRED = os.environ.get("RECALLENS_REQUIRE_CLIENTS") == "1"


@pytest.fixture(scope="session")
def clients() -> Path:
    """The folder of their commands."""
    if not (BIN / "claude").exists():
        if REQUIRED:
            pytest.fail("the clients are missing: .ci/clients installs them")
        pytest.skip("the real clients are not here: .ci/clients installs them by npm")
    return BIN


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "harbor"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def environment(clients: Path, project: Path) -> dict[str, str]:
    """What a person's shell has who has just installed everything; nothing of this process's own settings."""
    home = project.parent
    path = os.pathsep.join([str(clients), str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
    return {
        "HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "RECALLENS_ENCODER": "hashing",
        # None of them is to look for updates, or to tell anybody that it ran.
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "MCP_AUTO_OPEN_ENABLED": "false",
    }  # fmt: skip


@pytest.fixture
def client(environment: dict[str, str], project: Path) -> Client:
    """Runs a client's command, or `recallens`, in the project's folder; `code` is the exit code that it must have."""

    def run(*command: str | Path, code: int = 0, input: str = "", **more: str) -> Told:
        ran = subprocess.run(
            [str(word) for word in command], cwd=project, env=environment | more, input=input, capture_output=True,
            text=True, timeout=250, check=False,
        )  # fmt: skip
        assert ran.returncode == code, (command, ran.returncode, ran.stdout, ran.stderr)
        return ran

    return run
