"""Looking for encoders on real servers of this machine, and what is remembered of what the user cleared."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from recallens.engine import Engine
from recallens.engine.encoder import Detection, suggest
from recallens.index.encoders.detect import Available, is_embedding_model, multilingual_rank, ollama
from recallens.index.encoders.hashing import HashingEncoder
from standing import Open

KOREAN = ("캐시 만료는 60초로 정했다", "배포는 금요일에 하지 않는다", "인증 토큰은 한 시간마다 바뀐다")
DIMENSION = 32


@dataclass
class Server:
    """Speaks Ollama's protocol and OpenAI's: lists its models, and encodes with the test encoder."""

    models: list[str] = field(default_factory=list)
    status: int = 200
    delay: float = 0.0
    url: str = ""
    asked: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    def answer(self, path: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
        if path == "/api/tags":
            return {"models": [{"name": name, "model": name} for name in self.models]}
        if path == "/models":
            return {"data": [{"id": name} for name in self.models]}
        if path == "/api/embed" and body is not None:
            return {"embeddings": HashingEncoder(DIMENSION).encode_documents(body["input"]).tolist()}
        return None


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(None)

        def do_POST(self) -> None:
            self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _reply(self, body: dict[str, Any] | None) -> None:
            state.asked.append(self.path)
            state.keys.append(self.headers.get("Authorization"))
            time.sleep(state.delay)
            answer = state.answer(self.path, body)
            data = json.dumps(answer).encode()
            self.send_response(state.status if answer is not None else 404)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{listening.server_port}"
    thread = Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield state
    listening.shutdown()
    listening.server_close()


def specs(found: Detection) -> set[str]:
    return {one.spec for one in found.available}


def korean(opened: Open, **options: Any) -> Engine:
    engine = opened(**options)
    for text in KOREAN:
        engine.remember(text)
    return engine


def test_models_that_encode_are_found_and_others_are_not(opened: Open, server: Server) -> None:
    server.models = ["llama3:8b", "nomic-embed-text:latest", "bge-m3:latest", "mxbai-embed-large"]
    found = opened(encoder="hashing", encoder_url=server.url).encoder.detect()
    assert specs(found) >= {"minilm", "ollama:nomic-embed-text", "ollama:bge-m3", "openai:mxbai-embed-large"}
    assert not any("llama3" in spec for spec in specs(found))
    multilingual = {one.spec for one in found.available if one.multilingual}
    assert multilingual == {"multilingual", "ollama:bge-m3", "openai:bge-m3"}
    assert set(server.asked) == {"/api/tags", "/models"}


@pytest.mark.parametrize(
    ("name", "embeds", "multilingual"),
    [
        ("bge-m3", True, True), ("intfloat/multilingual-e5-large", True, True), ("nomic-embed-text-v2-moe", True, True),
        ("nomic-embed-text", True, False), ("text-embedding-3-small", True, True), ("all-minilm", True, False),
        ("gpt-4o", False, False), ("llama3", False, False),
    ],
)  # fmt: skip
def test_models_are_told_by_their_names(name: str, embeds: bool, multilingual: bool) -> None:
    assert is_embedding_model(name) is embeds
    assert (multilingual_rank(name) is not None) is multilingual


def test_a_store_that_is_mostly_korean_is_offered_the_best_multilingual_model(opened: Open, server: Server) -> None:
    server.models = ["nomic-embed-text", "multilingual-e5-small", "bge-m3"]
    engine = korean(opened, encoder="hashing", encoder_url=server.url)
    found = engine.encoder.detect()
    assert found.hangul > 0.9
    assert found.suggestion == "ollama:bge-m3"
    assert "Korean" in found.reason


def test_an_english_store_is_left_as_it_is(opened: Open, server: Server) -> None:
    server.models = ["bge-m3"]
    engine = opened(encoder="hashing", encoder_url=server.url)
    engine.remember("We cache lookups for a minute")
    found = engine.encoder.detect()
    assert (found.suggestion, found.hangul) == (None, 0.0)


def test_use_encodes_everything_with_the_model_that_was_found(opened: Open, server: Server) -> None:
    server.models = ["bge-m3"]
    engine = korean(opened, encoder="hashing", encoder_url=server.url)
    spec = engine.encoder.detect().suggestion
    assert spec is not None
    engine.encoder.use(spec)
    engine.encoder.drain()
    assert "/api/embed" in server.asked
    assert engine.core.encoding.spec == "ollama:bge-m3"
    assert "vector" in engine.search("캐시 만료").results[0].parts
    assert engine.encoder.detect().suggestion is None


def test_what_was_cleared_is_never_set_again_until_it_is_asked_for_by_name(opened: Open, server: Server) -> None:
    server.models = ["bge-m3"]
    engine = korean(opened, encoder="hashing", encoder_url=server.url)
    engine.encoder.use("ollama:bge-m3")
    assert engine.encoder.clear() == "ollama:bge-m3"
    assert engine.core.encoding.key is None
    for again in (engine, opened(encoder_url=server.url, encoder=None)):
        found = again.encoder.bootstrap()
        assert found.suggestion is None
        assert "cleared" in found.reason
        assert again.encoder.cleared() == ("ollama:bge-m3",)
        assert again.core.encoding.spec == "none"
    assert engine.encoder.clear() is None
    assert engine.search("캐시 만료").results  # words still find it
    engine.encoder.use("ollama:bge-m3")
    assert engine.encoder.cleared() == ()


def test_at_first_use_a_store_takes_the_packaged_one(opened: Open, server: Server) -> None:
    server.models = ["bge-m3"]
    engine = opened(encoder=None, encoder_url=server.url)
    engine.encoder.bootstrap()
    assert engine.core.encoding.spec == "minilm"
    chosen = opened("other.db", encoder="hashing", encoder_url=server.url)
    chosen.encoder.bootstrap()
    assert chosen.core.encoding.spec == "hashing"  # what a setting names stands


def test_without_the_packaged_one_the_best_that_is_there_is_suggested() -> None:
    found = [Available("ollama:nomic-embed-text", "ollama", False), Available("ollama:bge-m3", "ollama", True)]
    assert suggest(found, current=None, hangul=0.0, cleared=())[0] == "ollama:bge-m3"
    assert suggest(found, current=None, hangul=0.0, cleared=("ollama:bge-m3",))[0] is None
    assert suggest([], current=None, hangul=0.0, cleared=()) == (None, "no encoder was found: words alone")
    assert suggest([], current="minilm", hangul=1.0, cleared=())[0] is None


def test_looking_takes_about_a_second_at_most_and_says_what_was_wrong(server: Server) -> None:
    server.delay = 5.0
    began = time.monotonic()
    slow = ollama(server.url, None, timeout=0.3)
    assert time.monotonic() - began < 2.0
    assert slow.found == ()
    assert "did not answer" in str(slow.problem)
    server.delay, server.status = 0.0, 500
    assert "500" in str(ollama(server.url, None).problem)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "nothing listens" in str(ollama(f"http://127.0.0.1:{port}", None).problem)
    assert "must be http" in str(ollama("ftp://x", None).problem)


def test_detecting_sends_the_key_only_where_it_belongs_and_changes_nothing(
    opened: Open, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECALLENS_ENCODER_KEY", "sk-secret")
    server.models = ["bge-m3"]
    engine = korean(opened, encoder="hashing", encoder_url=server.url)
    before = engine.core.store.meta("encoder-spec")
    record = engine.encoder.detect().to_json()
    assert set(server.keys) == {"Bearer sk-secret"}
    assert "sk-secret" not in json.dumps(record)
    assert engine.core.store.meta("encoder-spec") == before
    assert set(record) == {"current", "available", "unavailable", "koreanShare", "cleared", "suggestion", "reason"}
