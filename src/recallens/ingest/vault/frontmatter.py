"""The YAML at the head of a note. It is data from anywhere: read safely, and never larger inside than it looks."""

from __future__ import annotations

import datetime
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from math import isfinite
from typing import Any, Final

from recallens.errors import InvalidInput
from recallens.ingest.validate import parse_when, without_secrets
from recallens.text.normalize import MAX_TAG, MAX_TAGS, tag_name

MOST_CHARACTERS: Final = 64 * 1024
MOST_VALUES: Final = 2_000  # after aliases are followed: a few lines of YAML can spell a billion values
DEEPEST: Final = 12
# What of it is kept with every section, as JSON.
MOST_KEPT: Final = 4_096

_OPENING: Final = re.compile(r"(?:[ \t]*\n)*---[ \t]*\n")
_CLOSING: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
# Frontmatter that nobody closed: a key in one word, and the lines that are keys, items or further in.
_UNCLOSED: Final = re.compile(
    r"(?=[ \t]*[a-z_\uac00-\ud7a3][\w-]*:(?:[ \t]|\n|\Z))"
    r"(?P<keys>(?:(?:[ \t]*[^\W\d][\w-]*:(?:[ \t][^\n]*)?|[ \t]+(?!--)[^\n]+|-[ \t][^\n]*)(?:\n|\Z))+)"
    r"(?:[ \t]*-{2,}[ \t]*(?:\n|\Z))?"
)
_PROSE: Final = re.compile(r"^(?![^\s:]*:)[^\W\d_]\S* +\S+ +\S+ +\S", re.MULTILINE)
# A key at the beginning of a line with what belongs to it: the rest of the line, and lines further in.
_KEYED: Final = re.compile(
    r"^(?P<key>[^\W\d][\w -]{0,63}?)[ \t]*:(?:[ \t]+(?P<value>[^\n]*)|(?=\n|\Z))(?P<more>(?:\n(?:[ \t]+|- )[^\n]*)*)",
    re.MULTILINE,
)
_SYNTAX: Final = re.compile(r"[\[{&*!|>%@`]")  # what no plain value begins with
MOST_SALVAGED: Final = 200
_TAG_LIST: Final = re.compile(r"[,\s]+")

_DATES: Final = ("date", "created", "created_at")
# Read into fields of their own, so that they are not kept twice.
_TAKEN: Final = frozenset(("title", "tags", "tag", *_DATES))


def split(text: str) -> tuple[str | None, int]:
    """The frontmatter's YAML and where the note itself begins; None and 0 where there is none."""
    opening = _OPENING.match(text)
    if opening is None:
        return None, 0
    closing = _CLOSING.search(text, opening.end())
    keys = _UNCLOSED.match(text, opening.end())
    if closing is None:  # what is not closed is a rule at the top, unless keys follow it
        return (None, 0) if keys is None else (keys["keys"], keys.end())
    if keys is not None and _PROSE.search(text, keys.end(), closing.start()):
        # A rule that stands further down closes nothing, unless all before it is YAML.
        with suppress(InvalidInput):
            if parse(text[opening.end() : closing.start()][:MOST_CHARACTERS]) is not None:
                return text[opening.end() : closing.start()], min(closing.end() + 1, len(text))
        return keys["keys"], keys.end()
    return text[opening.end() : closing.start()], min(closing.end() + 1, len(text))


def taken(text: str) -> tuple[dict[str, Any], int, str | None]:
    """Its values by key, where the note itself begins, and what was wrong with it."""
    source, start = split(text)
    if source is None:
        return {}, 0, None
    matter, warning = read(source)
    if not _CLOSING.match(text[:start].rstrip("\n").rpartition("\n")[2]):
        return matter or {}, start, f"its frontmatter is not closed by ---; read {', '.join(matter or {}) or 'nothing'}"
    if matter is None:
        return {}, 0, "between --- and --- at its top stands a text, which was read as a part of the note"
    return matter, start, warning


def read(source: str) -> tuple[dict[str, Any] | None, str | None]:
    """Plain JSON values by key, or None where it is but a text, so that it was a part of the note; and what was wrong
    with it. Of frontmatter that cannot be read as a whole, the keys that can be are kept.
    """
    if len(source) > MOST_CHARACTERS:
        return {}, f"its frontmatter is over {MOST_CHARACTERS // 1024} KiB and was left out; move the text below it"
    try:
        listed = parse(source)
        if not isinstance(listed, list):
            return listed, None
        kept = {key: value for item in listed if isinstance(item, dict) for key, value in item.items()}
        known = f"read {', '.join(kept)} all the same" if kept else "it was left out"
        return kept, f"its frontmatter is a list, not keys with their values; {known}"
    except InvalidInput as error:
        kept = _salvaged(textwrap.dedent(source.expandtabs(2)))
        known = f"read {', '.join(kept)} all the same" if kept else "no key of it could be read"
        return kept, f"{error.message}; {known}"


