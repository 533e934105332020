"""One table of a TOML text, put in at its end and taken out; every other byte stays as it is."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

import tomlkit
from tomlkit.items import Table

from recallens.cli.clients.json_member import Unfit

# Earlier versions wrote their table between two comments.
_MARKED: Final = re.compile(
    r"(?:\r?\n)?# >>> recallens install\r?\n.*?# <<< recallens install\r?\n?", re.DOTALL
)  # fmt: skip
_TAKEN_OUT: Final = "recallens-taken-out"
_EMPTIED: Final = re.compile(rf"(?:(?<=\n)\r?\n)?\[{_TAKEN_OUT}\][^\n]*\n?")


def put(text: str, table: str, name: str, entry: Mapping[str, Any]) -> str:
    if _tables(text, table).get(name) == entry:
        return text
    bare = take(text, table, name)
    if name in _tables(bare, table):
        raise Unfit(f"its [{table}.{name}] was written by another hand and says something else")
    newline = "\r\n" if "\r\n" in text else "\n"
    joint = "" if not bare else newline if bare.endswith("\n") else newline * 2
    made = bare + joint + written(table, name, entry).replace("\n", newline)
    try:
        if tomllib.loads(made)[table][name] == entry:
            return made
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise Unfit(f"a table cannot be added at its end ({error})") from error
    raise Unfit("a table cannot be added at its end")


def written(table: str, name: str, entry: Mapping[str, Any]) -> str:
    return tomlkit.dumps({table: {name: entry}})


def take(text: str, table: str, name: str) -> str:
    """The text without our table and the empty line before it. What another hand wrote under that name stays."""
    unmarked = _MARKED.sub("", text)
    if not _starts_us(_tables(unmarked, table).get(name)):
        return unmarked
    document = tomlkit.parse(unmarked)
    for key, tables in document.body:
        for own, held in (
            tables.value.body if key is not None and key.key == table and isinstance(tables, Table) else ()
        ):
            if own is not None and own.key == name and isinstance(held, Table):
                _empty(held)
    return _EMPTIED.sub("", tomlkit.dumps(document))


def _empty(table: Table) -> None:
    """Only its header is left, and the blanks and comments behind its last key: they belong to what follows it."""
    body = table.value.body
    last = max((place for place, (key, _) in enumerate(body) if key is not None), default=-1)
    del body[: last + 1]
    table.display_name = _TAKEN_OUT


def _starts_us(entry: object) -> bool:
    """Whether an entry under our name starts our server; another's would be somebody else's work."""
    words = [entry.get("command"), *(entry.get("args") or ())] if isinstance(entry, dict) else []
    return "mcp" in words and any("recallens" in str(word) for word in words)


def _tables(text: str, table: str) -> Mapping[str, Any]:
    try:
        held = tomllib.loads(text).get(table, {})
    except tomllib.TOMLDecodeError as error:
        raise Unfit(f"it cannot be read as TOML ({error})") from error
    if not isinstance(held, dict):
        raise Unfit(f"its {table!r} is no table")
    return held
