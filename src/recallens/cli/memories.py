"""Memories as people read them: a line, a table of lines, or everything about one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from recallens.cli.screen import day, moment, visible
from recallens.model.memory import Memory
from recallens.render.formats import headline, remarks


def table(memories: Iterable[Memory], mark: str | None = None) -> Table:
    """One line a memory at any width: the id is never cut, the text is."""
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", expand=True)
    if mark is not None:
        grid.add_column("", no_wrap=True, width=1)
    grid.add_column("id", no_wrap=True, min_width=26)
    grid.add_column("created", no_wrap=True, min_width=10)
    grid.add_column("kind", no_wrap=True, min_width=8)
    grid.add_column("memory", no_wrap=True, overflow="ellipsis", ratio=1)
    for memory in memories:
        remarked = "".join(f"({remark}) " for remark in remarks(memory))
        said = Text.assemble((remarked, "yellow"), headline(memory))
        row = [Text(memory.id), Text(day(memory.created)), Text(memory.kind), said]
        if mark is not None:
            row.insert(0, Text("▶" if memory.id == mark else " "))
        grid.add_row(*row, style="bold" if memory.id == mark else None)
    return grid


def facts(rows: Sequence[tuple[str, str | None]]) -> Table:
    """Name and value, a line each; what has no value is left out."""
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        if value is not None and value != "":
            grid.add_row(Text(name), Text(visible(value)))
    return grid


def attributes(memory: Memory, salience: float) -> list[tuple[str, str | None]]:
    until = "" if memory.valid_until is None else moment(memory.valid_until)
    since = "" if memory.valid_from is None else moment(memory.valid_from)
    return [
        ("namespace", memory.namespace),
        ("project", memory.project),
        ("sector", memory.sector),
        ("kind", memory.kind),
        ("tier", memory.tier),
        ("status", memory.status.replace("_", " ")),
        ("zone", memory.zone),
        ("tags", ", ".join(memory.tags)),
        ("scopes", ", ".join(memory.scopes)),
        ("importance", f"{memory.importance:g}"),
        ("confidence", f"{memory.confidence:g}"),
        ("salience", f"{salience:.2f}, used {memory.uses} times" + (", confirmed" if memory.confirmed else "")),
        ("source", memory.source + (f" ({memory.source_id})" if memory.source_id else "")),
        ("author", memory.author),
        ("task", memory.task),
        ("worktree", memory.worktree),
        ("created", moment(memory.created)),
        ("valid", f"{since} – {until}".strip() if since or until else None),
        ("entities", ", ".join(memory.annotations.entities)),
    ]
