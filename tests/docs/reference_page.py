"""The page of tables, made of the tables themselves.

python tests/docs/reference_page.py        writes docs/reference.md anew
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path

from recallens.cli.clients.guides import GUIDES
from recallens.cli.clients.hooks import HOOKS
from recallens.cli.clients.places import CLIENTS
from recallens.cli.main import SECTIONS
from recallens.config import ABOUT, Settings
from recallens.http.routes import ROUTES
from recallens.ingest.importers import sources
from recallens.mcp.tools import TOOLS
from recallens.model.memory import Kind, RelationType, Status, Zone
from recallens.model.terms import WORDS, plain

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"
HEAD = """# Tables

Everything that has a name, as the program itself lists it. `python tests/docs/reference_page.py` writes this page, and
a test compares it.
"""


def written() -> str:
    defaults = {each.name: each.default for each in fields(Settings)}
    parts = [
        HEAD,
        *(_part(f"Commands: {section.lower()}", ("command", "does"),
                ((f"`recallens {name}`", entry.about) for name, entry in commands.items()))
          for section, commands in SECTIONS.items()),
        _part("Settings", ("setting", "variable", "default", "is"),
              ((f"`{name}`", f"`RECALLENS_{name.upper()}`", _value(defaults[name]), about)
               for name, about in ABOUT.items())),
        _part("MCP tools", ("tool", "call it"), ((f"`{tool.name}`", tool.about) for tool in TOOLS)),
        _part("HTTP", ("method", "address", "does"),
              ((route.method, f"`{route.path}`", route.operation.about) for route in ROUTES)),
        _part("Clients", ("client", "hooks", "instructions and skill"),
              ((f"`{name}`", _events(name), "yes" if name in GUIDES else "none") for name in CLIENTS)),
        _part("Programs to import from", ("name", "reads"),
              ((f"`{name}`", each.ABOUT) for name, each in sources().items())),
        _part("Parts of a score", ("part", "in words"), ((f"`{name}`", plain(name)) for name in WORDS)),
        _part("Kinds, zones, states and relations", ("what", "one of"), (
            (what, ", ".join(f"`{each}`" for each in members))
            for what, members in (("kind", Kind), ("zone", Zone), ("status", Status), ("relation", RelationType)))),
    ]  # fmt: skip
    return "\n".join(parts)


def _part(title: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"## {title}\n", f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}"]
    told = (" | ".join(each.replace("|", "&#124;") for each in row) for row in rows)
    return "\n".join([*lines, *(f"| {row} |" for row in told)]) + "\n"


def _events(client: str) -> str:
    return ", ".join(f"`{event}`" for event in HOOKS[client].events.values()) if client in HOOKS else "none"


def _value(default: object) -> str:
    return "–" if default in (None, "") or not isinstance(default, str | int) else f"`{str(default).lower()}`"


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
