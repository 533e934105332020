"""What went wrong, as RFC 9457 problem details that also carry the specification's error, code and message."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from recallens import errors
from recallens.render.records import to_text

PROBLEM_JSON = "application/problem+json"
RETRY_SECONDS = 1

# The first that fits counts, so that the narrower stands before the wider.
STATUS_OF: Mapping[type[errors.RecallensError], int] = {
    errors.InvalidInput: 400, errors.TokenRefused: 401, errors.NotAllowed: 403, errors.NotFound: 404,
    errors.EditConflict: 409, errors.ErasurePending: 409,
    errors.StoreReadOnly: 503, errors.StoreBusy: 503, errors.EncoderError: 503,
    errors.TooLate: 504,
}  # fmt: skip
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="recallens"'}
_RETRY = {"Retry-After": str(RETRY_SECONDS)}


class ProblemDetails(Struct, frozen=True):
    status: int
    code: str
    message: str
    hint: str | None = None
    headers: Mapping[str, str] = {}
    trace_id: str | None = None

    def record(self, instance: str) -> dict[str, Any]:
        record = {
            "type": "about:blank", "title": HTTPStatus(self.status).phrase, "status": self.status,
            "detail": self.message, "instance": instance,
            "error": re.sub(r"(?<=[a-z])(?=[A-Z])", "-", self.code).lower(), "code": self.code,
            "message": self.message, "hint": self.hint, "traceId": self.trace_id,
        }  # fmt: skip
        return {name: value for name, value in record.items() if value is not None}


class Refused(Exception):
    """A problem that is of HTTP alone: too large, too many, the wrong kind, too late."""

    def __init__(self, status: int, code: str, message: str, *, hint: str | None = None, **headers: str) -> None:
        super().__init__(message)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.problem = ProblemDetails(status, code, message, hint, named)


def problem_of(error: Exception, *, trace_id: str) -> ProblemDetails:
    match error:
        case Refused():
            return error.problem
        case HTTPException():
            code = "".join(word.capitalize() for word in HTTPStatus(error.status_code).phrase.split())
            return ProblemDetails(error.status_code, code, str(error.detail), headers=error.headers or {})
        case errors.RecallensError():
            status = next((status for kind, status in STATUS_OF.items() if isinstance(error, kind)), 500)
            headers = _CHALLENGE if status == 401 else _RETRY if status == 503 else {}
            trace = trace_id if status == 500 else None
            return ProblemDetails(status, type(error).__name__, error.message, error.hint, headers, trace)
        case _:
            message = "something failed here; the log has it under this trace id"
            hint = "Nothing that was acknowledged is lost."
            return ProblemDetails(500, "Unexpected", message, hint, trace_id=trace_id)


def response_of(problem: ProblemDetails, request: Request) -> Response:
    body = to_text(problem.record(request.url.path)) + "\n"
    headers = {"Cache-Control": "no-store", "Vary": "Authorization, Cookie", **problem.headers}
    return Response(body, problem.status, headers, PROBLEM_JSON)
