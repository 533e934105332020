"""What a server tells of itself: counters, trace ids, spans, the log, and an answer whatever goes wrong."""

from __future__ import annotations

import logging
import re
import time
import traceback
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recallens.http.problems import problem_of, response_of

TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics(Collector):
    """Counters of one server. They hold routes, statuses and times; never a text, an id or a namespace.

    Each token has its own beside those of the whole server, which would tell it what others do.
    """

    def __init__(self) -> None:
        self._own: dict[str, Metrics] = {}
        self.registry = CollectorRegistry()
        on: dict[str, Any] = {"registry": self.registry}
        self._requests = Counter(
            "recallens_http_requests", "Requests by route and status.", ("method", "route", "status"), **on
        )
        self._seconds = Histogram(
            "recallens_http_request_seconds", "Time to the answer's end, by route.", ("route",), buckets=BUCKETS, **on
        )
        self.in_flight = Gauge("recallens_http_in_flight", "Requests that are being answered.", **on)
        self._in_hand = Gauge("recallens_work_in_hand", "Requests that are worked on, or wait for a thread.", **on)
        self._results = Counter("recallens_results", "Results by the tier that served them.", ("tier",), **on)
        self._degraded = Counter(
            "recallens_degraded_views", "Views that failed while a recall went on.", ("view",), **on
        )
        self._store_bytes = Gauge("recallens_store_bytes", "The size of the store's file.", **on)

    def of(self, owner: str | None) -> Iterator[Metrics]:
        """Where something is counted that a token has asked, or the person."""
        yield self
        if owner is not None:
            yield self.own(owner)

    def own(self, owner: str) -> Metrics:
        if owner not in self._own:
            self._own[owner] = Metrics()
        return self._own[owner]

    def observe(self, *, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def recalled(self, tiers: Mapping[str, int], degraded: Iterable[str]) -> None:
        for tier, count in tiers.items():
            self._results.labels(tier).inc(count)
        for view in degraded:
            self._degraded.labels(view).inc()

    def collect(self) -> Iterator[Metric]:
        """Without the times at which the series began, which the text format has no place for."""
        for family in self.registry.collect():
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family

    def text(self, *, store_bytes: int = 0, working: int = 0) -> bytes:
        self._store_bytes.set(store_bytes)
        self._in_hand.set(working)
        return generate_latest(self)


LOGGER = logging.getLogger("recallens.http")
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")
_OWN_ID = re.compile(r"[\w.:@/+=-]{1,128}", re.ASCII)


def given_trace_id(request: Request) -> str | None:
    """The caller's: the trace-id of W3C's traceparent, else X-Trace-Id. One that is malformed was not given."""
    parent = _TRACEPARENT.fullmatch(request.headers.get("traceparent", "").strip())
    if parent is not None:
        return parent[1]
    own = request.headers.get("x-trace-id", "").strip()
    return own if _OWN_ID.fullmatch(own) else None


@contextmanager
def span(request: Request, *, enabled: bool) -> Iterator[Callable[[str, int], None]]:
    """An OpenTelemetry span of this request, where that is wanted and installed: the route and status, and no text."""
    if not enabled or find_spec("opentelemetry") is None:
        yield lambda route, status: None
        return
    from opentelemetry import propagate, trace

    context = propagate.extract(dict(request.headers))
    with trace.get_tracer("recallens").start_as_current_span(request.method, context=context) as current:

        def finished(route: str, status: int) -> None:
            current.update_name(f"{request.method} {route}")
            current.set_attribute("http.request.method", request.method)
            current.set_attribute("http.route", route)
            current.set_attribute("http.response.status_code", status)

        yield finished


_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_SAFE_HEADERS = {b"x-content-type-options": b"nosniff", b"referrer-policy": b"no-referrer"}


class Observed:
    def __init__(self, app: ASGIApp, metrics: Metrics, *, spans: bool = False, access_log: bool = False) -> None:
        self.app, self.metrics, self.spans, self.access_log = app, metrics, spans, access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        request.state.given_trace_id = given_trace_id(request)
        request.state.trace_id = request.state.given_trace_id or uuid.uuid4().hex
        status = 0

        async def marked(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                # What a route has set itself stands.
                ours = {b"x-trace-id": request.state.trace_id.encode("latin-1"), **_SAFE_HEADERS}
                headers = list(message.get("headers", ()))
                known = {name.lower() for name, _ in headers}
                message = {**message, "headers": headers + [pair for pair in ours.items() if pair[0] not in known]}
            await send(message)

        started = time.perf_counter()
        self.metrics.in_flight.inc()
        try:
            with span(request, enabled=self.spans) as finished:
                await self.app(scope, receive, marked)
                finished(route_of(scope), status)
        except Exception as error:
            problem = problem_of(error, trace_id=request.state.trace_id)
            if problem.status == 500:
                # By file and line. Never the message: that may hold what somebody asked or remembered.
                frames = reversed(traceback.extract_tb(error.__traceback__)[-12:])
                where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
                name, route = type(error).__name__, route_of(scope)
                LOGGER.error("trace %s: %s in %s at %s", request.state.trace_id, name, route, where)
            if status:  # half of an answer is out: only breaking off tells that it is not whole
                raise
            await response_of(problem, request)(scope, receive, marked)
        finally:
            self.metrics.in_flight.dec()
            taken, route = time.perf_counter() - started, route_of(scope)
            # Any word can be a method; only those of HTTP are told apart.
            method = request.method if request.method in _METHODS else "other"
            caller = getattr(request.state, "caller", None)
            for metrics in self.metrics.of(caller.owner if caller is not None else None):
                metrics.observe(method=method, route=route, status=status, seconds=taken)
            if self.access_log:
                LOGGER.info("%s %s %d %.1f ms", request.method, route, status, taken * 1000)


def route_of(scope: Scope) -> str:
    """The route's pattern: the path itself may hold an id."""
    return str(getattr(scope.get("route"), "path", "(none)"))
