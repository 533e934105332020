"""The tools by name: which operation each one is, what it takes and gives, and what it does to the store.

Nothing of the engine is imported here: the list is the first thing that a client asks for, and it waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from recallens.errors import InvalidInput
from recallens.model.memory import Kind
from recallens.model.plan import INTENT_ALIASES, Intent
from recallens.model.query import ASKED, Check, json_name
from recallens.render import FORMATS

if TYPE_CHECKING:
    from recallens.operations import Operation

Schema = Mapping[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 1}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}
_SHARE: Final[Schema] = {"type": "number", "minimum": 0, "maximum": 1}
_OBJECT: Final[Schema] = {"type": "object"}
_ASKED: Final[Mapping[Check, Schema]] = {
    Check.LABEL: _TEXT,
    Check.CHOICE: _TEXT,  # `remember` lists the kinds; twice they would cost every session
    Check.INTENT: {"enum": [*Intent, *INTENT_ALIASES]},
    Check.LIMIT: _COUNT,
    Check.SHARE: _SHARE,
    Check.FLAG: {"type": "boolean"},
}


class Effect(Struct, frozen=True):
    """What a call does to the store, as the protocol's four hints ask for it; a store is a closed world."""

    reads: bool = False
    destroys: bool = False
    repeatable: bool = False
    recording: bool = False  # a read that leaves a use of what was found and an audit entry where searches are recorded

    def hints(self, *, recorded: bool) -> dict[str, bool]:
        writes = self.recording and recorded
        return {
            "readOnlyHint": self.reads and not writes, "destructiveHint": self.destroys,
            "idempotentHint": self.repeatable and not writes, "openWorldHint": False,
        }  # fmt: skip


READS: Final = Effect(reads=True, repeatable=True)
SEARCHES: Final = Effect(reads=True, repeatable=True, recording=True)
# What says the same is not kept twice, but that it was said again is. What is superseded stays as history.
ADDS: Final = Effect()
DESTROYS: Final = Effect(destroys=True)


class Tool(Struct, frozen=True):
    name: str
    operation: str
    about: str
    takes: Schema  # the properties of its input
    gives: Schema
    effect: Effect
    required: tuple[str, ...] = ()
    renamed: Mapping[str, str] = {}  # properties whose name is not that of the operation's argument

    def given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The operation's arguments, where no name is unknown and none is missing."""
        unknown = [name for name in arguments if name not in self.takes]
        if unknown:
            raise InvalidInput(f"unknown argument {unknown[0]!r}", hint=self.usage)
        missing = [name for name in self.required if arguments.get(name) is None]
        if missing:
            raise InvalidInput(f"{missing[0]} is missing", hint=self.usage)
        return {self.renamed.get(name, name): value for name, value in arguments.items() if value is not None}

    @property
    def usage(self) -> str:
        names = (f"{name} (required)" if name in self.required else name for name in self.takes)
        return f"{self.name} takes: {', '.join(names)}."

    def listed(self, *, recorded: bool) -> dict[str, Any]:
        """As `tools/list` shows it."""
        return {
            "name": self.name, "description": self.about, "inputSchema": _object(self.takes, self.required),
            "outputSchema": dict(self.gives), "annotations": self.effect.hints(recorded=recorded),
        }  # fmt: skip


def _object(properties: Schema, required: tuple[str, ...]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    return schema | ({"required": list(required)} if required else {})


def _asked(*names: str) -> dict[str, Schema]:
    """Options of a question, as short as an agent needs them."""
    return {json_name(name): _ASKED[ASKED[name].check] for name in names}


def _listing(*fields: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "object", "required": list(fields)}} if fields else {"type": "array"}


def _gives(**properties: Schema) -> dict[str, Any]:
    return _object(properties, tuple(properties))


