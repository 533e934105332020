"""Models that read a question beside a text, for whoever has one: none comes with the package."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol

from recallens.errors import EncoderFailed, UnknownOption
from recallens.index.encoders.protocol import require

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_RERANKER: Final = "none"
FORMS: Final = (NO_RERANKER, "fastembed:MODEL")


class Reranker(Protocol):
    @property
    def name(self) -> str:
        """As the X-ray names it."""

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers; only their order counts."""


def open_reranker(spec: str, *, threads: int = 1) -> Reranker | None:
    """A model is loaded at the first question and not here."""
    name, _, model = spec.partition(":")
    if spec == NO_RERANKER:
        return None
    if name == "fastembed" and model:
        return FastembedReranker(model, threads=threads)
    raise UnknownOption("reranker", spec, FORMS)


class FastembedReranker:
    """Any cross-encoder that FastEmbed lists; it downloads the model on first use."""

    def __init__(self, model: str, *, threads: int = 1) -> None:
        from recallens.index.encoders.fastembed import INSTALL  # late: it looks into what is installed

        require("fastembed", encoder=f"fastembed:{model}", install=INSTALL)
        self.name = f"fastembed:{model}"
        self._threads = threads
        self._lock = Lock()
        self._model: Any = None

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [float(score) for score in self._loaded().rerank(question, list(texts))]

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                from fastembed.rerank.cross_encoder import TextCrossEncoder

                try:
                    self._model = TextCrossEncoder(self.name.partition(":")[2], threads=self._threads)
                except Exception as error:  # it raises whatever its download raises
                    raise EncoderFailed(f"fastembed could not load {self.name}: {error}") from error
            return self._model
