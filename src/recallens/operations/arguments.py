"""What operations take, checked at the edge: camelCase outside, snake_case within; unknown names are refused."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import EnumType
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, get_args

import msgspec
from msgspec import Meta, Struct, ValidationError, convert, defstruct, structs

from recallens.errors import InvalidInput
from recallens.ingest.validate import parse_when
from recallens.model.plan import INTENT_ALIASES, Intent
from recallens.model.query import (
    ASKED,
    MAX_LIMIT,
    MAX_QUERY_CHARACTERS,
    NEUTRAL,
    Check,
    Documents,
    Option,
    Ranking,
    about,
)
from recallens.render import FORMATS

MOST_BUDGET = 1_000_000
MOST_ITEMS = 200
MOST_PROBLEMS = 5  # that one answer names

Text = Annotated[str, Meta(max_length=MAX_QUERY_CHARACTERS)]
Words = Annotated[str, Meta(min_length=1, max_length=MAX_QUERY_CHARACTERS, pattern=r"\S")]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Names = Annotated[tuple[Name, ...], Meta(max_length=MOST_ITEMS)]
Share = Annotated[float, Meta(ge=0, le=1)]
Limit = Annotated[int, Meta(ge=1, le=MAX_LIMIT)]
Size = Annotated[int, Meta(ge=1, le=MOST_BUDGET)]
Count = Annotated[int, Meta(ge=0, le=1_000)]
# What a calendar has is decided when it is read: a schema knows only the forms.
When = Annotated[
    str,
    Meta(
        min_length=1, max_length=64, description="ISO 8601, or a time ago such as 3d, 12h, 30min.",
        extra_json_schema={"anyOf": [
            {"type": "string", "format": "date-time"},
            {"type": "string", "format": "date"},
            {"type": "string", "pattern": "^(now|[0-9]{1,3}(min|[smhdw])|[1-9][0-9]{9})$"},
        ]},
    ),
]  # fmt: skip
CitationText = Annotated[
    Name,
    Meta(extra_json_schema={
        "pattern": r"^(commit:[0-9A-Fa-f]{4,64}$|file:[^\s:#]+|symbol:[^\s@]+@[^\s@:#]+|terminal_snapshot:\S+|log:\S+)"
    }),
]  # fmt: skip
# A memory is a thought, not a file: the server's own bound on bodies is a little more.
MOST_CONTENT = 1_000_000
Content = Annotated[str, Meta(min_length=1, max_length=MOST_CONTENT, pattern=r"\S")]
Citations = Annotated[
    tuple[CitationText, ...],
    Meta(max_length=MOST_ITEMS, description="What it rests on: commit:HASH, file:PATH:1-9, log:POINTER …"),
]
# Closed sets that are no enum: named in the schema, and judged by the engine, which lists them.
IntentName = Annotated[Name, Meta(extra_json_schema={"enum": [*Intent, *INTENT_ALIASES]})]
PresetName = Annotated[Name, Meta(extra_json_schema={"enum": [*Ranking]})]
# The formats of the X-ray, that of a program first: it is the default.
if TYPE_CHECKING:
    XrayFormat = str
else:
    XrayFormat = Literal[("json", *(name for name in FORMATS if name != "json"))]

# Of an answer that can also be told in words.
AnswerFormat = Literal["json", "text"]

PAGE = 20
Cursor = Annotated[
    Annotated[str, Meta(min_length=1, max_length=500)] | None,
    Meta(description="`next` of the page before."),
]


class Arguments(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    namespace: Annotated[Name | None, Meta(description="One of the namespaces that the caller holds.")] = None

    def beside(self, *names: str) -> dict[str, Any]:
        """What was given beside these and the namespace."""
        others = (name for name in self.__struct_fields__ if name not in ("namespace", *names))
        return {name: value for name in others if (value := getattr(self, name)) is not None}


class QuestionArguments(Arguments, frozen=True, kw_only=True):
    """A question with everything that can be said beside it, as the command's options say it."""

    query: Annotated[Text, Meta(description="The question, in any language; none has an empty answer.")]

    def options(self, now: int) -> dict[str, Any]:
        """As the engine takes them; what was not given, it decides."""
        said = {name: value for name in ASKED if (value := getattr(self, name)) is not None}
        asked_at = now
        for name in ("now", "as_of"):  # a time ago counts from the time that is asked at
            if name in said:
                when = said[name]  # the command has read the time that it was given
                asked_at = said[name] = when if isinstance(when, int) else parse_when(when, now_ms=asked_at)
        return said


