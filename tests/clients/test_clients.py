"""What `recallens install` writes, read by the clients that it is written for."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from bearer_proxy import bearer_proxy
from clients_scene import Client, codex_answers, plugin_checkout

from recallens.mcp.tools import TOOLS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
TRUSTED = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}


def test_claude_code_asks_first_for_a_project_and_connects_for_a_user(client: Client, project: Path) -> None:
    told = client("recallens", "install", "--client", "claude-code", "--hooks", "--instructions", "--skill")
    listed = client("claude", "mcp", "list").stdout
    assert "recallens: recallens mcp - ⏸ Pending approval" in listed
    assert '"Pending approval" until you have approved it' in told.stderr
    assert str(project) not in (project / ".mcp.json").read_text()
    client("recallens", "install", "--client", "claude-code", "--undo")
    assert list(project.rglob("*.md")) + list(project.rglob("*.json")) == []
    client("recallens", "install", "--client", "claude-code", "--user")
    listed = client("claude", "mcp", "list").stdout
    assert "recallens mcp - ✔ Connected" in listed


def test_claude_code_takes_the_plugin(client: Client, project: Path) -> None:
    checkout = plugin_checkout(project.parent / "checkout")
    for folder in (checkout, checkout / "integrations" / "claude-code"):
        assert "Validation passed" in client("claude", "plugin", "validate", folder).stdout
    client("claude", "plugin", "marketplace", "add", checkout)
    client("claude", "plugin", "install", "recallens@recallens")
    parts = client("claude", "plugin", "details", "recallens@recallens").stdout
    assert "Hooks (4)  SessionStart, UserPromptSubmit, PreToolUse, SessionEnd" in parts
    assert "Skills (1)  recallens" in parts
    assert "plugin:recallens:recallens: recallens mcp - ✔ Connected" in client("claude", "mcp", "list").stdout


def test_codex_reads_server_hooks_and_skill(client: Client, project: Path, environment: dict[str, str]) -> None:
    told = client("recallens", "install", "--client", "codex", "--hooks", "--instructions", "--skill")
    assert "reviewed" in told.stderr
    (entry,) = json.loads(client("codex", "mcp", "list", "--json").stdout)
    assert (entry["name"], entry["enabled"], entry["transport"]["args"]) == ("recallens", True, ["mcp"])
    hooks, skills = codex_answers(environment, project, "hooks/list", "skills/list")
    (of_project,) = hooks["data"]
    assert (of_project["warnings"], of_project["errors"]) == ([], [])
    events = {hook["eventName"]: hook for hook in of_project["hooks"]}
    assert set(events) == {"sessionStart", "userPromptSubmit", "preToolUse", "stop"}
    assert all(hook["enabled"] and " hook " in hook["command"] for hook in events.values())
    assert events["stop"]["timeoutSec"] == 60
    assert "recallens" in {skill["name"] for skill in skills["data"][0]["skills"]}
    client("recallens", "install", "--client", "codex", "--undo")
    assert json.loads(client("codex", "mcp", "list", "--json").stdout) == []


def test_gemini_connects_where_the_folder_is_trusted(client: Client) -> None:
    told = client("recallens", "install", "--client", "gemini", "--hooks", "--instructions", "--skill")
    assert "Disabled in folders that you do not trust" in told.stderr
    listed = client("gemini", "mcp", "list")
    assert "recallens mcp (stdio) - Disabled" in listed.stdout + listed.stderr
    listed = client("gemini", "mcp", "list", **TRUSTED)
    assert "recallens mcp (stdio) - Connected" in listed.stdout + listed.stderr
    skills = client("gemini", "skills", "list", **TRUSTED)
    assert "recallens [Enabled]" in skills.stdout + skills.stderr


# ── the protocol ──


def inspected(client: Client, method: str, *more: str) -> Any:
    return json.loads(client("mcp-inspector", "--cli", "recallens", "mcp", "--method", method, *more).stdout)


def test_the_inspector_lists_and_calls_every_part(client: Client) -> None:
    tools = inspected(client, "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == [tool.name for tool in TOOLS]
    assert all(tool["title"] and tool["annotations"] for tool in tools)
    client("recallens", "remember", "The gateway of the harbor listens on port 8443")
    found = inspected(
        client, "tools/call", "--tool-name", "search_memory", "--tool-arg", "query=gateway port of the harbor"
    )
    assert "8443" in found["content"][0]["text"]
    assert not found.get("isError")
    memory = next(each for each in inspected(client, "resources/list")["resources"] if "/memories/" in each["uri"])
    read = inspected(client, "resources/read", "--uri", memory["uri"])
    assert "8443" in read["contents"][0]["text"]
    assert inspected(client, "prompts/list")["prompts"][0]["name"] == "session_start"


# What every server must do. The other scenarios call tools, resources and prompts that only the protocol's own sample
# server has (`test_simple_text` …), or capabilities that Recallens does not declare (logging, completion …).
CONFORMING = {
    "server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection",
}  # fmt: skip


def test_the_conformance_suite_passes_where_it_applies(
    client: Client, environment: dict[str, str], project: Path
) -> None:
    pytest.importorskip("mcp")
    recallens = shutil.which("recallens", path=environment["PATH"])
    assert recallens is not None
    command = [recallens, "mcp", "--http", "--port", "0"]
    with subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address, token = server.stdout.readline().strip(), server.stdout.readline().split()[-1]
            with bearer_proxy(address, token) as door:
                ran = client("conformance", "server", "--url", door, code=1)
        finally:
            server.terminate()
    summary = ran.stdout.split("=== SUMMARY ===")[1].splitlines()
    passed = {line.split()[1].rstrip(":") for line in summary if line.startswith("✓") and " 0 passed" not in line}
    assert passed == CONFORMING
