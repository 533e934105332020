"""Any server that speaks OpenAI's embeddings protocol: OpenAI, vLLM, LM Studio, llama.cpp, LiteLLM …

https://platform.openai.com/docs/api-reference/embeddings/create
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from recallens.errors import EncoderFailed
from recallens.index.encoders.endpoint import BACKOFF_SECONDS, TIMEOUT_SECONDS, Endpoint
from recallens.index.encoders.remote import RemoteEncoder

BASE_URL = "https://api.openai.com/v1"


def open_openai(
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    dimension: int | None = None,
    timeout: float = TIMEOUT_SECONDS,
    backoff: float = BACKOFF_SECONDS,
) -> RemoteEncoder:
    """`dimension` is sent to the server, for a model that can shorten its vectors; leave it out otherwise."""
    endpoint = Endpoint(_url(base_url or BASE_URL), api_key, timeout=timeout, backoff=backoff)
    request: dict[str, Any] = {"model": model}
    if dimension is not None:
        request["dimensions"] = dimension

    def ask(texts: list[str]) -> list[Any]:
        return _in_order(endpoint.post({**request, "input": texts}), host=endpoint.host)

    return RemoteEncoder(model, revision="openai", host=endpoint.host, dimension=dimension, ask=ask)


def _url(base_url: str) -> str:
    """`https://host`, `https://host/v1` and `https://host/v1/embeddings` all mean the last."""
    url = base_url.rstrip("/")
    if url.endswith("/embeddings"):
        return url
    return f"{url}/embeddings" if urlsplit(url).path else f"{url}/v1/embeddings"


def _in_order(answer: Any, *, host: str) -> list[Any]:
    """The protocol lets a server answer in any order, and numbers the vectors by their texts."""
    match answer:
        case {"data": [*items]} if all(isinstance(item, dict) for item in items):
            vectors = {item.get("index"): item.get("embedding") for item in items}
            if set(vectors) == set(range(len(items))):
                return [vectors[place] for place in range(len(items))]
    raise EncoderFailed(f"{host} answered without data, or with indexes that do not number its vectors")
