"""Every endpoint: the operations, the server's own state, and signing in."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute
from starlette.routing import Route as StarletteRoute

from recallens.errors import InvalidInput, RecallensError, TokenRefused
from recallens.http.guard import COOKIE, host_of
from recallens.http.idempotency import HEADER, REPLAYED, checked_key, once, request_digest
from recallens.http.openapi import document
from recallens.http.problems import RETRY_SECONDS, Refused, problem_of, response_of
from recallens.http.requests import BRIEF, caller_of, engine_of, entrance_of, from_body, from_query, worked
from recallens.http.routes import ROUTES, Route
from recallens.http.telemetry import TEXT_FORMAT
from recallens.operations import OPERATIONS, Answer, Operation, Right, Written, perform
from recallens.operations.operation import allowed, chosen_namespace, noted, refused
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
    """Where it comes to no operation, that too is written down."""
    try:
        operation, arguments, raw = await _asked(request, route)
        key = checked_key(request.headers.get(HEADER)) if route.writes else None
        if key is not None:  # before it is kept: who may not do it leaves nothing behind
            named = arguments.get("namespace")
            namespace = allowed(
                caller_of(request), operation.needs, named if isinstance(named, str) else None
            ).namespace
    except (RecallensError, Refused) as error:
        await worked(request, partial(refused, engine_of(request), caller_of(request), route.operation.name, error))
        raise
    if key is not None:
        return await _once(request, route, operation, arguments, raw, key, namespace)
    work = partial(_performed, request, operation, arguments)
    # What the person at the machine alone can ask, such as a golden set, may take as long as it takes.
    answer, text = await worked(request, work, ends=operation.needs is not Right.LOCAL)
    if isinstance(answer, Answer):
        for metrics in request.app.state.metrics.of(caller_of(request).owner):
            metrics.recalled(answer.tiers, answer.degraded)
    return _response(request, _status(route, answer), text, answer.format if isinstance(answer, Written) else "json")


async def _asked(request: Request, route: Route) -> tuple[Operation, dict[str, Any], bytes]:
    """`brief` says which of two operations is meant, and is an argument of neither."""
    raw = b""
    brief: object = False
    if route.has_body:
        raw, arguments = await from_body(request, route)
        if route.brief is not None:
            brief = arguments.pop(BRIEF, False)
    elif route.brief is not None and (values := request.query_params.getlist(BRIEF)):
        brief = values[-1] == "true" if values[-1] in ("true", "false") else values[-1]
    if not isinstance(brief, bool):
        raise InvalidInput(f"{BRIEF} must be true or false, not {str(brief)[:80]!r}")
    operation = OPERATIONS[route.brief] if brief and route.brief is not None else route.operation
    if not route.has_body:
        arguments = from_query(request, route, operation.arguments)
    return operation, arguments | {name: request.path_params[name] for name in route.in_path}, raw


def _performed(request: Request, operation: Operation, arguments: Mapping[str, Any]) -> tuple[Answer | Written, str]:
    """The answer and its text, which is written in the thread too: the loop has others to answer."""
    trace_id = request.state.given_trace_id
    answer = perform(operation, engine_of(request), caller_of(request), arguments, trace_id=trace_id, strict=True)
    text, most = answer.text, request.app.state.limits.answer_bytes
    if len(text) > most or len(text.encode("utf-8", "replace")) > most:
        raise Refused(400, "AnswerTooLarge", f"the answer has over {most:,} bytes",
                      hint="Ask for less: a smaller limit or budget, or brief=true.")  # fmt: skip
    return answer, text


def _status(route: Route, answer: Answer | Written) -> int:
    """202 tells that nothing was changed: it waits for the person at the machine."""
    return 202 if answer.proposed else route.status


async def _once(
    request: Request, route: Route, operation: Operation, arguments: Mapping[str, Any], raw: bytes, key: str,
    namespace: str,
) -> Response:  # fmt: skip
    caller = caller_of(request)
    digest = request_digest(route.method, f"{request.url.path}?{request.url.query}", raw)
    format = str(arguments.get("format", "json"))  # the same request has the same

    def performed() -> tuple[int, str]:
        answer, text = _performed(request, operation, arguments)
        return _status(route, answer), text

    def work() -> tuple[int, str, bool]:
        answer = once(
            engine_of(request), owner=caller.owner or "", key=key, request=digest, namespace=namespace,
            work=performed,
        )  # fmt: skip
        if answer[2] and caller.owner is not None:  # given again without being done: that too stands in the log
            what = f"{operation.name} (again)"
            with engine_of(request).audit.watched(who=caller.owner, what=what, namespace=namespace) as witness:
                if format == "json":
                    witness.given.add_record(json.loads(answer[1]))
        return answer

    status, body, again = await worked(request, work)
    response = _response(request, status, body, format)
    if again:
        response.headers[REPLAYED] = "true"
    return response


_FADING = re.compile(rb'"salience": ?[0-9.eE+-]+,?')


def _response(request: Request, status: int, text: str, format: str) -> Response:
    body = text.encode("utf-8", "surrogatepass")
    headers = _OF_ONE_CALLER | (_PAGE_POLICY if format == "html" else {})
    if request.method in ("GET", "HEAD"):
        # Salience fades by the millisecond: what is stored has not changed by that.
        stored = _FADING.sub(b"", body) if format == "json" else body
        headers["ETag"] = f'"{hashlib.sha256(stored).hexdigest()[:32]}"'
        known = [etag.strip().removeprefix("W/") for etag in request.headers.get("if-none-match", "").split(",")]
        if headers["ETag"] in known or known == ["*"]:
            return Response(status_code=304, headers=headers)
    else:
        headers["Cache-Control"] = "no-store"
    return Response(body, status, headers, FORMATS[format][1])


async def on_http_error(request: Request, error: Exception) -> Response:
    """What the router refuses, as the same kind of problem; a token's try is written down."""
    assert isinstance(error, HTTPException)
    if (caller := getattr(request.state, "caller", None)) is not None:
        await worked(request, partial(refused, engine_of(request), caller, NO_ROUTE, error))
    return response_of(problem_of(error, trace_id=request.state.trace_id), request)


