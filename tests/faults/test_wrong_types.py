"""Whatever type a library call is given, it works or raises one of our own errors: never the driver's, never Python's.

The public verbs and nouns of the engine are walked by their signatures, so that a new one is tried as it comes.
"""

from __future__ import annotations

import inspect
import math
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recallens import Draft, Engine
from recallens.errors import RecallensError
from recallens.model.query import SearchOptions
from recallens.store.records import Listing
from standing import Open

# All of them with RECALLENS_TYPES=1; otherwise each parameter gets two of the wrong values.
EVERY = 1 if os.environ.get("RECALLENS_TYPES") else 11
NOUNS = (
    "memories", "recalls", "layers", "sessions", "crafts", "tasks", "vaults", "audit", "tokens", "encoder",
    "maintenance",
)  # fmt: skip
WRONG: tuple[Any, ...] = (
    None, 3, -1, 2**70, 2.5, math.inf, math.nan, True, "", "x", "\ud800", b"x", object(), [], [1], [None], ["x"],
    ["\ud800"], {"a": 1}, {1}, ("m1",), Path("x"), 10**400,
)  # fmt: skip
# Right values by the name of the parameter, for those that a call cannot do without.
RIGHT: dict[str, Any] = {
    "content": "A text", "usage": "recalled", "session": "s1", "text": "cache", "query": "cache", "spec": "none",
    "namespaces": ["default"], "approve": True, "older_than_days": 100, "path": "a.md", "reward": 0.5, "limit": 3,
    "sessions": [], "drafts": [], "listing": Listing(), "kind": "skill", "topic": "cache", "owner": "o",
    "title": "A title", "description": "A description", "symptom": "It fails", "resolution": "Mend it",
}  # fmt: skip
MEMORIES = ("id", "old", "new", "source", "target", "memory", "observation_id")
RECALLS = ("snapshot", "before", "after", "first", "second")
# What waits for the world or ends the scene; what is handed a stream or what another call gave.
LEFT_OUT = {
    "vaults.watch", "encoder.detect", "encoder.bootstrap", "encoder.korean_share", "maintenance.remove_namespace",
    "encoder.use", "encoder.change", "maintenance.reindex", "encoder.clear", "audit.watched", "maintenance.backup",
}  # fmt: skip


def verbs(engine: Engine) -> Iterator[tuple[str, Callable[..., Any]]]:
    for place, holder in (("", engine), *((f"{noun}.", getattr(engine, noun)) for noun in NOUNS)):
        for name in dir(holder):
            verb = getattr(holder, name)
            if not name.startswith("_") and inspect.ismethod(verb) and name not in ("close", "open"):
                yield f"{place}{name}", verb


def calls(name: str, verb: Callable[..., Any], engine: Engine) -> Iterator[tuple[str, Callable[[], Any]]]:
    """One call a parameter and wrong value, with right values for what else is needed."""
    parameters = inspect.signature(verb).parameters
    starred = [key for key, p in parameters.items() if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    keys = [key for key in parameters if parameters[key].kind is not inspect.Parameter.VAR_KEYWORD]
    if any(parameters[key].kind is inspect.Parameter.VAR_KEYWORD for key in starred):
        keys += [key for key in SearchOptions.__annotations__ if key not in keys]
        keys += [key for key in Draft.__struct_fields__ if key not in keys] if name.endswith("remember") else []
    needed = [key for key, p in parameters.items() if p.default is p.empty and key not in starred]
    for place, key in enumerate(keys):
        given = {need: right(name, need, engine) for need in needed if need != key}
        for value in WRONG[place % EVERY :: EVERY]:
            yield f"{name}({key}={value!r:.40})", partial(drained, verb, given | {key: value}, parameters)


def right(name: str, key: str, engine: Engine) -> Any:
    """What is asked about is made anew: the call before may have deleted it."""
    if key == "query" and name in ("recall", "recalls.ledger", "recalls.sent"):
        return engine.recalls.query("cache")
    if key in MEMORIES and not name.startswith(("recalls.snap", "recalls.rec")):
        return engine.remember(f"The cache, once more: {time.monotonic_ns()}", dedupe=False).id
    if key == "task" or name in ("tasks.get", "tasks.end", "tasks.running"):
        return engine.tasks.start("Mend the cache").id
    if key in RECALLS or (name.startswith(("recalls.", "replay", "diff")) and key in ("id", "name")):
        engine.search("cache", session="s1")
        return engine.recalls.last("s1").snapshotId
    return RIGHT.get(key, "x")


def drained(verb: Callable[..., Any], given: dict[str, Any], parameters: Any) -> None:
    placed = [given.pop(key) for key, p in parameters.items() if p.kind is p.POSITIONAL_ONLY and key in given]
    for key, parameter in parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL and key in given:
            placed += [given.pop(key)]
    result = verb(*placed, **given)
    if inspect.isgenerator(result):
        list(result)


@pytest.fixture
def engine(opened: Open) -> Engine:
    engine = opened("types.db", encoder="none")
    for at in range(3):
        engine.remember(f"A text about the cache, number {at}", session="s1")
    engine.search("cache", session="s1")
    return engine


def test_every_verb_with_every_wrong_type_answers_or_raises_an_error_of_ours(engine: Engine) -> None:
    tried, escaped = 0, []
    for name, verb in verbs(engine):
        if name in LEFT_OUT:
            continue
        for told, call in calls(name, verb, engine):
            tried += 1
            try:
                call()
            except RecallensError:
                pass
            except Exception as error:  # what is looked for
                escaped.append(f"{told}: {type(error).__name__}: {str(error)[:80]}")
    assert escaped == []
    assert tried > 12_000 / EVERY
