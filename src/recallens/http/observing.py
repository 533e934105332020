"""Around every request: its trace id, its time, and an answer whatever goes wrong."""

from __future__ import annotations

import time
from collections.abc import Iterable

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recallens.http.metrics import Metrics
from recallens.http.problems import problem_of, response_of
from recallens.http.tracing import LOGGER, given_trace_id, log_failure, new_trace_id, span

UNROUTED = "(none)"
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_SAFE_HEADERS = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))


class Observed:
    def __init__(self, app: ASGIApp, metrics: Metrics, *, spans: bool = False, access_log: bool = False) -> None:
        self.app = app
        self.metrics = metrics
        self.spans = spans
        self.access_log = access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        request.state.given_trace_id = given_trace_id(request)
        request.state.trace_id = request.state.given_trace_id or new_trace_id()
        status = 0

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": _with_ours(message.get("headers", ()), request.state.trace_id)}
            await send(message)

        started = time.perf_counter()
        self.metrics.in_flight += 1
        try:
            with span(request, enabled=self.spans) as finished:
                await self.app(scope, receive, told)
                finished(route_of(scope), status)
        except Exception as error:
            problem = problem_of(error, trace_id=request.state.trace_id)
            if problem.status == 500:
                log_failure(error, trace_id=request.state.trace_id, route=route_of(scope))
            if status:  # half of an answer is out: only breaking off tells that it is not whole
                raise
            await response_of(problem, request)(scope, receive, told)
        finally:
            self.metrics.in_flight -= 1
            taken, route = time.perf_counter() - started, route_of(scope)
            # Any word can be a method; only those of HTTP are told apart.
            method = request.method if request.method in _METHODS else "other"
            self.metrics.observe(method=method, route=route, status=status, seconds=taken)
            if self.access_log:
                LOGGER.info("%s %s %d %.1f ms", request.method, route, status, taken * 1000)


def _with_ours(headers: Iterable[tuple[bytes, bytes]], trace_id: str) -> list[tuple[bytes, bytes]]:
    """What a route has said itself stands."""
    own = list(headers)
    said = {name.lower() for name, _ in own}
    ours = ((b"x-trace-id", trace_id.encode("latin-1")), *_SAFE_HEADERS)
    return [*own, *(one for one in ours if one[0] not in said)]


def route_of(scope: Scope) -> str:
    """The route's pattern: the path itself may hold an id."""
    route = scope.get("route")
    return str(getattr(route, "path", UNROUTED))
