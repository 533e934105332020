from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from recallens.errors import EncoderMissing, InvalidInput, UnknownOption
from recallens.index.encoders import DEFAULT_ENCODER, Encoder, open_encoder
from recallens.index.encoders.protocol import require


def opened(spec: str, **settings: int) -> Encoder:
    encoder = open_encoder(spec, **settings)  # type: ignore[arg-type]
    assert encoder is not None
    return encoder


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        ("minilm", "all-MiniLM-L6-v2-int8@1.0.0/384/none"),
        ("hashing", "hashing-test@1/64/none"),
        ("hashing:8", "hashing-test@1/8/none"),
    ],
)
def test_a_spec_names_its_encoder(spec: str, key: str) -> None:
    assert str(opened(spec).key) == key


@pytest.mark.parametrize("spec", ["openai:text-embedding-3-small", "ollama:all-minilm:latest"])
def test_a_remote_spec_takes_its_dimension_from_the_setting(spec: str) -> None:
    provider, model = spec.split(":", 1)
    assert str(opened(spec, dimension=256).key) == f"{model}@{provider}/256/none"


def test_the_default_is_minilm() -> None:
    assert DEFAULT_ENCODER == "minilm"
    assert str(open_encoder().key) == str(opened("minilm").key)  # type: ignore[union-attr]


def test_none_is_lexical_only() -> None:
    assert open_encoder("none") is None


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "mini",
        "minilm:",
        "minilm:2",
        "none:",
        "openai",
        "openai:",
        "ollama:",
        "fastembed:",
        "hashing:",
        "hashing:0",
        "hashing:-1",
        "hashing:x",
        "HASHING",
    ],
)
def test_an_unknown_spec_lists_the_forms(spec: str) -> None:
    with pytest.raises(UnknownOption) as caught:
        open_encoder(spec)
    assert str(caught.value) == (
        f"unknown encoder {spec!r}; use one of: "
        "minilm, multilingual, openai:MODEL, ollama:MODEL, fastembed:MODEL, hashing, hashing:DIM, none"
    )


@pytest.mark.parametrize(("spec", "asked"), [("minilm", 256), ("hashing:8", 16), ("hashing", 0), ("openai:m", 0)])
def test_a_dimension_that_the_encoder_cannot_make_is_refused(spec: str, asked: int) -> None:
    with pytest.raises(InvalidInput):
        open_encoder(spec, dimension=asked)


@pytest.mark.skipif(find_spec("fastembed") is not None, reason="fastembed is installed")
def test_a_missing_extra_names_its_line() -> None:
    with pytest.raises(EncoderMissing, match=r"pip install 'recallens\[fastembed\]'$"):
        open_encoder("fastembed:BAAI/bge-small-en-v1.5")


def test_a_missing_package_names_its_line() -> None:
    with pytest.raises(EncoderMissing) as caught:
        require("no_such_package", encoder="minilm", install="no-such-package==1.0")
    assert str(caught.value) == (
        "the encoder minilm needs the package no_such_package: pip install no-such-package==1.0"
    )


def test_opening_imports_nothing_heavy() -> None:
    script = (
        "import sys; from recallens.index.encoders import open_encoder; open_encoder().key;"
        "sys.exit(' '.join({'onnxruntime', 'tokenizers', 'fastembed'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stderr == "\n"


def test_hashing_knows_words_and_spellings() -> None:
    encoder = opened("hashing")
    close, far = encoder.encode_documents(["the caches are cold", "quarterly budget"])
    query = encoder.encode_query("cold cache")

    assert query @ close > query @ far
    assert np.linalg.norm(query) == pytest.approx(1)
    assert not encoder.encode_query(" \n").any()


def test_hashing_is_the_same_everywhere() -> None:
    counts = np.array([3, 1, 0, 1, 0, -1, -1, -2])
    vector = opened("hashing:8").encode_query("cold cache")
    np.testing.assert_allclose(vector, counts / np.linalg.norm(counts), rtol=1e-6)
