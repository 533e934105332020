"""The plugin in integrations/ says what `recallens install` writes."""

from __future__ import annotations

import re

import plugin_files
import pytest

from recallens.cli.clients.guides import text_named
from recallens.mcp.tools import TOOLS


@pytest.mark.parametrize("name", plugin_files.written())
def test_the_plugin_is_made_of_the_tables(name: str) -> None:
    held = (plugin_files.ROOT / name).read_text(encoding="utf-8")
    assert held == plugin_files.written()[name], "run python tests/docs/plugin_files.py"


@pytest.mark.parametrize("text", ["skill", "instructions"])
def test_tools_that_an_agent_is_told_of_exist(text: str) -> None:
    named = set(re.findall(r"`(\w+_\w+)`", text_named(text)))
    assert named
    assert named <= {tool.name for tool in TOOLS}
