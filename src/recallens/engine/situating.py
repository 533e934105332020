"""What the asker is at, from loose options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recallens.errors import InvalidInput, UnknownOption
from recallens.ingest.validate import label, unit_interval
from recallens.model.query import Situation
from recallens.text.normalize import clean

_WEIGHTS = {
    "actionability_weights": {"fileMatch": "file_match", "commandMatch": "command_match"},
    "hierarchical_weights": {"sameLevel": "same_level", "farMismatch": "far_level"},
}


def situation(options: Mapping[str, Any]) -> Situation:
    commands = options.get("commands") or ()
    if isinstance(commands, str) or not all(isinstance(command, str) for command in commands):
        raise InvalidInput(f"commands must be a list of texts, not {commands!r}")
    shares: dict[str, float] = {}
    for option, names in _WEIGHTS.items():
        given = options.get(option) or {}
        if not isinstance(given, Mapping):
            raise InvalidInput(f"{option} must give a share for each of {', '.join(names)}, not {given!r}")
        for name, value in given.items():
            if name not in names:
                raise UnknownOption(option.replace("_", " "), name, names)
            shares[names[name]] = unit_interval(name, value)
    return Situation(
        open_file=label("open file", options.get("open_file")),
        commands=tuple(clean(command) for command in commands),
        levels=bool(options.get("hierarchical")),
        **shares,
    )
