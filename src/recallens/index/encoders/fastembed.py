"""Any text model that FastEmbed lists; it downloads the model on first use. https://qdrant.github.io/fastembed"""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from recallens.errors import EncoderFailed, UnknownOption
from recallens.index.encoders.protocol import EncoderKey, Vectors, prefix_for, require, unit_rows, with_blanks_as_zeros

if TYPE_CHECKING:
    from collections.abc import Sequence

INSTALL = "'recallens[fastembed]'"


class FastembedEncoder:
    languages: tuple[str, ...] = ()

    def __init__(self, model: str, *, threads: int = 1) -> None:
        require("fastembed", encoder=f"fastembed:{model}", install=INSTALL)
        self._name = model
        self._threads = threads
        self._prefix = prefix_for(model)
        self._lock = Lock()
        self._model: Any = None

    @cached_property
    def key(self) -> EncoderKey:
        from fastembed import TextEmbedding

        dimensions = {model["model"]: int(model["dim"]) for model in TextEmbedding.list_supported_models()}
        if self._name not in dimensions:
            raise UnknownOption("fastembed model", self._name, sorted(dimensions))
        # Its minor versions have changed how a model pools, and so its vectors.
        minor = ".".join(version("fastembed").split(".")[:2])
        return EncoderKey(self._name, f"fastembed-{minor}", dimensions[self._name], self._prefix.name)

    def encode_query(self, text: str) -> Vectors:
        return with_blanks_as_zeros([text], self.key.dimension, self._encode, self._prefix.query).reshape(-1)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return with_blanks_as_zeros(texts, self.key.dimension, self._encode, self._prefix.document)

    def _encode(self, texts: list[str]) -> Vectors:
        return unit_rows(np.vstack(list(self._loaded().embed(texts))))

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                from fastembed import TextEmbedding

                try:
                    self._model = TextEmbedding(self._name, threads=self._threads)
                except Exception as error:  # it raises whatever its download raises
                    raise EncoderFailed(f"fastembed could not load {self._name}: {error}") from error
            return self._model
