"""What the scenes with real clients share."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

Client = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).parents[2]
PLUGIN = (".claude-plugin", "integrations")


def plugin_checkout(folder: Path) -> Path:
    """The part of the repository that a client reads as a market of plugins."""
    for part in PLUGIN:
        for path in (ROOT / part).rglob("*"):
            if path.is_file():
                target = folder / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
    return folder


def codex_answers(environment: dict[str, str], folder: Path, *methods: str) -> list[Any]:
    """What Codex's own server for editors says of a folder."""
    about = {"clientInfo": {"name": "tests", "version": "1"}, "capabilities": {"experimentalApi": True}}
    asked: list[dict[str, Any]] = [{"id": 0, "method": "initialize", "params": about}, {"method": "initialized"}]
    asked += [{"id": number, "method": method, "params": {"cwds": [str(folder)]}}
              for number, method in enumerate(methods, start=1)]  # fmt: skip
    answers: dict[int, Any] = {}
    with subprocess.Popen(
        ["codex", "app-server"], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, executable=_found("codex", environment),
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            server.stdin.write("".join(json.dumps(each) + "\n" for each in asked))
            server.stdin.flush()
            while len(answers) <= len(methods):
                said = json.loads(server.stdout.readline())
                if "result" in said:
                    answers[said["id"]] = said["result"]
        finally:
            server.kill()
    return [answers[number] for number in range(1, len(methods) + 1)]


def _found(name: str, environment: dict[str, str]) -> str:
    places = (Path(folder) / name for folder in environment["PATH"].split(":"))
    return str(next(place for place in places if place.exists()))