def _field(name: str, option: Option) -> tuple[str, Any, Any]:
    """The type and the default of an option at the edge: nothing listed is an empty list, and a flag as it stands."""
    taken: Any = option.choices if option.check is Check.CHOICE else _TAKEN[option.check]
    default = NEUTRAL[name] if option.check is Check.FLAG else _NOTHING.get(option.check)
    return name, Annotated[taken if default is not None else taken | None, Meta(description=about(name))], default


_TAKEN: Final[Mapping[Check, Any]] = {
    Check.LABEL: Name,
    Check.TEXTS: Names,
    Check.TAGS: Names,
    Check.COMMANDS: Names,
    Check.INTENT: IntentName,
    Check.PRESET: PresetName,
    Check.LIMIT: Limit,
    Check.SIZE: Size,
    Check.COUNT: Count,
    Check.SHARE: Share,
    Check.FLAG: bool,
    Check.MOMENT: When,
    Check.EDGE: Annotated[str, Meta(min_length=1, max_length=64)],
    Check.FACTORS: dict[Name, Annotated[float, Meta(ge=0, le=1_000)]],
}

_NOTHING: Final[Mapping[Check, Any]] = {
    Check.TEXTS: (), Check.TAGS: (), Check.COMMANDS: (), Check.FACTORS: {},
}  # fmt: skip

if TYPE_CHECKING:
    Question = QuestionArguments
else:
    Question = defstruct(
        "Question", [_field(*item) for item in ASKED.items()], bases=(QuestionArguments,), kw_only=True, module=__name__
    )

Given = TypeVar("Given", bound=Arguments)
Schema = dict[str, Any]


@cache
def schema_of(model: type[Arguments], references: str = "#/$defs/{name}") -> tuple[Schema, dict[str, Schema]]:
    """What is taken, as a JSON schema, and the schemas that it refers to."""
    _, schemas = msgspec.json.schema_components([model], ref_template=references)
    return schemas.pop(model.__name__), schemas


def checked(model: type[Given], given: Mapping[str, Any], *, strict: bool = False) -> Given:
    own = dict(zip(model.__struct_fields__, model.__struct_encode_fields__, strict=True))
    named = spelled({own.get(name, name): value for name, value in given.items()}, model.__struct_encode_fields__)
    properties = schema_of(model)[0].get("properties", {})
    for name, value in named.items():  # one text stands for a list of one
        if isinstance(value, str) and properties.get(name, {}).get("type") == "array":
            named[name] = [value]
    try:
        return convert(named, model, strict=strict)
    except ValidationError as error:
        raise InvalidInput("; ".join(islice(_problems(model, named, strict), MOST_PROBLEMS))) from error


def _problems(model: type[Arguments], given: Mapping[str, Any], strict: bool) -> Iterator[str]:
    known = {field.encode_name: field for field in structs.fields(model)}
    for name in given:
        if name not in known:
            yield f"unknown argument {name!r}; the arguments are: {', '.join(known)}"
    for name, field in known.items():
        if name in given:
            try:
                convert(given[name], field.type, strict=strict)
            except ValidationError as error:
                yield _problem(name, given[name], field.type, str(error))
        elif field.required:
            yield f"{name} is missing"


def _problem(name: str, value: Any, kind: Any, message: str) -> str:
    """msgspec's message, such as "Expected `int`, got `str` - at `$[0]`", with the argument's name and its value."""
    message, _, place = message.partition(" - at `")
    name, expected = name + place.rpartition("$")[2].rstrip("`"), message.partition(", got ")[0]
    shown = repr(value) if len(repr(value)) <= 80 else repr(value)[:79] + "…"
    if (choices := [*_choices(kind)]) and "array" not in expected:
        return f"unknown {name} {shown}; use one of: {', '.join(choices)}"
    return f"{name}: {expected.replace('Expected', 'expected')}, not {shown}"


