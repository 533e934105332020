"""Everything that is offered to the outside, gathered from the outside: by commands, a server and its answers.

`python tests/docs/surfaces.py` writes `surfaces.json` anew; it is done when something is offered that was not before.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urljoin
from urllib.request import HTTPCookieProcessor, build_opener

import click
from click.testing import CliRunner

from recallens import errors
from recallens.cli.main import main
from recallens.mcp.tools import TOOLS as DEFAULT_TOOLS

ROOT = Path(__file__).parents[2]
LISTED = Path(__file__).with_name("surfaces.json")
SCHEMA = ROOT / "docs" / "schema" / "recall-xray-snapshot.v1.json"
PROBLEM = re.compile(r'\b([45]\d\d), "([A-Z]\w+)"')
TOOLS = {"default": (), "full, compat": ("--tools", "full", "--compat", "remnic")}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "surfaces", "version": "1"}}

Surfaces = dict[str, dict[str, list[str]]]


def gathered(folder: Path) -> Surfaces:
    """Each surface: what it offers, and what each of that takes."""
    store = folder / "store.db"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RECALLENS_")}
    homes = {"XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    environment = {**kept, **homes, "RECALLENS_STORE": str(store), "RECALLENS_ENCODER": "hashing:64"}
    _printed(environment, "init")
    return {
        "commands": dict(_commands(main, ())),
        "routes": dict(_routes(environment)),
        **{f"tools, {name}": _tools(environment, options) for name, options in TOOLS.items()},
        "settings": {name: [] for name in json.loads(_printed(environment, "config", "show", "--json"))},
        "snapshot": {"properties": sorted(_properties(json.loads(SCHEMA.read_text(encoding="utf-8"))))},
        "closed sets": {name: sorted(_allowed(environment, name)) for name in ("preset", "intent", "format", "mode")},
        "errors": {name: [str(code)] for name, code in _errors()},
        "problems": {code: [status] for status, code in _problems()},
    }


def missing(listed: Surfaces, offered: Surfaces) -> list[str]:
    """What is listed and offered no more. That more is offered is no loss."""
    return [
        f"{surface}: {name}" + (f" {part}" if part else "")
        for surface, names in listed.items()
        for name, parts in names.items()
        for part in (parts or [""])
        if name not in offered.get(surface, {}) or (part and part not in offered[surface][name])
    ]


def _commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    context = click.Context(command)
    taken = sorted(name for parameter in command.get_params(context) for name in _spelled(parameter))
    yield " ".join(("recallens", *path)), taken
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _commands(inner, (*path, name))


def _spelled(parameter: click.Parameter) -> list[str]:
    if isinstance(parameter, click.Argument):
        return [parameter.make_metavar(click.Context(click.Command("any")))]
    return [*parameter.opts, *parameter.secondary_opts]


def _routes(environment: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    command = [sys.executable, "-m", "recallens", "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            link = server.stdout.readline().strip()
            browser = build_opener(HTTPCookieProcessor())
            browser.open(link, timeout=30).close()
            with browser.open(urljoin(link, "/openapi.json"), timeout=30) as answer:
                document = json.load(answer)
        finally:
            server.terminate()
    components = document["components"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parameters = [_resolved(parameter, components) for parameter in operation.get("parameters", ())]
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            taken = {f"{parameter['in']} {parameter['name']}" for parameter in parameters}
            taken |= {f"body {name}" for name in _resolved(body, components).get("properties", ())}
            yield f"{method.upper()} {path}", sorted(taken)


def _resolved(part: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in part:
        return part
    kind, name = part["$ref"].removeprefix("#/components/").split("/")
    found: dict[str, Any] = components[kind][name]
    return found


def _tools(environment: Mapping[str, str], options: tuple[str, ...]) -> dict[str, list[str]]:
    command = [sys.executable, "-m", "recallens", "mcp", *options]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in (
            {"id": 1, "method": "initialize", "params": HELLO},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/list", "params": {}},
        ):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
    tools = next(answer["result"]["tools"] for answer in answers if answer["id"] == 2)
    unlisted = {tool.name: tool.unlisted for tool in DEFAULT_TOOLS}  # what a tool takes and does not show
    return {
        tool["name"]: sorted({*tool["inputSchema"].get("properties", ()), *unlisted.get(tool["name"], ())})
        for tool in tools
    }


def _properties(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return {name for part in schema for name in _properties(part)}
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", ())) | {name for part in schema.values() for name in _properties(part)}


def _allowed(environment: Mapping[str, str], option: str) -> list[str]:
    """A value that nobody offers is refused with the values that are."""
    words = ["xray" if option == "format" else "search", "anything", f"--{option}", "nobody-offers-this"]
    refused = CliRunner().invoke(main, words, env=environment)
    offered = re.search(r"(?:use one of: |is not one of )(.*)", refused.stderr)
    assert offered is not None, refused.stderr
    return re.findall(r"[\w-]+", offered[1])


def _printed(environment: Mapping[str, str], *words: str) -> str:
    done = CliRunner().invoke(main, words, env=environment)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def _errors() -> Iterator[tuple[str, int]]:
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, errors.RecallensError):
            yield name, value.exit_code


def _problems() -> Iterator[tuple[str, str]]:
    """Those that only HTTP has; they stand in the code beside their status."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        yield from PROBLEM.findall(path.read_text(encoding="utf-8"))


def written(surfaces: Surfaces) -> str:
    """As JSON with a line for each name, so that a change shows as a changed line."""
    parts = []
    for surface, names in surfaces.items():
        lines = [f"  {json.dumps(name)}: {json.dumps(sorted(taken))}" for name, taken in sorted(names.items())]
        parts.append(f"{json.dumps(surface)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        LISTED.write_text(written(gathered(Path(folder))), encoding="utf-8")
