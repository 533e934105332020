"""A checked query from loose options: every wrong one is an error that lists what would be right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from enum import Enum, StrEnum
from typing import Any, Final

from recallens.config import Settings
from recallens.errors import InvalidInput, UnknownOption
from recallens.ingest.validate import (
    epoch_ms,
    label,
    namespace_name,
    option,
    parse_when,
    tags,
    unit_interval,
    without_secrets,
)
from recallens.model.memory import Clock
from recallens.model.plan import INTENT_ALIASES, Intent, Scope
from recallens.model.query import (
    MAX_LIMIT,
    MAX_QUERY_CHARACTERS,
    NEUTRAL,
    OPTIONS,
    Check,
    Filters,
    Option,
    Query,
    Situation,
    place_of,
)
from recallens.model.salience import DAY_MS
from recallens.model.times import EARLIEST_MS, LATEST_MS
from recallens.recall.plan import PLANNED_CHARACTERS, measure, windows_of
from recallens.recall.presets import Preset, preset_named
from recallens.recall.question import dynamic_k
from recallens.text.normalize import clean
from recallens.text.times import day_of, milliseconds, time_references


def question(text: str, options: Mapping[str, Any], settings: Settings, clock: Clock) -> Query:
    """`options` are those of `SearchOptions`. What they leave open, the settings and the question itself decide."""
    if not isinstance(text, str):
        raise InvalidInput(f"a query is text, not {type(text).__name__}")
    if len(text) > MAX_QUERY_CHARACTERS:
        raise InvalidInput(
            f"the query has {len(text):,} characters; at most {MAX_QUERY_CHARACTERS:,} are allowed",
            hint="Ask with the part that matters, or add the text as a document.",
        )
    unknown = options.keys() - OPTIONS.keys()
    if unknown:
        raise InvalidInput(
            f"unknown search option {sorted(unknown)[0]!r}; the options are: {', '.join(sorted(OPTIONS))}"
        )
    text, values = without_secrets(clean(text)), _values(options)
    if "now" not in values:
        values["now"] = clock()
    at = values.get("as_of", values["now"])
    for side, place in enumerate(("filters.since", "filters.until")):
        if isinstance(said := values.get(place), str):
            values[place] = edges(said, at)[side]
    if (values.get("filters.since") or 0) >= values.get("filters.until", math.inf):
        raise InvalidInput("since must be before until: no day lies between them")
    preset = preset_named(values.get("preset") or settings.preset)
    if "limit" in values:  # a caller's limit holds after a wider look too
        values["max_results"] = min(values["limit"], values.get("max_results", MAX_LIMIT))
    most = values.get("max_results", MAX_LIMIT)
    values["preset"] = preset.name
    values["limit"] = min(_limit(text, values.get("limit"), preset, settings, at), most)
    values.setdefault("namespace", namespace_name(settings.namespace))
    values.setdefault("expand", preset.fused)
    values["certify"] = values.get("certify", False) or values.get("widen", False)
    records: dict[str, dict[str, Any]] = {"": {}, "filters": {}, "situation": {}}
    for place, value in values.items():
        record, _, field = place.rpartition(".")
        records[record][field] = value
    filters, situation = Filters(**records["filters"]), Situation(**records["situation"])
    query = Query(text, filters=filters, situation=situation, **records[""])
    scope = filters.scope
    own = {Scope.TASK: query.task, Scope.WORKTREE: query.worktree, Scope.PROJECT: filters.project}
    if scope in own and own[scope] is None:  # one narrower than all needs to know whose it is
        raise InvalidInput(
            f"scope {scope} needs the {scope} that is meant", hint=f"Give it as --{scope}, or use --scope org."
        )
    return query


def _values(options: Mapping[str, Any]) -> dict[str, Any]:
    """What was said, checked, by its place in the query."""
    values: dict[str, Any] = {}
    for name, known in OPTIONS.items():
        value = options.get(name)
        if value is None or (value == "" and known.check is Check.CHOICE and NEUTRAL[name] is not None):
            continue
        if known.parts:
            values |= {known.parts[part]: share for part, share in _shares(name, value, known)}
        elif place := place_of(name):
            values[place] = _kept(_CHECKS[known.check](name.replace("_", " "), value, known))
    return values


def _kept(value: Any) -> Any:
    """What a recall is recorded with holds no secret, whether in a file's name, a command or the name of a weight."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return without_secrets(value)
    if isinstance(value, tuple):
        return tuple(map(_kept, value))
    if isinstance(value, Mapping):
        return {_kept(name): each for name, each in value.items()}
    return value