def _choices(kind: Any) -> Iterator[str]:
    """The members of the one closed set in a type."""
    for part in kind if isinstance(kind, EnumType) else get_args(kind):
        yield from (part,) if isinstance(part, str) else _choices(part)


# ── the names that the specifications give to arguments which have another name here: both are taken ──

# By their names in JSON. `sessionId` filters and tracks at once, as its specification has it.
SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "projectId": ("project",),
    "sessionId": ("session", "inSession"),
    "sessionKey": ("session",),
    "includeDocuments": ("documents",),
    "maxTokens": ("tokens",),
    "maxResults": ("limit",),
    "depthBefore": ("before",),
    "depthAfter": ("after",),
    "includeRawConversations": ("includeRaw",),
    "scopeFolders": ("folders",),
    "embeddingBlendAlpha": ("blend",),
    "hierarchicalReweightEnabled": ("hierarchical",),
    "chunkLevelRetrieval": ("chunkLevel",),
    "openFilePath": ("openFile",),
    "recentSlashCommands": ("commands",),
}
# Arguments of one name that hold several: a budget of two limits, what the asker is at.
GROUPS: Final[Mapping[str, Mapping[str, str]]] = {
    "budget": {"maxTokens": "tokens", "maxResults": "limit"},
    "contextBudget": {"totalBudget": "contextBudget"},
    "workStateSignals": {"openFilePath": "openFile", "recentSlashCommands": "commands"},
}
_DOCUMENTS: Final = {True: Documents.INCLUDE, False: Documents.EXCLUDE}


def known_as(name: str, names: Collection[str]) -> tuple[str, ...]:
    """What an argument of this name is called here, among the names that are taken."""
    return () if name in names else tuple(own for own in SPELLINGS.get(name, ()) if own in names)


def spelled(given: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The same arguments under the names that are taken here. What no specification names is left as it is."""
    arguments: dict[str, Any] = {}
    for called, name, value in _pairs(given, names):
        if name in arguments and value is not None:
            raise InvalidInput(f"{called} and {name} say the same thing", hint="Give one of them.")
        arguments[name] = value
    return arguments


def _pairs(given: Mapping[str, Any], names: Collection[str]) -> Iterator[tuple[str, str, Any]]:
    # Those under their own names first, so that the other name is the one that an error tells apart.
    for name, value in sorted(given.items(), key=lambda item: item[0] in SPELLINGS or isinstance(item[1], Mapping)):
        group = GROUPS.get(name)
        if group is not None and isinstance(value, Mapping) and all(group.get(part) in names for part in value):
            yield from ((f"{name}.{part}", group[part], own) for part, own in value.items())
        elif own := known_as(name, names):
            documents = name == "includeDocuments" and isinstance(value, bool)
            yield from ((name, each, _DOCUMENTS[value] if documents else value) for each in own)
        else:
            yield name, name, value


# ── pages: where one ended, as a text that fits only the same listing. It grants nothing ──


def cursor_of(listing: Sequence[Any], at: Sequence[Any]) -> str:
    packed = json.dumps([_fingerprint(listing), *at], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()


def place_of(cursor: str | None, listing: Sequence[Any], kinds: tuple[type, ...]) -> tuple[Any, ...] | None:
    """What `cursor_of` packed; one of another listing, or of nobody's making, is refused."""
    if cursor is None:
        return None
    try:
        packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        fingerprint, *at = json.loads(packed)
        fits = fingerprint == _fingerprint(listing) and [type(one) for one in at] == list(kinds)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        fits = False
    if not fits:
        raise InvalidInput(
            "this cursor is of no page of this listing",
            hint="Give `next` of the page before, with the same filters, or none.",
        )
    return tuple(at)


def offset_of(cursor: str | None, listing: Sequence[Any]) -> int:
    place = place_of(cursor, listing, (int,))
    if place is None:
        return 0
    if not 0 <= place[0] < 1 << 53:
        raise InvalidInput("this cursor is of no page of this listing", hint="Give `next` of the page before, or none.")
    return int(place[0])


def _fingerprint(listing: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(listing, default=str).encode()).hexdigest()[:12]
