"""Every endpoint: the operations, the server's own state, and signing in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute
from starlette.routing import Route as StarletteRoute

from recallens.errors import InvalidInput, RecallensError, TokenRefused
from recallens.http.guard import COOKIE
from recallens.http.idempotency import HEADER, REPLAYED, checked_key, once, request_digest
from recallens.http.openapi import document
from recallens.http.problems import RETRY_SECONDS, problem_of, refused, response_of
from recallens.http.requests import BRIEF, caller_of, engine_of, from_body, from_query, metrics_of, worked
from recallens.http.routes import ROUTES, Route
from recallens.http.telemetry import TEXT_FORMAT
from recallens.operations import OPERATIONS, Answer, Operation, Written, perform
from recallens.operations.operation import allowed, chosen_namespace
from recallens.render import FORMATS

# A rendered page has its style in it, and needs nothing else.
_PAGE_POLICY = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
_OF_ONE_CALLER = {"Cache-Control": "private", "Vary": "Authorization, Cookie"}


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


CANARY = "is anybody there"
_UNKEPT = {"Cache-Control": "no-store"}


async def healthz(request: Request) -> Response:
    return JSONResponse({"status": "ok"}, headers=_UNKEPT)


async def readyz(request: Request) -> Response:
    """A whole recall through every stage; what it finds stays here."""
    engine, caller = engine_of(request), caller_of(request)
    held = caller.home or min(caller.namespaces or ("default",))

    def canary() -> bool:
        recall = engine.recall(engine.recalls.query(CANARY, limit=1, namespace=chosen_namespace(caller, held)))
        return bool(recall.degraded)

    try:
        degraded = await worked(request, canary)
    except RecallensError as error:
        raise refused(
            503, "NotReady", f"a query fails: {error.message}", hint=error.hint, Retry_After=str(RETRY_SECONDS)
        ) from error
    return JSONResponse({"status": "degraded" if degraded else "ready"}, headers=_UNKEPT)


async def metrics(request: Request) -> Response:
    size = await worked(request, lambda: Path(engine_of(request).core.store.location).stat().st_size)
    text = metrics_of(request).text(store_bytes=size, working=request.app.state.work.in_hand)
    return Response(text, headers=_UNKEPT, media_type=TEXT_FORMAT)


async def openapi(request: Request) -> Response:
    return JSONResponse(document(), headers={"Cache-Control": "private", "Vary": "Authorization, Cookie"})


_FORM = "application/x-www-form-urlencoded"


async def sign_in(request: Request) -> Response:
    """From a form (`token`, and `next` to go to) or JSON (`{"token": …}`)."""
    token, onward = await _said(request)
    if await worked(request, lambda: engine_of(request).tokens.find(token)) is None:
        raise TokenRefused("this token is not known", hint="`recallens token list` shows which are in force.")
    response = Response(status_code=204) if onward is None else RedirectResponse(onward, 303)
    return keep(response, request, token)


def keep(response: Response, request: Request, token: str) -> Response:
    """The cookie ends with the browser; no script reads it, and no other site makes the browser send it."""
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, token, path="/", httponly=True, samesite="strict", secure=secure)
    response.headers["Cache-Control"] = "no-store"
    return response


async def sign_out(request: Request) -> Response:
    response = Response(status_code=204, headers={"Cache-Control": "no-store"})
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


async def _said(request: Request) -> tuple[str, str | None]:
    raw = (await request.body()).decode("utf-8", "replace")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        said = {name: values[-1] for name, values in parse_qs(raw).items()} if kind == _FORM else json.loads(raw)
        token, onward = said["token"], said.get("next")
        if not isinstance(token, str) or not isinstance(onward, str | None):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput("give the token, as a form or as JSON", hint='{"token": "rcl_…"}') from error
    return token.strip(), None if onward is None else own_path(onward)


def own_path(onward: str) -> str:
    """Only a path of our own: `//elsewhere` and a backslash are other sites to a browser."""
    return onward if onward.startswith("/") and not onward.startswith(("//", "/\\")) else "/"


def routes() -> list[BaseRoute]:
    """One Starlette route for each path, which knows all of its methods, so that a wrong one is told the right ones."""
    by_path: dict[str, dict[str, Route]] = {}
    for route in ROUTES:
        by_path.setdefault(route.path, {})[route.method] = route
    return [
        StarletteRoute("/healthz", healthz, methods=["GET"]),
        StarletteRoute("/readyz", readyz, methods=["GET"]),
        StarletteRoute("/metrics", metrics, methods=["GET"]),
        StarletteRoute("/openapi.json", openapi, methods=["GET"]),
        *(
            StarletteRoute(path, _at(methods), methods=[*methods, "OPTIONS"])
            for path, methods in sorted(by_path.items(), key=lambda item: "{" in item[0])
        ),
        StarletteRoute("/session", sign_in, methods=["POST"]),
        StarletteRoute("/session", sign_out, methods=["DELETE"]),
    ]