def _limit(text: str, asked: int | None, preset: Preset, settings: Settings, now: int) -> int:
    """What the caller or the settings say; else, under a preset that plans, what the question calls for."""
    if asked is None and preset.planned and "limit" not in settings.sources:
        head = text[:PLANNED_CHARACTERS]
        return dynamic_k(measure(head, dated=bool(windows_of(head, now))).score)
    return within_limit("limit", settings.limit) if asked is None else asked


# ── the check of each kind of option; `name` is the option's, in words ──


def _whole(name: str, value: Any, least: int, most: float, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(f"{name} must be {what}, not {value!r}")
    return value


def within_limit(name: str, value: Any) -> int:
    return _whole(name, value, 1, MAX_LIMIT, f"a whole number from 1 to {MAX_LIMIT:,}")


def positive(name: str, value: Any) -> int:
    return _whole(name, value, 1, math.inf, "a positive whole number")


def _intent(name: str, value: Any) -> Intent:
    if isinstance(value, str) and value in INTENT_ALIASES:
        return INTENT_ALIASES[value]
    return option(Intent, value, name)


def _factors(value: Mapping[str, float]) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"weights must be given by name, not {value!r}")
    factors = dict(value)
    for name, factor in factors.items():
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 <= factor < math.inf:
            raise InvalidInput(f"the weight of {name!r} must be a number from 0, not {factor!r}")
    return factors


def _edge(name: str, value: object) -> int | None:
    """A bound of a time; one beyond all days is as good as the last: the days beside it are looked at too."""
    known = epoch_ms(name, value)
    return None if known is None else min(max(known, EARLIEST_MS + 366 * DAY_MS), LATEST_MS - 366 * DAY_MS)


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a list of texts, not {value!r}")
    texts = tuple(value)
    for text in texts:
        if not isinstance(text, str):
            raise InvalidInput(f"{name} must be a list of texts, and {text!r} is none")
    return texts


def edges(said: str, now: int) -> tuple[int, int]:
    """Where a time in words begins, and where it ends; a moment is both."""
    found = time_references(said, day_of(now))
    if len(found) == 1 and "T" not in said:
        return milliseconds(found[0].start), milliseconds(found[0].end)
    try:
        moment = parse_when(said, now_ms=now)
    except InvalidInput as error:
        raise InvalidInput(
            f"{said!r} is not a time that is understood", hint="Say 2026-03-01, 3 days ago, last week, 3d …"
        ) from error
    return moment, moment


def _commands(value: Any) -> tuple[str, ...]:
    if (
        isinstance(value, str)
        or not isinstance(value, Iterable)
        or not all(isinstance(command, str) for command in value)
    ):
        raise InvalidInput(f"commands must be a list of texts, not {value!r}")
    return tuple(clean(command) for command in value)


def _tags(value: object) -> tuple[str, ...]:
    if not isinstance(value, Iterable):
        raise InvalidInput(f"tags must be a list of texts, not {value!r}")
    return tags(value)


def _shares(name: str, value: Any, known: Option) -> Iterable[tuple[str, float]]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} must give a share for each of {', '.join(known.parts)}, not {value!r}")
    for part, share in value.items():
        if part not in known.parts:
            raise UnknownOption(name.replace("_", " "), part, known.parts)
        yield part, unit_interval(part, share)


_CHECKS: Final[Mapping[Check, Callable[[str, Any, Option], Any]]] = {
    Check.LABEL: lambda name, value, _: label(name, value),
    Check.NAMESPACE: lambda _, value, __: namespace_name(value),
    Check.TEXTS: lambda name, value, _: _texts(name, value),
    Check.TAGS: lambda _, value, __: _tags(value),
    Check.COMMANDS: lambda _, value, __: _commands(value),
    Check.CHOICE: lambda name, value, known: option(known.choices or StrEnum, value, name),
    Check.INTENT: lambda name, value, _: _intent(name, value),
    Check.PRESET: lambda _, value, __: value and preset_named(value).name,
    Check.LIMIT: lambda name, value, _: within_limit(name, value),
    Check.SIZE: lambda name, value, _: positive(name, value),
    Check.COUNT: lambda name, value, _: _whole(name, value, 0, math.inf, "a whole number from 0"),
    Check.SHARE: lambda name, value, _: unit_interval(name, value),
    Check.FLAG: lambda _, value, __: bool(value),
    Check.MOMENT: lambda name, value, _: epoch_ms(name, value),
    Check.EDGE: lambda name, value, _: value if isinstance(value, str) else _edge(name, value),
    Check.FACTORS: lambda _, value, __: _factors(value),
}
