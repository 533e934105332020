"""Keeping a skill, a pattern or a gotcha: without secrets, once for each name, its counts growing with every report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import structs

from recallens.errors import InvalidInput
from recallens.ingest.draft import Draft
from recallens.model.craft import (
    FIELDS,
    TITLE_CHARACTERS,
    Craft,
    Gotcha,
    Pattern,
    Skill,
    attributes_of,
    checked,
    compose,
    kind_of,
    listed_in,
    name_of,
)
from recallens.model.memory import Kind, Memory, Sector
from recallens.model.trust import PERSON, Actor, rank
from recallens.store.protocols import Reader
from recallens.text.normalize import normalize
from recallens.text.sentences import cut_at_word, first_sentence

# A title is a line in a list; what a longer one says is in the text all the same.
LONGEST_TITLE = 200
# The first sentence of a text that has no fields stands for its description.
LONGEST_DESCRIPTION = 400

Some = TypeVar("Some", bound=Craft)


def kept(craft: Some) -> Some:
    """Checked, clean and without secrets, as it may be stored."""
    from recallens.ingest.redact import redact_values  # late: only a write needs its rules

    valid = checked(craft)
    words = redact_values(attributes_of(valid))
    lists = {name: tuple(value) for name, value in words.items() if isinstance(value, list)}
    return structs.replace(valid, **{**words, **lists})  # type: ignore[return-value]


def _title(craft: Craft) -> str:
    return cut_at_word(" ".join(name_of(craft).split()), LONGEST_TITLE)


def draft_of(craft: Craft, **attributes: Any) -> Draft:
    """The memory that a craft is kept as."""
    draft = Draft(
        compose(craft),
        title=_title(craft),
        kind=kind_of(craft),
        sector=Sector.REFLECTIVE if isinstance(craft, Gotcha) else Sector.PROCEDURAL,
        citations=craft.citations,
        confidence=craft.confidence if isinstance(craft, Skill) else None,
        attributes=attributes_of(craft),
    )
    return structs.replace(draft, **attributes)


def craft_of(memory: Memory, *, whole: bool = False) -> Craft:
    """The fields of a memory of one of the three kinds; what it does not have is read from its text.

    That is its first sentence, or with `whole` all of it, as is wanted where a new text is made of the old.
    """
    held = memory.attributes
    title = _text(held, "title") or memory.title or first_sentence(memory.content, TITLE_CHARACTERS)
    body = memory.content.strip()
    rest = (body[len(title) :].lstrip(" \n.:") if body.startswith(title) else "") or memory.content
    described = rest.strip() if whole else first_sentence(rest, LONGEST_DESCRIPTION)
    description = _text(held, "description") or memory.summary or described
    common: dict[str, Any] = {"citations": memory.citations, "id": memory.id, "handle": memory.handle}
    match memory.kind:
        case Kind.SKILL:
            return Skill(
                topic=_text(held, "topic") or title,
                context=_text(held, "context") or ("" if "topic" in held else description),
                core_principles=listed_in(held, "core_principles"),
                pitfalls=listed_in(held, "pitfalls"),
                implementation_guide=_text(held, "implementation_guide") or ("" if "topic" in held else memory.content),
                confidence=memory.confidence,
                **common,
            )
        case Kind.PATTERN:
            example = _text(held, "example_code") or None
            return Pattern(title, description, example, _count(held, "success_count"), **common)
        case Kind.GOTCHA:
            return Gotcha(
                title=title,
                description=description,
                resolution=_text(held, "resolution"),
                occurrence_count=_count(held, "occurrence_count"),
                trigger_conditions=listed_in(held, "trigger_conditions"),
                files=listed_in(held, "files"),
                **common,
            )
        case _:
            raise InvalidInput(f"{memory.id} is a {memory.kind}, not one of: {', '.join(FIELDS)}")


def _text(held: Mapping[str, Any], name: str) -> str:
    value = held.get(name)
    return value if isinstance(value, str) else ""


def _count(held: Mapping[str, Any], name: str) -> int:
    """A memory that says nothing of its count has been seen once: when it was written."""
    value = held.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 1


def named(reader: Reader, craft: Craft, project: str | None, by: Actor = PERSON) -> int | None:
    """The memory in use that has this kind and name in the project, of the actor's zone if there is one, else of a
    higher one. What they may not see, or is less trusted, is left aside: nobody's words become another's by their name.
    """
    wanted = normalize(_title(craft))
    titles = reader.memories.crafts(kind_of(craft), project)
    memories = reader.memories.get([num for num, title in titles if normalize(title) == wanted])
    seen = [(num, memory) for num, memory in memories.items() if by.sight.withholds(memory) is None]
    above = [(rank(memory.zone), -num) for num, memory in seen if rank(memory.zone) >= rank(by.zone)]
    return -min(above)[1] if above else None


def merged(old: Craft, new: Craft) -> Craft:
    """What is reported again: counts add up, lists grow, and words that are given anew take the place of the old."""
    if type(old) is not type(new):
        return new
    values: dict[str, Any] = {}
    for name in (*FIELDS[kind_of(new)][1:], "citations"):  # the first is its name
        before, after = getattr(old, name), getattr(new, name)
        match after:
            case tuple():
                values[name] = tuple(dict.fromkeys([*before, *after]))
            case int():
                values[name] = before + after
            case _:
                values[name] = after or before
    return structs.replace(new, **values)


def counted(craft: Craft) -> int:
    if isinstance(craft, Skill):
        return 0
    return craft.success_count if isinstance(craft, Pattern) else craft.occurrence_count
