"""The HTTP encoders against a server on this machine, which speaks both protocols and can misbehave."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from recallens.errors import EncoderFailed, EncoderMismatch, InvalidInput
from recallens.index.encoders.hashing import HashingEncoder
from recallens.index.encoders.remote import open_ollama, open_openai

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recallens.index.encoders.remote import RemoteEncoder

    Open = Callable[..., RemoteEncoder]

KEY = "sk-very-secret"
DIMENSION = 64


@dataclass(frozen=True)
class Canned:
    status: int
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass
class Server:
    url: str = ""
    dimension: int = DIMENSION
    first: list[Canned] = field(default_factory=list)
    backwards: bool = False
    paths: list[str] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")

    def answer(self, path: str, request: dict[str, Any]) -> dict[str, Any]:
        vectors = HashingEncoder(request.get("dimensions", self.dimension)).encode_documents(request["input"])
        listed = [(7 * vector).tolist() for vector in vectors]  # not of unit length
        if path == "/api/embed":
            return {"model": request["model"], "embeddings": listed}
        data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(listed)]
        return {"object": "list", "data": data[::-1] if self.backwards else data}


class Handler(BaseHTTPRequestHandler):
    def __init__(self, server_state: Server, *args: Any) -> None:
        self.state = server_state
        super().__init__(*args)

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.state.paths.append(self.path)
        self.state.asked.append(request)
        self.state.keys.append(self.headers["Authorization"])
        if self.state.first:
            canned = self.state.first.pop(0)
        else:
            canned = Canned(200, json.dumps(self.state.answer(self.path, request)))
        time.sleep(canned.delay)
        if canned.status == 0:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(canned.status)
        for name, value in canned.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(canned.body.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()
    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, state))
    state.url = f"http://127.0.0.1:{http.server_port}"
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture(params=[open_openai, open_ollama], ids=["openai", "ollama"])
def opened(request: pytest.FixtureRequest, server: Server) -> Open:
    return partial(request.param, "small", base_url=server.url, backoff=0.01)


def test_documents_are_unit_rows_in_their_order_and_blanks_are_zeros(opened: Open) -> None:
    texts = ["the cache is cold", " ", "deploy on Friday", "", "lone \ud800 surrogate"]

    vectors = opened().encode_documents(texts)

    expected = HashingEncoder().encode_documents(["the cache is cold", "", "deploy on Friday", "", "lone ? surrogate"])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_a_query_is_one_vector(opened: Open) -> None:
    np.testing.assert_allclose(
        opened().encode_query("cold cache"), HashingEncoder().encode_query("cold cache"), atol=1e-6
    )


def test_the_key_learns_its_dimension_from_one_question(opened: Open, server: Server) -> None:
    encoder = opened()
    assert server.asked == []

    assert encoder.key.dimension == DIMENSION
    assert encoder.key.dimension == DIMENSION
    assert [request["input"] for request in server.asked] == [["dimension"]]


def test_a_dimension_that_is_set_is_asked_for_and_needs_no_question(opened: Open, server: Server) -> None:
    encoder = opened(dimension=16)
    assert encoder.key.dimension == 16
    assert server.asked == []

    assert encoder.encode_query("cold cache").shape == (16,)
    assert server.asked[0]["dimensions"] == 16


def test_no_texts_are_no_rows(opened: Open, server: Server) -> None:
    assert opened(dimension=16).encode_documents([]).shape == (0, 16)
    assert server.asked == []


def test_many_texts_travel_in_batches(opened: Open, server: Server) -> None:
    texts = [f"memory number {n}" for n in range(150)] + ["long " * 30_000, "long " * 30_000]

    vectors = opened(dimension=DIMENSION).encode_documents(texts)

    assert [len(request["input"]) for request in server.asked] == [64, 64, 23, 1]
    np.testing.assert_allclose(vectors, HashingEncoder().encode_documents(texts), atol=1e-6)


def test_a_busy_server_is_asked_again(opened: Open, server: Server) -> None:
    server.first = [Canned(429, headers={"Retry-After": "0"}), Canned(503), Canned(0)]

    assert opened(dimension=DIMENSION).encode_query("cold cache").shape == (DIMENSION,)
    assert len(server.asked) == 4


def test_a_server_that_stays_broken_is_given_up(opened: Open, server: Server) -> None:
    server.first = [Canned(500)] * 9

    with pytest.raises(EncoderFailed, match=f"{server.host} answered 500 .*, 4 times in a row"):
        opened(dimension=DIMENSION).encode_query("cold cache")
    assert len(server.asked) == 4


def test_a_refusal_is_final_and_quotes_the_server_but_never_the_key(opened: Open, server: Server) -> None:
    server.first = [Canned(404, json.dumps({"error": f"no model small for {KEY}"}))]

    with pytest.raises(EncoderFailed) as caught:
        opened(dimension=DIMENSION, api_key=KEY).encode_query("cold cache")

    assert f'{server.host} answered 404 Not Found: {{"error": "no model small for ***"}}' in str(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_rejected_key_is_not_quoted(opened: Open, server: Server, status: int) -> None:
    server.first = [Canned(status, "Incorrect API key provided: sk-v****cret")]

    with pytest.raises(EncoderFailed) as caught:
        opened(dimension=DIMENSION, api_key=KEY).encode_query("cold cache")

    assert f"{server.host} answered {status}" in str(caught.value)
    assert "sk-" not in str(caught.value)


def test_a_redirect_does_not_carry_the_key_away(opened: Open, server: Server) -> None:
    server.first = [Canned(307, headers={"Location": f"{server.url}/elsewhere"})]

    with pytest.raises(EncoderFailed, match="Redirects are not followed"):
        opened(dimension=DIMENSION, api_key=KEY).encode_query("cold cache")
    assert len(server.asked) == 1


def test_the_key_is_sent_as_a_bearer_token(opened: Open, server: Server) -> None:
    opened(api_key=KEY).encode_query("cold cache")
    assert set(server.keys) == {f"Bearer {KEY}"}


def test_without_a_key_none_is_sent(opened: Open, server: Server) -> None:
    opened().encode_query("cold cache")
    assert set(server.keys) == {None}


def test_a_slow_server_is_left(opened: Open, server: Server) -> None:
    server.first = [Canned(200, delay=0.5)]

    with pytest.raises(EncoderFailed, match=r"did not answer within 0\.1 s"):
        opened(dimension=DIMENSION, timeout=0.1).encode_query("cold cache")


def test_a_server_that_changes_its_dimension_is_refused(opened: Open, server: Server) -> None:
    encoder = opened()
    encoder.encode_query("cold cache")
    server.dimension = 32

    with pytest.raises(EncoderMismatch, match=r"vectors of 32 numbers, which do not belong to small@.*/64/none"):
        encoder.encode_query("cold cache")


@pytest.mark.parametrize(
    "body",
    [
        "<html>gateway</html>",
        "[]",
        "{}",
        '{"data": [], "embeddings": []}',
        '{"data": [3], "embeddings": [3]}',
        '{"data": [{"index": 1, "embedding": [1, 2]}], "embeddings": [[1, 2], [3, 4]]}',
        '{"data": [{"index": 0, "embedding": ["a"]}], "embeddings": [["a"]]}',
        '{"data": [{"index": 0, "embedding": []}], "embeddings": [[]]}',
        '{"data": [{"index": 0, "embedding": [NaN]}], "embeddings": [[NaN]]}',
        '{"data": [{"index": 0, "embedding": null}], "embeddings": null}',
    ],
)
def test_an_answer_that_is_not_vectors_is_a_failure(opened: Open, server: Server, body: str) -> None:
    server.first = [Canned(200, body)]
    with pytest.raises(EncoderFailed, match=server.host):
        opened(dimension=1).encode_query("cold cache")


def test_openai_vectors_are_ordered_by_their_index(server: Server) -> None:
    server.backwards = True
    texts = ["first", "second", "third"]

    vectors = open_openai("small", base_url=server.url).encode_documents(texts)

    np.testing.assert_allclose(vectors, HashingEncoder().encode_documents(texts), atol=1e-6)


@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/", "/v1/embeddings"])
def test_an_openai_base_url_may_stop_anywhere(server: Server, tail: str) -> None:
    open_openai("small", base_url=server.url + tail, dimension=DIMENSION).encode_query("cold cache")
    assert server.paths == ["/v1/embeddings"]


@pytest.mark.parametrize("tail", ["", "/", "/api/embed"])
def test_an_ollama_base_url_may_stop_anywhere(server: Server, tail: str) -> None:
    open_ollama("small", base_url=server.url + tail, dimension=DIMENSION).encode_query("cold cache")
    assert server.paths == ["/api/embed"]


def test_the_prefix_of_the_model_is_sent_and_named_in_the_key(server: Server) -> None:
    encoder = open_ollama("nomic-embed-text:latest", base_url=server.url, dimension=DIMENSION)

    encoder.encode_query("cold cache")
    encoder.encode_documents(["the cache is cold"])

    assert [request["input"] for request in server.asked] == [
        ["search_query: cold cache"],
        ["search_document: the cache is cold"],
    ]
    assert str(encoder.key) == "nomic-embed-text:latest@ollama/64/nomic"


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        with pytest.raises(EncoderFailed, match=f"nothing listens at 127.0.0.1:{port}"):
            open_ollama("small", base_url=f"http://127.0.0.1:{port}").encode_query("cold cache")


@pytest.mark.parametrize("url", ["ftp://host", "file:///etc/passwd", "host:11434", "http://"])
def test_only_http_is_spoken(url: str) -> None:
    with pytest.raises(InvalidInput, match="must be http://HOST"):
        open_ollama("small", base_url=url)


@pytest.mark.parametrize("key", ["sk-\nsecret", "sk-비밀secret"])
def test_a_key_that_is_no_header_is_refused_unseen(key: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        open_openai("small", api_key=key)
    assert "secret" not in str(caught.value)