TOOLS: Final = (
    Tool(
        "search_memory", "search_memory",
        "Search what is remembered. Short summaries (about 50 tokens each) with a certificate of what they cover; ids"
        " lead to get_timeline and get_details. Call it before you work.",
        {
            "query": _TEXT, **_asked("intent"), "alpha": {**_SHARE, "description": "weight of similarity"},
            "beta": {**_SHARE, "description": "weight of what helped before"}, **_asked("limit"), "maxTokens": _COUNT,
            **_asked("requires_citations", "project", "kind", "session", "task"), "namespace": _TEXT,
        },
        _gives(
            results=_listing("id", "summary", "utilityScore", "type", "citations"),
            certificate={"type": ["object", "null"]}, metadata=_OBJECT,
        ),
        SEARCHES, ("query",),
    ),
    Tool(
        "get_timeline", "get_timeline",
        "What came before and after a memory (about 150 tokens each).",
        {
            "observation_id": {**_TEXT, "description": "a memory's id"},
            "window": {"type": "number", "description": "days to each side, 7"}, "limit": _COUNT, "namespace": _TEXT,
        },
        _gives(entries=_listing("id", "task", "reward", "timestamp", "relation")),
        READS, ("observation_id",),
    ),
    Tool(
        "get_details", "get_details",
        "Full logs of a task, or a memory in full (about 500 tokens each).",
        {
            "task_id": {**_TEXT, "description": "a task's or a memory's id"},
            "tokens": {**_COUNT, "description": "an entry"}, "full": {"type": "boolean", "description": "however long"},
            "limit": _COUNT, "namespace": _TEXT,
        },
        _gives(entries=_listing("id", "full_content", "metadata", "citations", "relatedEntries")),
        READS, ("task_id",), {"task_id": "id"},
    ),
    Tool(
        "get_skill", "get_skill",
        "Get structured skill profile for a topic.",
        {"topic": _TEXT, "project": _TEXT, "namespace": _TEXT},
        _gives(
            topic=_TEXT, context=_TEXT, core_principles=_TEXTS, pitfalls=_TEXTS, implementation_guide=_TEXT,
            confidence={"type": "number"}, citations=_listing(),
        ),
        SEARCHES, ("topic",),
    ),
    Tool(
        "search_patterns", "search_patterns",
        "Search successful patterns in project history.",
        {"query": _TEXT, "limit": _COUNT, "project": _TEXT, "namespace": _TEXT},
        _gives(results=_listing("title", "description", "success_count")),
        SEARCHES, ("query",),
    ),
    Tool(
        "search_gotchas", "search_gotchas",
        "Search known issues and resolutions.",
        {
            "query": _TEXT, "files": {**_TEXTS, "description": "affected files"}, "limit": _COUNT, "project": _TEXT,
            "namespace": _TEXT,
        },
        _gives(results=_listing("title", "description", "resolution", "occurrence_count", "trigger_conditions")),
        SEARCHES, ("query",),
    ),
    Tool(
        "recall_xray", "recall_xray",
        "Why each memory would come for a query: tier, score parts, filters, provenance, budget. Records nothing.",
        {
            "query": _TEXT, "sessionKey": _TEXT, "namespace": _TEXT, "budget": {**_COUNT, "description": "characters"},
            "format": {"enum": ["json", *(name for name in FORMATS if name != "json")]},
        },
        _object({"snapshotFound": {"type": "boolean"}, "snapshot": _OBJECT, "rendered": _TEXT}, ("snapshotFound",)),
        READS, ("query",), {"sessionKey": "session"},
    ),
    Tool(
        "remember", "remember",
        "Keep what you learned: one fact, decision or lesson in its own words, with what it rests on.",
        {
            "content": _TEXT, "title": _TEXT, "kind": {"enum": list(Kind)}, "tags": _TEXTS,
            "citations": {**_TEXTS, "description": "commit:HASH, file:PATH#L1-L9, log:POINTER"},
            "importance": _SHARE, "supersedes": {**_TEXT, "description": "id of the memory it replaces"},
            "project": _TEXT, "session": _TEXT, "task": _TEXT, "namespace": _TEXT,
        },
        _gives(id=_TEXT, outcome=_TEXT),
        ADDS, ("content",),
    ),
)  # fmt: skip

# The names under which the system that first described the X-ray offers its tools.
COMPATIBLE: Final[Mapping[str, tuple[str, ...]]] = {"remnic": ("engram", "remnic")}


def aliased(tools: tuple[Tool, ...], compat: str | None) -> tuple[Tool, ...]:
    prefixes = COMPATIBLE[compat] if compat is not None else ()
    return tools + tuple(replace(tool, name=f"{prefix}.{tool.name}") for prefix in prefixes for tool in tools)


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
    """The default tools, and every other operation that an agent can use: a new operation is a tool by itself.

    What needs more than to write is for the person at the machine, not for their agent.
    """
    from recallens.operations import OPERATIONS

    taken = {tool.operation for tool in TOOLS} | LEFT_OUT
    others = (operation for name, operation in OPERATIONS.items() if name not in taken)
    return TOOLS + tuple(_tool(operation) for operation in others if operation.needs in ("read", "write"))


def _tool(operation: Operation) -> Tool:
    from recallens.operations.arguments import schema_of

    name, (schema, shared) = operation.name, schema_of(operation.arguments)
    withheld = WITHHELD.get(name, frozenset())
    takes = {taken: _plain(own, shared) for taken, own in schema["properties"].items() if taken not in withheld}
    if operation.needs == "read":
        effect = SEARCHES if name in RECORDING else READS
    else:
        effect = ADDS if name in ADDING else DESTROYS
    return Tool(name, name, operation.about, takes, _OBJECT, effect, tuple(schema.get("required", ())))


def _plain(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """Without what costs tokens and says nothing: titles, null for what was not given, references."""
    if "$ref" in schema:
        named = shared[schema["$ref"].rpartition("/")[2]]
        return _plain({**named, **{name: value for name, value in schema.items() if name != "$ref"}}, shared)
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1:
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        return _plain({**choices[0], **rest}, shared)
    kept = {name: value for name, value in schema.items() if name not in ("title", "default", "pattern")}
    if isinstance(inner := kept.get("properties"), Mapping):
        kept["properties"] = {name: _plain(own, shared) for name, own in inner.items()}
    for place in ("items", "additionalProperties"):
        if isinstance(inner := kept.get(place), Mapping):
            kept[place] = _plain(inner, shared)
    if choices:
        kept["anyOf"] = [_plain(choice, shared) for choice in choices]
    return kept
