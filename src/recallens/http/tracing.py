"""The id under which a request can be found again, and spans for those who collect them."""

from __future__ import annotations

import logging
import re
import traceback
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from starlette.requests import Request

LOGGER = logging.getLogger("recallens.http")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?")
_OWN_ID = re.compile(r"[\w.:@/+=-]{1,128}", re.ASCII)
_UNSET = "0" * 32


def given_trace_id(request: Request) -> str | None:
    """The caller's: the trace-id of W3C's traceparent, else X-Trace-Id. One that is malformed was not given."""
    parent = _TRACEPARENT.fullmatch(request.headers.get("traceparent", "").strip())
    if parent is not None and parent[1] != _UNSET and not parent[0].startswith("ff"):
        return parent[1]
    own = request.headers.get("x-trace-id", "").strip()
    return own if _OWN_ID.fullmatch(own) else None


def new_trace_id() -> str:
    return uuid.uuid4().hex


def trace_id_of(request: Request) -> str:
    """The caller's own, or the one that was made for this request."""
    found: str = request.state.trace_id
    return found


def log_failure(error: BaseException, *, trace_id: str, route: str) -> None:
    """Where it failed, by file and line. Never the message: that may hold what somebody asked or remembered."""
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames[-12:]))
    LOGGER.error("trace %s: %s in %s at %s", trace_id, type(error).__name__, route, where)


Finished = Callable[[str, int], None]


@contextmanager
def span(request: Request, *, enabled: bool) -> Iterator[Finished]:
    """An OpenTelemetry span of this request, where that is wanted and installed. It has the route, and no text.

    What is given is to be told the route and the status at the end.
    """
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
