"""Skills, patterns and gotchas: memories with fields, kept in the memory's attributes under the specified names.

The text of such a memory is composed of its fields, so that every view finds it by any of them. Counts stay out of the
text: they grow, and a text never changes. A memory of these kinds without fields is read from its text alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, assert_never

from msgspec import Struct, structs

from recallens.errors import InvalidInput
from recallens.model.citation import Citation
from recallens.model.memory import Kind, Memory

TITLE_CHARACTERS: Final = 120


class Skill(Struct, frozen=True):
    topic: str
    context: str = ""
    core_principles: tuple[str, ...] = ()
    pitfalls: tuple[str, ...] = ()
    implementation_guide: str = ""
    confidence: float = 0.8
    citations: tuple[Citation, ...] = ()
    id: str = ""
    handle: str = ""
    marks: tuple[str, ...] = ()  # what is out of the ordinary about it, where it was found


class Pattern(Struct, frozen=True):
    title: str
    description: str = ""
    example_code: str | None = None
    success_count: int = 1
    citations: tuple[Citation, ...] = ()
    id: str = ""
    handle: str = ""
    marks: tuple[str, ...] = ()  # what is out of the ordinary about it, where it was found


class Gotcha(Struct, frozen=True):
    title: str
    description: str = ""
    resolution: str = ""
    occurrence_count: int = 1
    trigger_conditions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    id: str = ""
    handle: str = ""
    marks: tuple[str, ...] = ()  # what is out of the ordinary about it, where it was found


Craft = Skill | Pattern | Gotcha

_LISTS: Final = ("core_principles", "pitfalls", "trigger_conditions", "files")
_COUNTS: Final = ("success_count", "occurrence_count")
FIELDS: Final[Mapping[Kind, tuple[str, ...]]] = {
    Kind.SKILL: ("topic", "context", "core_principles", "pitfalls", "implementation_guide"),
    Kind.PATTERN: ("title", "description", "example_code", "success_count"),
    Kind.GOTCHA: ("title", "description", "resolution", "occurrence_count", "trigger_conditions", "files"),
}
_KINDS: Final[Mapping[type[Craft], Kind]] = {Skill: Kind.SKILL, Pattern: Kind.PATTERN, Gotcha: Kind.GOTCHA}


def kind_of(craft: Craft) -> Kind:
    return _KINDS[type(craft)]


def name_of(craft: Craft) -> str:
    return craft.topic if isinstance(craft, Skill) else craft.title


def attributes_of(craft: Craft) -> dict[str, Any]:
    """The fields as they are kept; confidence and citations are the memory's own."""
    values = {name: getattr(craft, name) for name in FIELDS[kind_of(craft)]}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items() if v is not None}


def check_fields(kind: Kind, attributes: Mapping[str, Any]) -> None:
    """Refuse a field of this kind whose value cannot be one; every other field is the caller's own."""
    for name in FIELDS.get(kind, ()):
        value = attributes.get(name)
        if value is None:
            continue
        if name in _COUNTS:
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise _wrong(kind, f"{name} must be a whole number from 0, not {value!r}")
        elif name in _LISTS:
            if isinstance(value, str) or not isinstance(value, Iterable) or not all(isinstance(v, str) for v in value):
                raise _wrong(kind, f"{name} must be a list of texts, not {value!r}")
        elif not isinstance(value, str):
            raise _wrong(kind, f"{name} must be text, not {value!r}")


def _wrong(kind: Kind, problem: str) -> InvalidInput:
    return InvalidInput(f"{problem}; a {kind} has: {', '.join(FIELDS[kind])}")


def checked(craft: Craft) -> Craft:
    """The craft with its words trimmed; an error where a field cannot be right."""
    kind = kind_of(craft)
    check_fields(kind, {name: getattr(craft, name) for name in FIELDS[kind]})
    words: dict[str, Any] = {}
    for name in FIELDS[kind]:
        value = getattr(craft, name)
        if name in _LISTS:
            words[name] = tuple(dict.fromkeys(item.strip() for item in value if item.strip()))
        elif isinstance(value, str):
            words[name] = value.strip()
    named = FIELDS[kind][0]  # a topic or a title
    if not words.get(named):
        raise _wrong(kind, f"a {kind} needs a {named}")
    return structs.replace(craft, **words)


def compose(craft: Craft) -> str:
    """The text that is indexed and read: every field but the counts."""
    match craft:
        case Skill():
            how = f"How to:\n{craft.implementation_guide}" if craft.implementation_guide else ""
            lists = _listed("Principles", craft.core_principles), _listed("Pitfalls", craft.pitfalls)
            parts = [craft.topic, craft.context, *lists, how]
        case Pattern():
            parts = [craft.title, craft.description, f"Example:\n{craft.example_code}" if craft.example_code else ""]
        case Gotcha():
            resolution = f"Resolution: {craft.resolution}" if craft.resolution else ""
            lists = _listed("Happens when", craft.trigger_conditions), _listed("Affects", craft.files)
            parts = [craft.title, craft.description, resolution, *lists]
        case _:
            assert_never(craft)
    return "\n\n".join(dict.fromkeys(part for part in parts if part))


def _listed(head: str, items: Iterable[str]) -> str:
    lines = [f"- {item}" for item in items]
    return "\n".join([f"{head}:", *lines]) if lines else ""


def affected_files(memory: Memory) -> tuple[str, ...]:
    """Those that a gotcha names, or that were edited upon a decision."""
    told = memory.kind in (Kind.GOTCHA, Kind.DECISION, Kind.PREFERENCE)
    return listed_in(memory.attributes, "files") if told else ()


def listed_in(held: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = held.get(name)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()
