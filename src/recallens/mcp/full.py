"""The tools of `--tools full`: the default ones, and every other operation that an agent can use.

They are read from the table of operations, so that a new operation is a tool without a word here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from recallens.mcp.tools import ADDS, DESTROYS, READS, SEARCHES, TOOLS, Effect, Tool
from recallens.operations import OPERATIONS, Operation, Right

# Reads that are written down where searches are recorded.
RECORDING: Final = frozenset({"search", "get_context", "retrieve", "search_documents"})
# Writes that take nothing away. Any other write is shown as one that may.
ADDING: Final = frozenset({
    "add_skill", "add_pattern", "add_gotcha", "confirm", "relate", "restore", "start_session", "end_session",
    "start_task", "log_task", "end_task",
})  # fmt: skip
# For those who look after a store, and not for an agent in the middle of its work.
LEFT_OUT: Final = frozenset({"sync_vault", "list_runs", "get_run"})
# What no agent is trusted with, whoever it works for: to delete for good.
WITHHELD: Final[Mapping[str, frozenset[str]]] = {"forget": frozenset({"hard"})}


def full_tools() -> tuple[Tool, ...]:
    taken = {tool.operation for tool in TOOLS} | LEFT_OUT
    return TOOLS + tuple(_tool(one) for name, one in OPERATIONS.items() if name not in taken and _open(one))


def _open(operation: Operation) -> bool:
    """What needs more than to write is for the person at the machine, not for their agent."""
    return operation.needs in (Right.READ, Right.WRITE)


def _tool(operation: Operation) -> Tool:
    schema = operation.arguments.model_json_schema(by_alias=True)
    shared, withheld = schema.get("$defs", {}), WITHHELD.get(operation.name, frozenset())
    return Tool(
        operation.name,
        operation.name,
        operation.about,
        {name: _plain(one, shared) for name, one in schema["properties"].items() if name not in withheld},
        {"type": "object"},
        _effect(operation),
        tuple(schema.get("required", ())),
    )


def _effect(operation: Operation) -> Effect:
    if operation.needs is Right.READ:
        return SEARCHES if operation.name in RECORDING else READS
    return ADDS if operation.name in ADDING else DESTROYS


def _plain(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """Without what costs tokens and says nothing: titles, null for what was not given, references."""
    if "$ref" in schema:
        named = shared[schema["$ref"].rpartition("/")[2]]
        return _plain({**named, **{name: value for name, value in schema.items() if name != "$ref"}}, shared)
    choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(choices) == 1:
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        return _plain({**choices[0], **rest}, shared)
    kept = {name: value for name, value in schema.items() if name not in ("title", "default", "pattern")}
    if isinstance(inner := kept.get("properties"), Mapping):
        kept["properties"] = {name: _plain(one, shared) for name, one in inner.items()}
    for place in ("items", "additionalProperties"):
        if isinstance(inner := kept.get(place), Mapping):
            kept[place] = _plain(inner, shared)
    if choices:
        kept["anyOf"] = [_plain(one, shared) for one in choices]
    return kept
