"""One request: the engine and the caller behind it, a thread to work in, and the arguments that it gives."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

import msgspec
from starlette.requests import Request

from recallens.engine import Engine
from recallens.errors import InvalidInput
from recallens.http.entrance import Entrance
from recallens.http.problems import Refused
from recallens.http.routes import Route
from recallens.http.turns import WorkQueue
from recallens.operations import Caller
from recallens.operations.arguments import SPELLINGS, Arguments, known_as, schema_of

T = TypeVar("T")
NOBODY = ""
PERSON = "the person"


def turn_of(caller: Caller | None) -> str:
    """Whose work it is: who share a name wait for each other."""
    return NOBODY if caller is None else caller.owner or PERSON


def engine_of(request: Request) -> Engine:
    return cast("Engine", request.app.state.engine)


def caller_of(request: Request) -> Caller:
    """Set by the guard, which lets no request through without one."""
    return cast("Caller", request.state.caller)


def entrance_of(request: Request) -> Entrance:
    return cast("Entrance", request.app.state.entrance)


async def worked(request: Request, work: Callable[[], T], *, ends: bool = True) -> T:
    """The core is synchronous: it works in a thread, in turn, so that the others are still answered.

    At the deadline the answer is given up, and the work with it, unless it is to be finished for nobody (`ends`).
    """
    queue: WorkQueue = request.app.state.work
    request.state.worked_on = True
    caller: Caller | None = getattr(request.state, "caller", None)
    seconds = queue.limits.deadline
    try:
        async with asyncio.timeout(seconds):
            return await queue.run(work, caller=turn_of(caller), seconds=seconds if ends else None)
    except TimeoutError as error:
        raise Refused(
            504, "TooLate", f"there was no answer within {seconds:g} seconds",
            hint="What was begun may still be done; with the same Idempotency-Key it is done only once.",
        ) from error  # fmt: skip


JSON = "application/json"
BRIEF = "brief"
_INTEGER = re.compile(r"-?[0-9]{1,20}")
_NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?")
_WITHIN = re.compile(r"(\w+)\[(.{1,200})\]", re.DOTALL)


@cache
def kinds_of(model: type[Arguments]) -> Mapping[str, str]:
    """What each argument is written as in a query, by the name it has outside."""
    schema, shared = schema_of(model)
    kinds = {name: _kind(own, shared) for name, own in schema["properties"].items()}
    called = {name: own[0] for name in SPELLINGS if (own := known_as(name, kinds))}
    return kinds | {name: "boolean" if name == "includeDocuments" else kinds[own] for name, own in called.items()}


def _kind(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return _kind(shared[schema["$ref"].rpartition("/")[2]], shared)
    for choice in schema.get("anyOf", ()):
        if choice.get("type") != "null":
            return _kind(choice, shared)
    return str(schema.get("type", "string"))


def from_query(request: Request, route: Route, model: type[Arguments]) -> dict[str, Any]:
    """`a=1&a=2` is a list of two, `weights[semantic]=2` an entry of a mapping; anything else may stand once."""
    kinds, arguments = kinds_of(model), dict[str, Any]()
    for name, text in request.query_params.multi_items():
        if name == BRIEF and route.brief is not None and name not in arguments:
            continue
        called = route.renamed.get(name, name)
        if called in route.in_path or (called != name and name in kinds):
            raise _unknown(name, route, kinds)
        within = _WITHIN.fullmatch(called)
        kind = kinds.get(within[1] if within else called)
        if within is not None and kind == "object":
            arguments.setdefault(within[1], {})[within[2]] = _value(text, "number")
        elif kind is None or kind == "object" or within is not None:
            raise _unknown(name, route, kinds)
        elif kind == "array":
            arguments.setdefault(called, []).append(text)
        elif called in arguments:
            raise InvalidInput(f"{name} is given twice", hint="Give it once.")
        else:
            arguments[called] = _value(text, kind)
    for name, called in route.renamed.items():
        if called not in arguments and called in schema_of(model)[0].get("required", ()):
            raise InvalidInput(f"{name} is missing: the question", hint=f"For example ?{name}=how+long+is+it+cached")
    return arguments


def _value(text: str, kind: str) -> Any:
    """As JSON would have it; what is not of its kind stays a text, and is refused as one."""
    if kind == "integer" and _INTEGER.fullmatch(text):
        return int(text)
    if kind == "number" and _NUMBER.fullmatch(text):
        return float(text)
    return {"true": True, "false": False}.get(text, text) if kind == "boolean" else text


def _unknown(name: str, route: Route, kinds: Mapping[str, str]) -> InvalidInput:
    spelled = {called: name for name, called in route.renamed.items()}
    names = ", ".join(spelled.get(own, own) for own in kinds if own not in (*route.in_path, *SPELLINGS))
    return InvalidInput(f"unknown parameter {name[:100]!r}; the parameters are: {names}")


async def from_body(request: Request, route: Route) -> tuple[bytes, dict[str, Any]]:
    if request.query_params:
        message = f"{route.method} takes its arguments from the body, not from the query"
        raise InvalidInput(message, hint="Send them as JSON.")
    raw = await request.body()
    if not raw.strip():
        return raw, {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise Refused(415, "UnsupportedMediaType", f"a body is {JSON}, not {kind[:100] or 'unnamed'}")
    try:
        arguments = json.loads(raw, parse_constant=_no_number, parse_float=_number)
        msgspec.json.encode(arguments)  # refuses half of a surrogate pair, which is no text
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the body is no JSON: {str(error)[:200]}") from error
    if not isinstance(arguments, dict):
        raise InvalidInput("the body must be a JSON object")
    for name in route.in_path:
        if name in arguments:
            raise InvalidInput(f"{name} is in the path; leave it out of the body")
    return raw, arguments


def _number(text: str) -> float | int:
    """3.0 is a whole number, in JSON and in a schema."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 1 << 53 else value


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
