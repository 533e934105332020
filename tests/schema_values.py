"""Values that a JSON schema allows, by chance."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

TEXT: object = object()  # what a fuzzed field holds where its schema asks for words


def drawn(chance: Random, kind: Mapping[str, Any]) -> Any:
    """A value that one schema of a field allows; TEXT where that is any text."""
    if "enum" in kind:
        return chance.choice(kind["enum"])
    values: dict[str, tuple[Any, ...]] = {
        "boolean": (True, False), "integer": (0, 1, 2, 5, 50, 1_000), "number": (0.0, 0.5, 1.0, 7.0),
        "object": ({},), "null": (None,),
    }  # fmt: skip
    return chance.choice(values.get(kind.get("type", ""), (TEXT,)))
