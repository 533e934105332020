"""MiniLM's forward pass in numpy, for machines for which onnxruntime has no wheel: Intel Macs, Alpine, Windows on ARM.

Six layers of attention and a feed-forward step, each with its residual and a layer norm (Devlin et al., 2019,
arXiv:1810.04805). The weights are those of the same file; the vectors differ from onnxruntime's in the sixth decimal.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from recallens.index.encoders.onnx_weights import weights

Single = NDArray[np.float32]

LAYERS, HEADS, EPSILON = 6, 12, np.float32(1e-12)
# The products of a layer have no names of their own in the file; they stand there in the order in which they are used.
_PRODUCTS: Final = ("query", "key", "value", "joined", "wider", "narrower")
_SCALE, _QUANTISED = "_scale", "_q"


class _Affine(Struct, frozen=True):
    weight: Single
    bias: Single

    def __call__(self, rows: Single) -> Single:
        product: Single = rows @ self.weight
        product += self.bias
        return product


class _Norm(Struct, frozen=True):
    weight: Single
    bias: Single

    def __call__(self, rows: Single) -> Single:
        centred = rows - rows.mean(axis=-1, keepdims=True)
        spread = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + EPSILON)
        scaled: Single = centred / spread * self.weight + self.bias
        return scaled


class _BertLayer(Struct, frozen=True):
    query: _Affine
    key: _Affine
    value: _Affine
    joined: _Affine
    after_attention: _Norm
    wider: _Affine
    narrower: _Affine
    after: _Norm

    def __call__(self, rows: Single) -> Single:
        """`rows` are the tokens of texts of one length: (texts, tokens, width)."""
        query, key, value = (_by_head(part(rows)) for part in (self.query, self.key, self.value))
        likeness = query @ key.swapaxes(-1, -2) / np.float32(np.sqrt(query.shape[-1]))
        likeness = np.exp(likeness - likeness.max(axis=-1, keepdims=True))
        likeness /= likeness.sum(axis=-1, keepdims=True)
        seen = (likeness @ value).swapaxes(1, 2).reshape(rows.shape)
        rows = self.after_attention(rows + self.joined(seen))
        return self.after(rows + self.narrower(_gelu(self.wider(rows))))


def _by_head(rows: Single) -> Single:
    texts, tokens, width = rows.shape
    return rows.reshape(texts, tokens, HEADS, width // HEADS).swapaxes(1, 2)


def _gelu(values: Single) -> Single:
    gate: Single = values * np.float32(0.5) * (1 + _erf(values / np.float32(np.sqrt(2))))
    return gate


def _erf(values: Single) -> Single:
    """Abramowitz and Stegun 7.1.26: off by 1.5e-7 at most, which is the last bit of single precision."""
    size = np.abs(values)
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    signed: Single = np.copysign(1 - series * np.exp(-size * size), values).astype(np.float32)
    return signed


class NumpyBert:
    """As onnxruntime's session is used: the hidden states of texts of one length, none of them padded."""

    def __init__(self, model: bytes) -> None:
        self._lock, self._blas = Lock(), ThreadpoolController()
        known: dict[str, Any] = weights(model)
        wide = {
            name.removesuffix(_QUANTISED): values.astype(np.float32) * known[name.removesuffix(_QUANTISED) + _SCALE]
            for name, values in known.items()
            if name.endswith(_QUANTISED)
        }
        self._words = wide["inner.embeddings.word_embeddings.weight"]
        self._positions = wide["inner.embeddings.position_embeddings.weight"]
        self._kind = known["inner.embeddings.token_type_embeddings.weight"][0]
        self._norm = _norm(known, "inner.embeddings.LayerNorm")
        products = iter([name for name in sorted(wide, key=_place) if name.startswith("val_")])
        self._layers = [
            _layer(known, f"inner.encoder.layer.{number}", {part: wide[next(products)] for part in _PRODUCTS})
            for number in range(LAYERS)
        ]

    def run(self, _: None, inputs: dict[str, NDArray[np.int64]]) -> tuple[Single]:
        """With one thread: on products as small as these a second one costs more than it does. The number is the whole
        process's, so that texts come one after the other."""
        ids = inputs["input_ids"]
        with self._lock, self._blas.limit(limits=1, user_api="blas"):
            rows: Single = self._norm(self._words[ids] + self._positions[: ids.shape[1]] + self._kind)
            for layer in self._layers:
                rows = layer(rows)
        return (rows,)


def _place(name: str) -> int:
    return int(name.removeprefix("val_")) if name.startswith("val_") else -1


def _norm(known: dict[str, Any], name: str) -> _Norm:
    return _Norm(known[f"{name}.weight"], known[f"{name}.bias"])


def _layer(known: dict[str, Any], name: str, products: dict[str, Single]) -> _BertLayer:
    biases = {
        "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
        "joined": "attention.output.dense", "wider": "intermediate.dense", "narrower": "output.dense",
    }  # fmt: skip
    parts = {part: _Affine(products[part], known[f"{name}.{biases[part]}.bias"]) for part in _PRODUCTS}
    attended, after = (_norm(known, f"{name}.{own}.LayerNorm") for own in ("attention.output", "output"))
    return _BertLayer(
        parts["query"], parts["key"], parts["value"], parts["joined"], attended, parts["wider"], parts["narrower"],
        after,
    )  # fmt: skip
