"""One JSON request to an embedding server: bounded in time, size and retries, and silent about the key."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from recallens.errors import EncoderFailed, InvalidInput

TIMEOUT_SECONDS = 30.0
ATTEMPTS = 4
BACKOFF_SECONDS = 0.5  # doubles after each attempt: 0.5, 1, 2
LONGEST_WAIT_SECONDS = 10.0  # whatever Retry-After asks for
LARGEST_ANSWER_BYTES = 64 * 2**20  # 64 vectors of 4,096 numbers take about 6 MB
QUOTED_CHARACTERS = 200


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would carry the key to a host that nobody configured."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


_OPENER = build_opener(_NoRedirect)


@dataclass(frozen=True, slots=True)
class Endpoint:
    url: str
    api_key: str | None = field(default=None, repr=False)
    timeout: float = TIMEOUT_SECONDS
    attempts: int = ATTEMPTS
    backoff: float = BACKOFF_SECONDS

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput("the encoder's base URL must be http://HOST… or https://HOST…")
        # http.client refuses such a header with a message that shows it.
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise InvalidInput("the encoder's API key must be printable ASCII on one line")

    @property
    def host(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    def post(self, payload: dict[str, Any]) -> Any:
        """The server's JSON answer. Busy and broken answers (429, 5xx, a dropped line) are asked again."""
        for attempt in range(1, self.attempts + 1):
            try:
                return self._post_once(payload)
            except _Retryable as error:
                if attempt == self.attempts:
                    raise EncoderFailed(
                        f"{self.host} {error.what}, {attempt} times in a row",
                        hint="Try again later, or check the server.",
                    ) from error.__cause__
                asked = error.retry_after or self.backoff * 2 ** (attempt - 1)
                time.sleep(min(asked, LONGEST_WAIT_SECONDS))
        raise EncoderFailed(f"{self.host} was not asked: attempts is {self.attempts}, and must be 1 or more")

    def get(self) -> Any:
        """What stands at the address, asked for once."""
        try:
            return self._answer(Request(self.url, headers=self._headers()))
        except _Retryable as error:
            raise EncoderFailed(f"{self.host} {error.what}") from error.__cause__

    def _post_once(self, payload: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json", **self._headers()}
        return self._answer(Request(self.url, json.dumps(payload).encode(), headers, method="POST"))

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json"}
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return headers

    def _answer(self, request: Request) -> Any:
        try:
            with _OPENER.open(request, timeout=self.timeout) as answer:
                body = answer.read(LARGEST_ANSWER_BYTES + 1)
        except HTTPError as error:
            with error:
                raise self._refusal(error) from error
        except (OSError, HTTPException) as error:
            raise self._broken_line(error) from error
        if len(body) > LARGEST_ANSWER_BYTES:
            raise EncoderFailed(f"{self.host} answered with more than {LARGEST_ANSWER_BYTES} bytes")
        try:
            return json.loads(body)
        except ValueError as error:
            raise EncoderFailed(
                f"{self.host} answered with something other than JSON",
                hint=f"Is {urlsplit(self.url).path} the right path?",
            ) from error

    def _refusal(self, error: HTTPError) -> Exception:
        what = f"answered {error.code} {error.reason}".rstrip()
        if error.code == 429 or error.code >= 500:
            return _Retryable(what, retry_after=_seconds(error.headers.get("Retry-After")))
        if error.code in (401, 403):  # the body of such an answer may quote the key
            return EncoderFailed(f"{self.host} {what}", hint="Check the encoder's API key.")
        if 300 <= error.code < 400:
            return EncoderFailed(f"{self.host} {what}", hint="Redirects are not followed; set the final URL.")
        return EncoderFailed(f"{self.host} {what}: {self._quoted(error)}".rstrip(": "))

    def _quoted(self, error: HTTPError) -> str:
        try:
            said = error.read(LARGEST_ANSWER_BYTES).decode("utf-8", "replace")
        except (OSError, HTTPException):
            return ""
        if self.api_key:
            said = said.replace(self.api_key, "***")
        return " ".join(said.split())[:QUOTED_CHARACTERS]

    def _broken_line(self, error: OSError | HTTPException) -> Exception:
        reason = error.reason if isinstance(error, URLError) else error
        match reason:
            case TimeoutError():
                return EncoderFailed(f"{self.host} did not answer within {self.timeout:g} s")
            case ConnectionRefusedError():
                return EncoderFailed(f"nothing listens at {self.host}", hint="Start the server or set its URL.")
            case ConnectionError() | HTTPException():
                return _Retryable("dropped the connection")
            case _:
                return EncoderFailed(f"{self.host} cannot be reached: {reason}")


class _Retryable(Exception):
    def __init__(self, what: str, *, retry_after: float | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.retry_after = retry_after


def _seconds(header: str | None) -> float | None:
    return float(header) if header and header.isascii() and header.isdecimal() else None
