"""Which encoders are there: the packaged one, and the models that servers say they have. Nothing is loaded."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Final

from msgspec import Struct

from recallens.errors import EncoderError, InvalidInput
from recallens.index.encoders import minilm, multilingual
from recallens.index.encoders.remote import OLLAMA_URL, EmbeddingServer

# A server on this machine answers at once; one that does not is not there.
TIMEOUT_SECONDS: Final = 1.0

# Models trained on Korean beside English, the surest first.
MULTILINGUAL: Final = tuple(
    re.compile(pattern) for pattern in (
        r"bge-?m3", r"multilingual-?e5|\bme5\b", r"nomic-embed-text-v2", r"qwen3-embedding", r"embeddinggemma",
        r"snowflake-arctic-embed2|arctic-embed-l-v2", r"gte-multilingual", r"paraphrase-multilingual",
        r"granite-embedding.*multilingual|granite-embedding:278m", r"text-embedding-3", r"jina-embeddings-v[34]",
    )
)  # fmt: skip
_EMBEDS: Final = re.compile(r"embed|\bbge\b|bge-|\be5\b|-e5|\bgte\b|gte-|minilm|sentence|labse|jina-embeddings")


class Available(Struct, frozen=True):
    """`spec` is what a store's encoder can be set to; `origin` is packaged, ollama or openai."""

    spec: str
    origin: str
    multilingual: bool


class Looked(Struct, frozen=True):
    """One place that was looked at: what it has, or why nothing could be learned there."""

    place: str
    found: tuple[Available, ...] = ()
    problem: str | None = None


def multilingual_rank(model: str) -> int | None:
    """Its place among the multilingual families, None for one that is none of them."""
    name = model.lower().replace("_", "-")
    return next((at for at, family in enumerate(MULTILINGUAL) if family.search(name)), None)


def is_embedding_model(name: str) -> bool:
    return _EMBEDS.search(name.lower().replace("_", "-")) is not None or multilingual_rank(name) is not None


def packaged() -> Looked:
    both = (("minilm", minilm.INSTALL, False), ("multilingual", multilingual.INSTALL, True))
    missing = [name for _, install, _ in both for name in install if find_spec(name) is None]
    found = [Available(spec, "packaged", knows) for spec, install, knows in both if not {*install} & {*missing}]
    return Looked("packaged", tuple(found), f"{', '.join(missing)} is not installed" if missing else None)


def ollama(url: str | None, api_key: str | None, *, timeout: float = TIMEOUT_SECONDS) -> Looked:
    base = (url or OLLAMA_URL).rstrip("/").removesuffix("/api/embed")
    return _look("ollama", base, "api/tags", api_key, timeout, listed="models", keys=("model", "name"))


def openai(url: str, api_key: str | None, *, timeout: float = TIMEOUT_SECONDS) -> Looked:
    base = url.rstrip("/").removesuffix("/embeddings")
    return _look("openai", base, "models", api_key, timeout, listed="data", keys=("id",))


def _look(
    origin: str, base: str, path: str, api_key: str | None, timeout: float, *, listed: str, keys: tuple[str, ...]
) -> Looked:
    """The embedding models that a server lists. It is asked once: looking around must not take long."""
    try:
        answer = EmbeddingServer(f"{base}/{path}", api_key, timeout=timeout).get()
    except (EncoderError, InvalidInput) as error:
        return Looked(base, problem=error.message)
    rows = answer.get(listed) if isinstance(answer, dict) else None
    named = [next((row[key] for key in keys if isinstance(row.get(key), str)), None)
             for row in rows or () if isinstance(row, dict)]  # fmt: skip
    models = [name.removesuffix(":latest") for name in dict.fromkeys(named) if name and is_embedding_model(name)]
    return Looked(base, tuple(Available(f"{origin}:{m}", origin, multilingual_rank(m) is not None) for m in models))
