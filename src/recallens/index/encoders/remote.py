"""Encoders behind HTTP: Ollama, and any server that speaks OpenAI's embeddings protocol.

A request is bounded in time, size and retries, and silent about the key.

https://platform.openai.com/docs/api-reference/embeddings/create
https://github.com/ollama/ollama/blob/main/docs/api.md#generate-embeddings
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPMessage
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, TypedDict, Unpack
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import numpy as np

from recallens.errors import EncoderFailed, EncoderMismatch, InvalidInput
from recallens.index.encoders.protocol import EncoderKey, Vectors, prefix_for, unit_rows, with_blanks_as_zeros

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

OPENAI_URL = "https://api.openai.com/v1"
OLLAMA_URL = "http://127.0.0.1:11434"
OLLAMA_PATH = "/api/embed"

BATCH_TEXTS = 64
BATCH_CHARACTERS = 200_000  # OpenAI takes 300,000 tokens a request; a token may be one Korean character
PROBE = "dimension"

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
class EmbeddingServer:
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
                return self._answer(payload)
            except _Retryable as error:
                if attempt == self.attempts:
                    what, hint = f"{error.what}, {attempt} times in a row", "Try again later, or check the server."
                    raise EncoderFailed(f"{self.host} {what}", hint=hint) from error.__cause__
                asked = error.retry_after or self.backoff * 2 ** (attempt - 1)
                time.sleep(min(asked, LONGEST_WAIT_SECONDS))
        raise EncoderFailed(f"{self.host} was not asked: attempts is {self.attempts}, and must be 1 or more")

    def get(self) -> Any:
        """What stands at the address, asked for once."""
        try:
            return self._answer()
        except _Retryable as error:
            raise EncoderFailed(f"{self.host} {error.what}") from error.__cause__

    def _answer(self, payload: dict[str, Any] | None = None) -> Any:
        """The answer to a GET, or to a POST where there is something to send."""
        request = Request(self.url, headers={"Accept": "application/json"})
        if payload is not None:
            request.data = json.dumps(payload).encode()
            request.add_header("Content-Type", "application/json")
        if self.api_key is not None:
            request.add_header("Authorization", f"Bearer {self.api_key}")
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
            hint = f"Is {urlsplit(self.url).path} the right path?"
            raise EncoderFailed(f"{self.host} answered with something other than JSON", hint=hint) from error

    def _refusal(self, error: HTTPError) -> Exception:
        what = f"answered {error.code} {error.reason}".rstrip()
        if error.code == 429 or error.code >= 500:
            seconds = error.headers.get("Retry-After", "")
            asked = float(seconds) if seconds.isascii() and seconds.isdecimal() else None
            return _Retryable(what, retry_after=asked)
        if error.code in (401, 403):  # the body of such an answer may quote the key
            return EncoderFailed(f"{self.host} {what}", hint="Check the encoder's API key.")
        if 300 <= error.code < 400:
            return EncoderFailed(f"{self.host} {what}", hint="Redirects are not followed; set the final URL.")
        return EncoderFailed(f"{self.host} {what}: {self._quoted(error)}".rstrip(": "))

    def _quoted(self, error: HTTPError) -> str:
        try:
            message = error.read(LARGEST_ANSWER_BYTES).decode("utf-8", "replace")
        except (OSError, HTTPException):
            return ""
        if self.api_key:
            message = message.replace(self.api_key, "***")
        return " ".join(message.split())[:QUOTED_CHARACTERS]

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


class RemoteEncoder:
    """`ask` sends one batch and returns one list of numbers a text, in the order of the texts.

    Without a `dimension`, the first look at `key` asks the server once, with a single word.
    """

    languages: tuple[str, ...] = ()

    def __init__(
        self, model: str, *, revision: str, host: str, dimension: int | None, ask: Callable[[list[str]], list[Any]]
    ) -> None:
        if dimension is not None and dimension < 1:
            raise InvalidInput(f"the dimension must be 1 or more, not {dimension}")
        self._model = model
        self._revision = revision
        self._prefix = prefix_for(model)
        self._host = host
        self._ask = ask
        self._lock = Lock()
        self._key = None if dimension is None else self._key_of(dimension)

    @property
    def key(self) -> EncoderKey:
        with self._lock:
            if self._key is None:
                self._key = self._key_of(self._answer([self._prefix.document + PROBE]).shape[1])
            return self._key

    def encode_query(self, text: str) -> Vectors:
        return with_blanks_as_zeros([text], self.key.dimension, self._encode, self._prefix.query).reshape(-1)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return with_blanks_as_zeros(texts, self.key.dimension, self._encode, self._prefix.document)

    def _encode(self, texts: list[str]) -> Vectors:
        return np.vstack([self._checked(batch) for batch in _batches(texts)])

    def _checked(self, batch: list[str]) -> Vectors:
        rows = self._answer(batch)
        if rows.shape[1] != self.key.dimension:
            raise EncoderMismatch(
                f"{self._host} gave vectors of {rows.shape[1]} numbers, which do not belong to {self.key}",
                hint="Check the model's name and the dimension.",
            )
        return unit_rows(rows)

    def _answer(self, batch: list[str]) -> Vectors:
        answer = self._ask(batch)
        try:
            rows = np.asarray(answer, dtype=np.float32)
        except (TypeError, ValueError, OverflowError) as error:
            raise EncoderFailed(f"{self._host} gave vectors that are not lists of numbers") from error
        if rows.ndim != 2 or rows.shape[1] == 0 or len(rows) != len(batch):
            raise EncoderFailed(f"{self._host} was sent {len(batch)} texts and gave {len(answer)} vectors")
        if not np.isfinite(rows).all():
            raise EncoderFailed(f"{self._host} gave a vector that holds a number without a finite value")
        return rows

    def _key_of(self, dimension: int) -> EncoderKey:
        return EncoderKey(self._model, self._revision, dimension, self._prefix.name)


def _batches(texts: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == BATCH_TEXTS or characters + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    yield batch


class ServerOptions(TypedDict, total=False):
    base_url: str | None
    api_key: str | None
    dimension: int | None  # sent to the server, for a model that can shorten its vectors; left out otherwise
    timeout: float
    backoff: float


def open_openai(model: str, **options: Unpack[ServerOptions]) -> RemoteEncoder:
    """`https://host`, `https://host/v1` and `https://host/v1/embeddings` are all the last of these."""
    url = (options.get("base_url") or OPENAI_URL).rstrip("/")
    if not url.endswith("/embeddings"):
        url += "/embeddings" if urlsplit(url).path else "/v1/embeddings"
    return _open("openai", {"model": model}, url, _in_order, options)


def _in_order(answer: Any, host: str) -> list[Any]:
    """The protocol lets a server answer in any order, and numbers the vectors by their texts."""
    match answer:
        case {"data": [*items]} if all(isinstance(item, dict) for item in items):
            vectors = {item.get("index"): item.get("embedding") for item in items}
            if set(vectors) == set(range(len(items))):
                return [vectors[place] for place in range(len(items))]
    raise EncoderFailed(f"{host} answered without data, or with indexes that do not number its vectors")


def open_ollama(model: str, **options: Unpack[ServerOptions]) -> RemoteEncoder:
    """`api_key` is for an Ollama behind a proxy. A text too long for the model is cut by the server."""
    url = (options.get("base_url") or OLLAMA_URL).rstrip("/").removesuffix(OLLAMA_PATH) + OLLAMA_PATH
    return _open("ollama", {"model": model, "truncate": True}, url, _embeddings, options)


def _embeddings(answer: Any, host: str) -> list[Any]:
    match answer:
        case {"embeddings": [*vectors]}:
            return vectors
    raise EncoderFailed(f"{host} answered without embeddings")


def _open(
    protocol: str, request: dict[str, Any], url: str, vectors: Callable[[Any, str], list[Any]], options: ServerOptions
) -> RemoteEncoder:
    timeout, backoff = options.get("timeout", TIMEOUT_SECONDS), options.get("backoff", BACKOFF_SECONDS)
    server = EmbeddingServer(url, options.get("api_key"), timeout=timeout, backoff=backoff)
    dimension = options.get("dimension")
    if dimension is not None:
        request["dimensions"] = dimension

    def ask(texts: list[str]) -> list[Any]:
        return vectors(server.post({**request, "input": texts}), server.host)

    return RemoteEncoder(request["model"], revision=protocol, host=server.host, dimension=dimension, ask=ask)
