"""A store whose encoder is behind a server that is gone: words answer, the same way each time, and every surface says
so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from starlette.testclient import TestClient

from recallens.engine import Engine
from recallens.errors import EncoderFailed
from recallens.index.encoders.hashing import HashingEncoder
from recallens.operations import OPERATIONS, Caller, perform
from recallens.server import whole

QUESTION = "how long are auth tokens cached"
SEEDS = ("0", "1", "2", "3")
SAID = "The semantic view failed"


class Embeddings(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        rows = HashingEncoder(32).encode_documents(texts).tolist()
        body = json.dumps({"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The store, and the address at which nobody listens any more."""
    path = tmp_path_factory.mktemp("remote") / "store.db"
    http = ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
    url = f"http://127.0.0.1:{http.server_port}"
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    with Engine.open(path, encoder="openai:tiny", encoder_url=url) as engine:
        assert engine.remember("The auth service caches tokens for 15 minutes").embedded
        engine.remember("Deploys run on Tuesdays")
    http.shutdown()
    thread.join()
    http.server_close()
    return path, url


@pytest.fixture
def engine(store: tuple[Path, str]) -> Iterator[Engine]:
    with Engine.open(store[0], encoder_url=store[1]) as engine:
        yield engine


def test_the_command_degrades_whatever_the_hash_seed(store: tuple[Path, str]) -> None:
    environment = {**os.environ, "RECALLENS_STORE": str(store[0]), "RECALLENS_ENCODER_URL": store[1]}
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "recallens", "search", QUESTION, "--no-record"], text=True,
            env={**environment, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for seed in SEEDS
    ]  # fmt: skip
    answers = {(*run.communicate(timeout=60), run.returncode) for run in runs}
    assert len(answers) == 1, answers
    out, warned, code = answers.pop()
    assert code == 0
    assert "caches tokens for 15 minutes" in out
    assert "the semantic view failed" in warned


def test_the_server_is_asked_once_a_recall(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    encoder = engine.core.encoding.encoder
    refused = EncoderFailed("gone")

    def ask(batch: list[str]) -> list[Any]:
        asked.append(batch)
        raise refused

    monkeypatch.setattr(encoder, "_ask", ask)
    assert engine.search(QUESTION).degraded == {"semantic": "EncoderFailed: gone"}
    assert len(asked) == 1


def test_every_surface_says_what_is_missing(engine: Engine) -> None:
    caller = Caller(home="default")

    def told(operation: str, **arguments: Any) -> str:
        return perform(OPERATIONS[operation], engine, caller, arguments).text

    for operation, arguments in (
        ("search_memory", {"query": QUESTION}), ("retrieve", {"query": QUESTION}), ("get_context", {"task": QUESTION}),
        ("begin_work", {"task": QUESTION}),
    ):  # fmt: skip
        text = told(operation, **arguments, format="text")
        assert "caches tokens for 15 minutes" in text, operation
        assert SAID in text, operation
        assert '"degraded"' in told(operation, **arguments), operation
    assert SAID in told("recall_xray", query=QUESTION, format="brief")
    assert "degraded" in told("recall_xray", query=QUESTION, format="text")
    assert "semantic view could not be asked" in told("why_not", query=QUESTION, memory="m2")
    assert SAID in told("search_memory", query="what should I cook tonight", format="text")
    with TestClient(whole(engine, private=True), base_url="http://127.0.0.1:8765") as client:
        answer = client.get("/v1/search", params={"q": QUESTION})
        page = client.get("/", params={"q": QUESTION}, headers={"Accept": "text/html"})
    assert answer.status_code == 200
    assert "semantic" in answer.json()["degraded"]
    assert "semantic view failed" in page.text


def test_what_only_meaning_could_answer_is_an_error(engine: Engine) -> None:
    with pytest.raises(EncoderFailed, match="nothing listens"):
        engine.search(QUESTION, mode="semantic")


def test_a_new_store_can_be_asked_and_not_begun(store: tuple[Path, str], tmp_path: Path) -> None:
    with Engine.open(tmp_path / "new.db", encoder="openai:tiny", encoder_url=store[1]) as engine:
        assert engine.search(QUESTION).notice == "namespace 'default' holds nothing yet"
        with pytest.raises(EncoderFailed, match="nothing listens"):
            engine.remember("The first text")
        assert engine.maintenance.namespaces() == []
