"""One member of an object inside a JSON text, put in and taken out; every other byte stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, Final

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_INDENT: Final = "  "


class Unfit(ValueError):
    """The text cannot be edited this way; says why."""


@dataclass(frozen=True, slots=True)
class Span:
    """Where a member stands: its key's first character, its value's first and the one after its last."""

    key: str
    start: int
    value: int
    end: int


def put(text: str, member: str, name: str, entry: Mapping[str, Any] | Sequence[Any]) -> str:
    """The text in which `member` holds `entry` under `name`."""
    whole = _checked(text, member)
    newline = "\r\n" if "\r\n" in text else "\n"
    if not text.strip():
        return _written({member: {name: entry}}, newline, "", _INDENT) + newline
    opening = _after_blank(text, 0)
    unit = _unit(text, opening)
    servers = _find(text, opening, member)
    if servers is None:
        return _inserted(text, opening, member, _written({name: entry}, newline, unit, unit), newline, "", unit)
    depth = _depth(text, servers.start)
    value = _written(entry, newline, depth + unit, unit)
    own = _find(text, servers.value, name)
    if own is None:
        return _inserted(text, servers.value, name, value, newline, depth, unit)
    if whole[member][name] == entry:
        return text
    return text[: own.value] + value + text[own.end :]


def take(text: str, member: str, name: str) -> str:
    """The text without that entry, and without the object that it leaves empty where nothing else was in it."""
    if not text.strip():
        return text
    _checked(text, member)
    opening = _after_blank(text, 0)
    servers = _find(text, opening, member)
    if servers is None or _find(text, servers.value, name) is None:
        return text
    if [one.key for one in _members(text, servers.value)] == [name]:
        return _removed(text, opening, member)
    return _removed(text, servers.value, name)


def _checked(text: str, member: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unfit(f"it is not plain JSON ({error}); comments and trailing commas cannot be kept") from error
    if not isinstance(whole, dict):
        raise Unfit("it holds no JSON object")
    if not isinstance(whole.get(member, {}), dict):
        raise Unfit(f"its {member!r} is no object")
    return whole


# ── where things stand ──


def _after_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _members(text: str, opening: int) -> Iterator[Span]:
    """Of the object whose brace is at `opening`; the text has been read as JSON before."""
    decoder = json.JSONDecoder()
    at = _after_blank(text, opening + 1)
    while text[at] != "}":
        start = at
        key, after = scanstring(text, at + 1)
        value = _after_blank(text, _after_blank(text, after) + 1)
        _, end = decoder.raw_decode(text, value)
        yield Span(key, start, value, end)
        at = _after_blank(text, end)
        if text[at] == ",":
            at = _after_blank(text, at + 1)


def _find(text: str, opening: int, key: str) -> Span | None:
    """The last of that name, as every reader of JSON takes it."""
    return next((one for one in reversed(list(_members(text, opening))) if one.key == key), None)


def _depth(text: str, start: int) -> str:
    """The blanks before what begins its line."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line if not line.strip() else ""


def _unit(text: str, opening: int) -> str:
    first = next(_members(text, opening), None)
    return (_depth(text, first.start) if first is not None else "") or _INDENT


# ── writing ──


def _written(value: Any, newline: str, depth: str, unit: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return (newline + depth).join(lines)


def _inserted(text: str, opening: int, key: str, value: str, newline: str, depth: str, unit: str) -> str:
    """After the last member, or as the only one."""
    line = f"{newline}{depth}{unit}{json.dumps(key)}: {value}"
    members = list(_members(text, opening))
    if members:
        return text[: members[-1].end] + "," + line + text[members[-1].end :]
    closing = _after_blank(text, opening + 1)
    return text[: opening + 1] + line + newline + depth + text[closing:]


def _removed(text: str, opening: int, key: str) -> str:
    """With the comma that tied it to its neighbour."""
    members = list(_members(text, opening))
    place = max(number for number, one in enumerate(members) if one.key == key)
    own = members[place]
    if len(members) == 1:
        return text[: opening + 1] + text[_after_blank(text, own.end) :]
    if place:
        return text[: members[place - 1].end] + text[own.end :]
    return text[: own.start] + text[members[1].start :]
