"""A route's answer: the operation performed in a thread, its bytes sent with what a cache and a client need to know."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as StarletteRoute

from recallens.errors import InvalidInput
from recallens.http.idempotency import HEADER, REPLAYED, checked_key, once, request_digest
from recallens.http.parameters import BRIEF, from_body, from_query
from recallens.http.problems import problem_of, response_of
from recallens.http.requests import caller_of, engine_of, metrics_of, worked
from recallens.http.routes import ROUTES, Route
from recallens.operations import OPERATIONS, Answer, Operation, Written, perform
from recallens.operations.operation import allowed
from recallens.render import FORMATS

# A rendered page has its style in it, and needs nothing else.
_PAGE_POLICY = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
_OF_ONE_CALLER = {"Cache-Control": "private", "Vary": "Authorization, Cookie"}


def routes(table: Sequence[Route] = ROUTES) -> list[BaseRoute]:
    """One Starlette route a path, which knows all of its methods, so that a wrong one is told the right ones."""
    by_path: dict[str, dict[str, Route]] = {}
    for route in table:
        by_path.setdefault(route.path, {})[route.method] = route
    return [
        StarletteRoute(path, _at(methods), methods=[*methods, "OPTIONS"])
        for path, methods in sorted(by_path.items(), key=lambda item: "{" in item[0])
    ]


def _at(methods: Mapping[str, Route]) -> Callable[[Request], Any]:
    allowed = ", ".join(sorted({*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])}))

    async def endpoint(request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": allowed})
        return await answered(request, methods["GET" if request.method == "HEAD" else request.method])

    return endpoint


async def answered(request: Request, route: Route) -> Response:
    raw = b""
    if route.has_body:
        raw, given = await from_body(request, route)
        operation = chosen(route, given.pop(BRIEF, False) if route.brief is not None else False)
    else:
        said = request.query_params.getlist(BRIEF) if route.brief is not None else []
        operation = chosen(route, {"true": True, "false": False}.get(said[-1], said[-1]) if said else False)
        given = from_query(request, route, operation.arguments)
    given |= {name: request.path_params[name] for name in route.in_path}
    if route.writes and (key := checked_key(request.headers.get(HEADER))) is not None:
        return await _once(request, route, operation, given, raw, key)
    found, text = await worked(request, partial(_performed, request, operation, given))
    if isinstance(found, Answer):
        metrics_of(request).recalled(found.tiers, found.degraded)
    return _response(request, route.status, text, found.format if isinstance(found, Written) else "json")


def chosen(route: Route, brief: object) -> Operation:
    """`brief` says which of two operations is meant, and is an argument of neither."""
    if not isinstance(brief, bool):
        raise InvalidInput(f"{BRIEF} must be true or false, not {str(brief)[:80]!r}")
    return OPERATIONS[route.brief] if brief and route.brief is not None else route.operation


def _performed(request: Request, operation: Operation, given: Mapping[str, Any]) -> tuple[Answer | Written, str]:
    """The answer and its text, which is written in the thread too: the loop has others to answer."""
    trace_id = request.state.given_trace_id
    found = perform(operation, engine_of(request), caller_of(request), given, trace_id=trace_id, strict=True)
    return found, found.text


async def _once(
    request: Request, route: Route, operation: Operation, given: Mapping[str, Any], raw: bytes, key: str
) -> Response:
    caller, named = caller_of(request), given.get("namespace")
    # Before a key is kept: who may not do it leaves nothing behind.
    namespace = allowed(caller, operation.needs, named if isinstance(named, str) else None).namespace
    target = f"{request.url.path}?{request.url.query}"

    def work() -> tuple[int, str]:
        return route.status, _performed(request, operation, given)[1]

    status, body, again = await worked(
        request,
        partial(
            once,
            engine_of(request),
            owner=caller.owner or "",
            key=key,
            request=request_digest(route.method, target, raw),
            namespace=namespace,
            work=work,
        ),
    )
    response = _response(request, status, body, "json")
    if again:
        response.headers[REPLAYED] = "true"
    return response


def _response(request: Request, status: int, text: str, format: str) -> Response:
    body = text.encode("utf-8", "surrogatepass")
    headers = dict(_OF_ONE_CALLER) | (_PAGE_POLICY if format == "html" else {})
    if request.method not in ("GET", "HEAD"):
        headers["Cache-Control"] = "no-store"
        return Response(body, status, headers, FORMATS[format][1])
    headers["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    if _is_known(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return Response(body, status, headers, FORMATS[format][1])


def _is_known(header: str | None, etag: str) -> bool:
    if header is None:
        return False
    known = [one.strip().removeprefix("W/") for one in header.split(",")]
    return etag in known or known == ["*"]


async def on_http_error(request: Request, error: Exception) -> Response:
    """What the router refuses, as the same kind of problem."""
    assert isinstance(error, HTTPException)
    return response_of(problem_of(error, trace_id=request.state.trace_id), request)
