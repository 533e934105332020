"""The plugin for Claude Code in integrations/, made of the same tables as `recallens install`.

python tests/docs/plugin_files.py        writes it anew
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recallens import __version__
from recallens.cli.clients.guides import text_named
from recallens.cli.clients.hooks import hooks_written
from recallens.cli.clients.places import CLIENTS

ROOT = Path(__file__).parents[2]
CLIENT = "claude-code"
FOLDER = f"integrations/{CLIENT}"
ABOUT = "A memory that explains itself: it recalls what earlier sessions decided, and keeps what this one finds out."
AUTHOR = {"name": "The Recallens authors"}


def written() -> dict[str, str]:
    """Every file, by its path below the repository."""
    manifest = {
        "name": "recallens", "version": __version__, "description": ABOUT, "author": AUTHOR, "license": "Apache-2.0",
        "keywords": ["memory", "mcp", "hooks", "explainability"],
    }  # fmt: skip
    plugin = {"name": "recallens", "source": f"./{FOLDER}", "description": ABOUT}
    market = {"name": "recallens", "owner": AUTHOR, "description": ABOUT, "plugins": [plugin]}
    hooks = {name: [hook] for name, hook in hooks_written(CLIENT, lambda event: f"recallens hook {event}").items()}
    return {
        ".claude-plugin/marketplace.json": _json(market),
        f"{FOLDER}/.claude-plugin/plugin.json": _json(manifest),
        f"{FOLDER}/.mcp.json": _json({"mcpServers": {"recallens": CLIENTS[CLIENT].entry("recallens", ["mcp"])}}),
        f"{FOLDER}/hooks/hooks.json": _json({"hooks": hooks}),
        f"{FOLDER}/skills/recallens/SKILL.md": text_named("skill"),
    }


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, text in written().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
