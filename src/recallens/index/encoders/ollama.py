"""A model served by Ollama. https://github.com/ollama/ollama/blob/main/docs/api.md#generate-embeddings"""

from __future__ import annotations

from typing import Any

from recallens.errors import EncoderFailed
from recallens.index.encoders.endpoint import BACKOFF_SECONDS, TIMEOUT_SECONDS, Endpoint
from recallens.index.encoders.remote import RemoteEncoder

BASE_URL = "http://127.0.0.1:11434"
PATH = "/api/embed"


def open_ollama(
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    dimension: int | None = None,
    timeout: float = TIMEOUT_SECONDS,
    backoff: float = BACKOFF_SECONDS,
) -> RemoteEncoder:
    """`api_key` is for an Ollama behind a proxy. A text too long for the model is cut by the server."""
    url = (base_url or BASE_URL).rstrip("/").removesuffix(PATH) + PATH
    endpoint = Endpoint(url, api_key, timeout=timeout, backoff=backoff)
    request: dict[str, Any] = {"model": model, "truncate": True}
    if dimension is not None:
        request["dimensions"] = dimension

    def ask(texts: list[str]) -> list[Any]:
        match endpoint.post({**request, "input": texts}):
            case {"embeddings": [*vectors]}:
                return vectors
        raise EncoderFailed(f"{endpoint.host} answered without embeddings")

    return RemoteEncoder(model, revision="ollama", host=endpoint.host, dimension=dimension, ask=ask)
