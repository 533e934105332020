"""What operations take, checked at the edge: camelCase outside, snake_case within; unknown names are refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, WithJsonSchema
from pydantic.alias_generators import to_camel

from recallens.errors import InvalidInput
from recallens.ingest.validate import parse_when
from recallens.model.memory import Kind, Sector, Tier
from recallens.model.plan import INTENT_ALIASES, Intent, Scope
from recallens.model.query import MAX_LIMIT, Documents, Mode

# What a question may hold; a longer one is a document. The same bound as the engine's own.
MOST_QUERY_CHARACTERS = 32_768
MOST_BUDGET = 1_000_000
MOST_ITEMS = 200

Text = Annotated[str, StringConstraints(max_length=MOST_QUERY_CHARACTERS)]
Words = Annotated[str, StringConstraints(min_length=1, max_length=MOST_QUERY_CHARACTERS, pattern=r"\S")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Names = Annotated[tuple[Name, ...], Field(max_length=MOST_ITEMS)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
Size = Annotated[int, Field(ge=1, le=MOST_BUDGET)]
# What a calendar has is decided when it is read: a schema knows only the forms.
When = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64),
    WithJsonSchema({
        "description": "ISO 8601, or a time ago such as 3d, 12h, 30min.",
        "anyOf": [
            {"type": "string", "format": "date-time"},
            {"type": "string", "format": "date"},
            {"type": "string", "pattern": "^(now|[0-9]{1,3}(min|[smhdw])|[1-9][0-9]{9})$"},
        ],
    }),
]  # fmt: skip
# Closed sets that are no enum: named in the schema, and judged by the engine, which lists them.
CitationText = Annotated[
    Name,
    Field(json_schema_extra={
        "pattern": r"^(commit:[0-9a-f]{7,40}|file:[^\s:#]+|symbol:[^\s@]+@[^\s@:#]+|terminal_snapshot:\S+|log:\S+)"
    }),
]  # fmt: skip
Citations = Annotated[
    tuple[CitationText, ...],
    Field(max_length=MOST_ITEMS, description="What it rests on: commit:HASH, file:PATH:1-9, log:POINTER …"),
]
IntentName = Annotated[Name, Field(json_schema_extra={"enum": [*Intent, *INTENT_ALIASES]})]
PRESET_NAMES = ("default", "fusion", "classic", "adaptive", "bm25", "dense", "rrf")
PresetName = Annotated[Name, Field(json_schema_extra={"enum": [*PRESET_NAMES]})]


class Arguments(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True, str_strip_whitespace=False
    )

    namespace: Annotated[Name | None, Field(description="One of the namespaces that the caller holds.")] = None


class Question(Arguments):
    """A question with everything that can be said beside it, as the command's options say it."""

    query: Annotated[Words, Field(description="The question, in any language.")]
    session: Annotated[Name | None, Field(description="The session that asks.")] = None
    limit: Annotated[Limit | None, Field(description="How many results; else what the question calls for.")] = None
    budget: Annotated[Size | None, Field(description="At most this many characters in all.")] = None
    tokens: Annotated[Size | None, Field(description="At most this many tokens in all.")] = None
    mode: Mode | None = None
    intent: Annotated[IntentName | None, Field(description="What kind of answer is wanted.")] = None
    alpha: Share | None = None
    beta: Share | None = None
    project: Name | None = None
    sector: Sector | None = None
    tier: Tier | None = None
    kind: Kind | None = None
    tags: Names = ()
    min_salience: Share | None = None
    include_superseded: bool = False
    requires_citations: bool = False
    in_session: Name | None = None
    task: Name | None = None
    worktree: Name | None = None
    affected: Names = ()
    files: Names = ()
    folders: Names = ()
    scope: Scope | None = None
    scopes: Names = ()
    documents: Documents | None = None
    preset: PresetName | None = None
    now: Annotated[When | None, Field(description="Ask as if it were this time: ISO, or 3d for three days ago.")] = None
    as_of: Annotated[When | None, Field(description="What was known at this time.")] = None
    open_file: Name | None = None
    commands: Names = ()
    hierarchical: bool = False
    blend: Share | None = None
    weights: Annotated[
        dict[Name, Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)]],
        Field(description="Multiplies parts of every score by name, 1 being the preset's own."),
    ] = Field(default_factory=dict)

    def options(self, now: int) -> dict[str, Any]:
        """As the engine takes them; what was not given, it decides."""
        own = set(Question.model_fields) - {"namespace", "query", "now", "as_of"}
        given = self.model_dump(include=own, exclude_none=True)
        asked_at = None if self.now is None else parse_when(self.now, now_ms=now)
        known_at = None if self.as_of is None else parse_when(self.as_of, now_ms=now if asked_at is None else asked_at)
        times = {"now": asked_at, "as_of": known_at}
        return given | {name: at for name, at in times.items() if at is not None}


Given = TypeVar("Given", bound=Arguments)


def checked(model: type[Given], given: Mapping[str, Any], *, strict: bool = False) -> Given:
    try:
        if strict:  # as JSON, where a list is the one way to write a tuple and a text the one to write a choice
            return model.model_validate_json(json.dumps(given), strict=True)
        return model.model_validate(given)
    except ValidationError as error:
        raise InvalidInput("; ".join(_told(model, one) for one in error.errors()[:5])) from error


def _told(model: type[Arguments], error: Any) -> str:
    name = ".".join(str(part) for part in error["loc"]) or "the arguments"
    match error["type"]:
        case "missing":
            return f"{name} is missing"
        case "extra_forbidden":
            known = ", ".join(field.alias or name for name, field in model.model_fields.items())
            return f"unknown argument {name!r}; the arguments are: {known}"
        case "enum" | "literal_error":
            return f"unknown {name} {error['input']!r}; use one of: {error['ctx']['expected'].replace(chr(39), '')}"
        case _:
            shown = repr(error["input"])
            return f"{name}: {error['msg'].lower()}, not {shown if len(shown) <= 80 else shown[:79] + '…'}"
