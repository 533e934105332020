"""Where each client keeps its list of MCP servers, for one project and for all of a user's."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from recallens.config import config_home
from recallens.errors import UnknownOption


class Scope(StrEnum):
    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Client:
    """`member` is the object of a JSON file that holds the servers; None is a TOML file of tables."""

    name: str
    title: str
    member: str | None
    places: Mapping[Scope, Callable[[], Path]]
    default: Scope
    typed: bool = False

    def place(self, scope: Scope | None) -> Path:
        return self.places[scope or self.default]()

    def entry(self, command: str, args: list[str]) -> dict[str, Any]:
        return ({"type": "stdio"} if self.typed else {}) | {"command": command, "args": args}


def _own(variable: str, *otherwise: str) -> Path:
    """A folder that the client lets its user move."""
    moved = os.environ.get(variable)
    return Path(moved) if moved else Path.home().joinpath(*otherwise)


def _vscode_user() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Code" / "User"
    if sys.platform == "win32":
        return _own("APPDATA", "AppData", "Roaming") / "Code" / "User"
    return config_home() / "Code" / "User"


CLIENTS: Final[Mapping[str, Client]] = {
    client.name: client
    for client in (
        Client(
            "claude-code", "Claude Code", "mcpServers",
            {
                Scope.PROJECT: lambda: Path.cwd() / ".mcp.json",
                Scope.USER: lambda: _own("CLAUDE_CONFIG_DIR") / ".claude.json",
            },
            Scope.PROJECT, typed=True,
        ),
        Client(
            "cursor", "Cursor", "mcpServers",
            {
                Scope.PROJECT: lambda: Path.cwd() / ".cursor" / "mcp.json",
                Scope.USER: lambda: Path.home() / ".cursor" / "mcp.json",
            },
            Scope.PROJECT,
        ),
        Client(
            "vscode", "VS Code", "servers",
            {
                Scope.PROJECT: lambda: Path.cwd() / ".vscode" / "mcp.json",
                Scope.USER: lambda: _vscode_user() / "mcp.json",
            },
            Scope.PROJECT, typed=True,
        ),
        Client(
            "codex", "Codex", None,
            {
                Scope.PROJECT: lambda: Path.cwd() / ".codex" / "config.toml",
                Scope.USER: lambda: _own("CODEX_HOME", ".codex") / "config.toml",
            },
            Scope.USER,
        ),
    )
}  # fmt: skip


def client_named(name: str) -> Client:
    if name not in CLIENTS:
        raise UnknownOption("client", name, CLIENTS)
    return CLIENTS[name]
