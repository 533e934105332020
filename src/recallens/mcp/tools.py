"""The tools by name: which operation each one is, when to call it, what it takes, and what it does to the store.

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
from recallens.model.task import Ending
from recallens.render import FORMATS

if TYPE_CHECKING:
    from recallens.operations import Operation

Schema = Mapping[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 1}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}
_SHARE: Final[Schema] = {"type": "number", "minimum": 0, "maximum": 1}
_ASKED: Final[Mapping[Check, Schema]] = {
    Check.LABEL: _TEXT,
    Check.CHOICE: _TEXT,  # `remember` lists the kinds; twice they would cost every session
    Check.INTENT: {"enum": [*Intent, *INTENT_ALIASES]},
    Check.LIMIT: _COUNT,
    Check.SHARE: _SHARE,
    Check.FLAG: {"type": "boolean"},
    Check.EDGE: _TEXT,
    Check.MOMENT: _TEXT,
}


class Effect(Struct, frozen=True):
    """What a call does to the store, as the protocol's four hints ask for it; a store is a closed world.

    That a search is recorded is the product's bookkeeping: nothing changes that the user sees.
    """

    reads: bool = False
    destroys: bool = False
    recording: bool = False  # a read that leaves a use of what was found and an audit entry where searches are recorded

    @property
    def hints(self) -> dict[str, bool]:
        return {
            "readOnlyHint": self.reads, "destructiveHint": self.destroys, "idempotentHint": self.reads,
            "openWorldHint": False,
        }  # fmt: skip


READS: Final = Effect(reads=True)
SEARCHES: Final = Effect(reads=True, recording=True)
# What says the same is not kept twice, but that it was said again is. What is superseded stays as history.
ADDS: Final = Effect()
DESTROYS: Final = Effect(destroys=True)


class Tool(Struct, frozen=True):
    """`unlisted` properties are taken too: what hardly any agent needs would cost every session its tokens."""

    name: str
    operation: str
    title: str
    about: str
    takes: Schema  # the properties of its input
    effect: Effect
    required: tuple[str, ...] = ()
    unlisted: Schema = {}
    renamed: Mapping[str, str] = {}  # properties whose name is not that of the operation's argument
    defaults: Mapping[str, Any] = {}  # what an agent is given where it says nothing

    def given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The operation's arguments, where no name is unknown and none is missing."""
        unknown = [name for name in arguments if name not in self.takes and name not in self.unlisted]
        if unknown:
            raise InvalidInput(f"unknown argument {unknown[0]!r}", hint=self.usage)
        missing = [name for name in self.required if arguments.get(name) is None]
        if missing:
            raise InvalidInput(f"{missing[0]} is missing", hint=self.usage)
        said = {self.renamed.get(name, name): value for name, value in arguments.items() if value is not None}
        return {**self.defaults, **said}

    @property
    def usage(self) -> str:
        names = (f"{name} (required)" if name in self.required else name for name in (*self.takes, *self.unlisted))
        return f"{self.name} takes: {', '.join(names)}."

    def listed(self) -> dict[str, Any]:
        """As `tools/list` shows it. What a tool answers is text, which no schema describes."""
        schema: dict[str, Any] = {"type": "object", "properties": dict(self.takes)}
        return {
            "name": self.name, "title": self.title, "description": self.about,
            "inputSchema": schema | ({"required": list(self.required)} if self.required else {}),
            "annotations": self.effect.hints,
        }  # fmt: skip


def _asked(*names: str) -> dict[str, Schema]:
    """Options of a question, as short as an agent needs them."""
    return {json_name(name): _ASKED[ASKED[name].check] for name in names}


_PROJECT: Final[Mapping[str, Schema]] = {"project": _TEXT}
_BESIDE: Final[Mapping[str, Schema]] = {"namespace": _TEXT, "format": {"enum": ["text", "json"]}}
_TEXTUAL: Final = {"format": "text"}
_HANDLE: Final[Schema] = {**_TEXT, "description": "a handle such as m42"}

