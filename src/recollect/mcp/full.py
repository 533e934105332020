"""The tools of `--tools full`: the default ones, and every other operation that an agent can use.

They are read from the table of operations, so that a new operation is a tool without a word here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from recollect.mcp.tools import ADDS, DESTROYS, READS, SEARCHES, TOOLS, Effect, Tool
from recollect.operations import OPERATIONS, Operation, Right

# Reads that are written down where searches are recorded.
RECORDING: Final = frozenset({"search", "get_context", "context", "retrieve", "search_documents"})
# Writes that take nothing away. Any other write is shown as one that may.
ADDING: Final = frozenset(
    {"relate", "used", "confirm", "restore", "task_start", "task_log", "task_end", "session_start", "session_end"}
)
# For those who look after a store, and not for an agent in the middle of its work.
LEFT_OUT: Final = frozenset({"add_vault", "remove_vault", "sync_vault", "eval_run"})


def full_tools() -> tuple[Tool, ...]:
    taken = {tool.operation for tool in TOOLS} | LEFT_OUT
    return TOOLS + tuple(_tool(one) for name, one in OPERATIONS.items() if name not in taken)


def _tool(operation: Operation) -> Tool:
    schema = operation.arguments.model_json_schema(by_alias=True)
    shared = schema.get("$defs", {})
    takes = {name: _plain(one, shared) for name, one in schema["properties"].items()}
    return Tool(
        operation.name,
        operation.name,
        operation.about,
        takes,
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
    if isinstance(items := kept.get("items"), Mapping):
        kept["items"] = _plain(items, shared)
    return kept
