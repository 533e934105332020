"""Where each client keeps its list of MCP servers, for one project and for all of a user's."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from recallens.config import config_home
from recallens.errors import InvalidInput, UnknownOption


class ClientScope(StrEnum):
    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Client:
    """`member` is the object of a JSON file that holds the servers; None is a TOML file of tables. `approval` tells
    what the person must still do before the client starts what is in its file."""

    name: str
    title: str
    member: str | None
    places: Mapping[ClientScope, Callable[[], Path]]
    default: ClientScope
    typed: bool = False
    approval: Mapping[ClientScope, str] = field(default_factory=dict)

    def place(self, scope: ClientScope | None) -> Path:
        wanted = scope or self.default
        if wanted not in self.places:
            known = ", ".join(f"--{each}" for each in self.places)
            raise InvalidInput(f"{self.title} has no settings of a {wanted}; use {known}")
        return self.places[wanted]()

    def entry(self, command: str, args: list[str]) -> dict[str, Any]:
        return ({"type": "stdio"} if self.typed else {}) | {"command": command, "args": args}


def _own(variable: str, *otherwise: str) -> Path:
    """A folder that the client lets its user move."""
    moved = os.environ.get(variable)
    return Path(moved) if moved else Path.home().joinpath(*otherwise)


def _desktop(application: str) -> Path:
    """Where a desktop application keeps a user's settings."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / application
    if sys.platform == "win32":
        return _own("APPDATA", "AppData", "Roaming") / application
    return config_home() / application


_PENDING: Final = 'Claude Code shows it as "Pending approval" until you have approved it: run `claude` here once.'
_TRUSTED_PROJECT: Final = "Codex reads a project's file when you trust the project: run `codex` here once."
_TRUSTED: Final = "Gemini CLI shows it as Disabled in folders that you do not trust: run `gemini` there once."

CLIENTS: Final[Mapping[str, Client]] = {
    client.name: client
    for client in (
        Client(
            "claude-code", "Claude Code", "mcpServers",
            {
                ClientScope.PROJECT: lambda: Path.cwd() / ".mcp.json",
                ClientScope.USER: lambda: _own("CLAUDE_CONFIG_DIR") / ".claude.json",
            },
            ClientScope.PROJECT, typed=True, approval={ClientScope.PROJECT: _PENDING},
        ),
        Client(
            "cursor", "Cursor", "mcpServers",
            {
                ClientScope.PROJECT: lambda: Path.cwd() / ".cursor" / "mcp.json",
                ClientScope.USER: lambda: Path.home() / ".cursor" / "mcp.json",
            },
            ClientScope.PROJECT,
        ),
        Client(
            "vscode", "VS Code", "servers",
            {
                ClientScope.PROJECT: lambda: Path.cwd() / ".vscode" / "mcp.json",
                ClientScope.USER: lambda: _desktop("Code") / "User" / "mcp.json",
            },
            ClientScope.PROJECT, typed=True,
        ),
        Client(
            "codex", "Codex", None,
            {
                ClientScope.PROJECT: lambda: Path.cwd() / ".codex" / "config.toml",
                ClientScope.USER: lambda: _own("CODEX_HOME", ".codex") / "config.toml",
            },
            ClientScope.USER,
            approval={ClientScope.PROJECT: _TRUSTED_PROJECT},
        ),
        Client(
            "gemini", "Gemini CLI", "mcpServers",
            {
                ClientScope.PROJECT: lambda: Path.cwd() / ".gemini" / "settings.json",
                ClientScope.USER: lambda: Path.home() / ".gemini" / "settings.json",
            },
            ClientScope.USER, approval=dict.fromkeys(ClientScope, _TRUSTED),
        ),
        Client(
            "claude-desktop", "Claude Desktop", "mcpServers",
            {ClientScope.USER: lambda: _desktop("Claude") / "claude_desktop_config.json"},
            ClientScope.USER,
        ),
    )
}  # fmt: skip


def client_named(name: str) -> Client:
    if name not in CLIENTS:
        raise UnknownOption("client", name, CLIENTS)
    return CLIENTS[name]
