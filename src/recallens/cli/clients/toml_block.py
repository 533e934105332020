"""One table of a TOML text as a block with marks of ours, put in and taken out; every other byte stays as it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

from recallens.cli.clients.json_member import Unfit

BEGINS, ENDS = "# >>> recallens install", "# <<< recallens install"
_BLOCK: Final = re.compile(rf"(?:\r?\n)?{re.escape(BEGINS)}\r?\n.*?{re.escape(ENDS)}\r?\n?", re.DOTALL)


def put(text: str, table: str, name: str, entry: Mapping[str, Any]) -> str:
    held = _tables(text, table).get(name)
    if held == entry:
        return text
    bare = take(text, table, name)
    if _tables(bare, table).get(name) is not None:
        raise Unfit(f"its [{table}.{name}] was written by another hand and says something else")
    newline = "\r\n" if "\r\n" in text else "\n"
    joint = "" if not bare else newline if bare.endswith("\n") else newline * 2
    made = bare + joint + block(table, name, entry).replace("\n", newline)
    try:
        if tomllib.loads(made)[table][name] == entry:
            return made
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise Unfit(f"a table cannot be added at its end ({error})") from error
    raise Unfit("a table cannot be added at its end")


def take(text: str, table: str, name: str) -> str:
    _tables(text, table)
    return _BLOCK.sub("", text)


def block(table: str, name: str, entry: Mapping[str, Any]) -> str:
    """TOML's strings and lists of strings are written as JSON's are."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    return "\n".join([BEGINS, f"[{table}.{name}]", *lines, ENDS, ""])


def _tables(text: str, table: str) -> Mapping[str, Any]:
    try:
        held = tomllib.loads(text).get(table, {})
    except tomllib.TOMLDecodeError as error:
        raise Unfit(f"it cannot be read as TOML ({error})") from error
    if not isinstance(held, dict):
        raise Unfit(f"its {table!r} is no table")
    return held