def _salvaged(source: str) -> dict[str, Any]:
    """Key by key: as YAML where that works, else the rest of the line as it stands. A template's blank is no value."""
    values: dict[str, Any] = {}
    left = MOST_CHARACTERS
    for block in islice(_KEYED.finditer(source), MOST_SALVAGED):
        try:
            read = parse(block[0])
            parsed = read if isinstance(read, dict) else {}
        except InvalidInput:
            rest = (block["value"] or "").strip()
            plain = rest and not _SYNTAX.match(rest) and not block["more"].strip()
            parsed = {block["key"]: rest.strip("\"'")} if plain else {}
        left -= len(json.dumps(parsed))
        if left >= 0:
            values |= {key: value for key, value in parsed.items() if "{{" not in str(value)}
    return values


def parse(source: str) -> dict[str, Any] | list[Any] | None:
    """Plain JSON values by key, or a list of them; None where it is neither. What cannot be read is refused."""
    import yaml  # late: an excerpt only looks for where the frontmatter ends

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _bounded(yaml.parse(source, Loader=loader))
        value = yaml.load(source, Loader=loader)  # nosec B506: one of the two safe loaders
        value = {} if value is None else value
        return _Plain().of(value, 0) if isinstance(value, dict | list) else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 2}" if mark is not None else ""
        raise InvalidInput(f"its frontmatter is no YAML{where}: {getattr(error, 'problem', None) or error}") from error
    except (ValueError, RecursionError, OverflowError, TypeError) as error:
        raise InvalidInput(f"its frontmatter cannot be read: {error}") from error


def _bounded(events: Iterator[Any]) -> None:
    """Refuse what nests too deep or spells out too much before anything is built of it: the loader's own recursion has
    no bound, and merged keys multiply. An alias counts as much as what it stands for."""
    sizes: dict[str, int] = {}
    within: list[tuple[str | None, int]] = []  # the anchors of what is open, and how much came before each
    count = 0
    for event in events:
        kind, anchor = type(event).__name__, getattr(event, "anchor", None)
        if kind == "AliasEvent":
            count += sizes.get(str(anchor), 1)
        elif kind == "ScalarEvent":
            count += 1
            if anchor is not None:
                sizes[anchor] = 1
        elif kind in ("SequenceStartEvent", "MappingStartEvent"):
            within.append((anchor, count))
            count += 1
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            anchor, before = within.pop()
            if anchor is not None:
                sizes[anchor] = count - before
        if count > 2 * MOST_VALUES or len(within) > DEEPEST + 1:  # keys count here as well
            raise _too_large()


def _too_large() -> InvalidInput:
    told = f"its frontmatter holds over {MOST_VALUES:,} values or is over {DEEPEST} deep, aliases followed"
    return InvalidInput(told)


class _Plain:
    """Turns values into plain ones, and counts them as it goes: an alias counts as often as it is used."""

    def __init__(self) -> None:
        self.left = MOST_VALUES

    def of(self, value: Any, depth: int) -> Any:
        self.left -= 1
        if self.left < 0 or depth > DEEPEST:
            raise _too_large()
        match value:
            case dict():
                return {str(key): self.of(item, depth + 1) for key, item in value.items()}
            case list() | tuple() | set():
                return [self.of(item, depth + 1) for item in value]
            case datetime.date():
                return value.isoformat()
            case float() if not isfinite(value):
                return str(value)
            case bytes():
                return f"{len(value)} bytes"
            case _:
                return value


def title(matter: Mapping[str, Any]) -> str | None:
    stated = matter.get("title")
    return " ".join(str(stated).split()) or None if isinstance(stated, str | int | float) else None


def tags(matter: Mapping[str, Any]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for key in ("tags", "tag"):
        value = matter.get(key)
        listed = _TAG_LIST.split(value) if isinstance(value, str) else value if isinstance(value, list) else []
        names |= dict.fromkeys(tag_name(str(tag)) for tag in listed if isinstance(tag, str | int | float))
    return tuple(name for name in names if 0 < len(name) <= MAX_TAG)[:MAX_TAGS]


def created(matter: Mapping[str, Any], now: int) -> int | None:
    """The first date that can be read; what is no date is only an attribute."""
    for key in _DATES:
        with suppress(InvalidInput):
            return parse_when(matter.get(key), now_ms=now)
    return None


def kept(matter: Mapping[str, Any]) -> dict[str, Any]:
    """What no field holds, without secrets, as much as there is room for."""
    fields: dict[str, Any] = {}
    room = MOST_KEPT
    for key, value in matter.items():
        unread = key not in _TAKEN or (key in _DATES and created({key: value}, 0) is None)
        if not unread or value in (None, "", [], {}):
            continue
        field = {without_secrets(key): safe(key, value)}
        size = len(json.dumps(field, ensure_ascii=False).encode())
        if size <= room:
            fields |= field
            room -= size
    return fields


def safe(key: str, value: Any) -> Any:
    """A key such as `password` says what its value is, so that both are read together."""
    if isinstance(value, dict):
        return {without_secrets(inner): safe(inner, item) for inner, item in value.items()}
    if isinstance(value, list):
        return [safe(key, item) for item in value]
    if not isinstance(value, str):
        return value
    from recallens.ingest.redact import redact  # late, as above

    text, kinds = redact(f"{key}: {value}")
    return text.partition(": ")[2] if kinds else value
