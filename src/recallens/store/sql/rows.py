"""Rows as values: what cannot be read is left out, and ends no read."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final, TypeVar

import msgspec

from recallens.errors import InvalidInput

Row = tuple[Any, ...]
Value = TypeVar("Value")

UNREADABLE_ERRORS: Final = (ValueError, KeyError, TypeError, OverflowError, msgspec.MsgspecError, InvalidInput)
# More rows than any store has: SQLite's way to say "all" is a negative limit, which PostgreSQL refuses.
NO_LIMIT: Final = 1 << 60

# A mapping as one JSON object, or a list as one JSON array.
packed_record = json.JSONEncoder(ensure_ascii=False).encode


def packed(values: Collection[Any]) -> str:
    """A list as one parameter, so that no query is made per row. It is all of one kind, most often numbers."""
    items = list(values)
    return str(items) if items and type(items[0]) is int else packed_record(items)


def readable(rows: Iterable[Any], make: Callable[..., Value]) -> Iterator[Value]:
    """What each row is made into; a row that cannot be is left out."""
    for row in rows:
        try:
            yield make(*row)
        except UNREADABLE_ERRORS:
            continue


def decoded(rows: Iterator[Any]) -> Iterator[Any]:
    """The rows whose texts are texts: a cursor goes on after one that cannot be decoded."""
    while True:
        try:
            yield next(rows)
        except StopIteration:
            return
        except UnicodeDecodeError:
            continue
