"""What operations take, checked at the edge: camelCase outside, snake_case within; unknown names are refused."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, WithJsonSchema, create_model
from pydantic.alias_generators import to_camel

from recallens.errors import InvalidInput
from recallens.ingest.validate import parse_when
from recallens.model.plan import INTENT_ALIASES, Intent
from recallens.model.query import ASKED, MAX_LIMIT, MAX_QUERY_CHARACTERS, Check, Option, Ranking, about
from recallens.render import FORMATS

MOST_BUDGET = 1_000_000
MOST_ITEMS = 200

Text = Annotated[str, StringConstraints(max_length=MAX_QUERY_CHARACTERS)]
Words = Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUERY_CHARACTERS, pattern=r"\S")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Names = Annotated[tuple[Name, ...], Field(max_length=MOST_ITEMS)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
Size = Annotated[int, Field(ge=1, le=MOST_BUDGET)]
Count = Annotated[int, Field(ge=0, le=1_000)]
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
CitationText = Annotated[
    Name,
    Field(json_schema_extra={
        "pattern": r"^(commit:[0-9a-f]{7,40}|file:[^\s:#]+|symbol:[^\s@]+@[^\s@:#]+|terminal_snapshot:\S+|log:\S+)"
    }),
]  # fmt: skip
# A memory is a thought, not a file: the server's own bound on bodies is a little more.
MOST_CONTENT = 1_000_000
Content = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MOST_CONTENT, pattern=r"\S"),
    WithJsonSchema(
        {"type": "string", "minLength": 1, "pattern": r"\S", "description": "At most 1,000,000 characters."}
    ),
]
Citations = Annotated[
    tuple[CitationText, ...],
    Field(max_length=MOST_ITEMS, description="What it rests on: commit:HASH, file:PATH:1-9, log:POINTER …"),
]
# Closed sets that are no enum: named in the schema, and judged by the engine, which lists them.
IntentName = Annotated[Name, Field(json_schema_extra={"enum": [*Intent, *INTENT_ALIASES]})]
PresetName = Annotated[Name, Field(json_schema_extra={"enum": [*Ranking]})]
# The formats of the X-ray, that of a program first: it is the default.
if TYPE_CHECKING:
    XrayFormat = str
else:
    XrayFormat = Literal[("json", *(name for name in FORMATS if name != "json"))]

PAGE = 20
Cursor = Annotated[
    Annotated[str, StringConstraints(min_length=1, max_length=500)] | None,
    Field(description="`next` of the page before."),
]


class Arguments(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        str_strip_whitespace=False,
        defer_build=True,
    )

    namespace: Annotated[Name | None, Field(description="One of the namespaces that the caller holds.")] = None

    def given(self, *left_out: str) -> dict[str, Any]:
        """What was given by name, apart from the namespace and these; what is None was not given."""
        return {name: value for name, value in self if value is not None and name not in ("namespace", *left_out)}


class Pages(Arguments):
    limit: Limit = PAGE
    cursor: Cursor = None


class NumberedPage(Arguments):
    page: int = 1
    limit: int = PAGE


class QuestionArguments(Arguments):
    """A question with everything that can be said beside it, as the command's options say it."""

    query: Annotated[Words, Field(description="The question, in any language.")]

    def options(self, now: int) -> dict[str, Any]:
        """As the engine takes them; what was not given, it decides."""
        said = {name: value for name in ASKED if (value := getattr(self, name)) is not None}
        asked_at = now
        for name in ("now", "as_of"):  # a time ago counts from the time that is asked at
            if name in said:
                asked_at = said[name] = parse_when(said[name], now_ms=asked_at)
        return said


def _field(name: str, option: Option) -> Any:
    """The type and the default of an option at the edge: nothing listed is an empty list, and no flag is false."""
    taken: Any = option.choices if option.check is Check.CHOICE else _TAKEN[option.check]
    described = Field(description=about(name))
    match option.check:
        case Check.FLAG:
            return Annotated[taken, described], False
        case Check.TEXTS | Check.TAGS | Check.COMMANDS:
            return Annotated[taken, described], ()
        case Check.FACTORS:
            return Annotated[taken, described], Field(default_factory=dict)
        case _:
            return Annotated[taken | None, described], None


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
    Check.FACTORS: dict[Name, Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)]],
}

if TYPE_CHECKING:
    Question = QuestionArguments
else:
    Question = create_model(
        "Question", __base__=QuestionArguments, **{name: _field(name, option) for name, option in ASKED.items()}
    )

Given = TypeVar("Given", bound=Arguments)


def checked(model: type[Given], given: Mapping[str, Any], *, strict: bool = False) -> Given:
    try:
        if strict:  # as JSON, where a list is the one way to write a tuple and a text the one to write a choice
            return model.model_validate_json(json.dumps(given), strict=True)
        return model.model_validate(given)
    except ValidationError as error:
        raise InvalidInput("; ".join(_told(model, one) for one in error.errors()[:5])) from error


def taken(model: type[Given], given: Mapping[str, Any]) -> Given:
    """The arguments as they are, unchecked, with the defaults of what is not given."""
    unknown = given.keys() - model.model_fields.keys()
    missing = [name for name, field in model.model_fields.items() if field.is_required() and name not in given]
    if unknown or missing:
        raise TypeError(f"{model.__name__} takes {', '.join(model.model_fields)}, not {sorted(given)}")
    return model.model_construct(**given)


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
