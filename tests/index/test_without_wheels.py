"""Where onnxruntime and turbovec have no wheel, numpy does the same: so near that no answer differs."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path

import numpy as np
import pytest

from recallens.engine import Engine
from recallens.index import vectors
from recallens.index.encoders.minilm import MiniLMEncoder

TEXTS = (
    "We cache tracking lookups for sixty seconds.", "The broker's disk filled up on 17 June, and ingest stopped.",
    "def retry(times: int = 5) -> None: ...", "배포는 화요일에 한다.", "a", "word " * 400,
)  # fmt: skip


class Missing(MetaPathFinder):
    """As if pip had found no wheel of them."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        if name.partition(".")[0] in ("onnxruntime", "turbovec", "tokenizers", "huggingface_hub"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    hidden = [name for name in sys.modules if name.partition(".")[0] in ("onnxruntime", "turbovec")]
    for name in hidden:
        monkeypatch.delitem(sys.modules, name)
    finder = Missing()
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    found = importlib.util.find_spec

    def spec(name: str, package: str | None = None) -> importlib.machinery.ModuleSpec | None:
        try:
            return found(name, package)
        except ModuleNotFoundError:
            return None

    monkeypatch.setattr("recallens.index.encoders.minilm.find_spec", spec)
    monkeypatch.setattr("recallens.index.vectors.find_spec", spec)
    vectors.has_scans.cache_clear()
    yield
    vectors.has_scans.cache_clear()


def test_numpy_and_onnxruntime_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    fast = MiniLMEncoder().encode_documents(TEXTS)
    monkeypatch.setattr("recallens.index.encoders.minilm.find_spec", lambda name: None)
    plain = MiniLMEncoder()
    assert type(plain.load()[1]).__name__ == "NumpyBert"
    assert np.abs(plain.encode_documents(TEXTS) - fast).max() < 1e-5
    assert plain.encode_documents(TEXTS).tobytes() == plain.encode_documents(TEXTS[::-1])[::-1].tobytes()


def test_a_store_works_without_them_and_so_does_one_that_had_them(
    tmp_path: Path, bare: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "EXACT_ROWS", 2)
    monkeypatch.setattr("recallens.index.resident.SMALLEST_IMAGE", 1)
    with Engine.open(tmp_path / "s.db", encoder="minilm") as engine:
        for text in TEXTS:
            engine.remember(text, dedupe=False)
        assert engine.search("how long are tracking lookups cached").results[0].memory.content == TEXTS[0]
        assert engine.maintenance.publish()
        assert list(engine.maintenance.doctor().problems) == []
    assert not list(tmp_path.rglob("*.scan"))


def test_an_index_that_was_written_with_a_scan_is_read_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("turbovec")
    monkeypatch.setattr(vectors, "EXACT_ROWS", 2)
    monkeypatch.setattr("recallens.index.resident.SMALLEST_IMAGE", 1)
    with Engine.open(tmp_path / "s.db", encoder="hashing") as engine:
        ids = [engine.remember(text, dedupe=False).id for text in TEXTS]
        engine.maintenance.publish()
        before = [result.memory.id for result in engine.search(TEXTS[0], cut=False).results]
    assert list(tmp_path.rglob("*.scan"))
    vectors.has_scans.cache_clear()
    monkeypatch.setattr("recallens.index.vectors.find_spec", lambda name: None)
    try:
        with Engine.open(tmp_path / "s.db", encoder="hashing") as engine:
            assert [result.memory.id for result in engine.search(TEXTS[0], cut=False).results] == before
            engine.forget(ids[1], hard=True)
            assert list(engine.maintenance.doctor().problems) == []
    finally:
        vectors.has_scans.cache_clear()