NO_ROUTE = "no route"
CANARY = "is anybody there"
_UNKEPT = {"Cache-Control": "no-store"}


async def healthz(request: Request) -> Response:
    return JSONResponse({"status": "ok"}, headers=_UNKEPT)


async def readyz(request: Request) -> Response:
    """A whole recall through every stage; what it finds stays here."""
    engine, caller = engine_of(request), caller_of(request)

    def canary() -> bool:
        noted(engine, caller, "readyz")
        namespace = chosen_namespace(caller, caller.home or min(caller.namespaces or ("default",)))
        return bool(engine.recall(engine.recalls.query(CANARY, limit=1, namespace=namespace)).degraded)

    try:
        degraded = await worked(request, canary)
    except RecallensError as error:
        message, retry = f"a query fails: {error.message}", str(RETRY_SECONDS)
        raise Refused(503, "NotReady", message, hint=error.hint, Retry_After=retry) from error
    return JSONResponse({"status": "degraded" if degraded else "ready"}, headers=_UNKEPT)


async def metrics(request: Request) -> Response:
    """To a token its own requests; the whole server to the person, and to a token that holds every namespace."""
    engine, caller, counted = engine_of(request), caller_of(request), request.app.state.metrics

    def may_see_all() -> bool:
        noted(engine, caller, "metrics")
        return caller.owner is None or all(caller.sees(name) for name, _ in engine.maintenance.namespaces())

    if await worked(request, may_see_all):
        size = await worked(request, engine.core.store.size)
        text = counted.text(store_bytes=size, working=request.app.state.work.in_hand)
    else:
        text = counted.own(caller.owner).text()
    return Response(text, headers=_UNKEPT, media_type=TEXT_FORMAT)


async def openapi(request: Request) -> Response:
    return JSONResponse(document(), headers=_OF_ONE_CALLER)


_FORM = "application/x-www-form-urlencoded"


async def sign_in(request: Request) -> Response:
    """From a form (`token`, and `next` to go to) or JSON (`{"token": …}`)."""
    token, onward = await _token_and_next(request)
    known = await worked(request, lambda: engine_of(request).tokens.find(token))
    if known is None:
        raise TokenRefused("this token is not known", hint="`recallens token list` shows which are in force.")
    response = Response(status_code=204) if onward is None else RedirectResponse(onward, 303)
    return keep(response, request, entrance_of(request).begin(known.id, host_of(request)))


def keep(response: Response, request: Request, session: str) -> Response:
    """The cookie ends with the browser; no script reads it, and no other site makes the browser send it."""
    secure = "https" in (request.url.scheme, urlsplit(request.headers.get("origin", "")).scheme)
    response.set_cookie(COOKIE, session, path="/", httponly=True, samesite="strict", secure=secure)
    response.headers["Cache-Control"] = "no-store"
    return response


async def sign_out(request: Request) -> Response:
    return ended(Response(status_code=204, headers=_UNKEPT), request)


def ended(response: Response, request: Request) -> Response:
    """The session holds no longer, whoever may have kept its cookie."""
    entrance_of(request).end(request.cookies.get(COOKIE, ""))
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


async def _token_and_next(request: Request) -> tuple[str, str | None]:
    raw = (await request.body()).decode("utf-8", "replace")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        fields = {name: values[-1] for name, values in parse_qs(raw).items()} if kind == _FORM else json.loads(raw)
        token, onward = fields["token"], fields.get("next")
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
    status = {"/healthz": healthz, "/readyz": readyz, "/metrics": metrics, "/openapi.json": openapi}
    return [
        *(StarletteRoute(path, endpoint, methods=["GET"]) for path, endpoint in status.items()),
        *(
            StarletteRoute(path, _at(methods), methods=[*methods, "OPTIONS"])
            for path, methods in sorted(by_path.items(), key=lambda item: "{" in item[0])
        ),
        StarletteRoute("/session", sign_in, methods=["POST"]),
        StarletteRoute("/session", sign_out, methods=["DELETE"]),
    ]
