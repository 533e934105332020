"""The model of an encoder loads beside the index at the first search that will need it, and never otherwise."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.errors import EncoderFailed
from recallens.index.encoders.hashing import HashingEncoder
from recallens.index.encoders.protocol import EncoderKey, Vectors


class Loading:
    """The hashing encoder behind a door that is opened by `load`; it knows English only and notes who opened it."""

    languages: tuple[str, ...] = ("en",)

    def __init__(self, *, fails: bool = False) -> None:
        self._encoder = HashingEncoder(64)
        self._fails = fails
        self.asked = threading.Event()
        self.threads: list[str] = []

    @property
    def key(self) -> EncoderKey:
        return self._encoder.key

    def load(self) -> None:
        self.threads.append(threading.current_thread().name)
        self.asked.set()
        if self._fails:
            raise EncoderFailed("the file of the model is damaged")

    def encode_query(self, text: str) -> Vectors:
        if self._fails:
            raise EncoderFailed("the file of the model is damaged")
        return self._encoder.encode_query(text)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_documents(texts)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "team.db"
    with Engine.open(path, encoder=Loading()) as engine:
        engine.remember("The cache is warmed at the start of a deployment")
        engine.remember("배포할 때 캐시를 데운다")
    return path


def test_it_is_loaded_once_at_the_first_search(store: Path) -> None:
    encoder = Loading()
    with Engine.open(store, encoder=encoder) as engine:
        assert not encoder.asked.is_set()
        assert engine.search("when is the cache warmed").results
        assert encoder.asked.wait(10)
        engine.search("what is warmed at a deployment")
    assert encoder.threads == ["recallens-encoder"]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("when is the cache warmed", {"mode": "keyword"}),
        ("캐시를 언제 데우나", {}),
        ("when is the cache warmed", {"namespace": "elsewhere"}),
        ("", {}),
    ],
)
def test_it_is_not_loaded_where_nothing_will_be_encoded(store: Path, text: str, options: dict[str, str]) -> None:
    encoder = Loading()
    with Engine.open(store, encoder=encoder) as engine:
        engine.search(text, **options)
    assert encoder.threads == []


@pytest.mark.filterwarnings("error")
def test_what_fails_ahead_is_told_by_the_search(store: Path, capfd: pytest.CaptureFixture[str]) -> None:
    encoder = Loading(fails=True)
    with Engine.open(store, encoder=encoder) as engine:
        recall = engine.search("when is the cache warmed")
        assert encoder.asked.wait(10)
    assert recall.results
    assert recall.degraded == {"semantic": "EncoderFailed: the file of the model is damaged"}
    assert capfd.readouterr().err == ""