TOOLS: Final = (
    Tool(
        "begin_work", "begin_work", "Begin a task with what is known about it",
        "Call this first, when you start on a task. Starts it and gives the rules, skills, memories and known issues"
        " that are likely to help. Keep the task id for finish_work.",
        {
            "task": {**_TEXT, "description": "what is to be done, in a sentence or two"},
            "files": {**_TEXTS, "description": "files it is about"},
            "tokens": {**_COUNT, "description": "most to send, 2000"}, **_PROJECT,
        },
        ADDS, ("task",), {"session": _TEXT, **_BESIDE}, defaults=_TEXTUAL,
    ),
    Tool(
        "search_memory", "search_memory", "Search memory",
        "Call this for any question that past work may answer: decisions, facts, preferences, what happened. A line or"
        " two for each memory that is likely to help, with its handle; nothing where nothing fits.",
        {
            "query": _TEXT, **_asked("intent", "limit"), "maxTokens": _COUNT, **_asked("requires_citations", "kind"),
            **_asked("since", "until", "as_of"),
            "task": {**_TEXT, "description": "id of the running task"}, **_PROJECT,
        },
        SEARCHES, ("query",),
        {
            "alpha": {**_SHARE, "description": "weight of similarity"},
            "beta": {**_SHARE, "description": "weight of what helped before"}, **_asked("session", "cut"), **_BESIDE,
        },
        defaults=_TEXTUAL,
    ),
    Tool(
        "get_timeline", "get_timeline", "What came before and after a memory",
        "Call this to see what led to a memory and what followed it.",
        {
            "observation_id": _HANDLE, "window": {"type": "number", "description": "days to each side, 7"},
            "limit": _COUNT,
        },
        READS, ("observation_id",), {"tokens": _COUNT, **_BESIDE}, defaults=_TEXTUAL,
    ),
    Tool(
        "get_details", "get_details", "Read a memory or a task in full",
        "Call this when an excerpt is not enough: the whole text of a memory with its state and sources, or a task's"
        " logs.",
        {
            "task_id": {**_TEXT, "description": "a memory's handle or a task's id"},
            "match": {**_TEXT, "description": "show the lines with these words"},
            "offset": {**_COUNT, "description": "lines to skip"}, "tokens": _COUNT, "full": {"type": "boolean"},
        },
        READS, ("task_id",), {"limit": _COUNT, **_BESIDE}, {"task_id": "id"}, defaults=_TEXTUAL,
    ),
    Tool(
        "get_skill", "get_skill", "How something is done here",
        "Call this before you do something that was done here before: principles, pitfalls and steps for a topic.",
        {"topic": _TEXT, **_PROJECT},
        SEARCHES, ("topic",), _BESIDE, defaults=_TEXTUAL,
    ),
    Tool(
        "search_patterns", "search_patterns", "What has worked before",
        "Call this to find approaches that worked in earlier tasks.",
        {"query": _TEXT, "limit": _COUNT, **_PROJECT},
        SEARCHES, ("query",), _BESIDE, defaults=_TEXTUAL,
    ),
    Tool(
        "search_gotchas", "search_gotchas", "Known issues",
        "Call this when something fails, or before you change files: known issues and how they were resolved.",
        {"query": _TEXT, "files": {**_TEXTS, "description": "only about these files"}, "limit": _COUNT, **_PROJECT},
        SEARCHES, ("query",), _BESIDE, defaults=_TEXTUAL,
    ),
    Tool(
        "recall_xray", "recall_xray", "Explain a search",
        "Call this to learn why a search gave what it gave, or missed something. Records nothing.",
        {
            "query": _TEXT, "sessionKey": _TEXT, "namespace": _TEXT, "budget": {**_COUNT, "description": "characters"},
            "format": {"enum": list(FORMATS)},
        },
        READS, ("query",), renamed={"sessionKey": "session"}, defaults={"format": next(iter(FORMATS))},
    ),
    Tool(
        "remember", "remember", "Keep what was learned",
        "Call this when you learn something that will matter later: one fact, decision or lesson in its own words, with"
        " what it rests on. What is known already is not kept twice.",
        {
            "content": _TEXT, "title": _TEXT, "kind": {"enum": list(Kind)}, "tags": _TEXTS,
            "citations": {**_TEXTS, "description": "commit:HASH, file:PATH#L1-L9, log:POINTER"},
            "importance": _SHARE, "supersedes": {**_TEXT, "description": "handle of the memory it replaces"},
            "task": _TEXT, **_PROJECT,
        },
        ADDS, ("content",), {"session": _TEXT, **_BESIDE}, defaults=_TEXTUAL,
    ),
    Tool(
        "forget", "forget", "Forget a memory",
        "Call this when a memory is wrong or the user wants it gone. To correct one, call remember with supersedes"
        " instead.",
        {"id": _HANDLE},
        DESTROYS, ("id",), _BESIDE, defaults=_TEXTUAL,
    ),
    Tool(
        "finish_work", "finish_work", "End a task with its outcome",
        "Call this when a task is done or given up. Memories that were used are judged by the outcome, and what was"
        " learned is remembered.",
        {
            "task": {**_TEXT, "description": "the id that begin_work gave"}, "outcome": {"enum": list(Ending)},
            "used": {**_TEXTS, "description": "handles of the memories that helped"},
            "learned": {**_TEXTS, "description": "what to remember, one thing each"},
            "summary": {**_TEXT, "description": "what was done"},
        },
        ADDS, ("task", "outcome"), {"reward": _SHARE, **_BESIDE}, defaults=_TEXTUAL,
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
    """The default tools with all that they take, and every other operation that an agent can use: a new operation is a
    tool by itself.

    What needs more than to write is for the person at the machine, not for their agent.
    """
    from recallens.operations import OPERATIONS

    taken = {tool.operation for tool in TOOLS} | LEFT_OUT
    others = (operation for name, operation in OPERATIONS.items() if name not in taken)
    whole = (replace(tool, takes={**tool.takes, **tool.unlisted}, unlisted={}) for tool in TOOLS)
    return (*whole, *(_tool(operation) for operation in others if operation.needs in ("read", "write")))


def _tool(operation: Operation) -> Tool:
    from recallens.operations.arguments import schema_of

    name, (schema, shared) = operation.name, schema_of(operation.arguments)
    withheld = WITHHELD.get(name, frozenset())
    takes = {taken: _plain(own, shared) for taken, own in schema["properties"].items() if taken not in withheld}
    if operation.needs == "read":
        effect = SEARCHES if name in RECORDING else READS
    else:
        effect = ADDS if name in ADDING else DESTROYS
    title, defaults = name.replace("_", " ").capitalize(), _TEXTUAL if "format" in takes else {}
    return Tool(name, name, title, operation.about, takes, effect, tuple(schema.get("required", ())), defaults=defaults)


def sentences(message: str, hint: str | None) -> str:
    """What was wrong, and the next step."""
    return f"{message.rstrip('.')}. {hint}" if hint else message


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
